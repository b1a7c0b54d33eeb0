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

static boxcar_status last_version(struct sqlite_store *store, boxcar_str stream, int64_t *ret_version,
                                  boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_EVENT_LAST_VERSION);
    bool found = false;
    boxcar_status status;

    query_text(&query, stream);
    status = query_step(&query, &found, err);
    if (status == BOXCAR_OK)
        *ret_version = found ? query_get_int(&query, 0) : 0;
    return status;
}

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
    AUTO_QUERY struct query query = query_on(store, S_EVENT_BY_ID);
    bool found = false;
    boxcar_status status;

    query_id(&query, id.uuid.bytes);
    query_text(&query, stream);
    status = query_step(&query, &found, err);
    if (status != BOXCAR_OK)
        return status;
    if (found && query_get_int(&query, 1) == 0)
        return error_taken(id, "one of another stream", err);
    *ret_version = found ? query_get_int(&query, 0) : 0;
    return BOXCAR_OK;
}

static boxcar_status insert(struct sqlite_store *store, boxcar_str stream, const boxcar_new_event *event,
                            int64_t version, boxcar_error *err) {
    struct query query = query_on(store, S_EVENT_INSERT);

    query_id(&query, event->event_id.uuid.bytes);
    query_text(&query, stream);
    query_int(&query, version);
    query_text(&query, event->type);
    query_text(&query, event->correlation_id);
    query_text(&query, event->headers);
    query_int(&query, store->now);
    query_text(&query, event->payload);
    query_text(&query, event->causation_id);
    return query_run(&query, err);
}

/* A message that already has the event's id was enqueued without it, and would be taken for the event's. */
static boxcar_status enqueue(struct sqlite_store *store, boxcar_str stream, const boxcar_new_event *event,
                             boxcar_error *err) {
    boxcar_new_message message = BOXCAR_NEW_MESSAGE_INIT;
    boxcar_enqueued enqueued;
    boxcar_status status;

    if (str_is_absent(event->topic))
        return BOXCAR_OK;
    message.topic = event->topic;
    message.payload = event->payload;
    message.correlation_id = event->correlation_id;
    message.causation_id = event->causation_id;
    message.event_type = event->type;
    message.headers = event->headers;
    message.stream = stream;
    memcpy(message.message_id.uuid.bytes, event->event_id.uuid.bytes, sizeof(message.message_id.uuid.bytes));
    status = sqlite_enqueue_of_event(store, &message, &enqueued, err);
    if (status == BOXCAR_OK && enqueued.duplicate)
        return error_taken(event->event_id, "the id of a message that was enqueued by itself", err);
    return status;
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
    int64_t before, version;
    boxcar_status status = last_version(store, appending->stream, &before, err);

    version = before;
    for (size_t i = 0; status == BOXCAR_OK && i < appending->count; i++) {
        const boxcar_new_event *event = &appending->events[i];
        boxcar_appended *appended = &appending->appended[i];

        *appended = (boxcar_appended){.event_id = event->event_id};
        status = find_known(store, appending->stream, event->event_id, &appended->version, err);
        appended->duplicate = appended->version > 0;
        if (status != BOXCAR_OK || appended->duplicate)
            continue;
        appended->version = ++version;
        status = check_expected(appending, before, err);
        if (status == BOXCAR_OK)
            status = sqlite_check_sizes(store, event->payload, event->headers, err);
        if (status == BOXCAR_OK)
            status = insert(store, appending->stream, event, appended->version, err);
        if (status == BOXCAR_OK)
            status = enqueue(store, appending->stream, event, err);
    }
    return status;
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
    int64_t known, version;
    boxcar_status status;

    event.type = message->event_type;
    event.payload = message->payload;
    event.correlation_id = message->correlation_id;
    event.causation_id = message->causation_id;
    event.headers = message->headers;
    memcpy(event.event_id.uuid.bytes, message->message_id.uuid.bytes, sizeof(event.event_id.uuid.bytes));
    status = find_known(store, message->stream, event.event_id, &known, err);
    if (status != BOXCAR_OK || known > 0)
        return status;
    status = last_version(store, message->stream, &version, err);
    return status == BOXCAR_OK ? insert(store, message->stream, &event, version + 1, err) : status;
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
    size_t capacity;
    int64_t bytes; /* of payloads and headers in the list */
    bool is_full;  /* the next one does not fit, and was left out */
};

static boxcar_event *add_event(struct event_look *look) {
    struct event_rows *list = look->list;

    boxcar_event *items =
        arena_make_room(&list->arena, list->items, list->count, &look->capacity, sizeof(*items));
    if (items == NULL)
        return NULL;
    list->items = items;
    return &list->items[list->count++];
}

/* The first one always does. */
static bool fits(const struct query *query, struct event_look *look) {
    look->bytes += (int64_t)(query_get_text(query, E_PAYLOAD).len + query_get_text(query, E_HEADERS).len);
    look->is_full = look->list->count > 0 && look->bytes > BOXCAR_EVENT_PAGE_BYTES;
    return !look->is_full;
}

static boxcar_status read_event(struct query *query, struct event_look *look, boxcar_error *err) {
    struct arena *arena = &look->list->arena;
    boxcar_event *event;
    boxcar_status status;

    if (!fits(query, look))
        return BOXCAR_OK;
    event = add_event(look);
    if (event == NULL)
        return error_no_memory(err);
    query_get_id(query, E_EVENT_ID, event->event_id.uuid.bytes);
    event->version = query_get_int(query, E_VERSION);
    event->position = query_get_int(query, E_POSITION);
    event->created_at = query_get_time(query, E_CREATED_AT);
    status = query_copy_text(query, E_STREAM, arena, &event->stream, err);
    if (status == BOXCAR_OK)
        status = query_copy_text(query, E_TYPE, arena, &event->type, err);
    if (status == BOXCAR_OK)
        status = query_copy_text(query, E_CORRELATION_ID, arena, &event->correlation_id, err);
    if (status == BOXCAR_OK)
        status = query_copy_text(query, E_HEADERS, arena, &event->headers, err);
    if (status == BOXCAR_OK)
        status = query_copy_text(query, E_PAYLOAD, arena, &event->payload, err);
    if (status == BOXCAR_OK)
        status = query_copy_text(query, E_CAUSATION_ID, arena, &event->causation_id, err);
    return status;
}

static boxcar_status read_events(struct query *query, struct event_look *look, boxcar_error *err) {
    bool row = true;
    boxcar_status status = BOXCAR_OK;

    while (status == BOXCAR_OK && !look->is_full && (status = query_step(query, &row, err)) == BOXCAR_OK &&
           row)
        status = read_event(query, look, err);
    return status;
}

static void start_again(struct event_look *look) { /* it may be the second try */
    arena_release(&look->list->arena);
    look->list->count = 0;
    look->capacity = 0;
    look->bytes = 0;
    look->is_full = false;
}

static boxcar_status read_stream(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct event_look *look = context;
    AUTO_QUERY struct query query = query_on(store, S_EVENT_STREAM);

    start_again(look);
    query_text(&query, look->filter->stream);
    query_int(&query, look->from_version);
    query_int(&query, look->filter->limit);
    return read_events(&query, look, err);
}

static bool is_wanted(const boxcar_event_filter *filter, boxcar_str type, boxcar_str stream) {
    bool wanted = filter->type_count == 0;

    for (size_t i = 0; !wanted && i < filter->type_count; i++)
        wanted = topic_matches(filter->types[i], type);
    return wanted && (str_is_absent(filter->stream) || topic_matches(filter->stream, stream));
}

static boxcar_status read_one(struct sqlite_store *store, int64_t position, struct event_look *look,
                              boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_EVENT_ALL);

    query_int(&query, position - 1);
    query_int(&query, 1);
    return read_events(&query, look, err);
}

/* Payloads are read only of those that are wanted. */
static boxcar_status read_choice(struct sqlite_store *store, struct event_look *look, boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_EVENT_CHOICE);
    bool row = true;
    boxcar_status status = BOXCAR_OK;

    query_int(&query, look->filter->after);
    query_int(&query, LOOK_MAX);
    while (look->list->count < (size_t)look->filter->limit &&
           (status = query_step(&query, &row, err)) == BOXCAR_OK && row) {
        int64_t position = query_get_int(&query, 0);

        if (is_wanted(look->filter, query_get_text(&query, 1), query_get_text(&query, 2)))
            status = read_one(store, position, look, err);
        if (status != BOXCAR_OK || look->is_full)
            break;
        look->list->position = position;
    }
    return status;
}

static boxcar_status read_everything(struct sqlite_store *store, struct event_look *look, boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_EVENT_ALL);
    boxcar_status status;

    query_int(&query, look->filter->after);
    query_int(&query, look->filter->limit);
    status = read_events(&query, look, err);
    if (status == BOXCAR_OK && look->list->count > 0)
        look->list->position = look->list->items[look->list->count - 1].position;
    return status;
}

static boxcar_status read_all(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct event_look *look = context;
    bool everything = look->filter->type_count == 0 && str_is_absent(look->filter->stream);

    start_again(look);
    look->list->position = look->filter->after;
    return everything ? read_everything(store, look, err) : read_choice(store, look, err);
}

boxcar_status sqlite_event_read(struct boxcar_store *store, const boxcar_event_filter *filter,
                                int64_t from_version, struct event_rows **ret_list, boxcar_error *err) {
    struct event_look look = {
        .filter = filter, .from_version = from_version, .list = calloc(1, sizeof(*look.list))};
    sqlite_work_fn work = from_version == EVENTS_BY_POSITION ? read_all : read_stream;
    boxcar_status status;

    if (look.list == NULL)
        return error_no_memory(err);
    status = sqlite_transaction(sqlite_of(store), ACCESS_READ, work, &look, err);
    if (status == BOXCAR_OK)
        *ret_list = look.list;
    else
        list_free(look.list);
    return status;
}
