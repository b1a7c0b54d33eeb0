/* Joins: everything but what a request does to them. */
#include "join.h"

#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "core/names.h"
#include "store/join_log.h"
#include "store/postgres/connection/connection.h"
#include "store/postgres/connection/error.h"
#include "store/postgres/connection/query.h"

#define WAITS_MAX 500

/* The columns of PG_JOIN_COUNTS, from `column` on. */
void pg_read_join_counts(const PGresult *r, int row, int column, boxcar_join *join) {
    join->expected_steps = pg_get_int4(r, row, column);
    join->completed_steps = pg_get_int4(r, row, column + 1);
    join->failed_steps = pg_get_int4(r, row, column + 2);
    (void)join_status_parse(pg_get_text(r, row, column + 3), &join->status);
    join->reason = PQgetisnull(r, row, column + 4) ? BOXCAR_JOIN_REASON_NONE : BOXCAR_JOIN_REASON_TIMED_OUT;
}

static void read_change(const PGresult *r, int column, boxcar_join_id join_id, struct join_change *change) {
    *change = (struct join_change){.counted = pg_get_bool(r, 0, column),
                                   .ended = pg_get_bool(r, 0, column + 1),
                                   .join = {.join_id = join_id}};
    pg_read_join_counts(r, 0, column + 2, &change->join);
}

boxcar_status pg_join_start(struct boxcar_store *store, const boxcar_new_join *join, boxcar_error *err) {
    return pg_do(pg_store_of(store), PG_JOIN_START, err, P_ID(join->join_id), P_INT4(join->expected_steps),
                 P_TEXT(join->grouping_key), P_TEXT(join->metadata), P_TIME(join->deadline),
                 P_INT8(join->deadline_ms));
}

boxcar_status pg_join_attach(struct boxcar_store *store, boxcar_join_id join_id,
                             const boxcar_message_id *message_ids, size_t count,
                             boxcar_attached *ret_attached, boxcar_error *err) {
    AUTO_RESULT PGresult *result = NULL;

    TRY(pg_ask(pg_store_of(store), PG_ATTACH, &result, err, P_ID(join_id),
               P_COLUMN(PG_UUID_ARRAY, message_ids, count, uuid)));
    if ((size_t)PQntuples(result) != count)
        return error_set(err, BOXCAR_E_STORE, "the store answered for %d of %zu messages", PQntuples(result),
                         count);
    for (size_t i = 0; i < count; i++)
        ret_attached[i] = (boxcar_attached){.is_new = pg_get_bool(result, (int)i, 0),
                                            .message_exists = pg_get_bool(result, (int)i, 1)};
    return BOXCAR_OK;
}

/* ---- reporting joins that have ended ---- */

/* The server reports all joins that a transaction has ended. In a transaction of the caller's own, several
 * calls would report the same joins: so joins that had ended before a call are looked up and left out. */
bool pg_shares_ends(const struct pg_store *pg) {
    return pg->borrowed && pg_in_transaction(pg) && store_logs(&pg->base, BOXCAR_LOG_INFO);
}

void pg_forget_ends(struct pg_store *pg) {
    PQclear(pg->ended_before);
    pg->ended_before = NULL;
}

void pg_look_for_ends(struct pg_store *pg) {
    pg_forget_ends(pg);
    if (pg_shares_ends(pg) && pg_ask(pg, PG_JOINS_ENDED, &pg->ended_before, NULL) != BOXCAR_OK)
        pg->ended_before = NULL;
}

bool pg_had_ended(const struct pg_store *pg, boxcar_join_id join_id) {
    int rows = pg->ended_before ? PQntuples(pg->ended_before) : 0;

    for (int i = 0; i < rows; i++) {
        boxcar_join_id before;

        pg_get_uuid(pg->ended_before, i, 0, before.uuid.bytes);
        if (memcmp(before.uuid.bytes, join_id.uuid.bytes, sizeof(before.uuid.bytes)) == 0)
            return true;
    }
    return false;
}

static void read_join(const PGresult *r, int row, void *item) {
    boxcar_join *join = item;

    pg_get_uuid(r, row, 0, join->join_id.uuid.bytes);
    pg_read_join_counts(r, row, 1, join);
    join->grouping_key = pg_get_text(r, row, 6);
    join->created_at = pg_get_time(r, row, 7);
    join->last_updated_at = pg_get_time(r, row, 8);
    join->deadline = pg_get_time(r, row, 9);
    join->metadata = pg_get_text(r, row, 10);
}

static boxcar_status find_join(struct boxcar_store *store, boxcar_join_id join_id,
                               struct join_rows **ret_list, boxcar_error *err) {
    struct join_rows *list;
    char text[BOXCAR_UUID_TEXT_SIZE];

    TRY(pg_ask_list(pg_store_of(store), PG_JOIN_FIND, read_join, &list, err, P_ID(join_id)));
    if (list->count == 0) {
        list_free(list);
        boxcar_uuid_format(join_id.uuid, text);
        return error_set(err, BOXCAR_E_NOT_FOUND, "there is no join %s", text);
    }
    *ret_list = list;
    return BOXCAR_OK;
}

/* Without its texts. */
static bool glance(struct boxcar_store *store, boxcar_join_id join_id, boxcar_join *ret_join) {
    struct join_rows *list;

    if (find_join(store, join_id, &list, NULL) != BOXCAR_OK)
        return false;
    *ret_join = list->items[0];
    ret_join->grouping_key = ret_join->metadata = BOXCAR_NO_STR;
    list_free(list);
    return true;
}

void pg_log_ended(struct pg_store *pg, const PGresult *result, int column) {
    size_t count = store_logs(&pg->base, BOXCAR_LOG_INFO) ? pg_get_count(result, 0, column) : 0;

    for (size_t i = 0; i < count; i++) {
        boxcar_join_id join_id;
        boxcar_join join;

        pg_get_uuid_at(result, 0, column, i, join_id.uuid.bytes);
        if (!pg_had_ended(pg, join_id) && glance(&pg->base, join_id, &join))
            join_log_ended(&pg->base, &join, 1);
    }
}

/* ---- ending and waiting ---- */

/* When the answer to a first try was lost, the second may find the join cancelled: by the first. */
boxcar_status pg_join_end(struct boxcar_store *store, boxcar_join_id join_id, const struct step_end *step,
                          struct join_change *ret_change, boxcar_error *err) {
    struct pg_store *pg = pg_store_of(store);
    AUTO_RESULT PGresult *result = NULL;
    boxcar_error why = BOXCAR_ERROR_INIT;
    boxcar_join join;

    boxcar_status status = step ? pg_ask(pg, PG_JOIN_REPORT, &result, &why, P_ID(join_id),
                                         P_ID(step->message_id), P_INT2(step->outcome))
                                : pg_ask(pg, PG_JOIN_CANCEL, &result, &why, P_ID(join_id));
    if (status == BOXCAR_OK)
        read_change(result, 0, join_id, ret_change);
    if (!step && status == BOXCAR_E_CONFLICT && why.outcome_unknown && glance(store, join_id, &join) &&
        join.status == BOXCAR_JOIN_CANCELLED) {
        *ret_change = (struct join_change){.ended = true, .join = join};
        return BOXCAR_OK;
    }
    return pg_error_pass(status, &why, err);
}

boxcar_status pg_join_wait(struct boxcar_store *store, boxcar_join_id join_id,
                           const boxcar_new_message *message, boxcar_enqueued *ret_enqueued,
                           struct join_change *ret_change, boxcar_error *err) {
    AUTO_RESULT PGresult *result = NULL;

    TRY(pg_ask(pg_store_of(store), PG_JOIN_WAIT, &result, err, P_ID(join_id), P_ID(message->message_id),
               P_TEXT(message->payload), P_TEXT(message->correlation_id), P_INT4(message->max_attempts),
               P_TEXT(message->causation_id)));
    ret_enqueued->work_id.value = pg_get_int8(result, 0, 0);
    ret_enqueued->message_id = message->message_id;
    ret_enqueued->duplicate = pg_get_bool(result, 0, 1);
    read_change(result, 2, join_id, ret_change);
    return BOXCAR_OK;
}

boxcar_status pg_evaluate_waits(struct pg_store *pg, int64_t *ret_count, boxcar_error *err) {
    AUTO_RESULT PGresult *result = NULL;

    pg_look_for_ends(pg);
    TRY(pg_ask(pg, PG_EVALUATE_WAITS, &result, err, P_INT4(WAITS_MAX)));
    pg_log_ended(pg, result, 1);
    *ret_count = pg_get_int8(result, 0, 0);
    return BOXCAR_OK;
}

/* ---- looking ---- */

boxcar_status pg_join_page(struct boxcar_store *store, const boxcar_join_filter *filter,
                           boxcar_join_id join_id, struct join_rows **ret_list, boxcar_error *err) {
    if (!boxcar_uuid_is_none(join_id.uuid))
        return find_join(store, join_id, ret_list, err);
    return pg_ask_list(pg_store_of(store), PG_JOIN_PAGE, read_join, ret_list, err,
                       P_TEXT(filter->grouping_key),
                       filter->by_status ? P_INT2(filter->status) : P_NULL(PG_INT2), P_TIME(filter->before),
                       P_ID_OR_NULL(filter->after), P_INT4(filter->limit), P_ID_OR_NULL(filter->message_id));
}

static void read_member(const PGresult *r, int row, void *item) {
    boxcar_join_member *member = item;

    pg_get_uuid(r, row, 0, member->message_id.uuid.bytes);
    member->work_id.value = pg_get_int8(r, row, 1);
    member->status = (boxcar_member_status)pg_get_int4(r, row, 2);
    member->created_at = pg_get_time(r, row, 3);
}

boxcar_status pg_join_members(struct boxcar_store *store, boxcar_join_id join_id, boxcar_message_id after,
                              int limit, struct join_member_rows **ret_list, boxcar_error *err) {
    return pg_ask_list(pg_store_of(store), PG_JOIN_MEMBERS, read_member, ret_list, err, P_ID(join_id),
                       P_ID(after), P_INT4(limit));
}
