/* Starting a join, and changing one by hand. */
#include "join.h"

#include "base/utf8.h"
#include "store/sqlite/admin/setting.h"
#include "store/sqlite/connection/transaction.h"

/* ---- start ---- */

static boxcar_time deadline_of(const struct sqlite_store *store, const boxcar_new_join *join) {
    return join->deadline_ms > 0 ? store->now + join->deadline_ms * 1000 : join->deadline;
}

static boxcar_status start(struct sqlite_store *store, void *context, boxcar_error *err) {
    const boxcar_new_join *join = *(const boxcar_new_join **)context;
    TRY(sqlite_check_metadata(store, join->metadata, err));
    return query_do(store, S_JOIN_INSERT, err, Q_ID(join->join_id.uuid.bytes),
                    Q_TEXT(str_is_empty(join->grouping_key) ? BOXCAR_NO_STR : join->grouping_key),
                    Q_INT(join->expected_steps), Q_INT(store->now), Q_TIME(deadline_of(store, join)),
                    Q_TEXT(join->metadata));
}

boxcar_status sqlite_join_start(struct boxcar_store *store, const boxcar_new_join *join, boxcar_error *err) {
    return sqlite_transaction(sqlite_of(store), ACCESS_WRITE, start, &join, err);
}

/* ---- report ---- */

struct changing {
    boxcar_join_id join_id;
    const struct step_end *step;
    struct join_change change;
};

/* Whether this join can still change. A deadline that has passed counts, even if it was not noticed yet. */
static boxcar_status check_pending(const struct sqlite_store *store, const boxcar_join *join,
                                   boxcar_error *err) {
    if (join->status != BOXCAR_JOIN_PENDING)
        return sqlite_join_error_ended(join->join_id, err);
    if (!join_is_overdue(join, store->now))
        return BOXCAR_OK;
    char text[BOXCAR_UUID_TEXT_SIZE];
    boxcar_uuid_format(join->join_id.uuid, text);
    return error_set(err, BOXCAR_E_CONFLICT, "the deadline of join %s has passed", text);
}

static boxcar_status error_no_member(const struct changing *changing, boxcar_error *err) {
    char join[BOXCAR_UUID_TEXT_SIZE], message[BOXCAR_UUID_TEXT_SIZE];
    boxcar_uuid_format(changing->join_id.uuid, join);
    boxcar_uuid_format(changing->step->message_id.uuid, message);
    return error_set(err, BOXCAR_E_NOT_FOUND, "message %s is not a member of join %s: attach it first",
                     message, join);
}

static boxcar_status read_member(struct sqlite_store *store, const struct changing *changing,
                                 boxcar_member_status *ret_status, boxcar_error *err) {
    AUTO_QUERY struct query query = query_with(store, S_MEMBER_READ, Q_ID(changing->join_id.uuid.bytes),
                                               Q_ID(changing->step->message_id.uuid.bytes));
    bool found = query_next(&query);
    TRY(query_status(&query, err));
    if (!found)
        return error_no_member(changing, err);
    *ret_status = (boxcar_member_status)query_get_int(&query, 0);
    return BOXCAR_OK;
}

static boxcar_status report(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct changing *changing = context;
    const struct step_end *step = changing->step;
    struct join_change *change = &changing->change;
    boxcar_member_status before = BOXCAR_MEMBER_PENDING;
    *change = (struct join_change){.counted = false};
    TRY(sqlite_join_row_need(store, changing->join_id, &change->join, err));
    TRY(read_member(store, changing, &before, err));
    if (before != BOXCAR_MEMBER_PENDING)
        return BOXCAR_OK;
    TRY(check_pending(store, &change->join, err));
    TRY(sqlite_join_outcome_report(store, changing->join_id, step->message_id, step->outcome,
                                   &change->counted, err));
    join_count(&change->join, step->outcome, change->counted, store->now);
    change->ended = change->join.status != BOXCAR_JOIN_PENDING;
    return sqlite_join_row_write(store, &change->join, err);
}

/* ---- cancel ---- */

static boxcar_status cancel(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct changing *changing = context;
    struct join_change *change = &changing->change;
    *change = (struct join_change){.ended = true};
    TRY(sqlite_join_row_need(store, changing->join_id, &change->join, err));
    TRY(check_pending(store, &change->join, err));
    join_cancel(&change->join, store->now);
    return sqlite_join_row_write(store, &change->join, err);
}

boxcar_status sqlite_join_end(struct boxcar_store *store, boxcar_join_id join_id, const struct step_end *step,
                              struct join_change *ret_change, boxcar_error *err) {
    struct changing changing = {.join_id = join_id, .step = step};
    sqlite_work_fn work = step != NULL ? report : cancel;
    TRY(sqlite_transaction(sqlite_of(store), ACCESS_WRITE, work, &changing, err));
    *ret_change = changing.change;
    return BOXCAR_OK;
}
