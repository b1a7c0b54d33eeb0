/* boxcar stats: how many messages are in which state. */
#include <math.h>

#include "cli/input/options.h"
#include "cli/input/values.h"
#include "cli/output/message_json.h"
#include "cli/output/output.h"
#include "cli/output/report.h"
#include "commands.h"

static char *box_name;
static int by_topic;

static struct poptOption OPTIONS[] = {
    {"by-topic", 0, POPT_ARG_NONE, &by_topic, 0, "a row for each topic", NULL},
    OPTION_BOX(box_name),
    POPT_TABLEEND};

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
    for (size_t i = 0; names && i < sizeof(NUMBERS) / sizeof(NUMBERS[0]); i++) {
        if (estimated & NUMBERS[i].flag && json_array_append_new(names, json_string(NUMBERS[i].name)) != 0) {
            json_decref(names);
            return NULL;
        }
    }
    return names;
}

static json_t *stats_json(const boxcar_stats *stats, bool with_topic) {
    json_t *object = json_object();
    double age = round(stats->oldest_ready_age_seconds * 1e6) / 1e6;
    bool good = (!with_topic || json_put_text(object, "topic", stats->topic)) &&
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

/* Row 0 is about all topics together. */
static int print(const struct cli *cli, const boxcar_stats_list *list) {
    struct output output;
    if (!by_topic)
        return output_object(cli, stats_json(list->items[0], false));
    output_list_begin(&output, cli, CLI_FORMAT_TABLE, COLUMNS);
    for (size_t i = 1; i < list->count; i++)
        if (!output_list_add(&output, stats_json(list->items[i], true)))
            break;
    return output_list_end(&output, cli);
}

static int run(struct cli *cli, const char *const *args) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_stats_list *list = NULL;
    boxcar_box box = BOXCAR_OUTBOX;
    if (!cli_args_at_most(cli, args, 0) || !value_box(cli, box_name, &box))
        return CLI_USAGE;
    int result = cli_store_open(cli);
    if (result != CLI_DONE)
        return result;
    if (boxcar_stats_read(cli->store, box, by_topic, &list, &err) != BOXCAR_OK)
        return cli_fail_with(cli, &err);
    result = print(cli, list);
    boxcar_list_free(list);
    return result;
}

static const struct command CMD_STATS = {
    .name = "stats",
    .summary = "count messages by what they are waiting for",
    .usage = "[--by-topic] [--box BOX]",
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
