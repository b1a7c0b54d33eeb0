/* Messages: boxcar show and ls. */
#include "message.h"

#include <string.h>

#include "common.h"
#include "stores.h"

#define JOINS_MAX 100 /* that are shown */

static json_t *join_row(const void *item) {
    const boxcar_join *join = item;
    char join_id[BOXCAR_UUID_TEXT_SIZE];
    boxcar_uuid_format(join->join_id.uuid, join_id);
    return json_pack("{s:s, s:s}", "join_id", join_id, "status", boxcar_join_status_name(join->status));
}

/* The message, its history and its joins in one object; NULL = out of memory. */
static json_t *whole_json(const boxcar_message *message, const boxcar_attempt_list *attempts,
                          const boxcar_join_list *joins) {
    json_t *object = common_with_subscription(message_json(message, MESSAGE_WITH_PAYLOAD));
    return json_finish(object,
                       object && json_put(object, "attempts", attempt_list_json(attempts)) &&
                           json_put(object, "joins", common_array(join_row, joins->items, joins->count)));
}

static int read_attempts(struct cli *cli, const boxcar_message *message, boxcar_attempt_list **ret_list) {
    boxcar_status status = message->reader > BOXCAR_INBOX
                               ? boxcar_subscription_attempt_read(cli->store, message->reader,
                                                                  message->work_id, ret_list, &cli->err)
                               : boxcar_attempt_read(cli->store, message->work_id, ret_list, &cli->err);
    return cli_check(cli, status);
}

static int print(struct cli *cli, const boxcar_message *message) {
    AUTO_LIST boxcar_attempt_list *attempts = NULL;
    AUTO_LIST boxcar_join_list *joins = NULL;
    boxcar_join_filter filter = BOXCAR_JOIN_FILTER_INIT;
    filter.message_id = message->message_id;
    filter.limit = JOINS_MAX;
    TRY(read_attempts(cli, message, &attempts));
    TRY(cli_check(cli, boxcar_join_page(cli->store, &filter, &joins, &cli->err)));
    return output_object(cli, whole_json(message, attempts, joins));
}

int message_show(struct cli *cli, bool only_dead) {
    AUTO_LIST boxcar_message_list *list = NULL;
    boxcar_message_ref ref;
    boxcar_box reader;
    if (!common_check_reader(cli) || !value_ref(cli, cli->args[0], &ref))
        return CLI_USAGE;
    TRY(common_open_reader(cli, &reader));
    TRY(cli_check(cli, boxcar_message_find(cli->store, reader, ref, &list, &cli->err)));
    const boxcar_message *message = list->items[0];
    if (only_dead && message->status != BOXCAR_FAILED)
        return cli_fail(cli, CLI_NOT_FOUND, "message %.64s is not a dead letter: its status is %s",
                        cli->args[0], boxcar_message_status_name(message->status));
    return print(cli, message);
}

struct listing {
    boxcar_message_filter *filter;
    struct output output;
};

static int list_page(struct cli *cli, void *context) {
    struct listing *listing = context;
    AUTO_LIST boxcar_message_list *list = NULL;
    if (listing->filter->box != BOXCAR_INBOX) /* inbox ls has no option for it: the filter says which */
        TRY(common_find_reader(cli, &listing->filter->box));
    TRY(cli_check(cli, boxcar_message_page(cli->store, listing->filter, &list, &cli->err)));
    common_print_page(&listing->output, common_message_row, list->items, list->count);
    return CLI_DONE;
}

int message_list(struct cli *cli, boxcar_message_filter *filter, const char *const *columns) {
    struct listing listing = {.filter = filter};
    bool many = stores_are_many(cli);
    filter->topic = boxcar_str_of(common_given.topic);
    if (!value_count(cli, "--limit", common_given.limit, &filter->limit) ||
        !value_work_id(cli, "--after", common_given.after, &filter->after) || !common_check_reader(cli))
        return CLI_USAGE;
    output_stores_begin(&listing.output, cli, many, columns);
    return common_end_stores(cli, &listing.output, many, stores_each(cli, list_page, &listing));
}

/* ---- boxcar show: everything about one message ---- */

static int run_show(struct cli *cli) { return message_show(cli, false); }

static const struct command CMD_SHOW = {
    .name = "show",
    .summary = "show everything about one message",
    .usage = "ID [--box BOX|--subscription NAME]",
    .description =
        "Digits are a work id, a UUID is a message id. Shows all fields, the payload, the history\n"
        "of bad attempts (at, outcome, retry_count, owner, epoch, error) and the joins that the message is "
        "a\n"
        "member of (join_id, status; the newest 100).\n",
    .examples = "boxcar show 1\n"
                "boxcar show 1 -o json\n",
    .options = COMMON_READER_OPTIONS,
    .missing = MESSAGE_ID_MISSING,
    .most_args = 1,
    .run = run_show,
};

/* ---- boxcar ls: a page of messages ---- */

static char *status_given;

static struct poptOption LS_OPTIONS[] = {
    OPTION_TEXT("status", status_given, "ready, waiting, in_progress, done or failed", "STATUS"),
    OPTION_TOPIC,
    OPTION_LIMIT,
    OPTION_AFTER_WORK_ID,
    OPTIONS_READER,
    POPT_TABLEEND,
};

static const char *const LS_COLUMNS[] = {"work_id",    "message_id",   "topic",       "status",
                                         "created_at", "available_at", "retry_count", NULL};

/* By the words of boxcar stats, which counts ready messages apart that cannot be claimed yet. */
static int read_status(const struct cli *cli, boxcar_message_filter *filter) {
    if (!status_given)
        return CLI_DONE;
    bool is_waiting = strcmp(status_given, "waiting") == 0;
    filter->by_status = true;
    filter->status = BOXCAR_READY;
    if (!is_waiting && !VALUE_NAMED(status_given, boxcar_message_status_name, &filter->status))
        return cli_usage(cli, "--status is '%.64s': give ready, waiting, in_progress, done or failed",
                         status_given);
    if (filter->status == BOXCAR_READY)
        filter->readiness = is_waiting ? BOXCAR_WAITING : BOXCAR_CLAIMABLE;
    return CLI_DONE;
}

static int run_ls(struct cli *cli) {
    boxcar_message_filter filter = BOXCAR_MESSAGE_FILTER_INIT;
    TRY(read_status(cli, &filter));
    return message_list(cli, &filter, LS_COLUMNS);
}

static const struct command CMD_LS = {
    .name = "ls",
    .summary = "list messages, newest first",
    .usage =
        "[--status STATUS] [--topic TOPIC] [--limit N] [--after WORK_ID] [--box BOX|--subscription NAME]",
    .description =
        "One page of messages without their payloads. For the next page give the last work id of\n"
        "this one to --after. With -o json an array, with -o jsonl one object a line.\n"
        "\n"
        "--status takes the words of boxcar stats. ready: claimable now. waiting: due later, backing\n"
        "off, or behind in a stream; such a message shows the status ready.\n"
        "\n"
        "With --subscription it lists the messages that this subscription reads, in the state that they\n"
        "have for it.\n"
        "\n"
        "With several stores (--store again, --discover) a page of each, with a field store.\n",
    .examples = "boxcar ls\n"
                "boxcar ls --status waiting\n"
                "boxcar ls --status failed --topic 'orders.*' --limit 10 -o jsonl\n",
    .options = LS_OPTIONS,
    .takes_stores = true,
    .run = run_ls,
};

const struct command_noun MESSAGE_COMMANDS = {"Look",
                                              (const struct command *const[]){&CMD_SHOW, &CMD_LS, NULL}};
