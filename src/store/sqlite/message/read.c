/* Rows become messages. */
#include "read.h"

#include <string.h>

#include "base/utf8.h"
#include "base/uuid.h"
#include "core/topic.h"
#include "store/sqlite/subscription/reader.h"

/* Behind the columns of the message, see FIND in statement/statement.c. */
enum find_column {
    F_STATE = M_COLUMNS,
    F_AVAILABLE_AT,
    F_PARKED_EXPIRES_AT,
    F_RETRY_COUNT,
    F_CRASH_COUNT,
    F_LAST_ERROR,
    F_OWNER,
    F_EPOCH,
    F_UNTIL,
    F_FINISHED_OWNER,
    F_FINISHED_AT,
    F_REASON,
    F_DIED_AT,
    F_SOURCE,
    F_EXTERNAL_ID,
    F_STAGES,
    F_PAYLOAD
};

/* The columns every statement that reads a message begins with. */
boxcar_status sqlite_read_message(struct query *query, struct arena *arena, boxcar_message *message,
                                  boxcar_error *err) {
    static const boxcar_message blank = {.due_at = BOXCAR_TIME_NONE,
                                         .available_at = BOXCAR_TIME_NONE,
                                         .expires_at = BOXCAR_TIME_NONE,
                                         .locked_until = BOXCAR_TIME_NONE,
                                         .processed_at = BOXCAR_TIME_NONE,
                                         .died_at = BOXCAR_TIME_NONE};
    *message = blank;
    message->work_id.value = query_get_int(query, M_WORK_ID);
    query_get_id(query, M_MESSAGE_ID, message->message_id.uuid.bytes);
    message->box = (boxcar_box)query_get_int(query, M_BOX);
    message->created_at = query_get_int(query, M_CREATED_AT);
    message->due_at = query_get_time(query, M_DUE_AT);
    message->expires_at = query_get_time(query, M_EXPIRES_AT);
    message->max_attempts = (int)query_get_int(query, M_MAX_ATTEMPTS);
    TRY(query_copy_text(query, M_TOPIC, arena, &message->topic, err));
    TRY(query_copy_text(query, M_STREAM, arena, &message->stream, err));
    TRY(query_copy_text(query, M_CORRELATION_ID, arena, &message->correlation_id, err));
    TRY(query_copy_text(query, M_HEADERS, arena, &message->headers, err));
    TRY(query_copy_text(query, M_CAUSATION_ID, arena, &message->causation_id, err));
    TRY(query_copy_text(query, M_EVENT_TYPE, arena, &message->event_type, err));
    TRY(query_copy_text(query, M_METADATA, arena, &message->metadata, err));
    message->stages = sqlite_stages_of(message, 0);
    return BOXCAR_OK;
}

int sqlite_stages_of(const boxcar_message *message, int64_t recorded) {
    int stages = (int)recorded | BOXCAR_STAGE_STORED;
    if (!str_is_absent(message->event_type))
        stages |= BOXCAR_STAGE_EVENT_STORED;
    if (message->box == BOXCAR_OUTBOX && message->status == BOXCAR_DONE)
        stages |= BOXCAR_STAGE_PUBLISHED;
    return stages;
}

static boxcar_status read_done(struct query *query, struct arena *arena, boxcar_message *message,
                               boxcar_error *err) {
    char *text = arena_alloc_text(arena, BOXCAR_UUID_TEXT_SIZE);
    uint8_t owner[16];
    if (text == NULL)
        return error_no_memory(err);
    query_get_id(query, F_FINISHED_OWNER, owner);
    uuid_format(owner, text);
    message->status = BOXCAR_DONE;
    message->processed_at = query_get_time(query, F_FINISHED_AT);
    message->processed_by = (boxcar_str){text, BOXCAR_UUID_TEXT_SIZE - 1};
    return BOXCAR_OK;
}

static boxcar_status read_status(struct query *query, struct arena *arena, boxcar_message *message,
                                 boxcar_error *err) {
    if (!query_is_null(query, F_FINISHED_AT))
        return read_done(query, arena, message, err);
    if (!query_is_null(query, F_REASON)) {
        message->status = BOXCAR_FAILED;
        message->reason = (boxcar_reason)query_get_int(query, F_REASON);
        message->died_at = query_get_time(query, F_DIED_AT);
    } else if (!query_is_null(query, F_UNTIL)) {
        message->status = BOXCAR_IN_PROGRESS;
        query_get_id(query, F_OWNER, message->owner.uuid.bytes);
        message->epoch.value = query_get_int(query, F_EPOCH);
        message->locked_until = query_get_time(query, F_UNTIL);
    } else {
        bool parked = !query_is_null(query, F_STATE);
        message->status = BOXCAR_READY;
        message->available_at = parked ? query_get_time(query, F_AVAILABLE_AT) : message->created_at;
    }
    return BOXCAR_OK;
}

boxcar_status sqlite_read_found(struct query *query, bool payload, struct arena *arena,
                                boxcar_message *message, boxcar_error *err) {
    TRY(sqlite_read_message(query, arena, message, err));
    if (!query_is_null(query, F_STATE)) /* a replay ends the time to live */
        message->expires_at = query_get_time(query, F_PARKED_EXPIRES_AT);
    message->retry_count = (int)query_get_int(query, F_RETRY_COUNT);
    message->crash_count = (int)query_get_int(query, F_CRASH_COUNT);
    TRY(query_copy_text(query, F_LAST_ERROR, arena, &message->last_error, err));
    TRY(query_copy_text(query, F_SOURCE, arena, &message->source, err));
    TRY(query_copy_text(query, F_EXTERNAL_ID, arena, &message->external_id, err));
    TRY(read_status(query, arena, message, err));
    if (payload)
        TRY(query_copy_text(query, F_PAYLOAD, arena, &message->payload, err));
    message->stages = sqlite_stages_of(message, query_get_int(query, F_STAGES));
    if (query->store->reader != NULL) /* stages are those of the message, not of a delivery */
        message->stages &= ~BOXCAR_STAGE_PUBLISHED | (int)query_get_int(query, F_STAGES);
    return BOXCAR_OK;
}

boxcar_status sqlite_read_messages(struct sqlite_store *store, const int64_t *ids, size_t count,
                                   bool payloads, struct arena *arena, boxcar_message **ret_items,
                                   size_t *ret_count, boxcar_error *err) {
    boxcar_message *items = arena_alloc_array(arena, count, sizeof(*items));
    size_t read = 0;
    if (items == NULL)
        return error_no_memory(err);
    for (size_t i = 0; i < count; i++) {
        AUTO_QUERY struct query query =
            query_with(store, payloads ? S_FIND_WITH_PAYLOAD : S_FIND, Q_INT(ids[i]));
        bool found;
        TRY(query_step(&query, &found, err));
        if (found)
            TRY(sqlite_read_found(&query, payloads, arena, &items[read++], err));
    }
    *ret_items = items;
    *ret_count = read;
    return BOXCAR_OK;
}

boxcar_status sqlite_read_list(struct sqlite_store *store, const int64_t *ids, size_t count,
                               struct message_rows *list, boxcar_error *err) {
    return sqlite_read_messages(store, ids, count, false, &list->arena, &list->items, &list->count, err);
}

boxcar_status sqlite_collect_ids(struct sqlite_store *store, struct query *query, int64_t **ret_ids,
                                 size_t *ret_count, boxcar_error *err) {
    int64_t *ids = NULL;
    size_t count = 0, capacity = 0;
    while (query_next(query)) {
        ids = arena_make_room(&store->scratch, ids, count, &capacity, sizeof(*ids));
        if (ids == NULL)
            return error_no_memory(err);
        ids[count++] = query_get_int(query, 0);
    }
    TRY(query_status(query, err));
    query_end(query);
    *ret_ids = ids;
    *ret_count = count;
    return BOXCAR_OK;
}

/* Topics hold no NUL, so nothing lies between a topic and the same with a byte 1 behind it; and
 * no byte of UTF-8 is 0xff, so the last one of a prefix can always be counted up. */
boxcar_status sqlite_topic_range(struct sqlite_store *store, boxcar_str pattern,
                                 struct topic_range *ret_range, boxcar_error *err) {
    bool prefix = pattern.data != NULL && topic_is_prefix_pattern(pattern);
    size_t len = prefix ? pattern.len - 1 : pattern.len;
    char *high = arena_alloc_text(&store->scratch, len + 1);
    if (high == NULL)
        return error_no_memory(err);
    if (len == 0) { /* a damaged one, which is no UTF-8, is shown as well */
        *ret_range = (struct topic_range){BOXCAR_STR(""), BOXCAR_STR("\xff\xff\xff\xff\xff\xff\xff\xff")};
        return BOXCAR_OK;
    }
    memcpy(high, pattern.data, len);
    if (prefix)
        high[len - 1]++;
    else
        high[len] = 1;
    *ret_range = (struct topic_range){{pattern.data, len}, {high, prefix ? len : len + 1}};
    return BOXCAR_OK;
}

boxcar_status sqlite_ref_resolve(struct sqlite_store *store, boxcar_box box, boxcar_message_ref ref,
                                 int64_t *ret_work_id, bool *ret_found, boxcar_error *err) {
    if (ref.work_id.value != 0) { /* the statement that uses it checks the box */
        *ret_work_id = ref.work_id.value;
        *ret_found = true;
        return BOXCAR_OK;
    }
    AUTO_QUERY struct query query =
        query_with(store, S_MESSAGE_BY_MESSAGE_ID, Q_ID(ref.message_id.uuid.bytes));
    bool found;
    TRY(query_step(&query, &found, err));
    *ret_found = found && query_get_int(&query, 1) == (int64_t)sqlite_reader_box(store, box);
    if (*ret_found)
        *ret_work_id = query_get_int(&query, 0);
    return BOXCAR_OK;
}
