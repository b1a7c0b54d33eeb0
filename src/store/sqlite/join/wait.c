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
    struct query query = query_on(store, S_WAIT_INSERT);

    query_int(&query, work_id);
    query_id(&query, join_id.uuid.bytes);
    return query_run(&query, err);
}

/* ---- enqueueing one ---- */

struct waiting {
    boxcar_join_id join_id;
    const boxcar_new_message *message;
    boxcar_enqueued enqueued;
    struct join_change change;
};

static boxcar_status bring_up_to_date(struct sqlite_store *store, struct waiting *waiting,
                                      boxcar_error *err) {
    struct join_change *change = &waiting->change;
    int64_t settled = 0;
    boxcar_status status = sqlite_join_row_need(store, waiting->join_id, &change->join, err);

    if (status != BOXCAR_OK || change->join.status != BOXCAR_JOIN_PENDING)
        return status;
    status = sqlite_join_settle(store, &change->join, &settled, err);
    change->counted = settled > 0;
    change->ended = change->join.status != BOXCAR_JOIN_PENDING;
    return status;
}

static boxcar_status enqueue_wait(struct sqlite_store *store, struct waiting *waiting, boxcar_error *err) {
    boxcar_new_message message = *waiting->message;
    boxcar_status status = sqlite_settings_load(store, err);

    message.topic = store->settings.wait_topic;
    if (status == BOXCAR_OK)
        status = sqlite_enqueue_aside(store, BOXCAR_OUTBOX, &message, &waiting->enqueued, err);
    if (status != BOXCAR_OK || waiting->enqueued.duplicate)
        return status;
    return note_wait(store, waiting->enqueued.work_id.value, waiting->join_id, err);
}

static boxcar_status wait_for(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct waiting *waiting = context;
    boxcar_status status;

    waiting->change = (struct join_change){.counted = false};
    status = bring_up_to_date(store, waiting, err);
    if (status == BOXCAR_OK)
        status = enqueue_wait(store, waiting, err);
    if (status != BOXCAR_OK || waiting->change.join.status == BOXCAR_JOIN_PENDING)
        return status;
    return sqlite_join_follow_one(store, waiting->join_id, err); /* nothing more will happen to that join */
}

boxcar_status sqlite_join_wait(struct boxcar_store *store, boxcar_join_id join_id,
                               const boxcar_new_message *message, boxcar_enqueued *ret_enqueued,
                               struct join_change *ret_change, boxcar_error *err) {
    struct waiting waiting = {.join_id = join_id, .message = message};
    boxcar_status status = sqlite_transaction(sqlite_of(store), ACCESS_WRITE, wait_for, &waiting, err);

    if (status != BOXCAR_OK)
        return status;
    *ret_enqueued = waiting.enqueued;
    *ret_change = waiting.change;
    return BOXCAR_OK;
}

/* ---- evaluating ---- */

static boxcar_status read_join(struct sqlite_store *store, boxcar_join_id join_id, boxcar_join *ret_join,
                               bool *ret_found, boxcar_error *err) {
    int64_t settled;
    boxcar_status status = sqlite_join_row_read(store, join_id, ret_join, ret_found, err);

    if (status != BOXCAR_OK || !*ret_found || ret_join->status != BOXCAR_JOIN_PENDING)
        return status;
    return sqlite_join_settle(store, ret_join, &settled, err);
}

static boxcar_status read_created_at(struct sqlite_store *store, int64_t work_id, boxcar_time *ret_created_at,
                                     boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_MESSAGE_CREATED);
    bool found = false;
    boxcar_status status;

    query_int(&query, work_id);
    status = query_step(&query, &found, err);
    if (status == BOXCAR_OK)
        *ret_created_at = found ? query_get_int(&query, 0) : store->now;
    return status;
}

static boxcar_status wait_on(struct sqlite_store *store, const struct resolving *resolving,
                             const boxcar_join *join, boxcar_error *err) {
    struct release how = {.cleared = true}; /* it was not the wait that killed its worker */
    boxcar_time created_at;
    boxcar_status status = read_created_at(store, resolving->lease.work_id, &created_at, err);

    if (status != BOXCAR_OK)
        return status;
    how.delay_ms = wait_delay_ms(store->now, created_at, join->deadline);
    status = sqlite_release(store, &resolving->lease, &how, err);
    return status == BOXCAR_OK ? note_wait(store, resolving->lease.work_id, join->join_id, err) : status;
}

static boxcar_status ack_wait(struct sqlite_store *store, struct resolving *resolving, boxcar_error *err) {
    boxcar_status status = sqlite_lease_ack(store, &resolving->lease, err);

    if (status == BOXCAR_OK)
        resolving->acked.items[resolving->acked.count++].value = resolving->lease.work_id;
    return status;
}

/* Its id derives from the wait's, so that even a wait that was replayed brings no second one. */
static boxcar_status enqueue_continuation(struct sqlite_store *store, struct resolving *resolving,
                                          const struct wait *wait, bool completed, boxcar_error *err) {
    boxcar_new_message message = BOXCAR_NEW_MESSAGE_INIT;
    char cause[BOXCAR_UUID_TEXT_SIZE];
    boxcar_enqueued enqueued;
    boxcar_status status = ack_wait(store, resolving, err);

    message.topic = completed ? wait->on_complete_topic : wait->on_fail_topic;
    message.payload = completed ? wait->on_complete_payload : wait->on_fail_payload;
    message.correlation_id = wait->correlation_id;
    message.message_id = wait->continuation_id;
    boxcar_uuid_format(wait->message_id.uuid, cause);
    message.causation_id = boxcar_str_of(cause);
    if (status == BOXCAR_OK)
        status = sqlite_enqueue_one(store, resolving->box, &message, &enqueued, err);
    return status;
}

static boxcar_status act(struct sqlite_store *store, struct resolving *resolving, const struct wait *wait,
                         enum wait_outcome outcome, const boxcar_join *join, boxcar_error *err) {
    switch (outcome) {
    case WAIT_LOST:
        break;
    case WAIT_DEFERRED:
        return wait_on(store, resolving, join, err);
    case WAIT_COMPLETED:
        return enqueue_continuation(store, resolving, wait, true, err);
    case WAIT_FAILED:
        return enqueue_continuation(store, resolving, wait, false, err);
    case WAIT_SILENT:
        return ack_wait(store, resolving, err);
    case WAIT_NO_JOIN:
        return sqlite_lease_fail(store, &resolving->lease, BOXCAR_REASON_REJECTED,
                                 BOXCAR_STR("the join does not exist"), err);
    }
    return BOXCAR_OK;
}

boxcar_status sqlite_join_resolve_wait(struct sqlite_store *store, struct resolving *resolving,
                                       const struct wait *wait, enum wait_outcome *ret_outcome,
                                       boxcar_error *err) {
    boxcar_join join;
    bool found;
    boxcar_status status = read_join(store, wait->join_id, &join, &found, err);

    if (status != BOXCAR_OK)
        return status;
    *ret_outcome = wait_decide(wait, found ? &join : NULL);
    return act(store, resolving, wait, *ret_outcome, found ? &join : NULL, err);
}

static boxcar_status resolve_one(struct sqlite_store *store, struct resolving *resolving,
                                 const boxcar_settlement *given, const struct wait *wait,
                                 enum wait_outcome *ret_outcome, boxcar_error *err) {
    bool found;
    boxcar_status status = sqlite_lease_read(store, given->work_id.value, &resolving->lease, &found, err);

    *ret_outcome = WAIT_LOST;
    if (status != BOXCAR_OK || !found ||
        !sqlite_lease_is_held(&resolving->lease, resolving->box, resolving->owner, given))
        return status;
    return sqlite_join_resolve_wait(store, resolving, wait, ret_outcome, err);
}

/* Waits may be steps of other joins: what is acked here is counted as everywhere. */
boxcar_status sqlite_join_resolve(struct sqlite_store *store, const struct request *request, boxcar_box box,
                                  struct result *result, boxcar_error *err) {
    const boxcar_request_part *part = &request->parts[box];
    const boxcar_settlement_list *given = &part->settle[BOXCAR_RESOLVE];
    struct resolving resolving = {.box = box, .owner = request->base.owner};
    size_t count = given->count;
    enum wait_outcome *outcomes;
    boxcar_status status = BOXCAR_OK;

    if (count == 0)
        return BOXCAR_OK;
    outcomes = arena_alloc_array(&result->arena, count, sizeof(*outcomes));
    resolving.acked.items = arena_alloc_array(&store->scratch, count, sizeof(*resolving.acked.items));
    if (outcomes == NULL || resolving.acked.items == NULL)
        return error_no_memory(err);
    for (size_t i = 0; status == BOXCAR_OK && i < count; i++)
        status =
            resolve_one(store, &resolving, &given->items[i], &request->own[box].waits[i], &outcomes[i], err);
    if (status == BOXCAR_OK && resolving.acked.count > 0)
        status = sqlite_finish(store, request->base.owner, &resolving.acked, err);
    result->parts[box].waits = outcomes;
    return status == BOXCAR_OK ? sqlite_join_count_buried(store, err) : status;
}
