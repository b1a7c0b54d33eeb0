/* Enqueueing: one row in the log. A message that is due later or expires is set aside at once. With one
 * writer at a time that costs no more than leaving it to the claimer that meets it, and every fresh message
 * can be handed out. A wait for a join is set aside, too, so that maintenance finds it even without claims.
 * Streamed messages are fresh, and claims keep their order. But in a store that still admits programs of
 * schema version 10 they are set aside. */
#include "enqueue.h"

#include "base/utf8.h"
#include "bulk.h"
#include "core/wait.h"
#include "key.h"
#include "park.h"
#include "store/sqlite/admin/setting.h"
#include "store/sqlite/event/event.h"
#include "store/sqlite/join/join.h"
#include "tally.h"

#define BULK_LEAST 4 /* fewer are as quick one by one */

static boxcar_time due_of(const struct sqlite_store *store, const boxcar_new_message *message) {
    return message->delay_ms > 0 ? store->now + message->delay_ms * 1000 : message->due_at;
}

static boxcar_time expiry_of(const struct sqlite_store *store, const boxcar_new_message *message) {
    return message->ttl_ms > 0 ? store->now + message->ttl_ms * 1000 : BOXCAR_TIME_NONE;
}

#define STRAIGHT_SINCE 11 /* the schema version whose programs know streams in the log */

static enum lane lane_of(const struct sqlite_store *store, const struct enqueueing *enqueueing,
                         const boxcar_new_message *message) {
    if (enqueueing->aside || message->ttl_ms > 0 || due_of(store, message) > store->now ||
        (enqueueing->box == BOXCAR_OUTBOX && str_equal(message->topic, enqueueing->waits)))
        return LANE_ASIDE;
    if (str_is_empty(message->stream))
        return LANE_PLAIN;
    return enqueueing->straight ? LANE_STREAMED : LANE_ASIDE;
}

static boxcar_str present(boxcar_str text) { return str_is_empty(text) ? BOXCAR_NO_STR : text; }

static boxcar_status read_state(struct sqlite_store *store, struct enqueueing *enqueueing,
                                boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_LAST_WORK_ID);
    bool found = false;
    boxcar_status status = query_step(&query, &found, err);

    if (status == BOXCAR_OK && !found)
        status = error_set(err, BOXCAR_E_STORE, "%s: the row of boxcar_removed is missing", store->base.id);
    if (status != BOXCAR_OK)
        return status;
    enqueueing->last_id = query_get_int(&query, 0);
    enqueueing->straight = query_get_int(&query, 1) >= STRAIGHT_SINCE;
    enqueueing->waits = BOXCAR_STR(WAIT_TOPIC_DEFAULT);
    return query_is_null(&query, 2) ? BOXCAR_OK
                                    : query_copy_text(&query, 2, &store->scratch, &enqueueing->waits, err);
}

static boxcar_status insert(struct sqlite_store *store, const struct enqueueing *enqueueing,
                            const boxcar_new_message *message, boxcar_message_id unique_key, int64_t work_id,
                            bool *ret_inserted, boxcar_error *err) {
    struct query query = query_on(store, S_MESSAGE_INSERT);
    boxcar_status status;

    query_int(&query, work_id);
    query_id(&query, message->message_id.uuid.bytes);
    query_int(&query, enqueueing->box);
    query_int(&query, lane_of(store, enqueueing, message));
    query_text(&query, message->topic);
    query_text(&query, present(message->stream));
    query_text(&query, present(message->correlation_id));
    query_text(&query, message->headers);
    query_int(&query, store->now);
    query_time(&query, due_of(store, message));
    query_time(&query, expiry_of(store, message));
    query_time(&query, message->max_attempts > 0 ? message->max_attempts : BOXCAR_TIME_NONE);
    query_text(&query, message->payload);
    query_id(&query, unique_key.uuid.bytes);
    query_text(&query, message->causation_id);
    query_text(&query, message->event_type);
    query_text(&query, message->metadata);
    status = query_run(&query, err);
    if (status == BOXCAR_OK)
        *ret_inserted = sqlite3_changes(store->db) > 0;
    return status;
}

static boxcar_status park_special(struct sqlite_store *store, boxcar_box box,
                                  const boxcar_new_message *message, int64_t work_id, boxcar_error *err) {
    boxcar_time due = due_of(store, message);
    struct parked row = {.work_id = work_id,
                         .box = (int)box,
                         .topic = message->topic,
                         .stream = present(message->stream),
                         .available_at = due > store->now ? due : store->now,
                         .expires_at = expiry_of(store, message)};

    return sqlite_park(store, &row, err);
}

static boxcar_status find_duplicate(struct sqlite_store *store, const boxcar_new_message *message,
                                    int64_t *ret_work_id, boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_MESSAGE_BY_MESSAGE_ID);
    bool found = false;
    boxcar_status status;

    query_id(&query, message->message_id.uuid.bytes);
    status = query_step(&query, &found, err);
    if (status == BOXCAR_OK && !found)
        status = error_set(err, BOXCAR_E_STORE, "%s: a message was neither stored nor there", store->base.id);
    if (status == BOXCAR_OK)
        *ret_work_id = query_get_int(&query, 0);
    return status;
}

static boxcar_status place(struct sqlite_store *store, const struct enqueueing *enqueueing,
                           const boxcar_new_message *message, int64_t work_id, boxcar_error *err) {
    enum lane lane = lane_of(store, enqueueing, message);
    boxcar_status status = BOXCAR_OK;

    if (enqueueing->expected)
        status = sqlite_join_know(store, message->message_id, work_id, err);
    if (status == BOXCAR_OK && lane == LANE_ASIDE)
        return park_special(store, enqueueing->box, message, work_id, err);
    if (status == BOXCAR_OK && lane == LANE_STREAMED)
        status = sqlite_fix_partitions(store, err);
    sqlite_tally_add(store, (int)enqueueing->box, message->topic, TALLY_FRESH, 1);
    return status;
}

static boxcar_status check_sizes(struct sqlite_store *store, const boxcar_new_message *message,
                                 boxcar_error *err) {
    boxcar_status status = sqlite_check_sizes(store, message->payload, message->headers, err);

    return status == BOXCAR_OK ? sqlite_check_message_metadata(store, message->metadata, err) : status;
}

/* An id that is there: the caller's, or with a unique key our own, from a try whose end was not known. */
static boxcar_status store_message(struct sqlite_store *store, struct enqueueing *enqueueing,
                                   const boxcar_new_message *message, boxcar_message_id unique_key,
                                   boxcar_enqueued *enqueued, boxcar_error *err) {
    bool inserted, is_unique = !boxcar_uuid_is_none(unique_key.uuid);
    boxcar_status status = check_sizes(store, message, err);

    if (status == BOXCAR_OK)
        status = insert(store, enqueueing, message, unique_key, enqueueing->last_id + 1, &inserted, err);
    if (status != BOXCAR_OK)
        return status;
    enqueued->message_id = message->message_id;
    enqueued->duplicate = !inserted && !is_unique;
    if (!inserted)
        return find_duplicate(store, message, &enqueued->work_id.value, err);
    enqueued->work_id.value = ++enqueueing->last_id;
    status = place(store, enqueueing, message, enqueued->work_id.value, err);
    if (status == BOXCAR_OK && !str_is_absent(message->event_type) && !enqueueing->are_events_stored)
        status = sqlite_event_of_message(store, message, err);
    if (status == BOXCAR_OK && is_unique)
        status = sqlite_key_take(store, unique_key, enqueued->work_id.value, err);
    return status;
}

boxcar_status sqlite_enqueue_next(struct sqlite_store *store, struct enqueueing *enqueueing,
                                  const boxcar_new_message *message, const struct message_key *key,
                                  boxcar_enqueued *enqueued, boxcar_error *err) {
    boxcar_message_id unique_key = {0};
    boxcar_status status = BOXCAR_OK;
    bool found = false;

    if (key != NULL && !boxcar_uuid_is_none(key->id.uuid)) {
        unique_key = key->unique ? key->id : unique_key;
        status = sqlite_key_find(store, message, key, enqueued, &found, err);
    }
    if (status == BOXCAR_OK && !found)
        status = store_message(store, enqueueing, message, unique_key, enqueued, err);
    if (status != BOXCAR_OK || boxcar_uuid_is_none(message->join_id.uuid))
        return status;
    return sqlite_join_attach_enqueued(store, &enqueueing->join, message->join_id, enqueued, err);
}

boxcar_status sqlite_enqueue_begin(struct sqlite_store *store, boxcar_box box, bool fresh,
                                   struct enqueueing *enqueueing, boxcar_error *err) {
    boxcar_status status;

    *enqueueing = (struct enqueueing){.box = box};
    status = read_state(store, enqueueing, err);

    if (status == BOXCAR_OK && !fresh)
        status = sqlite_join_expects_messages(store, &enqueueing->expected, err);
    return status;
}

boxcar_status sqlite_enqueue_one(struct sqlite_store *store, boxcar_box box,
                                 const boxcar_new_message *message, boxcar_enqueued *ret_enqueued,
                                 boxcar_error *err) {
    struct enqueueing enqueueing;
    boxcar_status status = sqlite_enqueue_begin(store, box, false, &enqueueing, err);

    return status == BOXCAR_OK ? sqlite_enqueue_next(store, &enqueueing, message, NULL, ret_enqueued, err)
                               : status;
}

boxcar_status sqlite_enqueue_of_event(struct sqlite_store *store, const boxcar_new_message *message,
                                      boxcar_enqueued *ret_enqueued, boxcar_error *err) {
    struct enqueueing enqueueing;
    boxcar_status status = sqlite_enqueue_begin(store, BOXCAR_OUTBOX, false, &enqueueing, err);

    enqueueing.are_events_stored = true;
    return status == BOXCAR_OK ? sqlite_enqueue_next(store, &enqueueing, message, NULL, ret_enqueued, err)
                               : status;
}

boxcar_status sqlite_enqueue_aside(struct sqlite_store *store, boxcar_box box,
                                   const boxcar_new_message *message, boxcar_enqueued *ret_enqueued,
                                   boxcar_error *err) {
    struct enqueueing enqueueing;
    boxcar_status status = sqlite_enqueue_begin(store, box, false, &enqueueing, err);

    enqueueing.aside = true;
    return status == BOXCAR_OK ? sqlite_enqueue_next(store, &enqueueing, message, NULL, ret_enqueued, err)
                               : status;
}

/* ---- many at once ---- */

static bool is_plain(const struct sqlite_store *store, const struct enqueueing *enqueueing,
                     const boxcar_new_message *message) {
    return lane_of(store, enqueueing, message) != LANE_ASIDE && boxcar_uuid_is_none(message->join_id.uuid) &&
           str_is_absent(message->event_type);
}

/* The library made their ids in this call, and nothing but the log has to know of them. A connection that is
 * lent does not have the table that bulks are read from. */
static size_t count_plain(const struct sqlite_store *store, const struct enqueueing *enqueueing,
                          const struct new_messages *new, size_t first) {
    size_t end = first;

    if (!new->fresh_ids || new->keys != NULL || store->borrowed)
        return 0;
    while (end < new->count && is_plain(store, enqueueing, &new->items[end]))
        end++;
    return end - first;
}

static boxcar_status check_plain(struct sqlite_store *store, const struct bulk *bulk, boxcar_error *err) {
    boxcar_status status = BOXCAR_OK;

    for (size_t i = 0; status == BOXCAR_OK && i < bulk->count; i++) {
        status = check_sizes(store, &bulk->messages[i], err);
        if (status == BOXCAR_OK && !str_is_empty(bulk->messages[i].stream))
            status = sqlite_fix_partitions(store, err);
    }
    return status;
}

static void note_stored(struct sqlite_store *store, const struct bulk *bulk, boxcar_enqueued *enqueued) {
    for (size_t i = 0; i < bulk->count; i++) {
        const boxcar_new_message *message = &bulk->messages[i];

        enqueued[i] = (boxcar_enqueued){.work_id.value = bulk->first_id + (int64_t)i,
                                        .message_id = message->message_id};
        sqlite_tally_add(store, (int)bulk->box, message->topic, TALLY_FRESH, 1);
    }
}

static boxcar_status enqueue_plain(struct sqlite_store *store, struct enqueueing *enqueueing,
                                   const boxcar_new_message *messages, size_t count,
                                   boxcar_enqueued *enqueued, bool *ret_stored, boxcar_error *err) {
    struct bulk bulk = {.messages = messages,
                        .count = count,
                        .box = enqueueing->box,
                        .first_id = enqueueing->last_id + 1,
                        .now = store->now};
    boxcar_status status = check_plain(store, &bulk, err);

    if (status == BOXCAR_OK)
        status = sqlite_bulk_insert(store, &bulk, ret_stored, err);
    if (status != BOXCAR_OK || !*ret_stored)
        return status;
    enqueueing->last_id += (int64_t)count;
    note_stored(store, &bulk, enqueued);
    return BOXCAR_OK;
}

/* As many as can go together, else one. */
static boxcar_status enqueue_some(struct sqlite_store *store, struct enqueueing *enqueueing,
                                  const struct new_messages *new, boxcar_enqueued *enqueued, size_t *at,
                                  boxcar_error *err) {
    size_t count = count_plain(store, enqueueing, new, *at), i = *at;
    boxcar_status status = BOXCAR_OK;
    bool stored = false;

    if (count >= BULK_LEAST)
        status = enqueue_plain(store, enqueueing, &new->items[i], count, &enqueued[i], &stored, err);
    if (status == BOXCAR_OK && !stored) {
        count = 1;
        status = sqlite_enqueue_next(store, enqueueing, &new->items[i],
                                     new->keys != NULL ? &new->keys[i] : NULL, &enqueued[i], err);
    }
    *at += count;
    return status;
}

boxcar_status sqlite_enqueue(struct sqlite_store *store, const struct request *request, struct result *result,
                             boxcar_error *err) {
    const struct new_messages messages = request_messages(request, BOXCAR_OUTBOX), *new = &messages;
    struct enqueueing enqueueing;
    boxcar_enqueued *enqueued;
    boxcar_status status;

    if (new->count == 0)
        return BOXCAR_OK;
    enqueued = arena_alloc_array(&result->arena, new->count, sizeof(*enqueued));
    if (enqueued == NULL)
        return error_no_memory(err);
    status = sqlite_enqueue_begin(store, BOXCAR_OUTBOX, new->fresh_ids, &enqueueing, err);
    for (size_t i = 0; status == BOXCAR_OK && i < new->count;)
        status = enqueue_some(store, &enqueueing, new, enqueued, &i, err);
    result->parts[BOXCAR_OUTBOX].enqueued = enqueued;
    return status;
}
