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
    boxcar_status status = sqlite_check_metadata(store, join->metadata, err);
    struct query query;

    if (status != BOXCAR_OK)
        return status;
    query = query_on(store, S_JOIN_INSERT);
    query_id(&query, join->join_id.uuid.bytes);
    query_text(&query, str_is_empty(join->grouping_key) ? BOXCAR_NO_STR : join->grouping_key);
    query_int(&query, join->expected_steps);
    query_int(&query, store->now);
    query_time(&query, deadline_of(store, join));
    query_text(&query, join->metadata);
    return query_run(&query, err);
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
    char text[BOXCAR_UUID_TEXT_SIZE];

    if (join->status != BOXCAR_JOIN_PENDING)
        return sqlite_join_error_ended(join->join_id, err);
    if (!join_is_overdue(join, store->now))
        return BOXCAR_OK;
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
    AUTO_QUERY struct query query = query_on(store, S_MEMBER_READ);
    bool found = false;
    boxcar_status status;

    query_id(&query, changing->join_id.uuid.bytes);
    query_id(&query, changing->step->message_id.uuid.bytes);
    status = query_step(&query, &found, err);
    if (status == BOXCAR_OK && !found)
        status = error_no_member(changing, err);
    if (status == BOXCAR_OK)
        *ret_status = (boxcar_member_status)query_get_int(&query, 0);
    return status;
}

static boxcar_status count(struct sqlite_store *store, struct changing *changing, boxcar_error *err) {
    struct join_change *change = &changing->change;
    boxcar_status status = sqlite_join_outcome_report(store, changing->join_id, changing->step->message_id,
                                                      changing->step->outcome, &change->counted, err);

    if (status != BOXCAR_OK)
        return status;
    join_count(&change->join, changing->step->outcome, change->counted, store->now);
    change->ended = change->join.status != BOXCAR_JOIN_PENDING;
    return sqlite_join_row_write(store, &change->join, err);
}

static boxcar_status report(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct changing *changing = context;
    boxcar_member_status before;
    boxcar_status status;

    changing->change = (struct join_change){.counted = false};
    status = sqlite_join_row_need(store, changing->join_id, &changing->change.join, err);
    if (status == BOXCAR_OK)
        status = read_member(store, changing, &before, err);
    if (status != BOXCAR_OK || before != BOXCAR_MEMBER_PENDING)
        return status;
    status = check_pending(store, &changing->change.join, err);
    return status == BOXCAR_OK ? count(store, changing, err) : status;
}

/* ---- cancel ---- */

static boxcar_status cancel(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct changing *changing = context;
    struct join_change *change = &changing->change;
    boxcar_status status;

    *change = (struct join_change){.ended = true};
    status = sqlite_join_row_need(store, changing->join_id, &change->join, err);
    if (status != BOXCAR_OK)
        return status;
    status = check_pending(store, &change->join, err);
    if (status != BOXCAR_OK)
        return status;
    join_cancel(&change->join, store->now);
    return sqlite_join_row_write(store, &change->join, err);
}

boxcar_status sqlite_join_end(struct boxcar_store *store, boxcar_join_id join_id, const struct step_end *step,
                              struct join_change *ret_change, boxcar_error *err) {
    struct changing changing = {.join_id = join_id, .step = step};
    sqlite_work_fn work = step != NULL ? report : cancel;
    boxcar_status status = sqlite_transaction(sqlite_of(store), ACCESS_WRITE, work, &changing, err);

    if (status == BOXCAR_OK)
        *ret_change = changing.change;
    return status;
}
