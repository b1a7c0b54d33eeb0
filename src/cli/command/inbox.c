/* The inbox: boxcar inbox, inbox enqueue, inbox check, inbox show, inbox ls and inbox revive. */
#include <string.h>

#include "cli/input/new_message.h"
#include "cli/input/payload.h"
#include "common.h"
#include "enqueue.h"
#include "message.h"

static char *hash; /* of the content: inbox enqueue, inbox check */

#define REF_MISSING "ID is missing: give SOURCE and ID, or a work id, or a message id"

/* SOURCE ID, or one id of the message: a work id or a message id. `key` is filled only in the first case. */
static bool read_ref(const struct cli *cli, boxcar_message_ref *ret_ref, boxcar_inbox_key *ret_key) {
    if (!cli->args[1])
        return value_ref(cli, cli->args[0], ret_ref);
    *ret_key = (boxcar_inbox_key){boxcar_str_of(cli->args[0]), boxcar_str_of(cli->args[1])};
    *ret_ref = (boxcar_message_ref){.message_id = boxcar_inbox_message_id(*ret_key)};
    return true;
}

/* ---- boxcar inbox: the group of commands about messages from outside ---- */

static const struct command CMD_INBOX = {
    .name = "inbox",
    .summary = "messages from outside, each handled once",
    .usage = "enqueue|check|show|ls|revive",
    .description =
        "A message from outside has a key: its SOURCE and its ID at that source. The inbox stores it once,\n"
        "however often it is delivered, and remembers the key for 30 days after it was last seen (setting\n"
        "retention_inbox), longer while the message is in the store.\n"
        "\n"
        "Messages of the inbox are claimed and settled like those of the outbox: claim, ack, abandon,\n"
        "defer, fail, renew, reap, cancel, show, ls, stats and dead take --box inbox.\n",
    .examples = "boxcar inbox enqueue shop order-42 orders.paid '{\"order\": 42}'\n"
                "boxcar inbox show shop order-42\n"
                "boxcar help inbox enqueue\n",
};

/* ---- boxcar inbox enqueue: stores a message from outside, or a file of them, once for each key ---- */

static char *batch;
static struct new_message_given given_message;

static struct poptOption ENQUEUE_OPTIONS[] = {
    OPTION_TEXT("batch", batch, "read messages from JSON Lines; - is standard input", "FILE|-"),
    OPTION_TEXT("hash", hash, "of the content, up to 255 characters; another one later is reported", "TEXT"),
    NEW_MESSAGE_OPTIONS(given_message),
    POPT_TABLEEND,
};

static const char *const ENQUEUE_COLUMNS[] = {"work_id", "message_id", "duplicate", "hash_mismatch", NULL};

static json_t *enqueued_row(const boxcar_enqueued *enqueued) {
    json_t *object = json_object();
    bool good = json_put(object, "work_id", json_from_number(enqueued->work_id.value)) &&
                json_put(object, "message_id", json_from_message_id(enqueued->message_id)) &&
                json_put(object, "duplicate", json_boolean(enqueued->duplicate)) &&
                json_put(object, "hash_mismatch", json_boolean(enqueued->hash_mismatch));
    return json_finish(object, good);
}

static const struct enqueue_kind INBOX = {
    .box = BOXCAR_INBOX, .row = enqueued_row, .columns = ENQUEUE_COLUMNS};

static int enqueue_from_args(struct cli *cli) {
    const char *const *args = cli->args;
    boxcar_new_message message = BOXCAR_NEW_MESSAGE_INIT;
    AUTO_FREE char *payload = NULL, *headers = NULL;
    size_t count = cli_args_count(args);
    if (count < 3)
        return cli_usage(cli, "%s is missing: give SOURCE, ID, TOPIC and PAYLOAD, or --batch FILE",
                         count == 0   ? "SOURCE"
                         : count == 1 ? "ID"
                                      : "TOPIC");
    if (count > 4) /* what is too much may be a part of the payload: not shown (BX-010) */
        return cli_usage(cli,
                         "more arguments than SOURCE, ID, TOPIC and PAYLOAD: put quotes around the payload");
    if (!args[3])
        return cli_usage(cli, "payload is missing: give PAYLOAD, or - to read it from standard input");
    message.source = boxcar_str_of(args[0]);
    message.external_id = boxcar_str_of(args[1]);
    message.topic = boxcar_str_of(args[2]);
    message.content_hash = boxcar_str_of(hash);
    if (!new_message_read(cli, &given_message, &message, &headers))
        return CLI_USAGE;
    TRY(payload_read(cli, args[3], &payload, &message.payload));
    return enqueue_one(cli, &INBOX, &message);
}

static int run_enqueue(struct cli *cli) {
    if (!batch)
        return enqueue_from_args(cli);
    if (cli->args[0] || hash || new_message_is_given(&given_message))
        return cli_usage(cli, "--batch is given: every message comes from the file, "
                              "so give no SOURCE, ID, TOPIC, PAYLOAD or options of a message");
    return enqueue_file(cli, &INBOX, batch);
}

static const struct command CMD_INBOX_ENQUEUE = {
    .name = "inbox enqueue",
    .summary = "store a message from outside, once",
    .usage = "SOURCE ID TOPIC PAYLOAD|- [OPTIONS]\n"
             "--batch FILE|-",
    .description =
        "Stores a message for its key, SOURCE and ID, and prints its message id; with -o json an object\n"
        "with work_id, message_id, duplicate and hash_mismatch. If the key is known, nothing is stored:\n"
        "duplicate is true, also when the message is done, dead or long gone (work_id null). Without -o\n"
        "json a note says so. PAYLOAD - reads standard input, byte for byte. Put -- before a payload that\n"
        "begins with -.\n"
        "\n"
        "--hash: the first hash of a key is kept. A different one later is only logged and reported\n"
        "(hash_mismatch).\n"
        "\n"
        "--batch reads JSON Lines: one object a line with source, id, content_hash, topic, payload,\n"
        "correlation_id, causation_id, due, delay, ttl, stream, headers and metadata (objects),\n"
        "max_attempts, is_event, event_type. Any other name is refused, exit status 2. A payload that is\n"
        "not a string is stored as its compact JSON. All lines are stored or none; a key that comes twice\n"
        "is stored once.\n",
    .examples =
        "boxcar inbox enqueue shop order-42 orders.paid '{\"order\": 42}'\n"
        "echo 'from a pipe' | boxcar inbox enqueue shop order-43 orders.paid - --hash 5d41402a -o json\n"
        "printf '{\"source\":\"shop\",\"id\":\"1\",\"topic\":\"a\",\"payload\":{\"n\":1}}\\n' | boxcar inbox "
        "enqueue --batch -\n",
    .options = ENQUEUE_OPTIONS,
    .most_args = CLI_ANY_ARGS,
    .run = run_enqueue,
};

/* ---- boxcar inbox check: whether a message from outside has been processed ---- */

static int peek;

static struct poptOption CHECK_OPTIONS[] = {
    OPTION_TEXT("hash", hash, "of the content; reported if it is not the first one", "TEXT"),
    OPTION_FLAG("peek", peek, "only look: do not record that it was seen"),
    POPT_TABLEEND,
};

static bool differs(boxcar_str kept) {
    return hash && hash[0] && kept.data &&
           (strlen(hash) != kept.len || memcmp(hash, kept.data, kept.len) != 0);
}

/* A key that the store does not know has not been processed. */
static boxcar_status look_only(struct cli *cli, boxcar_inbox_key key, bool *ret_processed,
                               bool *ret_mismatch) {
    AUTO_LIST boxcar_inbox_receipt_list *list = NULL;
    boxcar_status status = boxcar_inbox_find(cli->store, key, &list, &cli->err);
    if (status != BOXCAR_OK)
        return status == BOXCAR_E_NOT_FOUND ? BOXCAR_OK : status;
    *ret_processed = list->items[0]->state == BOXCAR_INBOX_DONE;
    *ret_mismatch = differs(list->items[0]->content_hash);
    return BOXCAR_OK;
}

static int run_check(struct cli *cli) {
    bool processed = false, mismatch = false;
    if (!cli->args[0] || !cli->args[1])
        return cli_usage(cli, "%s is missing: give SOURCE and ID", cli->args[0] ? "ID" : "SOURCE");
    boxcar_inbox_key key = {boxcar_str_of(cli->args[0]), boxcar_str_of(cli->args[1])};
    TRY(cli_store_open(cli));
    TRY(cli_check(cli, peek ? look_only(cli, key, &processed, &mismatch)
                            : boxcar_inbox_already_processed(cli->store, key, boxcar_str_of(hash), &processed,
                                                             &mismatch, &cli->err)));
    return common_print_word(cli, processed ? "processed" : "not processed",
                             json_pack("{s:b, s:b}", "processed", processed, "hash_mismatch", mismatch));
}

static const struct command CMD_INBOX_CHECK = {
    .name = "inbox check",
    .summary = "say whether a message has been processed",
    .usage = "SOURCE ID [--hash TEXT] [--peek]",
    .description =
        "Prints \"processed\" or \"not processed\"; with -o json\n"
        "{\"processed\": true, \"hash_mismatch\": false}. The exit status is 0 in both cases. A message has\n"
        "been processed when it was acked, or accepted by a program in its own transaction.\n"
        "\n"
        "The command records that the message was seen, and when. With --peek it records nothing.\n",
    .examples = "boxcar inbox check shop order-42\n"
                "boxcar inbox check shop order-42 --peek -o json\n",
    .options = CHECK_OPTIONS,
    .most_args = 2,
    .run = run_check,
};

/* ---- boxcar inbox show: everything about one message from outside ---- */

/* What is known: the message while it is there, and what the inbox keeps about its key. */
struct knowledge {
    boxcar_message_list *messages;
    boxcar_attempt_list *attempts;
    boxcar_inbox_receipt_list *receipts;
};

/* A key without a message is shown all the same; an id without a message is not found. */
static int look_up(struct cli *cli, boxcar_message_ref ref, boxcar_inbox_key key, struct knowledge *known) {
    bool by_key = key.source.data != NULL;
    if (by_key)
        TRY(cli_check(cli, boxcar_inbox_find(cli->store, key, &known->receipts, &cli->err)));
    boxcar_status status = boxcar_message_find(cli->store, BOXCAR_INBOX, ref, &known->messages, &cli->err);
    if (status == BOXCAR_E_NOT_FOUND && by_key)
        return CLI_DONE;
    TRY(cli_check(cli, status));
    const boxcar_message *message = known->messages->items[0];
    TRY(cli_check(cli, boxcar_attempt_read(cli->store, message->work_id, &known->attempts, &cli->err)));
    if (by_key || !message->source.data)
        return CLI_DONE;
    key = (boxcar_inbox_key){message->source, message->external_id};
    return cli_check(cli, boxcar_inbox_find(cli->store, key, &known->receipts, &cli->err));
}

static bool put_receipt(json_t *object, const boxcar_inbox_receipt *receipt) {
    return json_put_text(object, "content_hash", receipt->content_hash) &&
           json_put(object, "first_seen_at", json_from_time(receipt->first_seen_at)) &&
           json_put(object, "last_seen_at", json_from_time(receipt->last_seen_at)) &&
           json_put(object, "seen_count", json_integer(receipt->seen_count)) &&
           json_put(object, "ended_at", json_from_time(receipt->ended_at));
}

/* Without a message: only seen, accepted, or gone. */
static json_t *receipt_json(const boxcar_inbox_receipt *receipt) {
    json_t *object = json_object();
    bool good = json_put(object, "work_id", json_null()) &&
                json_put(object, "message_id", json_from_message_id(receipt->message_id)) &&
                json_put(object, "box", json_string("inbox")) && json_put(object, "status", json_null()) &&
                json_put_text(object, "source", receipt->source) &&
                json_put_text(object, "external_id", receipt->external_id) &&
                json_put(object, "state", json_string(boxcar_inbox_state_name(receipt->state))) &&
                put_receipt(object, receipt);
    return json_finish(object, good);
}

static json_t *whole_json(const struct knowledge *known) {
    const boxcar_message *message = known->messages ? known->messages->items[0] : NULL;
    const boxcar_inbox_receipt *receipt = known->receipts ? known->receipts->items[0] : NULL;
    if (!message)
        return receipt_json(receipt);
    json_t *object = message_json(message, MESSAGE_WITH_PAYLOAD);
    return json_finish(object, object && (!receipt || put_receipt(object, receipt)) &&
                                   json_put(object, "attempts", attempt_list_json(known->attempts)));
}

static void release(struct knowledge *known) {
    boxcar_list_free(known->receipts);
    boxcar_list_free(known->attempts);
    boxcar_list_free(known->messages);
}

static int run_show(struct cli *cli) {
    boxcar_message_ref ref;
    boxcar_inbox_key key = {{0}, {0}};
    CLEANUP(release) struct knowledge known = {0};
    if (!read_ref(cli, &ref, &key))
        return CLI_USAGE;
    TRY(cli_store_open(cli));
    TRY(look_up(cli, ref, key, &known));
    return output_object(cli, whole_json(&known));
}

static const struct command CMD_INBOX_SHOW = {
    .name = "inbox show",
    .summary = "show everything about a message from outside",
    .usage = "SOURCE ID\n"
             "WORK_ID|MESSAGE_ID",
    .description =
        "Shows all fields of the message with its payload and history, as boxcar show does. It also shows\n"
        "source, external_id and state (seen, processing, done, dead), and the inbox's record of the key:\n"
        "content_hash, first_seen_at, last_seen_at, seen_count, ended_at. If the key has no message (it was\n"
        "only seen or accepted, or the message is gone), the status is null. Changes nothing. If the store\n"
        "does not know the key, the exit status is 3.\n",
    .examples = "boxcar inbox show shop order-42\n"
                "boxcar inbox show 1 -o json\n",
    .missing = REF_MISSING,
    .most_args = 2,
    .run = run_show,
};

/* ---- boxcar inbox ls: a page of messages from outside ---- */

static char *state_given;

static struct poptOption LS_OPTIONS[] = {
    OPTION_TEXT("state", state_given, "seen, processing, done or dead", "STATE"),
    OPTION_TOPIC,
    OPTION_LIMIT,
    OPTION_AFTER_WORK_ID,
    POPT_TABLEEND,
};

static const char *const LS_COLUMNS[] = {"work_id", "source",     "external_id", "topic",
                                         "state",   "created_at", "retry_count", NULL};

static int read_state(const struct cli *cli, boxcar_message_filter *filter) {
    boxcar_inbox_state state;
    if (!state_given)
        return CLI_DONE;
    if (!boxcar_inbox_state_parse(boxcar_str_of(state_given), &state))
        return cli_usage(cli, "--state is '%.64s': give seen, processing, done or dead", state_given);
    for (int status = BOXCAR_READY; status <= BOXCAR_FAILED; status++)
        if (boxcar_inbox_state_of((boxcar_message_status)status) == state)
            filter->status = (boxcar_message_status)status;
    filter->by_status = true;
    return CLI_DONE;
}

static int run_ls(struct cli *cli) {
    boxcar_message_filter filter = BOXCAR_MESSAGE_FILTER_INIT;
    filter.box = BOXCAR_INBOX;
    TRY(read_state(cli, &filter));
    return message_list(cli, &filter, LS_COLUMNS);
}

static const struct command CMD_INBOX_LS = {
    .name = "inbox ls",
    .summary = "list messages from outside, newest first",
    .usage = "[--state STATE] [--topic TOPIC] [--limit N] [--after WORK_ID]",
    .description =
        "As boxcar ls --box inbox, in the words of the inbox: seen (ready), processing (in progress), done,\n"
        "dead (failed). Keys without a message are not listed: see boxcar inbox show.\n",
    .examples = "boxcar inbox ls\n"
                "boxcar inbox ls --state dead --topic 'orders.*' -o jsonl\n",
    .options = LS_OPTIONS,
    .run = run_ls,
};

/* ---- boxcar inbox revive: makes a dead letter of the inbox ready again ---- */

static char *reason;

static struct poptOption REVIVE_OPTIONS[] = {
    OPTION_TEXT("reason", reason, "why; kept in the message's history", "TEXT"),
    POPT_TABLEEND,
};

static int run_revive(struct cli *cli) {
    boxcar_message_ref ref;
    boxcar_inbox_key key;
    boxcar_work_id work_id;
    if (!read_ref(cli, &ref, &key))
        return CLI_USAGE;
    if (!reason)
        return cli_usage(cli, "--reason is missing: say why the message is revived");
    TRY(cli_store_open(cli));
    TRY(cli_check(cli, boxcar_inbox_revive(cli->store, ref, boxcar_str_of(reason), &work_id, &cli->err)));
    return output_count(cli, "work_id", work_id.value);
}

static const struct command CMD_INBOX_REVIVE = {
    .name = "inbox revive",
    .summary = "make a dead letter of the inbox ready again",
    .usage = "SOURCE ID --reason TEXT\n"
             "WORK_ID|MESSAGE_ID --reason TEXT",
    .description =
        "The message is ready at once, or when it is due, with retry_count 0. Its time to live no longer\n"
        "counts. The reason is kept in its history. Prints its work id; with -o json {\"work_id\": N}. If\n"
        "the message does not exist, the exit status is 3; if it is not dead, 4.\n",
    .examples = "boxcar inbox revive shop order-42 --reason 'customer added'\n",
    .options = REVIVE_OPTIONS,
    .missing = REF_MISSING,
    .most_args = 2,
    .run = run_revive,
};

const struct command_noun INBOX_COMMANDS = {
    "Inbox", (const struct command *const[]){&CMD_INBOX, &CMD_INBOX_ENQUEUE, &CMD_INBOX_CHECK,
                                             &CMD_INBOX_SHOW, &CMD_INBOX_LS, &CMD_INBOX_REVIVE, NULL}};
