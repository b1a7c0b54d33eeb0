/* boxcar inbox ls: a page of messages from outside. */
#include "commands.h"
#include "message_json.h"
#include "output.h"
#include "report.h"
#include "values.h"

static struct { char *state, *topic, *limit, *after; } given;

static struct poptOption OPTIONS[] = {
    {"state", 0, POPT_ARG_STRING, &given.state, 0, "seen, processing, done or dead", "STATE"},
    {"topic", 0, POPT_ARG_STRING, &given.topic, 0, "only this topic, or PREFIX*", "TOPIC"},
    {"limit", 0, POPT_ARG_STRING, &given.limit, 0, "how many, 1 to 10000 (default 50)", "N"},
    {"after", 0, POPT_ARG_STRING, &given.after, 0, "go on after the last work id of a page", "WORK_ID"},
    POPT_TABLEEND};

static const char *const COLUMNS[] = {"work_id", "source",     "external_id", "topic",
                                      "state",   "created_at", "retry_count", NULL};

static bool read_state(const struct cli *cli, boxcar_list_options *options) {
    boxcar_inbox_state state;
    if (!given.state)
        return true;
    if (!boxcar_inbox_state_parse(boxcar_str_of(given.state), &state)) {
        cli_usage(cli, "--state is '%.64s': give seen, processing, done or dead", given.state);
        return false;
    }
    for (int status = BOXCAR_READY; status <= BOXCAR_FAILED; status++)
        if (boxcar_inbox_state_of((boxcar_message_status)status) == state)
            options->status = (boxcar_message_status)status;
    options->by_status = true;
    return true;
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
    options.box = BOXCAR_INBOX;
    options.topic = boxcar_str_of(given.topic);
    if (!cli_args_at_most(cli, args, 0) || !read_state(cli, &options) ||
        !value_count(cli, "--limit", given.limit, &options.limit) ||
        !value_work_id(cli, "--after", given.after, &options.after))
        return CLI_USAGE;
    return list_page(cli, &options);
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
