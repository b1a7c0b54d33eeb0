/* Plain SQL on PostgreSQL, for what no side does. Errors end the program. */
#ifndef BOXCAR_BENCH_PG_H
#define BOXCAR_BENCH_PG_H

#include <libpq-fe.h>

#include "bench.h"

/* A connection whose search_path is the place's schema. */
PGconn *pg_open(const struct place *place);
/* Checks a result and returns it. */
PGresult *pg_expect(PGconn *pg, PGresult *result, ExecStatusType kind, const char *what);
/* Runs statements, whatever they return. */
void pg_run(PGconn *pg, const char *sql);
/* The first column of the first row. */
double pg_number(PGconn *pg, const char *sql);

#endif
