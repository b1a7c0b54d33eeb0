/* boxcar ls: a page of messages. */
#include "commands.h"
#include "message_json.h"
#include "options.h"
#include "output.h"
#include "report.h"
#include "values.h"

static struct { char *box, *status, *topic, *limit, *after; } given;

static struct poptOption OPTIONS[] = {
    {"status", 0, POPT_ARG_STRING, &given.status, 0, "ready, in_progress, done or failed", "STATUS"},
    {"topic", 0, POPT_ARG_STRING, &given.topic, 0, "only this topic, or PREFIX*", "TOPIC"},
    {"limit", 0, POPT_ARG_STRING, &given.limit, 0, "how many, 1 to 10000 (default 50)", "N"},
    {"after", 0, POPT_ARG_STRING, &given.after, 0, "go on after the last work id of a page", "WORK_ID"},
    OPTION_BOX(given.box),
    POPT_TABLEEND};

static const char *const COLUMNS[] = {"work_id",    "message_id",   "topic",       "status",
                                      "created_at", "available_at", "retry_count", NULL};

static bool read_status(const struct cli *cli, boxcar_list_options *options) {
    if (!given.status)
        return true;
    options->by_status = boxcar_message_status_parse(boxcar_str_of(given.status), &options->status);
    if (!options->by_status)
        cli_usage(cli, "--status is '%.64s': give ready, in_progress, done or failed", given.status);
    return options->by_status;
}

static int print(const struct cli *cli, const boxcar_message_list *list) {
    struct output output;
    output_list_begin(&output, cli, CLI_FORMAT_TABLE, COLUMNS);
    for (size_t i = 0; i < boxcar_message_list_count(list); i++)
        if (!output_list_add(&output,
                             message_json(boxcar_message_list_get(list, i), MESSAGE_WITHOUT_PAYLOAD)))
            break;
    return output_list_end(&output, cli);
}

static int list_page(struct cli *cli, const boxcar_list_options *options) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_message_list *list = NULL;
    int result = cli_store_open(cli);
    if (result != CLI_DONE)
        return result;
    if (boxcar_message_page(cli->store, options, &list, &err) != BOXCAR_OK)
        return cli_fail_with(cli, &err);
    result = print(cli, list);
    boxcar_message_list_free(list);
    return result;
}

static int run(struct cli *cli, const char *const *args) {
    boxcar_list_options options = BOXCAR_LIST_OPTIONS_INIT;
    options.topic = boxcar_str_of(given.topic);
    if (!cli_args_at_most(cli, args, 0) || !read_status(cli, &options) ||
        !value_box(cli, given.box, &options.box) ||
        !value_count(cli, "--limit", given.limit, &options.limit) ||
        !value_work_id(cli, "--after", given.after, &options.after))
        return CLI_USAGE;
    return list_page(cli, &options);
}

const struct command CMD_LS = {
    .name = "ls",
    .summary = "list messages, newest first",
    .usage = "[--status STATUS] [--topic TOPIC] [--limit N] [--after WORK_ID] [--box BOX]",
    .description = "One page of messages without their payloads. For the next page give the last work id of\n"
                   "this one to --after. With -o json an array, with -o jsonl one object a line.\n",
    .examples = "boxcar ls\n"
                "boxcar ls --status failed --topic 'orders.*' --limit 10 -o jsonl\n",
    .options = OPTIONS,
    .run = run,
};
