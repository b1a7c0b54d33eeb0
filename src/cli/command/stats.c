/* boxcar stats: how many messages are in which state. */
#include <math.h>

#include "common.h"
#include "stores.h"

static int by_topic;

static struct poptOption OPTIONS[] = {
    OPTION_FLAG("by-topic", by_topic, "a row for each topic"),
    OPTIONS_READER,
    POPT_TABLEEND,
};

static const char *const COLUMNS[] = {
    "topic",     "ready", "waiting", "in_progress", "done", "failed", "oldest_ready_age_seconds",
    "estimated", NULL};

static const struct {
    unsigned flag;
    const char *name;
} NUMBERS[] = {{BOXCAR_STATS_READY, "ready"},
               {BOXCAR_STATS_WAITING, "waiting"},
               {BOXCAR_STATS_IN_PROGRESS, "in_progress"},
               {BOXCAR_STATS_DONE, "done"},
               {BOXCAR_STATS_FAILED, "failed"},
               {BOXCAR_STATS_AGE, "oldest_ready_age_seconds"}};

/* The names of the numbers that are estimates. */
static json_t *estimated_json(unsigned estimated) {
    json_t *names = json_array();
    bool good = true;
    for (size_t i = 0; good && i < sizeof(NUMBERS) / sizeof(NUMBERS[0]); i++)
        if (estimated & NUMBERS[i].flag)
            good = json_array_append_new(names, json_string(NUMBERS[i].name)) == 0;
    return json_finish(names, good);
}

/* Without a topic it is about all of them together. */
static json_t *stats_row(const void *item) {
    const boxcar_stats *stats = item;
    json_t *object = json_object();
    double age = round(stats->oldest_ready_age_seconds * 1e6) / 1e6;
    bool good = (!stats->topic.data || json_put_text(object, "topic", stats->topic)) &&
                json_put(object, "ready", json_integer(stats->ready)) &&
                json_put(object, "waiting", json_integer(stats->waiting)) &&
                json_put(object, "in_progress", json_integer(stats->in_progress)) &&
                json_put(object, "done", json_integer(stats->done)) &&
                json_put(object, "failed", json_integer(stats->failed)) &&
                json_put(object, "oldest_ready_age_seconds", json_real(age)) &&
                json_put(object, "exact", json_boolean(stats->exact)) &&
                (stats->exact || json_put(object, "estimated", estimated_json(stats->estimated)));
    return json_finish(object, good);
}

struct counting {
    struct output output; /* of a list */
};

/* Of one store without topics: an object. Everything else is a list. */
static int count(struct cli *cli, void *context) {
    struct counting *counting = context;
    AUTO_LIST boxcar_stats_list *list = NULL;
    boxcar_box reader;
    TRY(common_find_reader(cli, &reader));
    TRY(cli_check(cli, boxcar_stats_read(cli->store, reader, by_topic, &list, &cli->err)));
    if (by_topic)
        common_print_page(&counting->output, stats_row, list->items + 1, list->count - 1);
    else if (cli->store_label)
        common_print_page(&counting->output, stats_row, list->items, 1);
    else
        return output_object(cli, stats_row(list->items[0]));
    return CLI_DONE;
}

static int run(struct cli *cli) {
    struct counting counting;
    bool many = stores_are_many(cli);
    if (!common_check_reader(cli))
        return CLI_USAGE;
    if (!many && !by_topic)
        return stores_each(cli, count, &counting);
    output_stores_begin(&counting.output, cli, many, by_topic ? COLUMNS : COLUMNS + 1);
    return common_end_stores(cli, &counting.output, many, stores_each(cli, count, &counting));
}

static const struct command CMD_STATS = {
    .name = "stats",
    .summary = "count messages by their status",
    .usage = "[--by-topic] [--box BOX|--subscription NAME]",
    .description =
        "ready: claimable now. waiting: due later, backing off, or behind in a stream. in_progress:\n"
        "leased. done and failed (dead letters): those that are still kept. boxcar ls --status takes the\n"
        "same words. If a number is too large to count, exact is false, and estimated names the numbers\n"
        "that are estimates. Estimates come from a sample of all messages. With --by-topic it prints a list\n"
        "with a row for each topic; a topic with very few messages among very many may be missing. With\n"
        "several stores (--store again, --discover) there is a row for each, with a field store.\n",
    .examples = "boxcar stats\n"
                "boxcar stats --by-topic -o json\n",
    .options = OPTIONS,
    .takes_stores = true,
    .run = run,
};

const struct command_noun STATS_COMMANDS = {"Look", (const struct command *const[]){&CMD_STATS, NULL}};
