/* boxcar stats: how many messages are in which state. */
#include <math.h>

#include "common.h"

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

static int run(struct cli *cli) {
    AUTO_LIST boxcar_stats_list *list = NULL;
    boxcar_box reader;
    TRY(common_open_reader(cli, &reader));
    TRY(cli_check(cli, boxcar_stats_read(cli->store, reader, by_topic, &list, &cli->err)));
    return by_topic ? common_print_list(cli, COLUMNS, stats_row, list->items + 1, list->count - 1)
                    : output_object(cli, stats_row(list->items[0]));
}

static const struct command CMD_STATS = {
    .name = "stats",
    .summary = "count messages by what they are waiting for",
    .usage = "[--by-topic] [--box BOX|--subscription NAME]",
    .description =
        "ready: claimable now. waiting: due later, backing off, or behind in a stream. in_progress:\n"
        "leased. done and failed (dead letters): those that are still kept. boxcar ls --status takes the\n"
        "same words. If a number is too large to count, exact is false, and estimated names the numbers\n"
        "that are estimates, from a sample that is spread over all messages. With --by-topic a list with a\n"
        "row for each topic; a topic with very few messages among very many may be missing.\n",
    .examples = "boxcar stats\n"
                "boxcar stats --by-topic -o json\n",
    .options = OPTIONS,
    .run = run,
};

const struct command_noun STATS_COMMANDS = {"Look", (const struct command *const[]){&CMD_STATS, NULL}};
