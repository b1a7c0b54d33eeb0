/* Events: ids, appending, reading, and the lists that come of it. */
#include "boxcar/event.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/options.h"
#include "base/utf8.h"
#include "base/uuid.h"
#include "check.h"
#include "store/store.h"

/* ---- appending ---- */

static boxcar_status give_ids(struct arena *arena, boxcar_new_event *events, size_t count, size_t missing,
                              boxcar_error *err) {
    uint8_t(*ids)[16] = arena_alloc_array(arena, missing, sizeof(*ids));

    if (!ids)
        return error_no_memory(err);
    if (!uuid_new_v7(ids, missing))
        return error_set(err, BOXCAR_E_UNAVAILABLE, "the system gives no randomness for event ids");
    for (size_t i = 0; i < count; i++) {
        if (boxcar_uuid_is_none(events[i].event_id.uuid))
            memcpy(events[i].event_id.uuid.bytes, ids[--missing], sizeof(ids[0]));
    }
    return BOXCAR_OK;
}

/* Copies the events in the form that stores want: every one has an id. */
static boxcar_status prepare(struct arena *arena, const boxcar_new_event *given, size_t count,
                             boxcar_new_event **ret_events, boxcar_error *err) {
    boxcar_new_event *events = arena_alloc_array(arena, count, sizeof(*events));
    size_t missing = 0;

    if (!events)
        return error_no_memory(err);
    memcpy(events, given, count * sizeof(*events));
    for (size_t i = 0; i < count; i++) {
        events[i].correlation_id = str_unless_empty(events[i].correlation_id);
        events[i].causation_id = str_unless_empty(events[i].causation_id);
        events[i].topic = str_unless_empty(events[i].topic);
        missing += boxcar_uuid_is_none(events[i].event_id.uuid);
    }
    if (missing > 0)
        TRY(give_ids(arena, events, count, missing, err));
    *ret_events = events;
    return BOXCAR_OK;
}

static void log_appended(const boxcar_store *store, boxcar_str stream, const boxcar_appended *appended,
                         size_t count) {
    boxcar_log_field fields[] = {{"stream", stream}, {"version", BOXCAR_NO_STR}};
    size_t duplicates = 0;
    char version[24];

    if (!store_logs(store, BOXCAR_LOG_DEBUG))
        return;
    for (size_t i = 0; i < count; i++)
        duplicates += appended[i].duplicate;
    snprintf(version, sizeof(version), "%" PRId64, appended[count - 1].version);
    fields[1].value = boxcar_str_of(version);
    store_log(store, BOXCAR_LOG_DEBUG, "event_append", fields, sizeof(fields) / sizeof(fields[0]),
              "%zu events appended, %zu were there", count - duplicates, duplicates);
}

/* An id that was made in this very call can only be there because a first try of it got through. */
static void own_first_try(const boxcar_new_event *given, size_t count, boxcar_appended *appended) {
    for (size_t i = 0; i < count; i++) {
        if (boxcar_uuid_is_none(given[i].event_id.uuid))
            appended[i].duplicate = false;
    }
}

static boxcar_status append_checked(boxcar_store *store, boxcar_str stream, int64_t expected_version,
                                    const boxcar_new_event *given, size_t count,
                                    boxcar_appended *ret_appended, boxcar_error *err) {
    AUTO_ARENA struct arena arena = ARENA_INIT;
    boxcar_appended *appended = arena_alloc_array(&arena, count, sizeof(*appended));
    boxcar_new_event *events = NULL;

    if (!appended)
        return error_no_memory(err);
    TRY(prepare(&arena, given, count, &events, err));
    TRY(store->ops->event_append(store, stream, expected_version, events, count, appended, err));
    own_first_try(given, count, appended);
    log_appended(store, stream, appended, count);
    answers_write(ret_appended, appended, count, sizeof(*appended));
    return BOXCAR_OK;
}

boxcar_status boxcar_event_append(boxcar_store *store, boxcar_str stream, int64_t expected_version,
                                  const boxcar_new_event *events, size_t count, boxcar_appended *ret_appended,
                                  boxcar_error *err) {
    AUTO_ARENA struct arena arena = ARENA_INIT;

    TRY(check_given(store, "store", err));
    TRY(limits_check_event_stream(stream, err));
    TRY(limits_check_expected_version(expected_version, err));
    TRY(answer_check(ret_appended, "ret_appended", err));
    if (count <= BOXCAR_EVENT_COUNT_MAX)
        TRY(OPTIONS_READ_ARRAY(&arena, BOXCAR_NEW_EVENT_INIT, &events, count, "events", err));
    TRY(limits_check_new_events(events, count, err));
    return append_checked(store, stream, expected_version, events, count, ret_appended, err);
}

/* ---- reading ---- */

static boxcar_status give_events(struct event_rows *rows, boxcar_event_list **ret_list, boxcar_error *err) {
    int64_t position = rows->position;

    TRY(LIST_GIVE(rows, ret_list, err));
    (*ret_list)->position = position;
    return BOXCAR_OK;
}

boxcar_status boxcar_event_read(boxcar_store *store, boxcar_str stream, int64_t from_version, int limit,
                                boxcar_event_list **ret_list, boxcar_error *err) {
    const boxcar_event_filter filter = {.stream = stream, .limit = limit};
    struct event_rows *rows;

    TRY(check_read(store, ret_list, err));
    TRY(limits_check_event_stream(stream, err));
    TRY(limits_check_not_negative(from_version, "from_version", err));
    TRY(limits_check_limit(limit, err));
    TRY(store->ops->event_read(store, &filter, from_version, &rows, err));
    return give_events(rows, ret_list, err);
}

boxcar_status boxcar_event_read_all(boxcar_store *store, const boxcar_event_filter *filter,
                                    boxcar_event_list **ret_list, boxcar_error *err) {
    boxcar_event_filter checked = BOXCAR_EVENT_FILTER_INIT;
    struct event_rows *rows;

    TRY(check_read(store, ret_list, err));
    TRY(options_read(&checked, sizeof(checked), filter, "filter", err));
    TRY(limits_check_event_filter(&checked, err));
    TRY(store->ops->event_read(store, &checked, EVENTS_BY_POSITION, &rows, err));
    return give_events(rows, ret_list, err);
}
