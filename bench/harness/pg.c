#include "pg.h"

#include <stdio.h>
#include <stdlib.h>

PGresult *pg_expect(PGconn *pg, PGresult *result, ExecStatusType kind, const char *what) {
    if (PQresultStatus(result) != kind)
        bench_die("%s: %s", what, PQerrorMessage(pg));
    return result;
}

void pg_run(PGconn *pg, const char *sql) {
    PGresult *result = PQexec(pg, sql);
    ExecStatusType status = PQresultStatus(result);

    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
        bench_die("%s: %s", sql, PQerrorMessage(pg));
    PQclear(result);
}

double pg_number(PGconn *pg, const char *sql) {
    PGresult *result = pg_expect(pg, PQexec(pg, sql), PGRES_TUPLES_OK, sql);
    double number;

    if (PQntuples(result) == 0)
        bench_die("%s: no row", sql);
    number = atof(PQgetvalue(result, 0, 0));
    PQclear(result);
    return number;
}

PGconn *pg_open(const struct place *place) {
    PGconn *pg = PQconnectdb(place->url);
    char sql[128];

    if (PQstatus(pg) != CONNECTION_OK)
        bench_die("%s", PQerrorMessage(pg));
    snprintf(sql, sizeof(sql), "set client_min_messages = error; set search_path = %s", place->schema);
    pg_run(pg, sql);
    return pg;
}
