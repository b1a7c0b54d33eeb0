/* boxcar inbox ls: a page of messages from outside. */
#include "commands.h"
#include "message_page.h"
#include "report.h"

static char *given_state;
static struct page_given given_page;

static struct poptOption OPTIONS[] = {
    {"state", 0, POPT_ARG_STRING, &given_state, 0, "seen, processing, done or dead", "STATE"},
    PAGE_OPTIONS(given_page),
    POPT_TABLEEND};

static const char *const COLUMNS[] = {"work_id", "source",     "external_id", "topic",
                                      "state",   "created_at", "retry_count", NULL};

static bool read_state(const struct cli *cli, boxcar_list_options *options) {
    boxcar_inbox_state state;
    if (!given_state)
        return true;
    if (!boxcar_inbox_state_parse(boxcar_str_of(given_state), &state)) {
        cli_usage(cli, "--state is '%.64s': give seen, processing, done or dead", given_state);
        return false;
    }
    for (int status = BOXCAR_READY; status <= BOXCAR_FAILED; status++)
        if (boxcar_inbox_state_of((boxcar_message_status)status) == state)
            options->status = (boxcar_message_status)status;
    options->by_status = true;
    return true;
}

static int run(struct cli *cli, const char *const *args) {
    boxcar_list_options options = BOXCAR_LIST_OPTIONS_INIT;
    options.box = BOXCAR_INBOX;
    if (!cli_args_at_most(cli, args, 0) || !read_state(cli, &options) ||
        !page_given_read(cli, &given_page, &options))
        return CLI_USAGE;
    return page_list(cli, &options, COLUMNS);
}

const struct command CMD_INBOX_LS = {
    .name = "inbox ls",
    .summary = "list messages from outside, newest first",
    .usage = "[--state STATE] [--topic TOPIC] [--limit N] [--after WORK_ID]",
    .description =
        "As boxcar ls --box inbox, in the words of the inbox: seen (ready), processing (in progress), done,\n"
        "dead (failed). Keys without a message are not listed: see boxcar inbox show.\n",
    .examples = "boxcar inbox ls\n"
                "boxcar inbox ls --state dead --topic 'orders.*' -o jsonl\n",
    .options = OPTIONS,
    .run = run,
};
