/* message_claim_and_ack STORE: a small worker that claims, works, and says how each message ended.
 *
 * Four messages show the possible ends. One works (ack). One works the second time (abandon, then
 * ack). One can never work (fail). One keeps failing until its attempts are used up. The last two
 * become dead letters.
 *
 *   claim_and_ack sqlite:work.db
 *   claim_and_ack postgres:///shop
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <boxcar.h>

enum outcome { WORKED, TRY_AGAIN, HOPELESS };

static void die(const char *what, const boxcar_error *err) {
    fprintf(stderr, "%s: %s\n", what, err->message);
    exit(1);
}

static boxcar_store *open_store(const char *url) {
    boxcar_store_options options = BOXCAR_STORE_OPTIONS_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_store *store;

    options.url = boxcar_str_of(url);
    options.deploy = true;
    if (boxcar_store_open(&options, &store, &err) != BOXCAR_OK)
        die("open", &err);
    return store;
}

/* One transaction for all: either every message is stored or none. */
static void enqueue_work(boxcar_store *store) {
    static const char *const payloads[] = {"works", "works the second time", "never valid", "always fails"};
    boxcar_new_message messages[4];
    boxcar_error err = BOXCAR_ERROR_INIT;

    for (size_t i = 0; i < 4; i++) {
        messages[i] = BOXCAR_NEW_MESSAGE_INIT;
        messages[i].topic = BOXCAR_STR("mail.send");
        messages[i].payload = boxcar_str_of(payloads[i]);
        messages[i].max_attempts = 3;
    }
    if (boxcar_enqueue_many(store, BOXCAR_OUTBOX, messages, 4, NULL, &err) != BOXCAR_OK)
        die("enqueue", &err);
}

static int payload_is(const boxcar_message *message, const char *text) {
    return message->payload.len == strlen(text) && memcmp(message->payload.data, text, strlen(text)) == 0;
}

/* The work itself. It may run more than once for a message. So real work is idempotent, or looks up
 * the message id before it acts. */
static enum outcome handle(const boxcar_message *message) {
    if (payload_is(message, "never valid"))
        return HOPELESS;
    if (payload_is(message, "always fails"))
        return TRY_AGAIN;
    if (payload_is(message, "works the second time") && message->retry_count == 0)
        return TRY_AGAIN;
    return WORKED;
}

/* Short delays, so that the example ends soon: 10 ms, 20 ms, ... */
static int64_t next_delay_ms(const boxcar_message *message) {
    boxcar_backoff_policy policy = BOXCAR_BACKOFF_POLICY_INIT;

    policy.curve.base_ms = 5;
    return boxcar_backoff_delay_ms(&policy, message, 0);
}

/* Settles the message. The work id and the epoch together name this lease and no other. If this worker
 * was too slow and another one has the message by now, `affected` is 0. */
static void settle(boxcar_store *store, const boxcar_claimer *me, const boxcar_message *message,
                   enum outcome outcome) {
    boxcar_settlement settlement = BOXCAR_SETTLEMENT_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_settle_kind kind = BOXCAR_ACK;
    const char *what = "acked";
    size_t affected = 0;

    settlement.work_id = message->work_id;
    settlement.epoch = message->epoch;
    if (outcome == TRY_AGAIN) {
        kind = BOXCAR_ABANDON;
        what = "abandoned";
        settlement.delay_ms = next_delay_ms(message);
        settlement.error = BOXCAR_STR("connection refused");
    } else if (outcome != WORKED) {
        kind = BOXCAR_FAIL;
        what = "failed";
        settlement.error = BOXCAR_STR("no such address");
    }
    if (boxcar_settle(store, me, kind, &settlement, 1, NULL, &affected, &err) != BOXCAR_OK)
        die(what, &err);
    printf("attempt %d of \"%.*s\": %s\n", message->retry_count + 1, (int)message->payload.len,
           message->payload.data, affected == 1 ? what : "too late, somebody else has it");
}

/* Claims a batch and works through it; false when nothing was ready. */
static bool work_once(boxcar_store *store, boxcar_claimer *me) {
    boxcar_str topic = BOXCAR_STR("mail.*");
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_message_list *list;

    me->topics = &topic;
    me->topic_count = 1;
    if (boxcar_claim(store, me, &list, &err) != BOXCAR_OK)
        die("claim", &err);
    size_t count = list->count;
    for (size_t i = 0; i < count; i++) {
        const boxcar_message *message = list->items[i];
        settle(store, me, message, handle(message));
    }
    boxcar_list_free(list);
    return count > 0;
}

static bool is_anything_left(boxcar_store *store) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_stats_list *list;

    if (boxcar_stats_read(store, BOXCAR_OUTBOX, false, &list, &err) != BOXCAR_OK)
        die("stats", &err);
    const boxcar_stats *stats = list->items[0];
    bool left = stats->ready + stats->waiting + stats->in_progress > 0;
    boxcar_list_free(list);
    return left;
}

static void print_dead_letters(boxcar_store *store) {
    boxcar_dead_filter filter = BOXCAR_DEAD_FILTER_INIT;
    boxcar_work_id from_the_newest = {0};
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_message_list *list;

    if (boxcar_dead_page(store, &filter, 10, from_the_newest, &list, &err) != BOXCAR_OK)
        die("dead letters", &err);
    for (size_t i = 0; i < list->count; i++) {
        const boxcar_message *message = list->items[i];
        printf("dead letter: %s after %d bad attempts, last error \"%.*s\"\n",
               boxcar_reason_name(message->reason), message->retry_count, (int)message->last_error.len,
               message->last_error.data);
    }
    boxcar_list_free(list);
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: message_claim_and_ack sqlite:PATH|postgres://...\n");
        return 2;
    }
    boxcar_store *store = open_store(argv[1]);
    boxcar_claimer me = BOXCAR_CLAIMER_INIT;

    enqueue_work(store);
    me.owner.uuid = boxcar_uuid_new();
    while (work_once(store, &me) || is_anything_left(store))
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    print_dead_letters(store);
    boxcar_store_close(store);
    return 0;
}
