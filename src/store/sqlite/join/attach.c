/* Members: messages become steps of a join. */
#include <string.h>

#include "join.h"
#include "store/sqlite/connection/transaction.h"

#define RECOGNIZE_MAX 1000 /* members looked at in a round of upkeep */

/* A message as a new member sees it. */
struct found_message {
    int64_t work_id;            /* 0 = not enqueued yet */
    boxcar_member_status ended; /* pending = it has not */
};

static boxcar_status find_message(struct sqlite_store *store, boxcar_message_id message_id,
                                  struct found_message *ret_message, boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_MESSAGE_END);
    bool found = false;
    boxcar_status status;

    query_id(&query, message_id.uuid.bytes);
    status = query_step(&query, &found, err);
    if (status != BOXCAR_OK)
        return status;
    *ret_message = (struct found_message){.ended = BOXCAR_MEMBER_PENDING};
    if (found) {
        ret_message->work_id = query_get_int(&query, 0);
        ret_message->ended = (boxcar_member_status)query_get_int(&query, 1);
    }
    return BOXCAR_OK;
}

static boxcar_status insert(struct sqlite_store *store, boxcar_join_id join_id, boxcar_message_id message_id,
                            const struct found_message *message, bool *ret_inserted, boxcar_error *err) {
    struct query query = query_on(store, S_MEMBER_INSERT);
    boxcar_status status;

    query_id(&query, join_id.uuid.bytes);
    query_id(&query, message_id.uuid.bytes);
    query_time(&query, message->work_id > 0 ? message->work_id : BOXCAR_TIME_NONE);
    query_int(&query, message->ended);
    query_int(&query, store->now);
    status = query_run(&query, err);
    if (status == BOXCAR_OK)
        *ret_inserted = sqlite3_changes(store->db) > 0;
    return status;
}

static bool is_open(const struct sqlite_store *store, const boxcar_join *join) {
    return join->status == BOXCAR_JOIN_PENDING && !join_is_overdue(join, store->now);
}

/* On a join that has ended only what is a member already is welcome. */
static boxcar_status need_member(struct sqlite_store *store, boxcar_join_id join_id,
                                 boxcar_message_id message_id, boxcar_attached *ret_attached,
                                 boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_MEMBER_READ);
    bool found = false;
    boxcar_status status;

    query_id(&query, join_id.uuid.bytes);
    query_id(&query, message_id.uuid.bytes);
    status = query_step(&query, &found, err);
    if (status == BOXCAR_OK && !found)
        status = sqlite_join_error_ended(join_id, err);
    if (status == BOXCAR_OK)
        *ret_attached = (boxcar_attached){.is_new = false, .message_exists = !query_is_null(&query, 1)};
    return status;
}

static boxcar_status attach_one(struct sqlite_store *store, const boxcar_join *join,
                                boxcar_message_id message_id, boxcar_attached *ret_attached,
                                boxcar_error *err) {
    struct found_message message;
    boxcar_status status;

    if (!is_open(store, join))
        return need_member(store, join->join_id, message_id, ret_attached, err);
    status = find_message(store, message_id, &message, err);
    if (status == BOXCAR_OK)
        status = insert(store, join->join_id, message_id, &message, &ret_attached->is_new, err);
    if (status == BOXCAR_OK)
        ret_attached->message_exists = message.work_id > 0;
    return status;
}

struct attach_call {
    boxcar_join_id join_id;
    const boxcar_message_id *message_ids;
    size_t count;
    boxcar_attached *attached;
};

static boxcar_status attach(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct attach_call *call = context;
    boxcar_join join;
    boxcar_status status = sqlite_join_row_need(store, call->join_id, &join, err);

    for (size_t i = 0; status == BOXCAR_OK && i < call->count; i++)
        status = attach_one(store, &join, call->message_ids[i], &call->attached[i], err);
    return status;
}

boxcar_status sqlite_join_attach(struct boxcar_store *store, boxcar_join_id join_id,
                                 const boxcar_message_id *message_ids, size_t count,
                                 boxcar_attached *ret_attached, boxcar_error *err) {
    AUTO_FREE boxcar_attached *attached = calloc(count, sizeof(*attached));
    struct attach_call call = {
        .join_id = join_id, .message_ids = message_ids, .count = count, .attached = attached};
    boxcar_status status;

    if (attached == NULL)
        return error_no_memory(err);
    status = sqlite_transaction(sqlite_of(store), ACCESS_WRITE, attach, &call, err);
    if (status == BOXCAR_OK)
        memcpy(ret_attached, attached, count * sizeof(*attached));
    return status;
}

/* ---- while enqueueing ---- */

boxcar_status sqlite_join_attach_enqueued(struct sqlite_store *store, struct attaching *attaching,
                                          boxcar_join_id join_id, const boxcar_enqueued *enqueued,
                                          boxcar_error *err) {
    struct found_message message = {.work_id = enqueued->work_id.value, .ended = BOXCAR_MEMBER_PENDING};
    boxcar_attached attached;
    bool inserted;
    boxcar_status status = BOXCAR_OK;

    if (!attaching->read || memcmp(&attaching->join.join_id, &join_id, sizeof(join_id)) != 0)
        status = sqlite_join_row_need(store, join_id, &attaching->join, err);
    attaching->read = status == BOXCAR_OK;
    if (status != BOXCAR_OK)
        return status;
    if (enqueued->duplicate || !is_open(store, &attaching->join))
        return attach_one(store, &attaching->join, enqueued->message_id, &attached, err);
    return insert(store, join_id, enqueued->message_id, &message, &inserted, err);
}

boxcar_status sqlite_join_expects_messages(struct sqlite_store *store, bool *ret_expects, boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_MEMBER_ANY_UNKNOWN);

    return query_step(&query, ret_expects, err);
}

static boxcar_status know(struct sqlite_store *store, boxcar_message_id message_id,
                          const struct found_message *message, boxcar_error *err) {
    struct query query = query_on(store, S_MEMBER_KNOW);

    query_id(&query, message_id.uuid.bytes);
    query_int(&query, message->work_id);
    query_int(&query, message->ended);
    return query_run(&query, err);
}

boxcar_status sqlite_join_know(struct sqlite_store *store, boxcar_message_id message_id, int64_t work_id,
                               boxcar_error *err) {
    struct found_message message = {.work_id = work_id, .ended = BOXCAR_MEMBER_PENDING};

    return know(store, message_id, &message, err);
}

/* ---- upkeep ---- */

static boxcar_status recognize(struct sqlite_store *store, boxcar_message_id message_id, boxcar_error *err) {
    struct found_message message;
    boxcar_status status = find_message(store, message_id, &message, err);

    return status == BOXCAR_OK && message.work_id > 0 ? know(store, message_id, &message, err) : status;
}

static boxcar_status read_unknown(struct sqlite_store *store, boxcar_message_id *ids, size_t *ret_count,
                                  boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_MEMBERS_UNKNOWN);
    bool row = true;
    boxcar_status status;

    *ret_count = 0;
    query_id(&query, store->unknown_from.uuid.bytes);
    query_int(&query, RECOGNIZE_MAX);
    while ((status = query_step(&query, &row, err)) == BOXCAR_OK && row)
        query_get_id(&query, 0, ids[(*ret_count)++].uuid.bytes);
    return status;
}

/* A program that knows nothing of joins may have enqueued what a member waits for. Some members have no
 * message for ever, so each round looks at a few and the next one goes on behind them. */
boxcar_status sqlite_join_recognize_step(struct sqlite_store *store, struct join_upkeep *ret_upkeep,
                                         boxcar_error *err) {
    boxcar_message_id *ids = arena_alloc_array(&store->scratch, RECOGNIZE_MAX, sizeof(*ids));
    size_t count;
    boxcar_status status;

    if (ids == NULL)
        return error_no_memory(err);
    status = read_unknown(store, ids, &count, err);
    for (size_t i = 0; status == BOXCAR_OK && i < count; i++)
        status = recognize(store, ids[i], err);
    if (status != BOXCAR_OK)
        return status;
    store->unknown_from = count == RECOGNIZE_MAX ? ids[count - 1] : (boxcar_message_id){0};
    *ret_upkeep = (struct join_upkeep){.more = false};
    return BOXCAR_OK;
}

/* ---- replaying ---- */

static boxcar_status unmark_message(struct sqlite_store *store, int64_t work_id, boxcar_error *err) {
    struct query query = query_on(store, S_MEMBERS_UNMARK_MESSAGE);

    query_int(&query, work_id);
    return query_run(&query, err);
}

boxcar_status sqlite_join_replay(struct sqlite_store *store, int64_t work_id, bool *ret_counted,
                                 boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_MESSAGE_IS_COUNTED);
    boxcar_status status;

    query_int(&query, work_id);
    status = query_step(&query, ret_counted, err);
    return status == BOXCAR_OK ? unmark_message(store, work_id, err) : status;
}
