/* Events. There is one writer at a time, so rows are numbered in the order of commits: the number is the
 * position. A stream's version is that of its last row. */
#include "event.h"

#include <inttypes.h>
#include <string.h>

#include "base/utf8.h"
#include "core/topic.h"
#include "store/sqlite/admin/setting.h"
#include "store/sqlite/connection/transaction.h"
#include "store/sqlite/message/enqueue.h"

/* How many events one call looks through for those that it wants. */
#define LOOK_MAX 20000

/* ---- appending ---- */

struct appending {
    boxcar_str stream;
    int64_t expected_version;
    const boxcar_new_event *events;
    size_t count;
    boxcar_appended *appended;
};

static boxcar_status error_taken(boxcar_event_id id, const char *what, boxcar_error *err) {
    char text[BOXCAR_UUID_TEXT_SIZE];
    boxcar_uuid_format(id.uuid, text);
    error_set(err, BOXCAR_E_CONFLICT, "the event id %s is %s", text, what);
    if (err != NULL)
        memcpy(err->argument, "event_id", sizeof("event_id"));
    return BOXCAR_E_CONFLICT;
}

/* *ret_version: of the event with this id, 0 = there is none. */
static boxcar_status find_known(struct sqlite_store *store, boxcar_str stream, boxcar_event_id id,
                                int64_t *ret_version, boxcar_error *err) {
    AUTO_QUERY struct query query = query_with(store, S_EVENT_BY_ID, Q_ID(id.uuid.bytes), Q_TEXT(stream));
    bool found = query_next(&query);
    if (found && query_get_int(&query, 1) == 0)
        return error_taken(id, "one of another stream", err);
    *ret_version = found ? query_get_int(&query, 0) : 0;
    return query_status(&query, err);
}

static boxcar_status insert(struct sqlite_store *store, boxcar_str stream, const boxcar_new_event *event,
                            int64_t version, boxcar_error *err) {
    return query_do(store, S_EVENT_INSERT, err, Q_ID(event->event_id.uuid.bytes), Q_TEXT(stream),
                    Q_INT(version), Q_TEXT(event->type), Q_TEXT(event->correlation_id),
                    Q_TEXT(event->headers), Q_INT(store->now), Q_TEXT(event->payload),
                    Q_TEXT(event->causation_id));
}

/* A message that already has the event's id was enqueued without it, and would be taken for the event's. */
static boxcar_status enqueue(struct sqlite_store *store, boxcar_str stream, const boxcar_new_event *event,
                             boxcar_error *err) {
    if (str_is_absent(event->topic))
        return BOXCAR_OK;
    boxcar_new_message message = BOXCAR_NEW_MESSAGE_INIT;
    message.topic = event->topic;
    message.payload = event->payload;
    message.correlation_id = event->correlation_id;
    message.causation_id = event->causation_id;
    message.event_type = event->type;
    message.headers = event->headers;
    message.stream = stream;
    message.message_id.uuid = event->event_id.uuid;
    boxcar_enqueued enqueued;
    TRY(sqlite_enqueue_of_event(store, &message, &enqueued, err));
    if (enqueued.duplicate)
        return error_taken(event->event_id, "the id of a message that was enqueued by itself", err);
    return BOXCAR_OK;
}

static boxcar_status check_expected(const struct appending *appending, int64_t version, boxcar_error *err) {
    int64_t expected = appending->expected_version;
    if (expected == BOXCAR_ANY_VERSION || expected == version)
        return BOXCAR_OK;
    error_set(err, BOXCAR_E_CONFLICT, "the stream has version %" PRId64 ", expected was %" PRId64, version,
              expected);
    if (err != NULL)
        memcpy(err->argument, "expected_version", sizeof("expected_version"));
    return BOXCAR_E_CONFLICT;
}

/* The first event that is new shows whether the stream is as expected; what was stored before an error is
 * rolled back. */
static boxcar_status append(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct appending *appending = context;
    int64_t before = 0;
    TRY(query_find_int(store, S_EVENT_LAST_VERSION, &before, err, Q_TEXT(appending->stream)));
    int64_t version = before;
    for (size_t i = 0; i < appending->count; i++) {
        const boxcar_new_event *event = &appending->events[i];
        boxcar_appended *appended = &appending->appended[i];
        *appended = (boxcar_appended){.event_id = event->event_id};
        TRY(find_known(store, appending->stream, event->event_id, &appended->version, err));
        appended->duplicate = appended->version > 0;
        if (appended->duplicate)
            continue;
        appended->version = ++version;
        TRY(check_expected(appending, before, err));
        TRY(sqlite_check_sizes(store, event->payload, event->headers, err));
        TRY(insert(store, appending->stream, event, appended->version, err));
        TRY(enqueue(store, appending->stream, event, err));
    }
    return BOXCAR_OK;
}

boxcar_status sqlite_event_append(struct boxcar_store *store, boxcar_str stream, int64_t expected_version,
                                  const boxcar_new_event *events, size_t count, boxcar_appended *ret_appended,
                                  boxcar_error *err) {
    struct appending appending = {stream, expected_version, events, count, ret_appended};

    return sqlite_transaction(sqlite_of(store), ACCESS_WRITE, append, &appending, err);
}

boxcar_status sqlite_event_of_message(struct sqlite_store *store, const boxcar_new_message *message,
                                      boxcar_error *err) {
    boxcar_new_event event = BOXCAR_NEW_EVENT_INIT;
    event.event_id.uuid = message->message_id.uuid;
    event.type = message->event_type;
    event.payload = message->payload;
    event.correlation_id = message->correlation_id;
    event.causation_id = message->causation_id;
    event.headers = message->headers;
    int64_t known, version = 0;
    TRY(find_known(store, message->stream, event.event_id, &known, err));
    if (known > 0)
        return BOXCAR_OK;
    TRY(query_find_int(store, S_EVENT_LAST_VERSION, &version, err, Q_TEXT(message->stream)));
    return insert(store, message->stream, &event, version + 1, err);
}

/* ---- reading ---- */

enum event_column {
    E_EVENT_ID,
    E_STREAM,
    E_VERSION,
    E_POSITION,
    E_TYPE,
    E_CORRELATION_ID,
    E_HEADERS,
    E_CREATED_AT,
    E_PAYLOAD,
    E_CAUSATION_ID
};

struct event_look {
    const boxcar_event_filter *filter;
    int64_t from_version;
    struct event_rows *list;
    int64_t bytes; /* of payloads and headers in the list */
    bool is_full;  /* the next one does not fit, and was left out */
};

/* The first one always does. */
static bool fits(const struct query *query, struct event_look *look) {
    look->bytes += (int64_t)(query_get_text(query, E_PAYLOAD).len + query_get_text(query, E_HEADERS).len);
    look->is_full = look->list->count > 0 && look->bytes > BOXCAR_EVENT_PAGE_BYTES;
    return !look->is_full;
}

static boxcar_status read_event(struct query *query, struct event_look *look, boxcar_error *err) {
    struct arena *arena = &look->list->arena;
    if (!fits(query, look))
        return BOXCAR_OK;
    boxcar_event *event = list_add(look->list, sizeof(*event));
    if (event == NULL)
        return error_no_memory(err);
    query_get_id(query, E_EVENT_ID, event->event_id.uuid.bytes);
    event->version = query_get_int(query, E_VERSION);
    event->position = query_get_int(query, E_POSITION);
    event->created_at = query_get_time(query, E_CREATED_AT);
    TRY(query_copy_text(query, E_STREAM, arena, &event->stream, err));
    TRY(query_copy_text(query, E_TYPE, arena, &event->type, err));
    TRY(query_copy_text(query, E_CORRELATION_ID, arena, &event->correlation_id, err));
    TRY(query_copy_text(query, E_HEADERS, arena, &event->headers, err));
    TRY(query_copy_text(query, E_PAYLOAD, arena, &event->payload, err));
    return query_copy_text(query, E_CAUSATION_ID, arena, &event->causation_id, err);
}

static boxcar_status read_events(struct query *query, struct event_look *look, boxcar_error *err) {
    while (!look->is_full && query_next(query))
        TRY(read_event(query, look, err));
    return query_status(query, err);
}

static boxcar_status read_stream(struct sqlite_store *store, struct event_look *look, boxcar_error *err) {
    AUTO_QUERY struct query query = query_with(store, S_EVENT_STREAM, Q_TEXT(look->filter->stream),
                                               Q_INT(look->from_version), Q_INT(look->filter->limit));
    return read_events(&query, look, err);
}

static boxcar_status read_after(struct sqlite_store *store, struct event_look *look, int64_t position,
                                int limit, boxcar_error *err) {
    AUTO_QUERY struct query query = query_with(store, S_EVENT_ALL, Q_INT(position), Q_INT(limit));
    return read_events(&query, look, err);
}

static boxcar_status read_everything(struct sqlite_store *store, struct event_look *look, boxcar_error *err) {
    struct event_rows *list = look->list;
    TRY(read_after(store, look, look->filter->after, look->filter->limit, err));
    if (list->count > 0)
        list->position = list->items[list->count - 1].position;
    return BOXCAR_OK;
}

static bool is_wanted(const boxcar_event_filter *filter, boxcar_str type, boxcar_str stream) {
    bool wanted = filter->type_count == 0;
    for (size_t i = 0; !wanted && i < filter->type_count; i++)
        wanted = topic_matches(filter->types[i], type);
    return wanted && (str_is_absent(filter->stream) || topic_matches(filter->stream, stream));
}

/* Payloads are read only of those that are wanted. */
static boxcar_status read_choice(struct sqlite_store *store, struct event_look *look, boxcar_error *err) {
    const boxcar_event_filter *filter = look->filter;
    AUTO_QUERY struct query query = query_with(store, S_EVENT_CHOICE, Q_INT(filter->after), Q_INT(LOOK_MAX));
    while (look->list->count < (size_t)filter->limit && query_next(&query)) {
        int64_t position = query_get_int(&query, 0);
        if (is_wanted(filter, query_get_text(&query, 1), query_get_text(&query, 2)))
            TRY(read_after(store, look, position - 1, 1, err));
        if (look->is_full)
            break;
        look->list->position = position;
    }
    return query_status(&query, err);
}

static boxcar_status read_page(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct event_look *look = context;
    const boxcar_event_filter *filter = look->filter;
    list_clear(look->list); /* it may be the second try */
    look->bytes = 0;
    look->is_full = false;
    if (look->from_version != EVENTS_BY_POSITION)
        return read_stream(store, look, err);
    look->list->position = filter->after;
    bool everything = filter->type_count == 0 && str_is_absent(filter->stream);
    return everything ? read_everything(store, look, err) : read_choice(store, look, err);
}

boxcar_status sqlite_event_read(struct boxcar_store *store, const boxcar_event_filter *filter,
                                int64_t from_version, struct event_rows **ret_list, boxcar_error *err) {
    struct event_look look = {
        .filter = filter, .from_version = from_version, .list = calloc(1, sizeof(*look.list))};
    if (look.list == NULL)
        return error_no_memory(err);
    boxcar_status status = sqlite_transaction(sqlite_of(store), ACCESS_READ, read_page, &look, err);
    if (status == BOXCAR_OK)
        *ret_list = look.list;
    else
        list_free(look.list);
    return status;
}
