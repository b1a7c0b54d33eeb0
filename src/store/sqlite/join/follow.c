/* The store itself evaluates waits that are not leased. The transaction that ends joins evaluates their
 * waits; claims and upkeep evaluate waits that are due. Each wait is leased for the moment, so that
 * everything else is as for a worker (wait.c). */
#include "core/wait.h"
#include "join.h"
#include "store/sqlite/admin/setting.h"
#include "store/sqlite/claim/claim.h"
#include "store/sqlite/connection/transaction.h"
#include "store/sqlite/message/park.h"
#include "store/sqlite/settle/lease.h"
#include "store/sqlite/settle/settle.h"

#define FOLLOW_MAX 1000 /* waits evaluated in one transaction because their joins have ended */

struct due_wait {
    int64_t work_id;
    enum parked_state state;
};

struct due_list {
    struct due_wait *items; /* in the scratch arena */
    size_t count;
};

/* ---- one ---- */

static boxcar_status read_wait(struct sqlite_store *store, const boxcar_message *message,
                               struct wait *ret_wait, boxcar_error *err) {
    TRY(wait_parse(message->payload, &store->scratch, ret_wait, err));
    ret_wait->correlation_id = message->correlation_id;
    ret_wait->message_id = message->message_id;
    ret_wait->continuation_id = boxcar_join_continuation_id(message->message_id);
    /* The limit may have been lowered meanwhile; no ack may fail for that. */
    TRY(sqlite_check_sizes(store, ret_wait->on_complete_payload, BOXCAR_NO_STR, err));
    return sqlite_check_sizes(store, ret_wait->on_fail_payload, BOXCAR_NO_STR, err);
}

/* One whose time to live has ended, or that is damaged, is buried instead. */
static boxcar_status evaluate(struct sqlite_store *store, const struct due_wait *due,
                              struct resolving *resolving, boxcar_error *err) {
    struct part_result room = {.claimed = NULL};
    boxcar_request_part part = {.claim_size = 1};
    struct claim claim = {.box = BOXCAR_OUTBOX,
                          .owner = LEASE_OF_NOBODY,
                          .part = &part,
                          .result = &room,
                          .arena = &store->scratch,
                          .until = store->now};
    boxcar_message *message;
    bool found = false;
    TRY(sqlite_claim_take(store, &claim, due->work_id, due->state, &message, err));
    if (message != NULL)
        TRY(sqlite_lease_read(store, due->work_id, &resolving->lease, &found, err));
    if (!found)
        return BOXCAR_OK;
    boxcar_error why = BOXCAR_ERROR_INIT;
    struct wait wait = {.allow_failures = false};
    enum wait_outcome outcome;
    boxcar_status status = read_wait(store, message, &wait, &why);
    if (status == BOXCAR_OK)
        return sqlite_join_resolve_wait(store, resolving, &wait, &outcome, err);
    if (status == BOXCAR_E_INVALID)
        return sqlite_lease_fail(store, &resolving->lease, BOXCAR_REASON_REJECTED, boxcar_str_of(why.message),
                                 err);
    if (err != NULL)
        *err = why;
    return status;
}

static boxcar_status evaluate_all(struct sqlite_store *store, const struct due_list *list,
                                  boxcar_error *err) {
    struct resolving resolving = {.box = BOXCAR_OUTBOX, .owner = LEASE_OF_NOBODY};
    resolving.acked.items = arena_alloc_array(&store->scratch, list->count, sizeof(*resolving.acked.items));
    if (resolving.acked.items == NULL)
        return error_no_memory(err);
    for (size_t i = 0; i < list->count; i++)
        TRY(evaluate(store, &list->items[i], &resolving, err));
    if (resolving.acked.count > 0)
        TRY(sqlite_finish(store, resolving.owner, &resolving.acked, err));
    return sqlite_join_count_buried(store, err);
}

/* Collected first: evaluating changes the index that is walked. */
static boxcar_status collect(struct query waits, size_t limit, struct due_list *list, boxcar_error *err) {
    AUTO_QUERY struct query query = waits;
    while (list->count < limit && query_next(&query))
        list->items[list->count++] =
            (struct due_wait){query_get_int(&query, 0), (enum parked_state)query_get_int(&query, 1)};
    return query_status(&query, err);
}

/* ---- joins that have ended ---- */

static boxcar_status follow_one(struct sqlite_store *store, boxcar_join_id join_id, size_t *room,
                                boxcar_error *err) {
    struct due_list list = {.items = arena_alloc_array(&store->scratch, *room, sizeof(*list.items))};
    if (list.items == NULL)
        return error_no_memory(err);
    TRY(collect(query_with(store, S_WAITS_OF_JOIN, Q_ID(join_id.uuid.bytes)), *room, &list, err));
    *room -= list.count;
    return list.count > 0 ? evaluate_all(store, &list, err) : BOXCAR_OK;
}

boxcar_status sqlite_join_follow_one(struct sqlite_store *store, boxcar_join_id join_id, boxcar_error *err) {
    size_t room = FOLLOW_MAX;
    return follow_one(store, join_id, &room, err);
}

/* A wait may be the last step of another join: the list grows meanwhile. */
boxcar_status sqlite_join_follow(struct sqlite_store *store, boxcar_error *err) {
    size_t room = FOLLOW_MAX;
    for (size_t i = 0; i < store->ended.count && room > 0; i++)
        TRY(follow_one(store, store->ended.items[i].join_id, &room, err));
    return BOXCAR_OK;
}

/* ---- waits that are due ---- */

boxcar_status sqlite_join_evaluate_due(struct sqlite_store *store, boxcar_time since, size_t limit,
                                       int64_t *ret_count, boxcar_error *err) {
    struct due_list list = {.items = arena_alloc_array(&store->scratch, limit, sizeof(*list.items))};
    *ret_count = 0;
    if (list.items == NULL)
        return error_no_memory(err);
    TRY(sqlite_settings_load(store, err));
    for (enum parked_state state = PARKED_OPEN; state <= PARKED_SUSPECT; state++) {
        struct query query =
            query_with(store, S_WAITS_DUE, Q_INT(state), Q_INT(since), Q_TEXT(store->settings.wait_topic));
        TRY(collect(query, limit, &list, err));
    }
    *ret_count = (int64_t)list.count;
    return list.count > 0 ? evaluate_all(store, &list, err) : BOXCAR_OK;
}

static boxcar_status evaluate_some(struct sqlite_store *store, void *context, boxcar_error *err) {
    return sqlite_join_evaluate_due(store, store->now, FOLLOW_MAX, context, err);
}

boxcar_status sqlite_evaluate_waits(struct boxcar_store *store, int64_t *ret_count, boxcar_error *err) {
    int64_t count;
    TRY(sqlite_transaction(sqlite_of(store), ACCESS_WRITE, evaluate_some, &count, err));
    sqlite_join_log_ended(sqlite_of(store));
    *ret_count = count;
    return BOXCAR_OK;
}
