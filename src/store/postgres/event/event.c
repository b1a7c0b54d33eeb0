/* Events. */
#include "event.h"

#include "base/error.h"
#include "core/topic.h"
#include "store/postgres/connection/connection.h"
#include "store/postgres/connection/error.h"
#include "store/postgres/connection/query.h"
#include "store/postgres/request/request.h"

/* Adding to a position must not overflow; no real position is that large. */
#define POSITION_MAX (INT64_MAX / 2)

/* ---- appending ---- */

/* A text that no event has is null as a whole. */
static struct pg_value optional_texts(const boxcar_new_event *events, size_t count, size_t offset) {
    for (size_t i = 0; i < count; i++)
        if (((const boxcar_str *)((const char *)&events[i] + offset))->data)
            return (struct pg_value){PG_TEXT_ARRAY, .value.column = {events, count, sizeof(*events), offset}};
    return P_NULL(PG_TEXT_ARRAY);
}
#define OPTIONAL(member) optional_texts(events, count, offsetof(boxcar_new_event, member))

/* May safely run twice: the second time all events are duplicates. */
boxcar_status pg_event_append(struct boxcar_store *store, boxcar_str stream, int64_t expected_version,
                              const boxcar_new_event *events, size_t count, boxcar_appended *ret_appended,
                              boxcar_error *err) {
    AUTO_RESULT PGresult *result = NULL;

    TRY(pg_ask(pg_store_of(store), PG_EVENT_APPEND, &result, err, P_TEXT(stream),
               expected_version == BOXCAR_ANY_VERSION ? P_NULL(PG_INT8) : P_INT8(expected_version),
               P_COLUMN(PG_UUID_ARRAY, events, count, event_id), P_COLUMN(PG_TEXT_ARRAY, events, count, type),
               P_COLUMN(PG_TEXT_ARRAY, events, count, payload), OPTIONAL(correlation_id), OPTIONAL(headers),
               OPTIONAL(topic), OPTIONAL(causation_id)));
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

    if (status != BOXCAR_OK && pg_error_is(&why, PG_FOREIGN) && !pg_is_joined(pg) && pg_adopt(pg))
        status = pg_query(pg, PG_EVENT_READ_ALL, params, ret_result, &why);
    return pg_error_pass(status, &why, err);
}

static boxcar_status read_all(struct pg_store *pg, const boxcar_event_filter *filter,
                              struct event_rows **ret_list, boxcar_error *err) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;
    struct event_rows *list;
    PGresult *result;

    pg_params_add(&params, P_INT8(filter->after < POSITION_MAX ? filter->after : POSITION_MAX),
                  P_INT4(filter->limit));
    pg_params_topics(&params, filter->types, filter->type_count);
    pg_params_add(&params, P_TOPIC(filter->stream));
    TRY(query_all(pg, &params, &result, err));
    TRY(pg_rows_into_list(result, PG_LIST_KIND(read_event, &list), &list, err));
    boxcar_status status = take_position(pg, list, err);
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
    if (from_version == EVENTS_BY_POSITION)
        return read_all(pg_store_of(store), filter, ret_list, err);
    return pg_ask_list(pg_store_of(store), PG_EVENT_READ, read_event, ret_list, err, P_TEXT(filter->stream),
                       P_INT8(from_version), P_INT4(filter->limit));
}
