/* How big the tables are after a million messages that were enqueued, claimed and acked: before upkeep and
 * after one round of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "pg.h"

#define CONNECTIONS 4
#define BATCH 1000
#define SHOWN_MAX 8
#define MIB (1024.0 * 1024.0)

struct table {
    char name[64];
    double before, after; /* MiB */
};

/* The biggest tables with their indexes, largest first. Partitions count as their parent. */
static const char SIZES[] =
    "select coalesce(p.relname, c.relname) as name, sum(pg_total_relation_size(c.oid)) as size from pg_class "
    "c"
    " left join pg_inherits i on i.inhrelid = c.oid left join pg_class p on p.oid = i.inhparent"
    " where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' group by 1 order by 2 desc, "
    "1";

static size_t read_before(PGconn *pg, struct table tables[SHOWN_MAX]) {
    PGresult *result = pg_expect(pg, PQexec(pg, SIZES), PGRES_TUPLES_OK, SIZES);
    size_t count = (size_t)PQntuples(result) < SHOWN_MAX ? (size_t)PQntuples(result) : SHOWN_MAX;

    for (size_t i = 0; i < count; i++) {
        snprintf(tables[i].name, sizeof(tables[i].name), "%s", PQgetvalue(result, (int)i, 0));
        tables[i].before = atof(PQgetvalue(result, (int)i, 1)) / MIB;
    }
    PQclear(result);
    return count;
}

static void read_after(PGconn *pg, struct table *tables, size_t count) {
    PGresult *result = pg_expect(pg, PQexec(pg, SIZES), PGRES_TUPLES_OK, SIZES);

    for (size_t i = 0; i < count; i++)
        for (int row = 0; row < PQntuples(result); row++)
            if (strcmp(tables[i].name, PQgetvalue(result, row, 0)) == 0)
                tables[i].after = atof(PQgetvalue(result, row, 1)) / MIB;
    PQclear(result);
}

static double size_of_all(PGconn *pg) {
    return pg_number(pg, "select sum(pg_total_relation_size(oid)) from pg_class"
                         " where relnamespace = current_schema()::regnamespace and relkind = 'r'") /
           MIB;
}

static void use(const struct place *place, size_t messages) {
    struct crew crew;

    crew_open(&crew, &SIDE_BOXCAR, place, CONNECTIONS);
    crew_fill(&crew, messages);
    crew_drain(&crew, &(struct work){.goal = messages, .batch = BATCH});
    crew_close(&crew);
}

static void maintain(const struct place *place) {
    boxcar_store *store = place_open(place);
    boxcar_maintenance maintenance = BOXCAR_MAINTENANCE_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;

    do
        bench_must(boxcar_maintenance_run(store, &maintenance, &err), "maintain", &err);
    while (maintenance.more);
    boxcar_store_close(store);
}

static void report(struct bench *b, const char *name, double after, double before) {
    struct pairs pairs = {0};

    pairs_add(&pairs, after, before);
    report_add(b->report, name, "MiB", &pairs, NO_TARGET);
}

static void scenario_sizes(struct bench *b) {
    struct table tables[SHOWN_MAX] = {{.before = 0}};
    struct place place;
    double before;
    size_t count;
    PGconn *pg;

    if (b->kind != BENCH_POSTGRES || !bench_wants(b, "sizes"))
        return;
    bench_progress("sizes");
    place_create_boxcar(&place, b);
    use(&place, bench_count(b, 1000000, 2000));
    pg = pg_open(&place);
    count = read_before(pg, tables);
    before = size_of_all(pg);
    maintain(&place);
    read_after(pg, tables, count);
    report(b, "1,000,000 messages, after/before upkeep", size_of_all(pg), before);
    for (size_t i = 0; i < count; i++) {
        char name[64];

        snprintf(name, sizeof(name), "  %.60s", tables[i].name);
        report(b, name, tables[i].after, tables[i].before);
    }
    PQfinish(pg);
    place_remove(&place);
}

const struct scenario SIZES_SCENARIO = {"table sizes after a million messages and one upkeep (PostgreSQL)",
                                        scenario_sizes};
