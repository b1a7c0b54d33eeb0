/* Messages: boxcar show and ls. */
#include "message.h"

#include <string.h>

#include "cli/input/options.h"
#include "cli/input/values.h"
#include "cli/output/message_json.h"
#include "cli/output/output.h"
#include "cli/output/report.h"
#include "commands.h"

#define JOINS_MAX 100 /* that are shown */

static json_t *joins_json(const boxcar_join_list *joins) {
    json_t *array = json_array();
    bool good = array != NULL;
    for (size_t i = 0; good && i < joins->count; i++) {
        char join_id[BOXCAR_UUID_TEXT_SIZE];
        boxcar_uuid_format(joins->items[i]->join_id.uuid, join_id);
        good = json_array_append_new(array, json_pack("{s:s, s:s}", "join_id", join_id, "status",
                                                      boxcar_join_status_name(joins->items[i]->status))) == 0;
    }
    return json_finish(array, good);
}

/* The message, its history and its joins in one object; NULL = out of memory. */
static json_t *whole_json(const boxcar_message *message, const boxcar_attempt_list *attempts,
                          const boxcar_join_list *joins) {
    json_t *object = message_json(message, MESSAGE_WITH_PAYLOAD);
    return json_finish(object, object && json_put(object, "attempts", attempt_list_json(attempts)) &&
                                   json_put(object, "joins", joins_json(joins)));
}

static int print(struct cli *cli, const boxcar_message *message) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_attempt_list *attempts = NULL;
    if (boxcar_attempt_read(cli->store, message->work_id, &attempts, &err) != BOXCAR_OK)
        return cli_fail_with(cli, &err);
    boxcar_join_list *joins = NULL;
    boxcar_join_filter filter = BOXCAR_JOIN_FILTER_INIT;
    filter.message_id = message->message_id;
    filter.limit = JOINS_MAX;
    int result = boxcar_join_page(cli->store, &filter, &joins, &err) == BOXCAR_OK
                     ? output_object(cli, whole_json(message, attempts, joins))
                     : cli_fail_with(cli, &err);
    boxcar_list_free(joins);
    boxcar_list_free(attempts);
    return result;
}

static int print_if(struct cli *cli, const boxcar_message *message, const char *id, bool only_dead) {
    if (only_dead && message->status != BOXCAR_FAILED) {
        return cli_fail(cli, CLI_NOT_FOUND, "message %.64s is not a dead letter: its status is %s", id,
                        boxcar_message_status_name(message->status));
    }
    return print(cli, message);
}

int inspect_show(struct cli *cli, const char *box_name, const char *const *args, bool only_dead) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_message_list *list = NULL;
    boxcar_message_ref ref;
    boxcar_box box = BOXCAR_OUTBOX;
    if (!args[0])
        return cli_usage(cli, "ID is missing: give a work id or a message id");
    if (!cli_args_at_most(cli, args, 1) || !value_box(cli, box_name, &box) || !value_ref(cli, args[0], &ref))
        return CLI_USAGE;
    int result = cli_store_open(cli);
    if (result != CLI_DONE)
        return result;
    if (boxcar_message_find(cli->store, box, ref, &list, &err) != BOXCAR_OK)
        return cli_fail_with(cli, &err);
    result = print_if(cli, list->items[0], args[0], only_dead);
    boxcar_list_free(list);
    return result;
}

bool page_given_read(const struct cli *cli, const struct page_given *given, boxcar_message_filter *options) {
    options->topic = boxcar_str_of(given->topic);
    return value_count(cli, "--limit", given->limit, &options->limit) &&
           value_work_id(cli, "--after", given->after, &options->after);
}

static int print_page(const struct cli *cli, const boxcar_message_list *list, const char *const *columns) {
    struct output output;
    output_list_begin(&output, cli, CLI_FORMAT_TABLE, columns);
    for (size_t i = 0; i < list->count; i++)
        if (!output_list_add(&output, message_json(list->items[i], MESSAGE_WITHOUT_PAYLOAD)))
            break;
    return output_list_end(&output, cli);
}

int page_list(struct cli *cli, const boxcar_message_filter *options, const char *const *columns) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_message_list *list = NULL;
    int result = cli_store_open(cli);
    if (result != CLI_DONE)
        return result;
    if (boxcar_message_page(cli->store, options, &list, &err) != BOXCAR_OK)
        return cli_fail_with(cli, &err);
    result = print_page(cli, list, columns);
    boxcar_list_free(list);
    return result;
}

/* ---- boxcar show: everything about one message ---- */

static char *show_box;

static struct poptOption SHOW_OPTIONS[] = {OPTION_BOX(show_box), POPT_TABLEEND};

static int run_show(struct cli *cli, const char *const *args) {
    return inspect_show(cli, show_box, args, false);
}

static const struct command CMD_SHOW = {
    .name = "show",
    .summary = "show everything about one message",
    .usage = "ID [--box BOX]",
    .description =
        "Digits are a work id, a UUID is a message id. Shows all fields, the payload, the history\n"
        "of bad attempts (at, outcome, retry_count, owner, epoch, error) and the joins that the message is "
        "a\n"
        "member of (join_id, status; the newest 100).\n",
    .examples = "boxcar show 1\n"
                "boxcar show 1 -o json\n",
    .options = SHOW_OPTIONS,
    .run = run_show,
};

/* ---- boxcar ls: a page of messages ---- */

static struct { char *box, *status; } ls_given;
static struct page_given given_page;

static struct poptOption LS_OPTIONS[] = {{"status", 0, POPT_ARG_STRING, &ls_given.status, 0,
                                          "ready, waiting, in_progress, done or failed", "STATUS"},
                                         PAGE_OPTIONS(given_page),
                                         OPTION_BOX(ls_given.box),
                                         POPT_TABLEEND};

static const char *const LS_COLUMNS[] = {"work_id",    "message_id",   "topic",       "status",
                                         "created_at", "available_at", "retry_count", NULL};

/* By the words of boxcar stats, which counts ready messages apart that cannot be claimed yet. */
static bool read_status(const struct cli *cli, boxcar_message_filter *options) {
    if (!ls_given.status)
        return true;
    options->by_status = true;
    options->status = BOXCAR_READY;
    if (strcmp(ls_given.status, "waiting") == 0) {
        options->readiness = BOXCAR_WAITING;
        return true;
    }
    options->by_status = VALUE_NAMED(ls_given.status, boxcar_message_status_name, &options->status);
    if (!options->by_status)
        cli_usage(cli, "--status is '%.64s': give ready, waiting, in_progress, done or failed",
                  ls_given.status);
    else if (options->status == BOXCAR_READY)
        options->readiness = BOXCAR_CLAIMABLE;
    return options->by_status;
}

static int run_ls(struct cli *cli, const char *const *args) {
    boxcar_message_filter options = BOXCAR_MESSAGE_FILTER_INIT;
    if (!cli_args_at_most(cli, args, 0) || !read_status(cli, &options) ||
        !value_box(cli, ls_given.box, &options.box) || !page_given_read(cli, &given_page, &options))
        return CLI_USAGE;
    return page_list(cli, &options, LS_COLUMNS);
}

static const struct command CMD_LS = {
    .name = "ls",
    .summary = "list messages, newest first",
    .usage = "[--status STATUS] [--topic TOPIC] [--limit N] [--after WORK_ID] [--box BOX]",
    .description =
        "One page of messages without their payloads. For the next page give the last work id of\n"
        "this one to --after. With -o json an array, with -o jsonl one object a line.\n"
        "\n"
        "--status takes the words of boxcar stats. ready: claimable now. waiting: due later, backing\n"
        "off, or behind in a stream; such a message shows the status ready.\n",
    .examples = "boxcar ls\n"
                "boxcar ls --status waiting\n"
                "boxcar ls --status failed --topic 'orders.*' --limit 10 -o jsonl\n",
    .options = LS_OPTIONS,
    .run = run_ls,
};

const struct command_noun MESSAGE_COMMANDS = {"Look",
                                              (const struct command *const[]){&CMD_SHOW, &CMD_LS, NULL}};
