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
    AUTO_QUERY struct query query = query_with(store, S_MESSAGE_END, Q_ID(message_id.uuid.bytes));
    *ret_message = (struct found_message){.ended = BOXCAR_MEMBER_PENDING};
    if (query_next(&query)) {
        ret_message->work_id = query_get_int(&query, 0);
        ret_message->ended = (boxcar_member_status)query_get_int(&query, 1);
    }
    return query_status(&query, err);
}

static boxcar_status insert(struct sqlite_store *store, boxcar_join_id join_id, boxcar_message_id message_id,
                            const struct found_message *message, bool *ret_inserted, boxcar_error *err) {
    TRY(query_do(store, S_MEMBER_INSERT, err, Q_ID(join_id.uuid.bytes), Q_ID(message_id.uuid.bytes),
                 Q_TIME(message->work_id > 0 ? message->work_id : BOXCAR_TIME_NONE), Q_INT(message->ended),
                 Q_INT(store->now)));
    *ret_inserted = sqlite3_changes(store->db) > 0;
    return BOXCAR_OK;
}

static bool is_open(const struct sqlite_store *store, const boxcar_join *join) {
    return join->status == BOXCAR_JOIN_PENDING && !join_is_overdue(join, store->now);
}

/* On a join that has ended only what is a member already is welcome. */
static boxcar_status need_member(struct sqlite_store *store, boxcar_join_id join_id,
                                 boxcar_message_id message_id, boxcar_attached *ret_attached,
                                 boxcar_error *err) {
    AUTO_QUERY struct query query =
        query_with(store, S_MEMBER_READ, Q_ID(join_id.uuid.bytes), Q_ID(message_id.uuid.bytes));
    bool found = query_next(&query);
    TRY(query_status(&query, err));
    if (!found)
        return sqlite_join_error_ended(join_id, err);
    *ret_attached = (boxcar_attached){.is_new = false, .message_exists = !query_is_null(&query, 1)};
    return BOXCAR_OK;
}

static boxcar_status attach_one(struct sqlite_store *store, const boxcar_join *join,
                                boxcar_message_id message_id, boxcar_attached *ret_attached,
                                boxcar_error *err) {
    if (!is_open(store, join))
        return need_member(store, join->join_id, message_id, ret_attached, err);
    struct found_message message;
    TRY(find_message(store, message_id, &message, err));
    ret_attached->message_exists = message.work_id > 0;
    return insert(store, join->join_id, message_id, &message, &ret_attached->is_new, err);
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
    TRY(sqlite_join_row_need(store, call->join_id, &join, err));
    for (size_t i = 0; i < call->count; i++)
        TRY(attach_one(store, &join, call->message_ids[i], &call->attached[i], err));
    return BOXCAR_OK;
}

boxcar_status sqlite_join_attach(struct boxcar_store *store, boxcar_join_id join_id,
                                 const boxcar_message_id *message_ids, size_t count,
                                 boxcar_attached *ret_attached, boxcar_error *err) {
    AUTO_FREE boxcar_attached *attached = calloc(count, sizeof(*attached));
    struct attach_call call = {
        .join_id = join_id, .message_ids = message_ids, .count = count, .attached = attached};
    if (attached == NULL)
        return error_no_memory(err);
    TRY(sqlite_transaction(sqlite_of(store), ACCESS_WRITE, attach, &call, err));
    memcpy(ret_attached, attached, count * sizeof(*attached));
    return BOXCAR_OK;
}

/* ---- while enqueueing ---- */

boxcar_status sqlite_join_attach_enqueued(struct sqlite_store *store, struct attaching *attaching,
                                          boxcar_join_id join_id, const boxcar_enqueued *enqueued,
                                          boxcar_error *err) {
    if (!attaching->read || memcmp(&attaching->join.join_id, &join_id, sizeof(join_id)) != 0) {
        attaching->read = false;
        TRY(sqlite_join_row_need(store, join_id, &attaching->join, err));
        attaching->read = true;
    }
    boxcar_attached attached;
    if (enqueued->duplicate || !is_open(store, &attaching->join))
        return attach_one(store, &attaching->join, enqueued->message_id, &attached, err);
    struct found_message message = {.work_id = enqueued->work_id.value, .ended = BOXCAR_MEMBER_PENDING};
    return insert(store, join_id, enqueued->message_id, &message, &attached.is_new, err);
}

boxcar_status sqlite_join_expects_messages(struct sqlite_store *store, bool *ret_expects, boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_MEMBER_ANY_UNKNOWN);
    return query_step(&query, ret_expects, err);
}

static boxcar_status know(struct sqlite_store *store, boxcar_message_id message_id,
                          const struct found_message *message, boxcar_error *err) {
    return query_do(store, S_MEMBER_KNOW, err, Q_ID(message_id.uuid.bytes), Q_INT(message->work_id),
                    Q_INT(message->ended));
}

boxcar_status sqlite_join_know(struct sqlite_store *store, boxcar_message_id message_id, int64_t work_id,
                               boxcar_error *err) {
    struct found_message message = {.work_id = work_id, .ended = BOXCAR_MEMBER_PENDING};
    return know(store, message_id, &message, err);
}

/* ---- upkeep ---- */

static boxcar_status recognize(struct sqlite_store *store, boxcar_message_id message_id, boxcar_error *err) {
    struct found_message message;
    TRY(find_message(store, message_id, &message, err));
    return message.work_id > 0 ? know(store, message_id, &message, err) : BOXCAR_OK;
}

static boxcar_status read_unknown(struct sqlite_store *store, boxcar_message_id *ids, size_t *ret_count,
                                  boxcar_error *err) {
    AUTO_QUERY struct query query =
        query_with(store, S_MEMBERS_UNKNOWN, Q_ID(store->unknown_from.uuid.bytes), Q_INT(RECOGNIZE_MAX));
    *ret_count = 0;
    while (query_next(&query))
        query_get_id(&query, 0, ids[(*ret_count)++].uuid.bytes);
    return query_status(&query, err);
}

/* A program that knows nothing of joins may have enqueued what a member waits for. Some members have no
 * message for ever, so each round looks at a few and the next one goes on behind them. */
boxcar_status sqlite_join_recognize_step(struct sqlite_store *store, struct join_upkeep *ret_upkeep,
                                         boxcar_error *err) {
    boxcar_message_id *ids = arena_alloc_array(&store->scratch, RECOGNIZE_MAX, sizeof(*ids));
    if (ids == NULL)
        return error_no_memory(err);
    size_t count;
    TRY(read_unknown(store, ids, &count, err));
    for (size_t i = 0; i < count; i++)
        TRY(recognize(store, ids[i], err));
    store->unknown_from = count == RECOGNIZE_MAX ? ids[count - 1] : (boxcar_message_id){0};
    *ret_upkeep = (struct join_upkeep){0};
    return BOXCAR_OK;
}

/* ---- replaying ---- */

boxcar_status sqlite_join_replay(struct sqlite_store *store, int64_t work_id, bool *ret_counted,
                                 boxcar_error *err) {
    int64_t counted = 0;
    TRY(query_find_int(store, S_MESSAGE_IS_COUNTED, &counted, err, Q_INT(work_id)));
    *ret_counted = counted != 0;
    return query_do(store, S_MEMBERS_UNMARK_MESSAGE, err, Q_INT(work_id));
}
