/* Sessions that claim inside a transaction and then sit in it, as a driver without autocommit makes them
 * do. Others should not notice. */
#include "bench.h"
#include "pg.h"

#define SITTERS 8
#define CLAIMED_EACH 10
#define CONNECTIONS 4
#define BATCH 100
#define SECONDS_MAX 10 /* blocked clients would take for ever */
#define SECONDS_MAX_TINY 1

/* All send at once: clients that wait for each other do so together. */
static void sit_down(const struct place *place, PGconn *sitters[SITTERS]) {
    static const char sql[] = "begin; select count(*) from outbox_claim(gen_random_uuid(), '10 minutes', 10)";

    for (int i = 0; i < SITTERS; i++) {
        sitters[i] = pg_open(place);
        if (PQsendQuery(sitters[i], sql) != 1)
            bench_die("sitter: %s", PQerrorMessage(sitters[i]));
    }
    for (int i = 0; i < SITTERS; i++) {
        PGresult *result;

        while ((result = PQgetResult(sitters[i]))) {
            if (PQresultStatus(result) == PGRES_FATAL_ERROR)
                bench_die("sitter: %s", PQerrorMessage(sitters[i]));
            PQclear(result);
        }
    }
}

static void get_up(PGconn *sitters[SITTERS]) {
    for (int i = 0; i < SITTERS; i++) {
        pg_run(sitters[i], "rollback");
        PQfinish(sitters[i]);
    }
}

static double drain(struct bench *b, bool beside_sitters, size_t messages) {
    struct work work = {
        .goal = messages, .batch = BATCH, .seconds = b->scale < 0.1 ? SECONDS_MAX_TINY : SECONDS_MAX};
    PGconn *sitters[SITTERS];
    struct place place;
    struct crew crew;
    double rate;

    place_create_boxcar(&place, b);
    crew_open(&crew, &SIDE_BOXCAR, &place, CONNECTIONS);
    crew_fill(&crew, messages + SITTERS * CLAIMED_EACH);
    place_analyze(&place);
    if (beside_sitters)
        sit_down(&place, sitters);
    rate = crew_drain(&crew, &work);
    if (beside_sitters)
        get_up(sitters);
    crew_close(&crew);
    place_remove(&place);
    return rate;
}

static void scenario_sitters(struct bench *b) {
    size_t messages = bench_count(b, 100000, 1000);
    struct pairs rates = {0};

    if (b->kind != BENCH_POSTGRES || !bench_wants(b, "sitters"))
        return;
    for (int round = 0; round < b->rounds; round++) {
        double rate[2];

        bench_progress("sitters: round %d of %d", round + 1, b->rounds);
        for (int turn = 0; turn < 2; turn++)
            rate[(round + turn) % 2] = drain(b, (round + turn) % 2 == 0, messages);
        pairs_add(&rates, rate[0], rate[1]);
    }
    report_add(b->report, "drain 4 x 100 beside 8 claiming transactions", "msg/s", &rates, AT_LEAST(0.9));
}

const struct scenario SITTERS_SCENARIO = {
    "drain while 8 sessions sit in transactions in which they claimed (PostgreSQL)", scenario_sitters};
