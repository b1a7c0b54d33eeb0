/* boxcar store ls: the stores of a list, and how they are. */
#include <math.h>
#include <string.h>

#include "common.h"
#include "stores.h"

/* How long a store that does not answer is waited for. */
#define PATIENCE_MS 5000

static const char *const COLUMNS[] = {"store",       "key",    "health",      "ready", "waiting",
                                      "in_progress", "failed", "lag_seconds", "error", NULL};

/* Both boxes together. */
struct backlog {
    int64_t ready, waiting, in_progress, failed;
    double lag_seconds;
};

static boxcar_status add_box(boxcar_store *store, boxcar_box box, struct backlog *sum, boxcar_error *err) {
    AUTO_LIST boxcar_stats_list *list = NULL;
    TRY(boxcar_stats_read(store, box, false, &list, err));
    const boxcar_stats *stats = list->items[0];
    sum->ready += stats->ready;
    sum->waiting += stats->waiting;
    sum->in_progress += stats->in_progress;
    sum->failed += stats->failed;
    if (stats->oldest_ready_age_seconds > sum->lag_seconds)
        sum->lag_seconds = stats->oldest_ready_age_seconds;
    return BOXCAR_OK;
}

static boxcar_status look_at(struct cli *cli, const boxcar_found_store *found, struct backlog *sum) {
    boxcar_store_options options = cli_store_options(cli);
    boxcar_store *store;
    options.url = found->url;
    options.schema = found->schema;
    options.busy_timeout_ms = options.answer_timeout_ms = PATIENCE_MS;
    options.log = NULL; /* the row says it */
    TRY(boxcar_store_open(&options, &store, &cli->err));
    boxcar_status status = add_box(store, BOXCAR_OUTBOX, sum, &cli->err);
    if (status == BOXCAR_OK)
        status = add_box(store, BOXCAR_INBOX, sum, &cli->err);
    boxcar_store_close(store);
    return status;
}

static json_t *number_or_null(bool known, json_t *number) {
    if (known)
        return number;
    json_decref(number);
    return json_null();
}

static json_t *store_row(const boxcar_found_store *found, boxcar_status status, const struct backlog *sum,
                         const boxcar_error *err) {
    json_t *row = json_object();
    bool known = status == BOXCAR_OK;
    bool good =
        json_put(row, "store", json_string(found->id)) && json_put_text(row, "key", found->key) &&
        json_put(row, "health", json_string(known ? "ok" : "down")) &&
        json_put(row, "ready", number_or_null(known, json_integer(sum->ready))) &&
        json_put(row, "waiting", number_or_null(known, json_integer(sum->waiting))) &&
        json_put(row, "in_progress", number_or_null(known, json_integer(sum->in_progress))) &&
        json_put(row, "failed", number_or_null(known, json_integer(sum->failed))) &&
        json_put(row, "lag_seconds", number_or_null(known, json_real(round(sum->lag_seconds * 1e6) / 1e6))) &&
        json_put_text(row, "error", known ? (boxcar_str){NULL, 0} : boxcar_str_of(err->message));
    return json_finish(row, good);
}

static int run_ls(struct cli *cli) {
    AUTO_LIST boxcar_found_store_list *list = NULL;
    struct output output;
    bool all_well = true;
    TRY(stores_list(cli, &list));
    output_list_begin(&output, cli, CLI_FORMAT_TABLE, COLUMNS);
    for (size_t i = 0; i < list->count; i++) {
        struct backlog sum = {0};
        boxcar_status status = look_at(cli, list->items[i], &sum);
        all_well = all_well && status == BOXCAR_OK;
        if (!output_list_add(&output, store_row(list->items[i], status, &sum, &cli->err)))
            break;
    }
    TRY(output_list_end(&output, cli));
    return all_well ? CLI_DONE : CLI_UNAVAILABLE;
}

static const struct command CMD_STORE = {
    .name = "store",
    .summary = "the stores that a worker with many would serve",
    .usage = "COMMAND",
    .description =
        "Stores are given by --store again and again, by --discover, or by [stores] and [fleet] of the\n"
        "configuration file. See docs/many-stores.md.\n",
    .examples = "boxcar store ls\n",
};

static const struct command CMD_STORE_LS = {
    .name = "store ls",
    .summary = "list stores with their health, backlog and lag",
    .usage = "[--store URL]... [--discover KIND:WHERE]",
    .description =
        "A row for each store: its identifier, its key (the name that the list gives it), its health (ok or\n"
        "down), how many messages are ready, waiting, in progress and dead in both boxes together, and how\n"
        "long the oldest ready message has waited. A store that is down has an error instead of numbers;\n"
        "then the exit status is 5. A list that names a store twice is refused (exit status 4).\n",
    .examples = "boxcar store ls\n"
                "boxcar store ls -o json\n",
    .takes_stores = true,
    .run = run_ls,
};

const struct command_noun STORE_COMMANDS = {"Look",
                                            (const struct command *const[]){&CMD_STORE, &CMD_STORE_LS, NULL}};
