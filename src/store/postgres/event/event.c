/* Events. */
#include "event.h"

#include "base/error.h"
#include "core/topic.h"
#include "store/postgres/connection/connection.h"
#include "store/postgres/connection/error.h"
#include "store/postgres/connection/query.h"
#include "store/postgres/request/request.h"
#include "store/postgres/statement/choice.h"
#include "store/postgres/statement/params.h"
#include "store/postgres/statement/rows.h"
#include "store/postgres/statement/shape.h"

/* Adding to a position must not overflow; no real position is that large. */
#define POSITION_MAX (INT64_MAX / 2)

/* ---- appending ---- */

static void add_texts(struct pg_params *params, const boxcar_new_event *events, size_t count, size_t offset) {
    struct buf *array = pg_params_array_begin(params, PG_TEXT_ARRAY, count);

    for (size_t i = 0; i < count; i++)
        pg_array_text(array, *(const boxcar_str *)((const char *)&events[i] + offset));
}

/* One that no event has is null as a whole. */
static void add_optional_texts(struct pg_params *params, const boxcar_new_event *events, size_t count,
                               size_t offset) {
    bool any = false;

    for (size_t i = 0; i < count; i++)
        any = any || ((const boxcar_str *)((const char *)&events[i] + offset))->data;
    if (any)
        add_texts(params, events, count, offset);
    else
        pg_params_null(params, PG_TEXT_ARRAY);
}

static void add_events(struct pg_params *params, const boxcar_new_event *events, size_t count) {
    struct buf *ids = pg_params_array_begin(params, PG_UUID_ARRAY, count);

    for (size_t i = 0; i < count; i++)
        pg_array_uuid(ids, events[i].event_id.uuid.bytes);
    add_texts(params, events, count, offsetof(boxcar_new_event, type));
    add_texts(params, events, count, offsetof(boxcar_new_event, payload));
    add_optional_texts(params, events, count, offsetof(boxcar_new_event, correlation_id));
    add_optional_texts(params, events, count, offsetof(boxcar_new_event, headers));
    add_optional_texts(params, events, count, offsetof(boxcar_new_event, topic));
    add_optional_texts(params, events, count, offsetof(boxcar_new_event, causation_id));
}

/* May safely run twice: the second time all events are duplicates. */
boxcar_status pg_event_append(struct boxcar_store *store, boxcar_str stream, int64_t expected_version,
                              const boxcar_new_event *events, size_t count, boxcar_appended *ret_appended,
                              boxcar_error *err) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;
    AUTO_RESULT PGresult *result = NULL;
    boxcar_status status;

    pg_params_text(&params, stream);
    if (expected_version == BOXCAR_ANY_VERSION)
        pg_params_null(&params, PG_INT8);
    else
        pg_params_int8(&params, expected_version);
    add_events(&params, events, count);
    status = pg_query(pg_store_of(store), PG_EVENT_APPEND, &params, &result, err);
    if (status != BOXCAR_OK)
        return status;
    if ((size_t)PQntuples(result) != count)
        return error_set(err, BOXCAR_E_STORE, "the store answered for %d of %zu events", PQntuples(result),
                         count);
    for (size_t i = 0; i < count; i++) {
        pg_get_uuid(result, (int)i, 0, ret_appended[i].event_id.uuid.bytes);
        ret_appended[i].version = pg_get_int8(result, (int)i, 1);
        ret_appended[i].duplicate = pg_get_bool(result, (int)i, 2);
    }
    return BOXCAR_OK;
}

/* ---- reading ---- */

static void read_event(const PGresult *r, int row, void *item) {
    boxcar_event *event = item;

    pg_get_uuid(r, row, 0, event->event_id.uuid.bytes);
    event->stream = pg_get_text(r, row, 1);
    event->version = pg_get_int8(r, row, 2);
    event->position = pg_get_int8(r, row, 3);
    event->type = pg_get_text(r, row, 4);
    event->payload = pg_get_text(r, row, 5);
    event->headers = pg_get_text(r, row, 6);
    event->correlation_id = pg_get_text(r, row, 7);
    event->created_at = pg_get_time(r, row, 8);
    event->causation_id = pg_get_text(r, row, 9);
}

static boxcar_status read_stream(struct boxcar_store *store, const boxcar_event_filter *filter,
                                 int64_t from_version, struct event_rows **ret_list, boxcar_error *err) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;
    PGresult *result;
    boxcar_status status;

    pg_params_text(&params, filter->stream);
    pg_params_int8(&params, from_version);
    pg_params_int4(&params, filter->limit);
    status = pg_query(pg_store_of(store), PG_EVENT_READ, &params, &result, err);
    return status == BOXCAR_OK ? PG_INTO_LIST(result, read_event, ret_list, err) : status;
}

/* The last row is no event; its position says how far the store has looked. */
static boxcar_status take_position(struct pg_store *pg, struct event_rows *list, boxcar_error *err) {
    if (list->count == 0)
        return pg_malformed(pg, "it does not say how far the store has looked", err);
    list->count--;
    list->position = list->items[list->count].position;
    for (size_t i = 0; i < list->count; i++)
        if (!list->items[i].stream.data || !list->items[i].type.data || !list->items[i].payload.data)
            return pg_malformed(pg, "an event lacks its stream, type or payload", err);
    return BOXCAR_OK;
}

static boxcar_status query_all(struct pg_store *pg, const struct pg_params *params, PGresult **ret_result,
                               boxcar_error *err) {
    boxcar_error why = BOXCAR_ERROR_INIT;
    boxcar_status status = pg_query(pg, PG_EVENT_READ_ALL, params, ret_result, &why);

    if (status != BOXCAR_OK && pg_error_is_foreign(&why) && !pg_is_joined(pg) && pg_adopt(pg))
        status = pg_query(pg, PG_EVENT_READ_ALL, params, ret_result, &why);
    if (status != BOXCAR_OK && err)
        *err = why;
    return status;
}

static boxcar_status read_all(struct boxcar_store *store, const boxcar_event_filter *filter,
                              struct event_rows **ret_list, boxcar_error *err) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;
    struct event_rows *list;
    PGresult *result;
    boxcar_status status;

    pg_params_int8(&params, filter->after < POSITION_MAX ? filter->after : POSITION_MAX);
    pg_params_int4(&params, filter->limit);
    pg_params_topics(&params, filter->types, filter->type_count);
    pg_params_topic(&params, filter->stream);
    status = query_all(pg_store_of(store), &params, &result, err);
    if (status == BOXCAR_OK)
        status = PG_INTO_LIST(result, read_event, &list, err);
    if (status != BOXCAR_OK)
        return status;
    status = take_position(pg_store_of(store), list, err);
    if (status != BOXCAR_OK) {
        list_free(list);
        return status;
    }
    if (list->position < filter->after) /* see POSITION_MAX */
        list->position = filter->after;
    *ret_list = list;
    return BOXCAR_OK;
}

boxcar_status pg_event_read(struct boxcar_store *store, const boxcar_event_filter *filter,
                            int64_t from_version, struct event_rows **ret_list, boxcar_error *err) {
    return from_version == EVENTS_BY_POSITION ? read_all(store, filter, ret_list, err)
                                              : read_stream(store, filter, from_version, ret_list, err);
}
