/* Producers: single messages, many at once, duplicates, shared keys, and transactions of their own
 * that commit, roll back, dawdle, or lose their connection. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "borrowed.h"
#include "outgoing.h"

/* The most that one transaction of ours holds. */
#define TRANSACTION_STEPS 4

struct producer {
    struct client *client;
    struct borrowed borrowed;
    boxcar_enqueued last; /* something that is stored for sure */
    struct outgoing *steps[TRANSACTION_STEPS];
};

/* An enqueue without an answer is repeated with the same ids until there is one: a no-op if the
 * first one had taken effect after all. */
static void enqueue_own(struct producer *p, size_t count) {
    struct outgoing *outgoing = p->steps[0];
    outgoing_make(outgoing, p->client, count);
    while (!outgoing_enqueue(outgoing, p->client, p->client->store))
        if (atomic_load(&p->client->storm->board->stop))
            return;
    outgoing_end(outgoing, p->client, RECORD_ENQUEUED);
    p->last = outgoing->enqueued[0];
}

static void enqueue_again(struct producer *p) {
    boxcar_new_message message = BOXCAR_NEW_MESSAGE_INIT;
    boxcar_enqueued enqueued;
    boxcar_error err = BOXCAR_ERROR_INIT;
    message.topic = BOXCAR_STR("storm.again");
    message.payload = BOXCAR_STR("");
    message.message_id = p->last.message_id;
    if (p->last.work_id.value == 0 ||
        !accept_status(p->client, boxcar_enqueue(p->client->store, BOXCAR_OUTBOX, &message, &enqueued, &err),
                       &err, "enqueue again"))
        return;
    count(p->client, TALLY_DUPLICATES, 1);
    if (!enqueued.duplicate || enqueued.work_id.value != p->last.work_id.value)
        complain(p->client, "enqueueing work id %lld again made %lld", (long long)p->last.work_id.value,
                 (long long)enqueued.work_id.value);
}

/* A key that others use at the same time: there is one message, whichever enqueue comes first. */
static void enqueue_shared(struct producer *p) {
    struct outgoing *outgoing = p->steps[0];
    char key[64];
    int64_t turn = atomic_load(&p->client->storm->board->tallies[TALLY_ENQUEUED]) / 500;
    snprintf(key, sizeof(key), "shared-%lld", (long long)turn);
    outgoing->count = 1;
    outgoing->before = now_us();
    boxcar_new_message *message = &outgoing->messages[0];
    *message = BOXCAR_NEW_MESSAGE_INIT;
    message->topic = BOXCAR_STR("noise.x");
    message->payload = BOXCAR_STR("shared");
    message->key = boxcar_str_of(key);
    message->message_id = (boxcar_message_id){0};
    boxcar_message_id id = boxcar_message_id_of_topic_key(message->topic, message->key);
    struct record intent = {
        .kind = RECORD_INTENT, .client = (uint16_t)p->client->number, .before = outgoing->before};
    memcpy(intent.id, id.uuid.bytes, sizeof(intent.id));
    journal_add(&p->client->journal, intent);
    journal_flush(&p->client->journal);
    while (!outgoing_enqueue(outgoing, p->client, p->client->store))
        if (atomic_load(&p->client->storm->board->stop))
            return;
    message->message_id = outgoing->enqueued[0].message_id;
    outgoing_end(outgoing, p->client, RECORD_ENQUEUED);
    count(p->client, TALLY_ENQUEUED, -(int64_t)outgoing->enqueued[0].duplicate);
    count(p->client, TALLY_DUPLICATES, outgoing->enqueued[0].duplicate);
}

/* A part that is taken back by itself within a transaction that may well commit. */
static bool enqueue_and_take_back(struct producer *p, struct outgoing *outgoing) {
    outgoing_make(outgoing, p->client, (size_t)draw_size(p->client, 20));
    if (!borrowed_run(&p->borrowed, p->client, "savepoint part") ||
        !outgoing_enqueue(outgoing, p->client, p->borrowed.store))
        return false;
    if (!borrowed_run(&p->borrowed, p->client, "rollback to savepoint part"))
        return false;
    outgoing_end(outgoing, p->client, RECORD_ROLLED_BACK);
    outgoing->count = 0;
    return true;
}

static bool run_step(struct producer *p, struct outgoing *outgoing) {
    if (draw_percent(p->client, 20))
        return enqueue_and_take_back(p, outgoing);
    outgoing_make(outgoing, p->client, (size_t)draw_size(p->client, 100));
    return outgoing_enqueue(outgoing, p->client, p->borrowed.store);
}

/* SQLite has one writer at a time, so its long transactions are shorter. */
static void dawdle(struct producer *p) {
    if (!draw_percent(p->client, 10))
        return;
    count(p->client, TALLY_LONG_TRANSACTIONS, 1);
    pause_ms(draw_between(p->client, 50, p->client->storm->postgres ? 4000 : 400));
}

static void end_steps(struct producer *p, int steps, enum record_kind kind) {
    for (int i = 0; i < steps; i++)
        if (p->steps[i]->count > 0)
            outgoing_end(p->steps[i], p->client, kind);
}

/* A lost connection before the commit rolls back; one during it leaves the outcome unknown. */
static void enqueue_in_transaction(struct producer *p) {
    int steps = (int)draw_between(p->client, 1, TRANSACTION_STEPS);
    int begun = 0;
    bool going = true;
    if (!p->borrowed.store && !borrowed_open(&p->borrowed, p->client))
        return;
    if (!borrowed_run(&p->borrowed, p->client,
                      p->borrowed.db && draw_percent(p->client, 50) ? "begin immediate" : "begin")) {
        borrowed_close(&p->borrowed);
        return;
    }
    for (; going && begun < steps; begun++)
        going = run_step(p, p->steps[begun]);
    if (going)
        dawdle(p);
    if (going && draw_percent(p->client, 65)) {
        if (borrowed_run(&p->borrowed, p->client, "commit"))
            end_steps(p, begun, RECORD_ENQUEUED);
        else
            borrowed_close(&p->borrowed);
        return;
    }
    if (!borrowed_run(&p->borrowed, p->client, "rollback"))
        borrowed_close(&p->borrowed);
    end_steps(p, begun, RECORD_ROLLED_BACK);
}

static void produce_something(struct producer *p) {
    int64_t what = draw_between(p->client, 1, 100);
    if (what <= 25)
        enqueue_own(p, 1);
    else if (what <= 60)
        enqueue_own(p, (size_t)draw_size(p->client, OUTGOING_MAX));
    else if (what <= 85)
        enqueue_in_transaction(p);
    else if (what <= 92)
        enqueue_again(p);
    else
        enqueue_shared(p);
}

static bool is_enough(struct client *client) {
    struct board *board = client->storm->board;
    return atomic_load(&board->stop) || atomic_load(&board->stop_producing) ||
           atomic_load(&board->tallies[TALLY_ENQUEUED]) >= client->storm->messages;
}

void produce(struct client *client) {
    struct producer p = {.client = client};
    for (int i = 0; i < TRANSACTION_STEPS; i++) {
        p.steps[i] = calloc(1, sizeof(*p.steps[i]));
        if (!p.steps[i])
            abort();
    }
    while (!is_enough(client)) {
        produce_something(&p);
        if (draw_percent(client, 20))
            pause_ms(draw_between(client, 1, 20));
    }
    borrowed_close(&p.borrowed);
    for (int i = 0; i < TRANSACTION_STEPS; i++)
        free(p.steps[i]);
}
