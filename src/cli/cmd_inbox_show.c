/* boxcar inbox show: everything about one message from outside. */
#include "commands.h"
#include "inbox.h"
#include "message_json.h"
#include "output.h"
#include "report.h"

/* What is known: the message while it is there, and what the inbox keeps about its key. */
struct knowledge {
    boxcar_message_list *messages;
    boxcar_attempt_list *attempts;
    boxcar_inbox_receipt_list *receipts;
};

static void release(struct knowledge *known) {
    boxcar_inbox_receipt_list_free(known->receipts);
    boxcar_attempt_list_free(known->attempts);
    boxcar_message_list_free(known->messages);
}

/* A key without a message is shown all the same; an id without a message is not found. */
static boxcar_status look(boxcar_store *store, boxcar_message_ref ref, boxcar_inbox_key key,
                          struct knowledge *known, boxcar_error *err) {
    bool by_key = key.source.data != NULL;
    boxcar_status status = BOXCAR_OK;
    if (by_key)
        status = boxcar_inbox_find(store, key, &known->receipts, err);
    if (status != BOXCAR_OK)
        return status;
    status = boxcar_message_find(store, BOXCAR_INBOX, ref, &known->messages, err);
    if (status == BOXCAR_E_NOT_FOUND && by_key)
        return BOXCAR_OK;
    if (status != BOXCAR_OK)
        return status;
    const boxcar_message *message = boxcar_message_list_get(known->messages, 0);
    status = boxcar_message_attempts(store, message->work_id, &known->attempts, err);
    if (status != BOXCAR_OK || by_key || !message->source.data)
        return status;
    key = (boxcar_inbox_key){message->source, message->external_id};
    return boxcar_inbox_find(store, key, &known->receipts, err);
}

static bool put_receipt(json_t *object, const boxcar_inbox_receipt *receipt) {
    return json_put(object, "content_hash", json_from_str(receipt->content_hash)) &&
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
                json_put(object, "source", json_from_str(receipt->source)) &&
                json_put(object, "external_id", json_from_str(receipt->external_id)) &&
                json_put(object, "state", json_string(boxcar_inbox_state_name(receipt->state))) &&
                put_receipt(object, receipt);
    return json_finish(object, good);
}

static json_t *whole_json(const struct knowledge *known) {
    const boxcar_message *message = boxcar_message_list_get(known->messages, 0);
    const boxcar_inbox_receipt *receipt = boxcar_inbox_receipt_list_get(known->receipts, 0);
    if (!message)
        return receipt_json(receipt);
    json_t *object = message_json(message, MESSAGE_WITH_PAYLOAD);
    return json_finish(object, object && (!receipt || put_receipt(object, receipt)) &&
                                   json_put(object, "attempts", attempt_list_json(known->attempts)));
}

static int run(struct cli *cli, const char *const *args) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_message_ref ref;
    boxcar_inbox_key key = {{0}, {0}};
    struct knowledge known = {0};
    if (!inbox_ref_read(cli, args, &ref, &key))
        return CLI_USAGE;
    int result = cli_store_open(cli);
    if (result != CLI_DONE)
        return result;
    result = look(cli->store, ref, key, &known, &err) == BOXCAR_OK ? output_object(cli, whole_json(&known))
                                                                   : cli_fail_with(cli, &err);
    release(&known);
    return result;
}

const struct command CMD_INBOX_SHOW = {
    .name = "inbox show",
    .summary = "show everything about one of them",
    .usage = "SOURCE ID\n"
             "WORK_ID|MESSAGE_ID",
    .description =
        "Shows all fields of the message with its payload and history, as boxcar show does, its source,\n"
        "external_id and state (seen, processing, done, dead), and what the inbox keeps about the key:\n"
        "content_hash, first_seen_at, last_seen_at, seen_count, ended_at. A key without a message (only "
        "seen,\n"
        "accepted, or the message is gone) is shown with a status of null. Changes nothing. A key that was\n"
        "never heard of gives exit status 3.\n",
    .examples = "boxcar inbox show shop order-42\n"
                "boxcar inbox show 1 -o json\n",
    .run = run,
};
