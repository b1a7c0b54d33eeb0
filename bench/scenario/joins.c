/* The cost of joins: for messages in a join, and for other messages. */
#include <pthread.h>
#include <stdlib.h>

#include "joins.h"

#define CONNECTIONS 4
#define BATCH 1000
static const boxcar_join_id NO_JOIN = {0};

static int connections_of(const struct bench *b) { return b->kind == BENCH_POSTGRES ? CONNECTIONS : 1; }

/* ---- members of one join against messages that belong to nothing ---- */

static double drain(struct bench *b, const struct place *place, size_t messages) {
    struct crew crew;
    double rate;

    crew_open(&crew, &SIDE_BOXCAR, place, connections_of(b));
    rate = crew_drain(&crew, &(struct work){.goal = messages, .batch = BATCH});
    crew_close(&crew);
    return rate;
}

struct member_figures {
    struct pairs fills, drains, acks;
};

/* Fills both places before the clock runs; the first half is drained, of the other one acks alone are
 * measured. */
static void run_members(struct bench *b, int round, size_t messages, struct member_figures *figures) {
    struct place places[2];
    boxcar_store *stores[2];
    boxcar_join_id join_ids[2] = {NO_JOIN, NO_JOIN};
    double fill_rates[2], rates[2], ack_rates[2];

    place_create_boxcar(&places[0], b);
    place_create_boxcar(&places[1], b);
    for (int i = 0; i < 2; i++) {
        stores[i] = place_open(&places[i]);
        if (i == 0)
            join_ids[i] = join_start(stores[i], 2 * messages);
        place_checkpoint(&places[i]);
        fill_rates[i] = join_fill(stores[i], join_ids[i], 2 * messages);
        place_analyze(&places[i]);
    }
    for (int turn = 0; turn < 2; turn++)
        rates[(round + turn) % 2] = drain(b, &places[(round + turn) % 2], messages);
    for (int turn = 0; turn < 2; turn++) {
        int i = (round + turn) % 2;
        struct pile pile;

        pile_claim(&pile, stores[i], messages, BATCH);
        ack_rates[i] = pile_ack(&pile, &places[i], connections_of(b), BATCH);
        pile_release(&pile);
    }
    pairs_add(&figures->fills, fill_rates[0], fill_rates[1]);
    pairs_add(&figures->drains, rates[0], rates[1]);
    pairs_add(&figures->acks, ack_rates[0], ack_rates[1]);
    join_must_have(&places[0], join_ids[0], 2 * messages, true);
    for (int i = 0; i < 2; i++) {
        boxcar_store_close(stores[i]);
        place_remove(&places[i]);
    }
}

static void bench_members(struct bench *b) {
    size_t messages = bench_count(b, b->kind == BENCH_POSTGRES ? 200000 : 100000, 1000);
    struct member_figures figures = {0};

    if (!bench_wants(b, "joins/members"))
        return;
    for (int round = 0; round < b->rounds; round++) {
        bench_progress("members: round %d of %d", round + 1, b->rounds);
        run_members(b, round, messages, &figures);
    }
    report_add(b->report,
               b->kind == BENCH_POSTGRES ? "drain in a join, 4 x 1,000" : "drain in a join, 1 x 1,000",
               "msg/s", &figures.drains, target_of(b, AT_LEAST(0.8), AT_LEAST(0.5)));
    report_add(b->report, "  the acks alone", "msg/s", &figures.acks, AT_LEAST(0.5));
    report_add(b->report, "enqueue into a join, 1 x 1,000", "msg/s", &figures.fills,
               target_of(b, AT_LEAST(0.8), NO_TARGET));
}

/* ---- messages that belong to nothing, in a store with joins and in one without ---- */

#define OTHER_JOINS 100
#define UNKNOWN_MEMBERS 1000

/* Messages that somebody holds, members of joins or not; and, if wanted, members that no message has come
 * for. */
static void prepare_neighbours(boxcar_store *store, bool joined, bool unknown, size_t messages) {
    size_t joins = messages < 10 * OTHER_JOINS ? messages / 10 : OTHER_JOINS;
    struct pile pile;

    for (size_t i = 0; i < joins; i++)
        join_fill(store, joined ? join_start(store, messages) : NO_JOIN, messages / joins);
    pile_claim(&pile, store, messages / joins * joins, BATCH);
    pile_release(&pile);
    if (joined && unknown) {
        boxcar_join_id join_id = join_start(store, UNKNOWN_MEMBERS);
        boxcar_message_id ids[UNKNOWN_MEMBERS];
        boxcar_error err = BOXCAR_ERROR_INIT;

        for (int i = 0; i < UNKNOWN_MEMBERS; i++)
            ids[i].uuid = boxcar_uuid_new();
        bench_must(boxcar_join_attach(store, join_id, ids, UNKNOWN_MEMBERS, NULL, &err), "attach", &err);
    }
}

static void run_outsiders(struct bench *b, int round, bool unknown, size_t messages, struct pairs *acks) {
    struct place places[2];
    struct pile piles[2];
    double rates[2];

    for (int i = 0; i < 2; i++) {
        boxcar_store *store;

        place_create_boxcar(&places[i], b);
        store = place_open(&places[i]);
        prepare_neighbours(store, i == 0, unknown, messages);
        place_checkpoint(&places[i]);
        join_fill(store, NO_JOIN, messages);
        pile_claim(&piles[i], store, messages, BATCH);
        place_analyze(&places[i]);
        boxcar_store_close(store);
    }
    for (int turn = 0; turn < 2; turn++) {
        int i = (round + turn) % 2;

        rates[i] = pile_ack(&piles[i], &places[i], connections_of(b), BATCH);
    }
    pairs_add(acks, rates[0], rates[1]);
    for (int i = 0; i < 2; i++) {
        pile_release(&piles[i]);
        place_remove(&places[i]);
    }
}

static void bench_outsiders(struct bench *b) {
    size_t messages = bench_count(b, 100000, 200);

    if (!bench_wants(b, "joins/outside"))
        return;
    for (int unknown = 0; unknown < 2; unknown++) {
        struct pairs acks = {0};

        for (int round = 0; round < b->rounds; round++) {
            bench_progress("outside joins: round %d of %d", round + 1, b->rounds);
            run_outsiders(b, round, unknown, messages, &acks);
        }
        report_add(b->report,
                   unknown ? "  and members no message came for" : "ack outside joins, with/without", "msg/s",
                   &acks, unknown ? NO_TARGET : AT_LEAST(0.9));
    }
}

/* ---- single acks while others count in one join ---- */

struct single {
    pthread_t thread;
    pthread_barrier_t *start;
    boxcar_store *store;
    struct pile pile;
    atomic_bool *stop;
    size_t acked;
    double ended;
};

/* Until the pile is used up, or others have ended. */
static void *ack_singles(void *argument) {
    struct single *single = argument;

    pthread_barrier_wait(single->start);
    for (; single->acked < single->pile.count && !(single->stop && atomic_load(single->stop));
         single->acked++) {
        boxcar_error err = BOXCAR_ERROR_INIT;
        boxcar_claimer me = BOXCAR_CLAIMER_INIT;
        size_t affected = 0;

        me.owner = single->pile.owner;
        bench_must(
            boxcar_ack(single->store, &me, &single->pile.items[single->acked], 1, NULL, &affected, &err),
            "ack", &err);
        if (affected != 1)
            bench_die("a message was not acked");
    }
    single->ended = bench_now();
    return NULL;
}

/* The rate of four clients that ack messages in no join, while four others ack members of one join. */
static double run_beside(const struct place *place, boxcar_join_id join_id, size_t each) {
    struct single singles[2 * CONNECTIONS];
    atomic_bool stop = false;
    pthread_barrier_t start;
    double started, ended = 0;

    if (pthread_barrier_init(&start, NULL, 2 * CONNECTIONS + 1) != 0)
        bench_die("cannot make a barrier");
    for (int i = 0; i < 2 * CONNECTIONS; i++) {
        bool is_neighbour = i < CONNECTIONS;
        size_t count = is_neighbour ? 2 * each : each;

        singles[i] =
            (struct single){.start = &start, .store = place_open(place), .stop = is_neighbour ? &stop : NULL};
        join_fill(singles[i].store, is_neighbour ? join_id : NO_JOIN, count);
        pile_claim(&singles[i].pile, singles[i].store, count, 100);
    }
    place_analyze(place);
    for (int i = 0; i < 2 * CONNECTIONS; i++)
        if (pthread_create(&singles[i].thread, NULL, ack_singles, &singles[i]) != 0)
            bench_die("cannot start a thread");
    started = bench_now();
    pthread_barrier_wait(&start);
    for (int i = CONNECTIONS; i < 2 * CONNECTIONS; i++) {
        pthread_join(singles[i].thread, NULL);
        ended = singles[i].ended > ended ? singles[i].ended : ended;
    }
    atomic_store(&stop, true);
    for (int i = 0; i < 2 * CONNECTIONS; i++) {
        if (i < CONNECTIONS)
            pthread_join(singles[i].thread, NULL);
        pile_release(&singles[i].pile);
        boxcar_store_close(singles[i].store);
    }
    pthread_barrier_destroy(&start);
    return (double)(CONNECTIONS * each) / (ended - started);
}

/* Without the join the four others ack as well, messages that belong to nothing: what is compared is the
 * join, not the company. */
static void bench_beside(struct bench *b) {
    size_t each = bench_count(b, b->kind == BENCH_POSTGRES ? 3000 : 1500, 20);
    struct pairs rates = {0};

    if (!bench_wants(b, "joins/beside"))
        return;
    for (int round = 0; round < b->rounds; round++) {
        struct place places[2];
        double rate[2];

        bench_progress("beside a hot join: round %d of %d", round + 1, b->rounds);
        for (int i = 0; i < 2; i++)
            place_create_boxcar(&places[i], b);
        for (int turn = 0; turn < 2; turn++) {
            int i = (round + turn) % 2;
            boxcar_store *store = place_open(&places[i]);
            boxcar_join_id join_id = i == 0 ? join_start(store, 2 * CONNECTIONS * each) : NO_JOIN;

            boxcar_store_close(store);
            rate[i] = run_beside(&places[i], join_id, each);
        }
        pairs_add(&rates, rate[0], rate[1]);
        for (int i = 0; i < 2; i++)
            place_remove(&places[i]);
    }
    report_add(b->report, "single acks beside a hot join", "msg/s", &rates,
               target_of(b, AT_LEAST(0.8), NO_TARGET));
}

static void scenario_joins(struct bench *b) {
    bench_members(b);
    bench_outsiders(b);
    bench_beside(b);
    bench_join_size(b);
}

const struct scenario JOINS_SCENARIO = {"joins: members, messages outside, a million steps, reading",
                                        scenario_joins};
