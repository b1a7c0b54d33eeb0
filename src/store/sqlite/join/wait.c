/* Waits: messages that stay in the store until a join has ended, and what comes of them. */
#include "core/wait.h"
#include "base/utf8.h"
#include "join.h"
#include "store/sqlite/admin/setting.h"
#include "store/sqlite/connection/transaction.h"
#include "store/sqlite/message/enqueue.h"
#include "store/sqlite/settle/lease.h"
#include "store/sqlite/settle/release.h"
#include "store/sqlite/settle/settle.h"

static boxcar_status note_wait(struct sqlite_store *store, int64_t work_id, boxcar_join_id join_id,
                               boxcar_error *err) {
    return query_do(store, S_WAIT_INSERT, err, Q_INT(work_id), Q_ID(join_id.uuid.bytes));
}

/* ---- enqueueing one ---- */

struct waiting {
    boxcar_join_id join_id;
    const boxcar_new_message *message;
    boxcar_enqueued enqueued;
    struct join_change change;
};

static boxcar_status bring_up_to_date(struct sqlite_store *store, boxcar_join_id join_id,
                                      struct join_change *ret_change, boxcar_error *err) {
    int64_t settled;
    *ret_change = (struct join_change){.counted = false};
    TRY(sqlite_join_row_need(store, join_id, &ret_change->join, err));
    if (ret_change->join.status != BOXCAR_JOIN_PENDING)
        return BOXCAR_OK;
    TRY(sqlite_join_settle(store, &ret_change->join, &settled, err));
    ret_change->counted = settled > 0;
    ret_change->ended = ret_change->join.status != BOXCAR_JOIN_PENDING;
    return BOXCAR_OK;
}

static boxcar_status enqueue_wait(struct sqlite_store *store, boxcar_join_id join_id,
                                  const boxcar_new_message *given, boxcar_enqueued *ret_enqueued,
                                  boxcar_error *err) {
    boxcar_new_message message = *given;
    TRY(sqlite_settings_load(store, err));
    message.topic = store->settings.wait_topic;
    TRY(sqlite_enqueue_aside(store, BOXCAR_OUTBOX, &message, ret_enqueued, err));
    return ret_enqueued->duplicate ? BOXCAR_OK : note_wait(store, ret_enqueued->work_id.value, join_id, err);
}

boxcar_status sqlite_join_wait_new(struct sqlite_store *store, boxcar_join_id join_id,
                                   const boxcar_new_message *given, boxcar_error *err) {
    boxcar_enqueued enqueued;
    return enqueue_wait(store, join_id, given, &enqueued, err);
}

static boxcar_status wait_for(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct waiting *waiting = context;
    TRY(bring_up_to_date(store, waiting->join_id, &waiting->change, err));
    TRY(enqueue_wait(store, waiting->join_id, waiting->message, &waiting->enqueued, err));
    if (waiting->change.join.status == BOXCAR_JOIN_PENDING)
        return BOXCAR_OK;
    return sqlite_join_follow_one(store, waiting->join_id, err); /* nothing more will happen to that join */
}

boxcar_status sqlite_join_wait(struct boxcar_store *store, boxcar_join_id join_id,
                               const boxcar_new_message *message, boxcar_enqueued *ret_enqueued,
                               struct join_change *ret_change, boxcar_error *err) {
    struct waiting waiting = {.join_id = join_id, .message = message};
    TRY(sqlite_transaction(sqlite_of(store), ACCESS_WRITE, wait_for, &waiting, err));
    *ret_enqueued = waiting.enqueued;
    *ret_change = waiting.change;
    return BOXCAR_OK;
}

/* ---- evaluating ---- */

static boxcar_status read_join(struct sqlite_store *store, boxcar_join_id join_id, boxcar_join *ret_join,
                               bool *ret_found, boxcar_error *err) {
    int64_t settled;
    TRY(sqlite_join_row_read(store, join_id, ret_join, ret_found, err));
    if (!*ret_found || ret_join->status != BOXCAR_JOIN_PENDING)
        return BOXCAR_OK;
    return sqlite_join_settle(store, ret_join, &settled, err);
}

static boxcar_status wait_on(struct sqlite_store *store, const struct resolving *resolving,
                             const boxcar_join *join, boxcar_error *err) {
    int64_t work_id = resolving->lease.work_id;
    boxcar_time created_at = store->now;
    TRY(query_find_int(store, S_MESSAGE_CREATED, &created_at, err, Q_INT(work_id)));
    struct release how = {.cleared = true, /* it was not the wait that killed its worker */
                          .delay_ms = wait_delay_ms(store->now, created_at, join->deadline)};
    TRY(sqlite_release(store, &resolving->lease, &how, err));
    return note_wait(store, work_id, join->join_id, err);
}

static boxcar_status ack_wait(struct sqlite_store *store, struct resolving *resolving, boxcar_error *err) {
    TRY(sqlite_lease_ack(store, &resolving->lease, err));
    resolving->acked.items[resolving->acked.count++].value = resolving->lease.work_id;
    return BOXCAR_OK;
}

/* Its id derives from the wait's, so that even a wait that was replayed brings no second one. */
static boxcar_status enqueue_continuation(struct sqlite_store *store, struct resolving *resolving,
                                          const struct wait *wait, bool completed, boxcar_error *err) {
    TRY(ack_wait(store, resolving, err));
    char cause[BOXCAR_UUID_TEXT_SIZE];
    boxcar_uuid_format(wait->message_id.uuid, cause);
    boxcar_new_message message = BOXCAR_NEW_MESSAGE_INIT;
    message.topic = completed ? wait->on_complete_topic : wait->on_fail_topic;
    message.payload = completed ? wait->on_complete_payload : wait->on_fail_payload;
    message.correlation_id = wait->correlation_id;
    message.message_id = wait->continuation_id;
    message.causation_id = boxcar_str_of(cause);
    boxcar_enqueued enqueued;
    return sqlite_enqueue_one(store, resolving->box, &message, &enqueued, err);
}

boxcar_status sqlite_join_resolve_wait(struct sqlite_store *store, struct resolving *resolving,
                                       const struct wait *wait, enum wait_outcome *ret_outcome,
                                       boxcar_error *err) {
    boxcar_join join;
    bool found;
    TRY(read_join(store, wait->join_id, &join, &found, err));
    *ret_outcome = wait_decide(wait, found ? &join : NULL);
    switch (*ret_outcome) {
    case WAIT_LOST:
        break;
    case WAIT_DEFERRED:
        return wait_on(store, resolving, &join, err);
    case WAIT_COMPLETED:
    case WAIT_FAILED:
        return enqueue_continuation(store, resolving, wait, *ret_outcome == WAIT_COMPLETED, err);
    case WAIT_SILENT:
        return ack_wait(store, resolving, err);
    case WAIT_NO_JOIN:
        return sqlite_lease_fail(store, &resolving->lease, BOXCAR_REASON_REJECTED,
                                 BOXCAR_STR("the join does not exist"), err);
    }
    return BOXCAR_OK;
}

static boxcar_status resolve_one(struct sqlite_store *store, struct resolving *resolving,
                                 const boxcar_settlement *given, const struct wait *wait,
                                 enum wait_outcome *ret_outcome, boxcar_error *err) {
    bool found;
    *ret_outcome = WAIT_LOST;
    TRY(sqlite_lease_read(store, given->work_id.value, &resolving->lease, &found, err));
    if (!found || !sqlite_lease_is_held(&resolving->lease, resolving->box, resolving->owner, given))
        return BOXCAR_OK;
    return sqlite_join_resolve_wait(store, resolving, wait, ret_outcome, err);
}

/* Waits may be steps of other joins: what is acked here is counted as everywhere. */
boxcar_status sqlite_join_resolve(struct sqlite_store *store, const struct request *request, boxcar_box box,
                                  struct result *result, boxcar_error *err) {
    boxcar_settlement_list given = request->parts[box].settle[BOXCAR_RESOLVE];
    struct resolving resolving = {.box = box, .owner = request->base.owner};
    if (given.count == 0)
        return BOXCAR_OK;
    enum wait_outcome *outcomes = arena_alloc_array(&result->arena, given.count, sizeof(*outcomes));
    resolving.acked.items = arena_alloc_array(&store->scratch, given.count, sizeof(*resolving.acked.items));
    if (outcomes == NULL || resolving.acked.items == NULL)
        return error_no_memory(err);
    for (size_t i = 0; i < given.count; i++)
        TRY(resolve_one(store, &resolving, &given.items[i], &request->own[box].waits[i], &outcomes[i], err));
    if (resolving.acked.count > 0)
        TRY(sqlite_finish(store, request->base.owner, &resolving.acked, err));
    result->parts[box].waits = outcomes;
    return sqlite_join_count_buried(store, err);
}
