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
#include "store/sqlite/subscription/reader.h"
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

static boxcar_status insert(struct sqlite_store *store, const struct enqueueing *enqueueing,
                            const boxcar_new_message *message, boxcar_message_id unique_key, int64_t work_id,
                            bool *ret_inserted, boxcar_error *err) {
    TRY(query_do(store, S_MESSAGE_INSERT, err, Q_INT(work_id), Q_ID(message->message_id.uuid.bytes),
                 Q_INT(enqueueing->box), Q_INT(lane_of(store, enqueueing, message)), Q_TEXT(message->topic),
                 Q_TEXT(present(message->stream)), Q_TEXT(present(message->correlation_id)),
                 Q_TEXT(message->headers), Q_INT(store->now), Q_TIME(due_of(store, message)),
                 Q_TIME(expiry_of(store, message)),
                 Q_TIME(message->max_attempts > 0 ? message->max_attempts : BOXCAR_TIME_NONE),
                 Q_TEXT(message->payload), Q_ID(unique_key.uuid.bytes), Q_TEXT(message->causation_id),
                 Q_TEXT(message->event_type), Q_TEXT(message->metadata)));
    *ret_inserted = sqlite3_changes(store->db) > 0;
    return BOXCAR_OK;
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

/* Whether a subscription has taken the topic from the main reader. For a message that is not set aside, that
 * is looked at when the main reader meets it. */
static boxcar_status set_aside(struct sqlite_store *store, const struct enqueueing *enqueueing,
                               const boxcar_new_message *message, int64_t work_id, boxcar_error *err) {
    bool taken = false;
    if (enqueueing->box != BOXCAR_OUTBOX || !str_equal(message->topic, enqueueing->waits))
        TRY(sqlite_reader_takes(store, enqueueing->box, message->topic, &taken, err));
    return taken ? sqlite_pass(store, work_id, err)
                 : park_special(store, enqueueing->box, message, work_id, err);
}

static boxcar_status find_duplicate(struct sqlite_store *store, const boxcar_new_message *message,
                                    int64_t *ret_work_id, boxcar_error *err) {
    int64_t work_id = 0;
    TRY(query_find_int(store, S_MESSAGE_BY_MESSAGE_ID, &work_id, err, Q_ID(message->message_id.uuid.bytes)));
    if (work_id == 0)
        return error_set(err, BOXCAR_E_STORE, "%s: a message was neither stored nor there", store->base.id);
    *ret_work_id = work_id;
    return BOXCAR_OK;
}

static boxcar_status place(struct sqlite_store *store, const struct enqueueing *enqueueing,
                           const boxcar_new_message *message, int64_t work_id, boxcar_error *err) {
    enum lane lane = lane_of(store, enqueueing, message);
    if (enqueueing->expected)
        TRY(sqlite_join_know(store, message->message_id, work_id, err));
    if (lane == LANE_ASIDE)
        return set_aside(store, enqueueing, message, work_id, err);
    if (lane == LANE_STREAMED)
        TRY(sqlite_fix_partitions(store, err));
    sqlite_tally_add(store, (int)enqueueing->box, message->topic, TALLY_FRESH, 1);
    return BOXCAR_OK;
}

static boxcar_status check_sizes(struct sqlite_store *store, const boxcar_new_message *message,
                                 boxcar_error *err) {
    TRY(sqlite_check_sizes(store, message->payload, message->headers, err));
    return sqlite_check_message_metadata(store, message->metadata, err);
}

/* An id that is there: the caller's, or with a unique key our own, from a try whose end was not known. */
static boxcar_status store_message(struct sqlite_store *store, struct enqueueing *enqueueing,
                                   const boxcar_new_message *message, boxcar_message_id unique_key,
                                   boxcar_enqueued *enqueued, boxcar_error *err) {
    bool inserted, is_unique = !boxcar_uuid_is_none(unique_key.uuid);
    TRY(check_sizes(store, message, err));
    TRY(insert(store, enqueueing, message, unique_key, enqueueing->last_id + 1, &inserted, err));
    enqueued->message_id = message->message_id;
    enqueued->duplicate = !inserted && !is_unique;
    if (!inserted)
        return find_duplicate(store, message, &enqueued->work_id.value, err);
    enqueued->work_id.value = ++enqueueing->last_id;
    TRY(place(store, enqueueing, message, enqueued->work_id.value, err));
    if (!str_is_absent(message->event_type) && !enqueueing->are_events_stored)
        TRY(sqlite_event_of_message(store, message, err));
    return is_unique ? sqlite_key_take(store, unique_key, enqueued->work_id.value, err) : BOXCAR_OK;
}

/* Joins count what the main reader ends, and it never gets this one. */
static boxcar_status check_member(struct sqlite_store *store, boxcar_box box, boxcar_str topic,
                                  boxcar_error *err) {
    bool taken;
    TRY(sqlite_reader_takes(store, box, topic, &taken, err));
    return taken
               ? error_invalid(err, "join_id",
                               "join_id is set, but a subscription has taken the topic from the main reader "
                               "(only), and joins count what that ends: leave join_id out, or use another "
                               "topic")
               : BOXCAR_OK;
}

boxcar_status sqlite_enqueue_next(struct sqlite_store *store, struct enqueueing *enqueueing,
                                  const boxcar_new_message *message, const struct message_key *key,
                                  boxcar_enqueued *enqueued, boxcar_error *err) {
    boxcar_message_id unique_key = {0};
    bool found = false;
    if (key != NULL && !boxcar_uuid_is_none(key->id.uuid)) {
        unique_key = key->unique ? key->id : unique_key;
        TRY(sqlite_key_find(store, message, key, enqueued, &found, err));
    }
    if (!boxcar_uuid_is_none(message->join_id.uuid))
        TRY(check_member(store, enqueueing->box, message->topic, err));
    if (!found)
        TRY(store_message(store, enqueueing, message, unique_key, enqueued, err));
    if (boxcar_uuid_is_none(message->join_id.uuid))
        return BOXCAR_OK;
    return sqlite_join_attach_enqueued(store, &enqueueing->join, message->join_id, enqueued, err);
}

boxcar_status sqlite_enqueue_begin(struct sqlite_store *store, boxcar_box box, bool fresh,
                                   struct enqueueing *enqueueing, boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_LAST_WORK_ID);
    bool found;
    TRY(query_step(&query, &found, err));
    if (!found)
        return error_set(err, BOXCAR_E_STORE, "%s: the row of boxcar_removed is missing", store->base.id);
    *enqueueing = (struct enqueueing){.box = box,
                                      .last_id = query_get_int(&query, 0),
                                      .waits = BOXCAR_STR(WAIT_TOPIC_DEFAULT),
                                      .straight = query_get_int(&query, 1) >= STRAIGHT_SINCE};
    if (!query_is_null(&query, 2))
        TRY(query_copy_text(&query, 2, &store->scratch, &enqueueing->waits, err));
    return fresh ? BOXCAR_OK : sqlite_join_expects_messages(store, &enqueueing->expected, err);
}

boxcar_status sqlite_enqueue_one(struct sqlite_store *store, boxcar_box box,
                                 const boxcar_new_message *message, boxcar_enqueued *ret_enqueued,
                                 boxcar_error *err) {
    struct enqueueing enqueueing;
    TRY(sqlite_enqueue_begin(store, box, false, &enqueueing, err));
    return sqlite_enqueue_next(store, &enqueueing, message, NULL, ret_enqueued, err);
}

boxcar_status sqlite_enqueue_of_event(struct sqlite_store *store, const boxcar_new_message *message,
                                      boxcar_enqueued *ret_enqueued, boxcar_error *err) {
    struct enqueueing enqueueing;
    TRY(sqlite_enqueue_begin(store, BOXCAR_OUTBOX, false, &enqueueing, err));
    enqueueing.are_events_stored = true;
    return sqlite_enqueue_next(store, &enqueueing, message, NULL, ret_enqueued, err);
}

boxcar_status sqlite_enqueue_aside(struct sqlite_store *store, boxcar_box box,
                                   const boxcar_new_message *message, boxcar_enqueued *ret_enqueued,
                                   boxcar_error *err) {
    struct enqueueing enqueueing;
    TRY(sqlite_enqueue_begin(store, box, false, &enqueueing, err));
    enqueueing.aside = true;
    return sqlite_enqueue_next(store, &enqueueing, message, NULL, ret_enqueued, err);
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
    for (size_t i = 0; i < bulk->count; i++) {
        TRY(check_sizes(store, &bulk->messages[i], err));
        if (!str_is_empty(bulk->messages[i].stream))
            TRY(sqlite_fix_partitions(store, err));
    }
    return BOXCAR_OK;
}

static boxcar_status enqueue_plain(struct sqlite_store *store, struct enqueueing *enqueueing,
                                   const boxcar_new_message *messages, size_t count,
                                   boxcar_enqueued *enqueued, bool *ret_stored, boxcar_error *err) {
    struct bulk bulk = {.messages = messages,
                        .count = count,
                        .box = enqueueing->box,
                        .first_id = enqueueing->last_id + 1,
                        .now = store->now};
    TRY(check_plain(store, &bulk, err));
    TRY(sqlite_bulk_insert(store, &bulk, ret_stored, err));
    for (size_t i = 0; *ret_stored && i < count; i++) {
        enqueued[i] =
            (boxcar_enqueued){.work_id.value = ++enqueueing->last_id, .message_id = messages[i].message_id};
        sqlite_tally_add(store, (int)bulk.box, messages[i].topic, TALLY_FRESH, 1);
    }
    return BOXCAR_OK;
}

/* As many as can go together, else one. */
static boxcar_status enqueue_some(struct sqlite_store *store, struct enqueueing *enqueueing,
                                  const struct new_messages *new, boxcar_enqueued *enqueued, size_t *at,
                                  boxcar_error *err) {
    size_t count = count_plain(store, enqueueing, new, *at), i = *at;
    bool stored = false;
    if (count >= BULK_LEAST)
        TRY(enqueue_plain(store, enqueueing, &new->items[i], count, &enqueued[i], &stored, err));
    *at += stored ? count : 1;
    if (stored)
        return BOXCAR_OK;
    return sqlite_enqueue_next(store, enqueueing, &new->items[i], new->keys != NULL ? &new->keys[i] : NULL,
                               &enqueued[i], err);
}

boxcar_status sqlite_enqueue(struct sqlite_store *store, const struct request *request, struct result *result,
                             boxcar_error *err) {
    const struct new_messages messages = request_messages(request, BOXCAR_OUTBOX);
    if (messages.count == 0)
        return BOXCAR_OK;
    boxcar_enqueued *enqueued = arena_alloc_array(&result->arena, messages.count, sizeof(*enqueued));
    if (enqueued == NULL)
        return error_no_memory(err);
    struct enqueueing enqueueing;
    TRY(sqlite_enqueue_begin(store, BOXCAR_OUTBOX, messages.fresh_ids, &enqueueing, err));
    for (size_t i = 0; i < messages.count;)
        TRY(enqueue_some(store, &enqueueing, &messages, enqueued, &i, err));
    result->parts[BOXCAR_OUTBOX].enqueued = enqueued;
    return BOXCAR_OK;
}
