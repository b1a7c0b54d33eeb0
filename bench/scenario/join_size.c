/* Big joins, and many: what reading costs, and whether counting to a million is exact. */
#include <boxcar/postgres.h>
#include <boxcar/sqlite.h>
#include <libpq-fe.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

#include "joins.h"

#define MEMBERS_BIG 1000000
#define MEMBERS_SMALL 100
#define JOINS_MANY 100000
#define JOINS_FEW 100
#define LOOKS_MAX 200 /* in each round */
#define PAGE 50
#define BATCH 1000

/* ---- many joins ---- */

/* In one transaction of a borrowed connection: a commit for each would take minutes. */
struct loan {
    PGconn *pg;
    sqlite3 *db;
    boxcar_store *store;
};

static void loan_run(const struct loan *loan, const char *sql) {
    if (loan->db) {
        if (sqlite3_exec(loan->db, sql, NULL, NULL, NULL) != SQLITE_OK)
            bench_die("%s: %s", sql, sqlite3_errmsg(loan->db));
        return;
    }
    PGresult *result = PQexec(loan->pg, sql);
    if (PQresultStatus(result) != PGRES_COMMAND_OK)
        bench_die("%s: %s", sql, PQerrorMessage(loan->pg));
    PQclear(result);
}

static struct loan loan_open(const struct place *place) {
    boxcar_store_options options = place_options(place);
    boxcar_error err = BOXCAR_ERROR_INIT;
    struct loan loan = {0};

    if (place->kind == BENCH_SQLITE) {
        if (sqlite3_open(place->path, &loan.db) != SQLITE_OK)
            bench_die("%s", sqlite3_errmsg(loan.db));
        bench_must(boxcar_store_borrow_sqlite(loan.db, &options, &loan.store, &err), "borrow", &err);
    } else {
        loan.pg = PQconnectdb(place->url);
        bench_must(boxcar_store_borrow_postgres(loan.pg, &options, &loan.store, &err), "borrow", &err);
    }
    return loan;
}

static void loan_close(struct loan *loan) {
    boxcar_store_close(loan->store);
    PQfinish(loan->pg);
    sqlite3_close(loan->db);
}

static void start_many(const struct place *place, size_t count) {
    struct loan loan = loan_open(place);

    loan_run(&loan, "begin");
    for (size_t i = 0; i < count; i++) {
        boxcar_new_join join = BOXCAR_NEW_JOIN_INIT;
        boxcar_error err = BOXCAR_ERROR_INIT;
        boxcar_join_id join_id;
        char key[32];

        snprintf(key, sizeof(key), "customer %zu", i % 2);
        join.expected_steps = 10;
        join.grouping_key = boxcar_str_of(key);
        bench_must(boxcar_join_start(loan.store, &join, &join_id, &err), "join start", &err);
    }
    loan_run(&loan, "commit");
    loan_close(&loan);
}

/* ---- reading ---- */

static void show(boxcar_store *store, boxcar_join_id join_id) {
    boxcar_join_list *list = NULL;
    boxcar_join_member_list *members = NULL;
    boxcar_error err = BOXCAR_ERROR_INIT;

    bench_must(boxcar_join_find(store, join_id, &list, &err), "join find", &err);
    bench_must(boxcar_join_member_page(store, join_id, (boxcar_message_id){0}, PAGE, &members, &err),
               "members", &err);
    if (members->count != PAGE)
        bench_die("a page of %zu members", members->count);
    boxcar_list_free(list);
    boxcar_list_free(members);
}

static boxcar_join_id list_page(boxcar_store *store, const boxcar_join_filter *filter) {
    boxcar_join_list *list = NULL;
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_join_id last;

    bench_must(boxcar_join_page(store, filter, &list, &err), "join page", &err);
    if (list->count == 0)
        bench_die("an empty page of joins");
    last = list->items[list->count - 1]->join_id;
    boxcar_list_free(list);
    return last;
}

enum reading { SHOW, FIRST_PAGE, LATER_PAGE, PAGE_OF_KEY, PAGE_OF_STATUS, READINGS };
static const char *const READING_NAMES[READINGS] = {
    [SHOW] = "join show, 1,000,000 / 100 members", [FIRST_PAGE] = "join ls, 100,000 / 100 joins",
    [LATER_PAGE] = "  behind the first page",      [PAGE_OF_KEY] = "  of one grouping key",
    [PAGE_OF_STATUS] = "  of one status",
};

struct shelf {
    struct place place;
    boxcar_store *store;
    boxcar_join_id join_id; /* the one with members */
    boxcar_join_id later;   /* one in the middle of the listing */
};

static void read_once(const struct shelf *shelf, enum reading reading) {
    boxcar_join_filter filter = BOXCAR_JOIN_FILTER_INIT;

    filter.limit = PAGE;
    switch (reading) {
    case SHOW:
        show(shelf->store, shelf->join_id);
        return;
    case LATER_PAGE:
        filter.after = shelf->later;
        break;
    case PAGE_OF_KEY:
        filter.grouping_key = BOXCAR_STR("customer 1");
        break;
    case PAGE_OF_STATUS:
        filter.by_status = true;
        filter.status = BOXCAR_JOIN_PENDING;
        break;
    case FIRST_PAGE:
    case READINGS:
        break;
    }
    list_page(shelf->store, &filter);
}

static double time_of(const struct shelf *shelf, enum reading reading, size_t looks) {
    double started;

    read_once(shelf, reading);
    started = bench_now();
    for (size_t i = 0; i < looks; i++)
        read_once(shelf, reading);
    return 1e3 * (bench_now() - started) / (double)looks;
}

static void bench_reading(struct bench *b, const struct shelf *big, const struct shelf *small) {
    size_t looks = b->scale < 1 ? bench_count(b, LOOKS_MAX, 2) : LOOKS_MAX;

    for (int reading = 0; reading < READINGS; reading++) {
        struct pairs times = {0};

        for (int round = 0; round < b->rounds; round++) {
            double ours = time_of(big, (enum reading)reading, looks);

            pairs_add(&times, ours, time_of(small, (enum reading)reading, looks));
        }
        report_add(b->report, READING_NAMES[reading], "ms", &times, AT_MOST(3));
    }
}

/* ---- both ---- */

static void shelf_fill(struct shelf *shelf, struct bench *b, size_t joins, size_t members) {
    boxcar_join_filter filter = BOXCAR_JOIN_FILTER_INIT;

    place_create_boxcar(&shelf->place, b);
    shelf->store = place_open(&shelf->place);
    start_many(&shelf->place, joins / 2);
    filter.limit = 1;
    shelf->later = list_page(shelf->store, &filter);
    shelf->join_id = join_start(shelf->store, members);
    start_many(&shelf->place, joins - joins / 2);
    join_fill(shelf->store, shelf->join_id, members);
    place_analyze(&shelf->place);
    place_checkpoint(&shelf->place);
}

/* A million steps of one join are counted exactly, and the last ones as fast as the first. BX-047 */
static void count_to_the_end(struct bench *b, const struct shelf *shelf, size_t members) {
    struct pairs pairs = {0};
    double tenths[TENTHS];
    struct crew crew;

    bench_progress("counting to %zu", members);
    crew_open(&crew, &SIDE_BOXCAR, &shelf->place, b->kind == BENCH_POSTGRES ? 4 : 1);
    crew_drain(&crew, &(struct work){.goal = members, .batch = BATCH, .ret_tenths = tenths});
    crew_close(&crew);
    join_must_have(&shelf->place, shelf->join_id, members, true);
    pairs_add(&pairs, tenths[TENTHS - 1], tenths[0]);
    report_add(b->report, "1,000,000 members, last/first tenth", "msg/s", &pairs,
               b->scale < 1 ? NO_TARGET : AT_LEAST(0.7));
}

void bench_join_size(struct bench *b) {
    size_t members = bench_count(b, MEMBERS_BIG, 1000);
    struct shelf big, small;

    if (!bench_wants(b, "joins/size"))
        return;
    bench_progress("joins: filling");
    shelf_fill(&big, b, bench_count(b, JOINS_MANY, 200), members);
    shelf_fill(&small, b, JOINS_FEW, MEMBERS_SMALL);
    bench_reading(b, &big, &small);
    count_to_the_end(b, &big, members);
    boxcar_store_close(big.store);
    boxcar_store_close(small.store);
    place_remove(&big.place);
    place_remove(&small.place);
}
