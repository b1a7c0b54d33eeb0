/* boxcar ls: a page of messages. */
#include <string.h>

#include "commands.h"
#include "message_page.h"
#include "options.h"
#include "report.h"
#include "values.h"

static struct { char *box, *status; } given;
static struct page_given given_page;

static struct poptOption OPTIONS[] = {
    {"status", 0, POPT_ARG_STRING, &given.status, 0, "ready, waiting, in_progress, done or failed", "STATUS"},
    PAGE_OPTIONS(given_page),
    OPTION_BOX(given.box),
    POPT_TABLEEND};

static const char *const COLUMNS[] = {"work_id",    "message_id",   "topic",       "status",
                                      "created_at", "available_at", "retry_count", NULL};

/* By the words of boxcar stats, which counts ready messages apart that cannot be claimed yet. */
static bool read_status(const struct cli *cli, boxcar_list_options *options) {
    if (!given.status)
        return true;
    options->by_status = true;
    options->status = BOXCAR_READY;
    if (strcmp(given.status, "waiting") == 0) {
        options->readiness = BOXCAR_WAITING;
        return true;
    }
    options->by_status = boxcar_message_status_parse(boxcar_str_of(given.status), &options->status);
    if (!options->by_status)
        cli_usage(cli, "--status is '%.64s': give ready, waiting, in_progress, done or failed", given.status);
    else if (options->status == BOXCAR_READY)
        options->readiness = BOXCAR_CLAIMABLE;
    return options->by_status;
}

static int run(struct cli *cli, const char *const *args) {
    boxcar_list_options options = BOXCAR_LIST_OPTIONS_INIT;
    if (!cli_args_at_most(cli, args, 0) || !read_status(cli, &options) ||
        !value_box(cli, given.box, &options.box) || !page_given_read(cli, &given_page, &options))
        return CLI_USAGE;
    return page_list(cli, &options, COLUMNS);
}

const struct command CMD_LS = {
    .name = "ls",
    .summary = "list messages, newest first",
    .usage = "[--status STATUS] [--topic TOPIC] [--limit N] [--after WORK_ID] [--box BOX]",
    .description = "One page of messages without their payloads. For the next page give the last work id of\n"
                   "this one to --after. With -o json an array, with -o jsonl one object a line.\n"
                   "\n"
                   "--status takes the words of boxcar stats. ready: claimable now. waiting: due later, backing\n"
                   "off, or behind in a stream; such a message shows the status ready.\n",
    .examples = "boxcar ls\n"
                "boxcar ls --status waiting\n"
                "boxcar ls --status failed --topic 'orders.*' --limit 10 -o jsonl\n",
    .options = OPTIONS,
    .run = run,
};
