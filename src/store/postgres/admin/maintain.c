/* Upkeep and the audit. */
#include "admin.h"

#include "base/error.h"
#include "store/postgres/connection/query.h"
#include "store/postgres/join/join.h"

#define ROUNDS_MAX 50
#define EXPIRE_MAX 2000
#define LANES 2
#define EVENTS_MAX 50000

static boxcar_status maintain_once(struct pg_store *pg, boxcar_box box, boxcar_maintenance *sum,
                                   boxcar_error *err) {
    AUTO_RESULT PGresult *result = NULL;

    pg_look_for_ends(pg);
    TRY(pg_ask(pg, PG_MAINTAIN, &result, err, P_INT2(box)));
    sum->reaped += pg_get_int8(result, 0, 0);
    sum->expired += pg_get_int8(result, 0, 1);
    sum->purged_done += pg_get_int8(result, 0, 2);
    sum->purged_dead += pg_get_int8(result, 0, 3);
    sum->more = pg_get_bool(result, 0, 4);
    sum->settled += pg_get_int8(result, 0, 5);
    sum->timed_out += pg_get_int8(result, 0, 6);
    sum->purged_joins += pg_get_int8(result, 0, 7);
    pg_log_ended(pg, result, 8);
    sum->purged_keys += pg_get_int8(result, 0, 9);
    return BOXCAR_OK;
}

/* Messages that expired before any claim met them, a transaction for each lane of the log. */
static boxcar_status expire_fresh(struct pg_store *pg, boxcar_box box, boxcar_maintenance *sum,
                                  boxcar_error *err) {
    for (int lane = 0; lane < LANES; lane++) {
        AUTO_RESULT PGresult *result = NULL;

        TRY(pg_ask(pg, PG_EXPIRE_FRESH, &result, err, P_INT2(box), P_INT2(lane), P_INT4(EXPIRE_MAX)));
        sum->expired += pg_get_int8(result, 0, 0);
        sum->more = sum->more || pg_get_int8(result, 0, 0) >= EXPIRE_MAX;
    }
    return BOXCAR_OK;
}

/* In transactions of their own, because joins stay locked until they end. */
static boxcar_status evaluate_waits(struct pg_store *pg, bool *more, boxcar_error *err) {
    int64_t count = 1;

    for (int round = 0; count > 0 && round < ROUNDS_MAX; round++)
        TRY(pg_evaluate_waits(pg, &count, err));
    *more = *more || count > 0;
    return BOXCAR_OK;
}

static boxcar_status run_reader(struct pg_store *pg, boxcar_box reader, boxcar_maintenance *sum,
                                boxcar_error *err) {
    sum->more = true;
    for (int round = 0; sum->more && round < ROUNDS_MAX; round++) {
        TRY(maintain_once(pg, reader, sum, err));
        TRY(expire_fresh(pg, reader, sum, err));
    }
    return BOXCAR_OK;
}

static boxcar_status run_round(struct pg_store *pg, boxcar_maintenance *ret_maintenance, boxcar_error *err) {
    boxcar_maintenance sum = {0};
    bool more = false;
    AUTO_RESULT PGresult *readers = NULL;

    /* Assigns positions to events even if no follower on this server does it, because followers on a replica
     * cannot. It is a transaction of its own, because meanwhile no other transaction can assign positions. */
    TRY(pg_do(pg, PG_SEQUENCE_EVENTS, err, P_INT4(EVENTS_MAX)));
    TRY(pg_ask(pg, PG_READERS, &readers, err));
    for (int i = 0; i < PQntuples(readers); i++) {
        TRY(run_reader(pg, pg_get_int2(readers, i, 0), &sum, err));
        more = more || sum.more;
    }
    TRY(evaluate_waits(pg, &more, err));
    sum.more = more;
    *ret_maintenance = sum;
    return BOXCAR_OK;
}

static boxcar_status audit(struct pg_store *pg, bool repair, boxcar_audit *ret_audit, boxcar_error *err) {
    AUTO_RESULT PGresult *result = NULL;

    TRY(pg_ask(pg, PG_AUDIT, &result, err, P_BOOL(repair)));
    *ret_audit = (boxcar_audit){.lost = pg_get_int8(result, 0, 0), .repaired = pg_get_int8(result, 0, 1)};
    return BOXCAR_OK;
}

boxcar_status pg_maintain(struct boxcar_store *store, enum upkeep_task task, struct upkeep_done *ret_done,
                          boxcar_error *err) {
    switch (task) {
    case UPKEEP_ROUND:
        return run_round(pg_store_of(store), &ret_done->round, err);
    case UPKEEP_WAITS:
        return pg_evaluate_waits(pg_store_of(store), &ret_done->waits, err);
    default:
        return audit(pg_store_of(store), task == UPKEEP_REPAIR, &ret_done->audit, err);
    }
}

/* ---- what programs watch ---- */

static boxcar_upkeep read_upkeep(const PGresult *result) {
    return (boxcar_upkeep){.has_run = pg_get_bool(result, 0, 0), .seconds = pg_get_float8(result, 0, 1)};
}

boxcar_status pg_upkeep(struct pg_store *pg, boxcar_upkeep *ret_upkeep, boxcar_error *err) {
    AUTO_RESULT PGresult *result = NULL;

    TRY(pg_ask(pg, PG_UPKEEP, &result, err));
    *ret_upkeep = read_upkeep(result);
    return BOXCAR_OK;
}

boxcar_status pg_facts(struct boxcar_store *store, struct store_facts *ret_facts, boxcar_error *err) {
    AUTO_RESULT PGresult *result = NULL;

    TRY(pg_ask(pg_store_of(store), PG_FACTS, &result, err));
    ret_facts->upkeep = read_upkeep(result);
    ret_facts->violations = pg_get_int8(result, 0, 2);
    return BOXCAR_OK;
}
