/* Counters for people. */
#include "admin.h"

#include "base/error.h"
#include "store/postgres/connection/query.h"

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
    struct stats_rows *list;

    TRY(pg_ask_list(pg_store_of(store), PG_STATS, read_stats, &list, err, P_INT2(box), P_BOOL(by_topic)));
    if (list->count == 0) {
        list_free(list);
        return pg_malformed(pg_store_of(store), "it counts nothing", err);
    }
    *ret_list = list;
    return BOXCAR_OK;
}
