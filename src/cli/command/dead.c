/* Dead letters: boxcar cancel, dead, dead ls, dead show, dead replay and dead purge. */
#include "cli/output/progress.h"
#include "common.h"
#include "message.h"
#include "stores.h"

static struct {
    char *reason, *before, *note;
    int all;
} given;

#define DEAD_OPTIONS(all_help)                                                                               \
    OPTION_TOPIC,                                                                                            \
        OPTION_TEXT("reason", given.reason, "rejected, exhausted, expired, no_handler or cancelled",         \
                    "REASON"),                                                                               \
        OPTION_TEXT("before", given.before, "only those that died before", "TIME"),                          \
        OPTION_FLAG("all", given.all, all_help), OPTIONS_READER

static int read_reason(const struct cli *cli, boxcar_reason *ret_reason) {
    if (given.reason &&
        (!VALUE_NAMED(given.reason, boxcar_reason_name, ret_reason) || *ret_reason == BOXCAR_REASON_NONE))
        return cli_usage(cli,
                         "--reason is '%.64s': give rejected, exhausted, expired, no_handler or cancelled",
                         given.reason);
    return CLI_DONE;
}

/* Fills in a filter from the options and the ID arguments, which are in *ret_refs: free() it. */
static int read_filter(const struct cli *cli, boxcar_dead_filter *ret_filter, boxcar_message_ref **ret_refs) {
    boxcar_dead_filter filter = BOXCAR_DEAD_FILTER_INIT;
    filter.topic = boxcar_str_of(common_given.topic);
    filter.all = given.all;
    TRY(read_reason(cli, &filter.reason));
    if (!value_time(cli, "--before", given.before, &filter.before) || !common_check_reader(cli) ||
        !value_refs(cli, cli->args, ret_refs, &filter.ref_count))
        return CLI_USAGE;
    filter.refs = *ret_refs;
    *ret_filter = filter;
    return CLI_DONE;
}

/* replay and purge: what they do with the messages that are chosen. */
typedef boxcar_status act_fn(boxcar_store *store, const boxcar_dead_filter *filter, int64_t *ret_count,
                             boxcar_error *err);

/* Prints how many under `name`. Ids of which none is a dead letter are "not found". */
static int act_on_chosen(struct cli *cli, act_fn *act, const char *name) {
    AUTO_FREE boxcar_message_ref *refs = NULL;
    boxcar_dead_filter filter;
    int64_t count = 0;
    if (!given.all && !common_given.topic && !given.reason && !given.before && !cli->args[0])
        return cli_usage(cli, "nothing is chosen: give ids, --topic, --reason, --before, or --all");
    TRY(read_filter(cli, &filter, &refs));
    TRY(common_open_reader(cli, &filter.box));
    struct progress *progress = progress_begin(cli, "working through dead letters");
    boxcar_status status = act(cli->store, &filter, &count, &cli->err);
    progress_end(progress);
    TRY(cli_check(cli, status));
    TRY(output_count(cli, name, count));
    if (filter.ref_count && count == 0)
        return cli_fail(cli, CLI_NOT_FOUND, "none of the ids is a dead letter: see boxcar dead ls");
    return CLI_DONE;
}

/* ---- boxcar cancel: buries a message that is not in progress ---- */

static int run_cancel(struct cli *cli) {
    boxcar_message_ref ref;
    boxcar_box reader;
    if (!common_check_reader(cli) || !value_ref(cli, cli->args[0], &ref))
        return CLI_USAGE;
    TRY(common_open_reader(cli, &reader));
    TRY(cli_check(cli, boxcar_message_cancel(cli->store, reader, ref, &cli->err)));
    return output_count(cli, "cancelled", 1);
}

static const struct command CMD_CANCEL = {
    .name = "cancel",
    .summary = "cancel a message: it becomes a dead letter",
    .usage = "ID [--box BOX|--subscription NAME]",
    .description =
        "The message becomes a dead letter (reason cancelled). If it is in progress, done or dead, the exit\n"
        "status is 4 (conflict); if it does not exist, 3 (not found). Prints the number of cancelled\n"
        "messages: 1; with -o json {\"cancelled\": 1}. With --subscription it is cancelled for that\n"
        "subscription alone, otherwise for the main reader alone.\n",
    .examples = "boxcar cancel 1\n",
    .options = COMMON_READER_OPTIONS,
    .missing = MESSAGE_ID_MISSING,
    .most_args = 1,
    .run = run_cancel,
};

/* ---- boxcar dead: the group of commands about dead letters ---- */

static const struct command CMD_DEAD = {
    .name = "dead",
    .summary = "dead letters: messages that failed for good",
    .usage = "ls|show|replay|purge",
    .description =
        "A message becomes a dead letter when it is failed (rejected), when its attempts are used up\n"
        "(exhausted), when its time to live ends (expired), when it has no handler (no_handler), or\n"
        "when it is cancelled. Only a replay makes it ready again. Each subscription has dead letters of\n"
        "its own: give --subscription.\n",
    .examples = "boxcar dead ls\n"
                "boxcar help dead replay\n",
};

/* ---- boxcar dead ls: a page of dead letters, or all of them ---- */

static struct poptOption LS_OPTIONS[] = {
    DEAD_OPTIONS("list all pages"),
    OPTION_LIMIT,
    OPTION_AFTER_WORK_ID,
    POPT_TABLEEND,
};

static const char *const LS_COLUMNS[] = {"work_id", "message_id",  "topic",      "reason",
                                         "died_at", "retry_count", "last_error", NULL};

static int print_pages(struct cli *cli, const boxcar_dead_filter *filter, int limit, boxcar_work_id after,
                       struct output *output) {
    bool more = true;
    while (more) {
        AUTO_LIST boxcar_message_list *list = NULL;
        TRY(cli_check(cli, boxcar_dead_page(cli->store, filter, limit, after, &list, &cli->err)));
        more = common_print_page(output, common_message_row, list->items, list->count) && given.all &&
               list->count == (size_t)limit;
        if (more)
            after = list->items[list->count - 1]->work_id;
    }
    return CLI_DONE;
}

struct listing {
    boxcar_dead_filter filter;
    int limit;
    boxcar_work_id after;
    struct output output;
};

static int list_store(struct cli *cli, void *context) {
    struct listing *listing = context;
    TRY(common_find_reader(cli, &listing->filter.box));
    return print_pages(cli, &listing->filter, listing->limit, listing->after, &listing->output);
}

static int run_ls(struct cli *cli) {
    AUTO_FREE boxcar_message_ref *refs = NULL;
    struct listing listing = {.after = {0}};
    bool many = stores_are_many(cli);
    listing.limit = given.all && !common_given.limit ? BOXCAR_LIST_LIMIT_MAX : 50;
    if (!value_count(cli, "--limit", common_given.limit, &listing.limit) ||
        !value_work_id(cli, "--after", common_given.after, &listing.after))
        return CLI_USAGE;
    TRY(read_filter(cli, &listing.filter, &refs));
    if (!common_check_reader(cli))
        return CLI_USAGE;
    output_stores_begin(&listing.output, cli, many, LS_COLUMNS);
    return common_end_stores(cli, &listing.output, many, stores_each(cli, list_store, &listing));
}

static const struct command CMD_DEAD_LS = {
    .name = "dead ls",
    .summary = "list dead letters, newest first",
    .usage =
        "[ID]... [--topic TOPIC] [--reason REASON] [--before TIME] [--limit N] [--after WORK_ID] [--all]",
    .description =
        "One page of dead letters with reason, died_at and last_error, without payloads. All conditions\n"
        "must hold. For the next page give the last work id of this one to --after. With several stores\n"
        "(--store again, --discover) those of each, with a field store.\n",
    .examples = "boxcar dead ls\n"
                "boxcar dead ls --topic 'orders.*' --reason exhausted -o json\n",
    .options = LS_OPTIONS,
    .most_args = CLI_ANY_ARGS,
    .takes_stores = true,
    .run = run_ls,
};

/* ---- boxcar dead show: everything about one dead letter ---- */

static int run_show(struct cli *cli) { return message_show(cli, true); }

static const struct command CMD_DEAD_SHOW = {
    .name = "dead show",
    .summary = "show everything about one dead letter",
    .usage = "ID [--box BOX|--subscription NAME]",
    .description =
        "As boxcar show, for dead letters only: any other message is \"not found\" (exit status 3).\n",
    .examples = "boxcar dead show 1\n"
                "boxcar dead show 1 -o json\n",
    .options = COMMON_READER_OPTIONS,
    .missing = MESSAGE_ID_MISSING,
    .most_args = 1,
    .run = run_show,
};

/* ---- boxcar dead replay: makes dead letters ready again ---- */

static struct poptOption REPLAY_OPTIONS[] = {
    DEAD_OPTIONS("every dead letter"),
    OPTION_TEXT("note", given.note, "kept in the message's history", "TEXT"),
    POPT_TABLEEND,
};

static boxcar_status replay(boxcar_store *store, const boxcar_dead_filter *filter, int64_t *ret_count,
                            boxcar_error *err) {
    return boxcar_dead_replay(store, filter, boxcar_str_of(given.note), ret_count, err);
}

static int run_replay(struct cli *cli) { return act_on_chosen(cli, replay, "replayed"); }

static const struct command CMD_DEAD_REPLAY = {
    .name = "dead replay",
    .summary = "make dead letters ready again",
    .usage = "ID... [--note TEXT]\n"
             "[--topic TOPIC] [--reason REASON] [--before TIME] [--note TEXT]\n"
             "--all [--note TEXT]",
    .description =
        "The chosen messages are ready at once, or when they are due, with retry_count 0. Their time to\n"
        "live no longer counts. The replay is recorded in their history. Prints how many; with -o json\n"
        "{\"replayed\": N}. If none of the ids is a dead letter, the exit status is 3.\n",
    .examples = "boxcar dead replay 1 --note 'customer added'\n"
                "boxcar dead replay --topic 'orders.*' --reason exhausted\n",
    .options = REPLAY_OPTIONS,
    .most_args = CLI_ANY_ARGS,
    .run = run_replay,
};

/* ---- boxcar dead purge: removes dead letters for good ---- */

static struct poptOption PURGE_OPTIONS[] = {DEAD_OPTIONS("every dead letter"), POPT_TABLEEND};

static int run_purge(struct cli *cli) { return act_on_chosen(cli, boxcar_dead_purge, "purged"); }

static const struct command CMD_DEAD_PURGE = {
    .name = "dead purge",
    .summary = "remove dead letters for good",
    .usage = "ID...\n"
             "[--topic TOPIC] [--reason REASON] [--before TIME]\n"
             "--all",
    .description = "Removes the chosen messages and their history. Prints how many; with -o json\n"
                   "{\"purged\": N}. If none of the ids is a dead letter, the exit status is 3.\n",
    .examples = "boxcar dead purge 1\n"
                "boxcar dead purge --reason cancelled --before 2026-01-31T12:00:00Z\n",
    .options = PURGE_OPTIONS,
    .most_args = CLI_ANY_ARGS,
    .run = run_purge,
};

const struct command_noun DEAD_COMMANDS = {
    "Dead letters", (const struct command *const[]){&CMD_CANCEL, &CMD_DEAD, &CMD_DEAD_LS, &CMD_DEAD_SHOW,
                                                    &CMD_DEAD_REPLAY, &CMD_DEAD_PURGE, NULL}};
