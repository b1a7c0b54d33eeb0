/* Counters for people. */
#include "stats.h"

#include "store/postgres/connection/query.h"
#include "store/postgres/statement/params.h"
#include "store/postgres/statement/rows.h"
#include "store/postgres/statement/shape.h"

static void read_stats(const PGresult *r, int row, void *item) {
    boxcar_stats *stats = item;

    stats->topic = pg_get_text(r, row, 0);
    stats->ready = pg_get_int8(r, row, 1);
    stats->waiting = pg_get_int8(r, row, 2);
    stats->in_progress = pg_get_int8(r, row, 3);
    stats->done = pg_get_int8(r, row, 4);
    stats->failed = pg_get_int8(r, row, 5);
    stats->oldest_ready_age_seconds = pg_get_float8(r, row, 6);
    stats->exact = pg_get_bool(r, row, 7);
    stats->estimated = (unsigned)pg_get_int4(r, row, 8);
}

boxcar_status pg_stats(struct boxcar_store *store, boxcar_box box, bool by_topic,
                       struct stats_rows **ret_list, boxcar_error *err) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;
    PGresult *result;
    boxcar_status status;

    pg_params_int2(&params, box);
    pg_params_bool(&params, by_topic);
    status = pg_query(pg_store_of(store), PG_STATS, &params, &result, err);
    if (status == BOXCAR_OK && PQntuples(result) == 0) {
        PQclear(result);
        return pg_malformed(pg_store_of(store), "it counts nothing", err);
    }
    return status == BOXCAR_OK ? PG_INTO_LIST(result, read_stats, ret_list, err) : status;
}
