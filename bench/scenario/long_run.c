/* What time does to a queue: rows that nobody may vacuum, and a backlog. Boxcar is compared with
 * itself under better conditions, and the plain table, for comparison, with itself. */
#include <libpq-fe.h>
#include <stdio.h>

#include "bench.h"

#define CONNECTIONS 4
#define BATCH 100
#define BACKLOG_LARGE 1000000
#define BACKLOG_SMALL 10000
#define BACKLOG_STRETCHES 20 /* no more than four in a round */

/* A transaction that has an id and a snapshot, and keeps both: nothing that dies later can be
 * vacuumed. */
static PGconn *hold_snapshot(const char *url) {
    PGconn *pg = PQconnectdb(url);
    PGresult *result = PQexec(pg, "begin isolation level repeatable read; select pg_current_xact_id()");

    if (PQresultStatus(result) != PGRES_TUPLES_OK)
        bench_die("hold a snapshot: %s", PQerrorMessage(pg));
    PQclear(result);
    return pg;
}

static void run_snapshot(struct bench *b, const struct side *side, const struct place *place, size_t messages,
                         struct pairs *pairs) {
    double tenths[TENTHS];
    struct crew crew;
    PGconn *holder;

    crew_open(&crew, side, place, CONNECTIONS);
    crew_fill(&crew, messages / 20 + 1);
    crew_drain(&crew,
               &(struct work){.goal = messages / 20, .batch = BATCH}); /* plans are made, caches warm */
    place_checkpoint(place);
    holder = hold_snapshot(b->url);
    crew_fill(&crew, messages);
    place_analyze(place);
    crew_drain(&crew, &(struct work){.goal = messages, .batch = BATCH, .ret_tenths = tenths});
    PQfinish(holder);
    crew_close(&crew);
    pairs_add(pairs, tenths[TENTHS - 1], tenths[0]);
}

/* The plain table gets fewer messages: it would take a quarter of an hour for as many. */
static void scenario_snapshot(struct bench *b) {
    struct pairs ours = {0}, theirs = {0};

    if (b->kind != BENCH_POSTGRES || !bench_wants(b, "snapshot"))
        return;
    for (int round = 0; round < b->rounds; round++) {
        struct place place, raw;

        bench_progress("held snapshot: round %d of %d", round + 1, b->rounds);
        place_create_boxcar(&place, b);
        place_create_raw(&raw, b, &place);
        run_snapshot(b, &SIDE_BOXCAR, &place, bench_count(b, 400000, 1000), &ours);
        run_snapshot(b, side_queue(b), &raw, bench_count(b, 50000, 1000), &theirs);
        place_remove(&place);
        place_remove(&raw);
    }
    report_add(b->report, "held snapshot, last/first tenth", "msg/s", &ours, AT_LEAST(0.85));
    report_add(b->report, "  the same, plain table, 50,000", "msg/s", &theirs, NO_TARGET);
}

/* Takes a part of the backlog and puts it back: the rate of the taking. */
static double stretch(struct crew *crew, size_t messages) {
    double rate = crew_drain(crew, &(struct work){.goal = messages, .batch = BATCH});

    crew_fill(crew, messages);
    return rate;
}

/* Short stretches of the two in turn, so that whatever else the machine does meets both. */
static void run_backlog(struct bench *b, const struct side *side, struct place *const places[2],
                        int connections, struct pairs *ret_pairs) {
    size_t small = bench_count(b, BACKLOG_SMALL, 400), large = bench_count(b, BACKLOG_LARGE, 4000);
    int stretches = 4 * b->rounds < BACKLOG_STRETCHES ? 4 * b->rounds : BACKLOG_STRETCHES;
    struct crew crews[2];

    for (int i = 0; i < 2; i++) {
        crew_open(&crews[i], side, places[i], connections);
        crew_fill(&crews[i], i == 0 ? large : small);
        place_analyze(places[i]);
        place_checkpoint(places[i]);
        stretch(&crews[i], small / 2);
    }
    for (int i = 0; i < stretches; i++) {
        double rates[2];

        bench_progress("backlog (%s): stretch %d of %d", side->name, i + 1, stretches);
        for (int turn = 0; turn < 2; turn++)
            rates[(i + turn) % 2] = stretch(&crews[(i + turn) % 2], small / 2);
        pairs_add(ret_pairs, rates[0], rates[1]);
    }
    for (int i = 0; i < 2; i++)
        crew_close(&crews[i]);
}

static void scenario_backlog(struct bench *b) {
    struct place large, small;
    struct pairs pairs = {0};
    int connections = b->kind == BENCH_POSTGRES ? CONNECTIONS : 1;

    if (!bench_wants(b, "backlog"))
        return;
    bench_progress("backlog: filling");
    place_create_boxcar(&large, b);
    place_create_boxcar(&small, b);
    run_backlog(b, &SIDE_BOXCAR, (struct place *const[]){&large, &small}, connections, &pairs);
    report_add(b->report, "backlog 1,000,000 / 10,000", "msg/s", &pairs,
               target_of(b, AT_LEAST(0.8), NO_TARGET));
    place_remove(&large);
    place_remove(&small);
}

const struct scenario SNAPSHOT_SCENARIO = {"drain while somebody holds an old snapshot (PostgreSQL)",
                                           scenario_snapshot};
const struct scenario BACKLOG_SCENARIO = {"drain with a million waiting, against ten thousand",
                                          scenario_backlog};
