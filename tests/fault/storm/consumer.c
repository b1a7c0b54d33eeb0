/* Consumers: claim, then settle in part, late, twice, wrongly, in a transaction that rolls back, or
 * not at all. And the clean ones that drain what is left. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "borrowed.h"
#include "outgoing.h"
#include "settle.h"

struct consumer {
    struct client *client;
    struct borrowed borrowed;
    struct held *held;
    struct outgoing *outgoing;
    bool sits; /* in the transactions in which it claims */
};

static const boxcar_str FILTERS[][2] = {
    {{"storm.*", 7}, {NULL, 0}},
    {{"noise.x", 7}, {"storm.b", 7}},
    {{"noise.*", 7}, {"storm.a", 7}},
    {{"nobody.knows", 12}, {NULL, 0}},
};

static int64_t draw_lease(struct client *client) {
    if (draw_percent(client, 50))
        return draw_between(client, 100, 500);
    return draw_between(client, 1000, client->storm->lease_max_ms);
}

static boxcar_claimer draw_claim(struct client *client) {
    boxcar_claimer options = BOXCAR_CLAIMER_INIT;
    options.owner = client->owner;
    options.lease_ms = draw_lease(client);
    options.batch_size = (int)draw_size(client, 400);
    if (draw_percent(client, 25)) {
        const boxcar_str *filter = FILTERS[draw_between(client, 0, 3)];
        options.topics = filter;
        options.topic_count = filter[1].data ? 2 : 1;
    }
    return options;
}

static void choose_all(const struct held *held, bool *chosen) {
    for (size_t i = 0; i < held->count; i++)
        chosen[i] = true;
}

/* Ends as a crash would: nothing is settled, closed or told. */
static void die(struct client *client) {
    count(client, TALLY_DEATHS, 1);
    journal_flush(&client->journal);
    if (draw_percent(client, 50))
        raise(SIGKILL);
    _exit(0);
}

static void sleep_past_lease(struct held *held) {
    int64_t left_us = held->before + held->lease_ms * 1000 - now_us();
    if (left_us > 0)
        pause_ms(left_us / 1000 + 20);
}

static void count_late(struct consumer *c, const bool *chosen) {
    struct held *held = c->held;
    if (now_us() < held->after + held->lease_ms * 1000)
        return;
    for (size_t i = 0; i < held->count; i++) {
        count(c->client, TALLY_LATE, chosen[i]);
        count(c->client, TALLY_LATE_COUNTED, chosen[i] && held->affected[i]);
    }
}

static bool settle(struct consumer *c, enum verb verb, int64_t ms, const bool *chosen) {
    struct settling how = {.verb = verb, .ms = ms, .without_epochs = draw_percent(c->client, 20)};
    memset(c->held->affected, 0, sizeof(c->held->affected));
    bool answered = settle_some(c->held, c->client, c->client->store, &how, chosen);
    if (answered)
        count_late(c, chosen);
    return answered;
}

static void ack_all(struct consumer *c) {
    bool chosen[HELD_MAX] = {false};
    choose_all(c->held, chosen);
    if (settle(c, VERB_ACK, 0, chosen) && draw_percent(c->client, 10))
        settle(c, VERB_ACK, 0, chosen);
}

/* Each message its own end_state; some are forgotten. */
static void settle_mixed(struct consumer *c) {
    static const enum verb CHOICES[] = {VERB_ACK, VERB_ACK, VERB_ACK,     VERB_ACK,
                                        VERB_ACK, VERB_ACK, VERB_ABANDON, VERB_DEFER};
    enum verb verbs[HELD_MAX];
    bool chosen[HELD_MAX];
    for (size_t i = 0; i < c->held->count; i++) {
        verbs[i] = CHOICES[draw_between(c->client, 0, 7)];
        if (draw_percent(c->client, 1))
            verbs[i] = VERB_FAIL;
        if (draw_percent(c->client, 2))
            verbs[i] = VERBS;
    }
    for (int verb = VERB_ACK; verb <= VERB_FAIL; verb++) {
        int64_t delay = draw_percent(c->client, 50) ? draw_between(c->client, 0, 300) : 0;
        if (verb == VERB_ABANDON && draw_percent(c->client, 30))
            delay = BOXCAR_BACKOFF;
        for (size_t i = 0; i < c->held->count; i++)
            chosen[i] = verbs[i] == (enum verb)verb;
        settle(c, (enum verb)verb, delay, chosen);
    }
}

static void renew_part(struct consumer *c) {
    bool chosen[HELD_MAX];
    bool whole = draw_percent(c->client, 30);
    for (size_t i = 0; i < c->held->count; i++)
        chosen[i] = whole || draw_percent(c->client, 50);
    settle(c, VERB_RENEW, draw_lease(c->client), chosen);
}

/* Settles in a transaction of ours, which may roll back: then nothing has happened. */
static void settle_in_transaction(struct consumer *c) {
    struct settling how = {.verb = draw_percent(c->client, 80) ? VERB_ACK : VERB_ABANDON,
                           .in_transaction = true};
    bool chosen[HELD_MAX];
    choose_all(c->held, chosen);
    if ((!c->borrowed.store && !borrowed_open(&c->borrowed, c->client)) ||
        !borrowed_run(&c->borrowed, c->client, c->borrowed.db ? "begin immediate" : "begin"))
        return borrowed_close(&c->borrowed);
    bool going = settle_some(c->held, c->client, c->borrowed.store, &how, chosen);
    if (going && draw_percent(c->client, 50)) {
        if (borrowed_run(&c->borrowed, c->client, "commit"))
            return settle_end(c->held, c->client, &how, chosen, true);
        return borrowed_close(&c->borrowed);
    }
    if (!borrowed_run(&c->borrowed, c->client, "rollback"))
        borrowed_close(&c->borrowed);
    settle_end(c->held, c->client, &how, chosen, false);
    count(c->client, TALLY_ROLLBACKS, 1);
}

static void settle_somehow(struct consumer *c) {
    int64_t how = draw_between(c->client, 1, 100);
    if (how <= 62)
        ack_all(c);
    else if (how <= 90)
        settle_mixed(c);
    else if (how <= 97)
        settle_in_transaction(c);
    /* else: walks away */
}

static void handle(struct consumer *c) {
    struct client *client = c->client;
    if (draw_percent(client, 4))
        settle_wrongly(c->held, client);
    if (draw_percent(client, 10))
        renew_part(c);
    if (draw_percent(client, 1))
        die(client);
    if (draw_percent(client, 20))
        pause_ms(draw_between(client, 1, 60));
    if (c->held->lease_ms <= 500 && draw_percent(client, 5))
        sleep_past_lease(c->held);
    settle_somehow(c);
}

/* A transaction that has an id already when it claims, and writes messages under it afterwards. */
static bool take_transaction_id(struct consumer *c) {
    if (c->borrowed.db || draw_percent(c->client, 30))
        return true;
    return borrowed_run(&c->borrowed, c->client, "select pg_current_xact_id()");
}

/* Stays in its transaction, sometimes for a minute, as one does that works on what it has claimed. False:
 * hangs up. */
static bool sit_still(struct consumer *c) {
    struct client *client = c->client;
    int64_t longest_ms = draw_percent(client, 50)   ? 100
                         : draw_percent(client, 80) ? 2000
                         : client->storm->big       ? 60000
                                                    : 4000;
    int64_t end = now_us() + draw_between(client, 0, longest_ms) * 1000;
    while (now_us() < end && !atomic_load(&client->storm->board->stop))
        pause_ms(20);
    bool hangs_up = draw_percent(client, 15);
    count(client, TALLY_SAT, 1);
    count(client, TALLY_HUNG_UP, hangs_up);
    return !hangs_up;
}

/* Enqueue, claim, enqueue and ack, all in one transaction of ours. What is claimed counts from the commit on.
 */
static bool work_in_transaction(struct consumer *c, const boxcar_claimer *options, bool *ret_committed) {
    struct settling how = {.verb = VERB_ACK, .in_transaction = true};
    bool chosen[HELD_MAX];
    outgoing_make(c->outgoing, c->client, (size_t)draw_size(c->client, 4));
    if (!borrowed_run(&c->borrowed, c->client, c->borrowed.db ? "begin immediate" : "begin"))
        return false;
    bool first = draw_percent(c->client, 50);
    if (first ? !outgoing_enqueue(c->outgoing, c->client, c->borrowed.store) : !take_transaction_id(c))
        return false;
    if (!held_claim(c->held, c->client, c->borrowed.store, options, true))
        return false;
    if (c->sits && !sit_still(c))
        return false;
    if (!first && !outgoing_enqueue(c->outgoing, c->client, c->borrowed.store))
        return false;
    for (size_t i = 0; i < c->held->count; i++)
        chosen[i] = draw_percent(c->client, 80);
    if (!settle_some(c->held, c->client, c->borrowed.store, &how, chosen))
        return false;
    *ret_committed = draw_percent(c->client, 60);
    if (!borrowed_run(&c->borrowed, c->client, *ret_committed ? "commit" : "rollback"))
        return false;
    c->held->after = now_us();
    if (*ret_committed)
        held_note(c->held, c->client);
    settle_end(c->held, c->client, &how, chosen, *ret_committed);
    return true;
}

/* What was left open by a lost connection stays unknown. */
static void consume_in_transaction(struct consumer *c) {
    boxcar_claimer options = draw_claim(c->client);
    bool committed = false;
    options.batch_size = (int)draw_size(c->client, 50);
    if (!c->borrowed.store && !borrowed_open(&c->borrowed, c->client))
        return;
    if (!work_in_transaction(c, &options, &committed))
        return borrowed_close(&c->borrowed);
    outgoing_end(c->outgoing, c->client, committed ? RECORD_ENQUEUED : RECORD_ROLLED_BACK);
}

void consume(struct client *client) {
    struct consumer c = {
        .client = client, .held = calloc(1, sizeof(*c.held)), .outgoing = calloc(1, sizeof(*c.outgoing))};
    if (!c.held || !c.outgoing)
        abort();
    while (!atomic_load(&client->storm->board->stop)) {
        boxcar_claimer options = draw_claim(client);
        if (!atomic_load(&client->storm->board->stop_producing) && draw_percent(client, 4))
            consume_in_transaction(&c);
        else if (held_claim(c.held, client, client->store, &options, false) && c.held->count > 0)
            handle(&c);
        else
            pause_ms(draw_between(client, 1, 20));
    }
    borrowed_close(&c.borrowed);
    free(c.held);
    free(c.outgoing);
}

void sit(struct client *client) {
    struct consumer c = {.client = client,
                         .held = calloc(1, sizeof(*c.held)),
                         .outgoing = calloc(1, sizeof(*c.outgoing)),
                         .sits = true};
    if (!c.held || !c.outgoing)
        abort();
    while (!atomic_load(&client->storm->board->stop)) {
        if (!atomic_load(&client->storm->board->stop_producing))
            consume_in_transaction(&c);
        pause_ms(draw_between(client, 1, 20));
    }
    borrowed_close(&c.borrowed);
    free(c.held);
    free(c.outgoing);
}

void drain(struct client *client) {
    struct consumer c = {.client = client, .held = calloc(1, sizeof(*c.held))};
    if (!c.held)
        abort();
    boxcar_claimer options = BOXCAR_CLAIMER_INIT;
    options.owner = client->owner;
    options.lease_ms = 60000;
    options.batch_size = HELD_MAX;
    while (!atomic_load(&client->storm->board->stop)) {
        bool chosen[HELD_MAX];
        if (!held_claim(c.held, client, client->store, &options, false) || c.held->count == 0) {
            pause_ms(20);
            continue;
        }
        choose_all(c.held, chosen);
        settle(&c, VERB_ACK, 0, chosen);
    }
    free(c.held);
}
