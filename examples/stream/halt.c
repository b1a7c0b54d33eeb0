/* stream_halt STORE: the changes of an account are handled in order, and halt where one fails.
 *
 * Messages of one stream are handled one at a time, in the order in which they were enqueued. A claim may
 * bring several of them. A program that claims by hand must handle them in order. At the first that is not
 * done it must stop and give the rest back. A worker (boxcar/worker.h) does this by itself.
 *
 * The policy of these streams is to halt when a message dies. Then nothing behind it is handed out until the
 * stream is resumed. This program resumes it with another try of the dead message.
 *
 *   stream_halt sqlite:bank.db
 *   stream_halt postgres:///bank
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <boxcar.h>

static bool is_open; /* the bank, for withdrawals */

static void check(boxcar_status status, const char *what, const boxcar_error *err) {
    if (status == BOXCAR_OK)
        return;
    fprintf(stderr, "stream_halt: %s: %s\n", what, err->message);
    exit(1);
}

static void enqueue(boxcar_store *store, const char *payload) {
    boxcar_new_message message = BOXCAR_NEW_MESSAGE_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;

    message.topic = BOXCAR_STR("account.change");
    message.stream = BOXCAR_STR("account-7");
    message.payload = boxcar_str_of(payload);
    check(boxcar_enqueue(store, BOXCAR_OUTBOX, &message, NULL, &err), "enqueue", &err);
}

/* The work; false = it cannot be done, now or ever. */
static bool handle(const boxcar_message *message) {
    bool done = is_open || strncmp(message->payload.data, "withdraw", 8) != 0;

    printf("%s %.*s\n", done ? "done:    " : "rejected:", (int)message->payload.len, message->payload.data);
    return done;
}

/* One claim: acks what is done, fails the first that is not, and gives back the rest. */
static void work(boxcar_store *store) {
    boxcar_claimer me = BOXCAR_CLAIMER_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_message_list *list;
    bool going = true;

    me.owner.uuid = boxcar_uuid_new();
    me.batch_size = 50;
    check(boxcar_claim(store, &me, &list, &err), "claim", &err);
    for (size_t i = 0; i < list->count; i++) {
        const boxcar_message *message = list->items[i];
        boxcar_settlement settlement = BOXCAR_SETTLEMENT_INIT;

        settlement.work_id = message->work_id;
        settlement.epoch = message->epoch;
        if (!going) {
            check(boxcar_settle(store, &me, BOXCAR_DEFER, &settlement, 1, NULL, NULL, &err), "defer", &err);
            continue;
        }
        going = handle(message);
        settlement.error = going ? BOXCAR_NO_STR : BOXCAR_STR("the bank is closed");
        check(boxcar_settle(store, &me, going ? BOXCAR_ACK : BOXCAR_FAIL, &settlement, 1, NULL, NULL, &err),
              "settle", &err);
    }
    boxcar_list_free(list);
}

static void print_stream(boxcar_store *store) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_stream_list *list;
    boxcar_status status = boxcar_stream_find(store, BOXCAR_OUTBOX, BOXCAR_STR("account-7"), &list, &err);

    if (status == BOXCAR_E_NOT_FOUND) {
        printf("account-7: nothing is left\n");
        return;
    }
    check(status, "find", &err);
    const boxcar_stream *stream = list->items[0];
    printf("account-7: %s, %lld waiting\n", boxcar_stream_state_name(stream->state),
           (long long)stream->pending);
    boxcar_list_free(list);
}

int main(int argc, char **argv) {
    boxcar_store_options options = BOXCAR_STORE_OPTIONS_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_store *store;

    options.url = boxcar_str_of(argc > 1 ? argv[1] : "sqlite:boxcar.db");
    options.deploy = true;
    check(boxcar_store_open(&options, &store, &err), "open", &err);
    check(boxcar_stream_rule_write(store, BOXCAR_STR("account-*"), BOXCAR_STREAM_HALT, &err), "policy", &err);
    enqueue(store, "open");
    enqueue(store, "deposit 10");
    enqueue(store, "withdraw 5");
    enqueue(store, "close");
    work(store);
    print_stream(store);
    work(store); /* nothing comes */

    is_open = true;
    check(boxcar_stream_resume(store, BOXCAR_OUTBOX, BOXCAR_STR("account-7"), true, &err), "resume", &err);
    print_stream(store);
    work(store);
    print_stream(store);
    boxcar_store_close(store);
    return 0;
}
