/* boxcar dead ls: a page of dead letters, or all of them. */
#include "commands.h"
#include "dead.h"
#include "message_json.h"
#include "output.h"
#include "report.h"
#include "values.h"

static struct dead_given given;
static char *limit_text, *after_text;

static struct poptOption OPTIONS[] = {
    DEAD_OPTIONS(given, "list all pages"),
    {"limit", 0, POPT_ARG_STRING, &limit_text, 0, "how many, 1 to 10000 (default 50)", "N"},
    {"after", 0, POPT_ARG_STRING, &after_text, 0, "go on after the last work id of a page", "WORK_ID"},
    POPT_TABLEEND};

static const char *const COLUMNS[] = {"work_id", "message_id",  "topic",      "reason",
                                      "died_at", "retry_count", "last_error", NULL};

/* Adds a page to the output; `after` moves to its last message. Returns how many there were. */
static size_t add_page(struct output *output, const boxcar_message_list *list, boxcar_work_id *after) {
    size_t count = boxcar_message_list_count(list);
    for (size_t i = 0; i < count; i++) {
        const boxcar_message *message = boxcar_message_list_get(list, i);
        *after = message->work_id;
        if (!output_list_add(output, message_json(message, MESSAGE_WITHOUT_PAYLOAD)))
            return 0;
    }
    return count;
}

static int list_pages(struct cli *cli, const boxcar_dead_filter *filter, int limit, boxcar_work_id after) {
    struct output output;
    boxcar_error err = BOXCAR_ERROR_INIT;
    size_t added;
    output_list_begin(&output, cli, CLI_FORMAT_TABLE, COLUMNS);
    do {
        boxcar_message_list *list = NULL;
        if (boxcar_dead_page(cli->store, filter, limit, after, &list, &err) != BOXCAR_OK) {
            json_decref(output.rows);
            return cli_fail_with(cli, &err);
        }
        added = add_page(&output, list, &after);
        boxcar_message_list_free(list);
    } while (given.all && added == (size_t)limit);
    return output_list_end(&output, cli);
}

static int run(struct cli *cli, const char *const *args) {
    boxcar_dead_filter filter;
    boxcar_work_id after = {0};
    int limit = given.all && !limit_text ? BOXCAR_LIST_LIMIT_MAX : 50;
    if (!value_count(cli, "--limit", limit_text, &limit) ||
        !value_work_id(cli, "--after", after_text, &after))
        return CLI_USAGE;
    int result = dead_filter_read(cli, &given, args, &filter);
    if (result != CLI_DONE)
        return result;
    result = cli_store_open(cli);
    if (result == CLI_DONE)
        result = list_pages(cli, &filter, limit, after);
    dead_filter_release(&filter);
    return result;
}

const struct command CMD_DEAD_LS = {
    .name = "dead ls",
    .summary = "list dead letters, newest first",
    .usage =
        "[ID]... [--topic TOPIC] [--reason REASON] [--before TIME] [--limit N] [--after WORK_ID] [--all]",
    .description =
        "One page of dead letters with reason, died_at and last_error, without payloads. Conditions\n"
        "combine with \"and\". For the next page give the last work id of this one to --after.\n",
    .examples = "boxcar dead ls\n"
                "boxcar dead ls --topic 'orders.*' --reason exhausted -o json\n",
    .options = OPTIONS,
    .run = run,
};
