/* Upkeep and the audit. */
#include "maintain.h"

#include "base/error.h"
#include "store/postgres/connection/query.h"
#include "store/postgres/join/join.h"
#include "store/postgres/statement/params.h"
#include "store/postgres/statement/rows.h"

#define ROUNDS_MAX 50
#define EXPIRE_MAX 2000
#define LANES 2
#define EVENTS_MAX 50000

static boxcar_status maintain_once(struct pg_store *pg, boxcar_box box, boxcar_maintenance *sum,
                                   boxcar_error *err) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;
    AUTO_RESULT PGresult *result = NULL;
    boxcar_status status;

    pg_params_int2(&params, box);
    pg_look_for_ends(pg);
    status = pg_query(pg, PG_MAINTAIN, &params, &result, err);
    if (status != BOXCAR_OK)
        return status;
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
        AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;
        AUTO_RESULT PGresult *result = NULL;
        boxcar_status status;

        pg_params_int2(&params, box);
        pg_params_int2(&params, lane);
        pg_params_int4(&params, EXPIRE_MAX);
        status = pg_query(pg, PG_EXPIRE_FRESH, &params, &result, err);
        if (status != BOXCAR_OK)
            return status;
        sum->expired += pg_get_int8(result, 0, 0);
        sum->more = sum->more || pg_get_int8(result, 0, 0) >= EXPIRE_MAX;
    }
    return BOXCAR_OK;
}

/* Assigns positions to events even if no follower on this server does it, because followers on a replica
 * cannot. It is a transaction of its own, because meanwhile no other transaction can assign positions. */
static boxcar_status sequence_events(struct pg_store *pg, boxcar_error *err) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;
    AUTO_RESULT PGresult *result = NULL;

    pg_params_int4(&params, EVENTS_MAX);
    return pg_query(pg, PG_SEQUENCE_EVENTS, &params, &result, err);
}

/* In transactions of their own, because joins stay locked until they end. */
static boxcar_status evaluate_waits(struct pg_store *pg, bool *more, boxcar_error *err) {
    int64_t count = 1;
    boxcar_status status = BOXCAR_OK;
    int round = 0;

    for (; status == BOXCAR_OK && count > 0 && round < ROUNDS_MAX; round++)
        status = pg_evaluate_waits(&pg->base, &count, err);
    *more = *more || count > 0;
    return status;
}

static boxcar_status run_round(struct pg_store *pg, boxcar_maintenance *ret_maintenance, boxcar_error *err) {
    boxcar_maintenance sum = {0};
    bool more = false;
    boxcar_status status = sequence_events(pg, err);

    if (status != BOXCAR_OK)
        return status;
    for (int box = BOXCAR_OUTBOX; box <= BOXCAR_INBOX; box++) {
        for (int round = 0; round < ROUNDS_MAX; round++) {
            status = maintain_once(pg, (boxcar_box)box, &sum, err);
            if (status == BOXCAR_OK)
                status = expire_fresh(pg, (boxcar_box)box, &sum, err);
            if (status != BOXCAR_OK)
                return status;
            if (!sum.more)
                break;
        }
        more = more || sum.more;
    }
    status = evaluate_waits(pg, &more, err);
    if (status != BOXCAR_OK)
        return status;
    sum.more = more;
    *ret_maintenance = sum;
    return BOXCAR_OK;
}

static boxcar_status audit(struct pg_store *pg, bool repair, boxcar_audit *ret_audit, boxcar_error *err) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;
    AUTO_RESULT PGresult *result = NULL;
    boxcar_status status;

    pg_params_bool(&params, repair);
    status = pg_query(pg, PG_AUDIT, &params, &result, err);
    if (status == BOXCAR_OK)
        *ret_audit = (boxcar_audit){.lost = pg_get_int8(result, 0, 0), .repaired = pg_get_int8(result, 0, 1)};
    return status;
}

boxcar_status pg_maintain(struct boxcar_store *store, enum upkeep_task task, struct upkeep_done *ret_done,
                          boxcar_error *err) {
    switch (task) {
    case UPKEEP_ROUND:
        return run_round(pg_store_of(store), &ret_done->round, err);
    case UPKEEP_WAITS:
        return pg_evaluate_waits(store, &ret_done->waits, err);
    default:
        return audit(pg_store_of(store), task == UPKEEP_REPAIR, &ret_done->audit, err);
    }
}

/* ---- what programs watch ---- */

static boxcar_status look(struct pg_store *pg, enum pg_statement statement, boxcar_upkeep *ret_upkeep,
                          PGresult **ret_result, boxcar_error *err) {
    struct pg_params none = PG_PARAMS_INIT;
    boxcar_status status = pg_query(pg, statement, &none, ret_result, err);

    if (status == BOXCAR_OK)
        *ret_upkeep = (boxcar_upkeep){.has_run = pg_get_bool(*ret_result, 0, 0),
                                      .seconds = pg_get_float8(*ret_result, 0, 1)};
    return status;
}

boxcar_status pg_upkeep(struct pg_store *pg, boxcar_upkeep *ret_upkeep, boxcar_error *err) {
    AUTO_RESULT PGresult *result = NULL;

    return look(pg, PG_UPKEEP, ret_upkeep, &result, err);
}

boxcar_status pg_facts(struct boxcar_store *store, struct store_facts *ret_facts, boxcar_error *err) {
    AUTO_RESULT PGresult *result = NULL;
    boxcar_status status = look(pg_store_of(store), PG_FACTS, &ret_facts->upkeep, &result, err);

    if (status == BOXCAR_OK)
        ret_facts->violations = pg_get_int8(result, 0, 2);
    return status;
}
