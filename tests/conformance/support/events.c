#include "events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

boxcar_new_event new_event(const char *type, const char *payload) {
    boxcar_new_event event = BOXCAR_NEW_EVENT_INIT;
    event.type = boxcar_str_of(type);
    event.payload = boxcar_str_of(payload);
    return event;
}

boxcar_appended append_this(struct fixture *f, const char *stream, int64_t expected,
                            const boxcar_new_event *event) {
    boxcar_appended appended;
    memset(&appended, 0x55, sizeof(appended));
    appended.struct_size = sizeof(appended);
    ASSERT_OK(f,
              boxcar_event_append(f->store, boxcar_str_of(stream), expected, event, 1, &appended, &f->err));
    return appended;
}

int64_t append(struct fixture *f, const char *stream, int64_t expected, const char *payload) {
    boxcar_new_event event = new_event("T", payload);
    boxcar_appended appended = append_this(f, stream, expected, &event);
    assert_false(appended.duplicate);
    return appended.version;
}

void append_many(struct fixture *f, const char *stream, size_t count) {
    boxcar_new_event *events = calloc(count, sizeof(*events));
    assert_non_null(events);
    for (size_t i = 0; i < count; i++)
        events[i] = new_event("T", "p");
    ASSERT_OK(f, boxcar_event_append(f->store, boxcar_str_of(stream), BOXCAR_ANY_VERSION, events, count, NULL,
                                     &f->err));
    free(events);
}

void assert_append_conflicts(struct fixture *f, const char *stream, int64_t expected) {
    boxcar_new_event events[2] = {new_event("T", "refused"), new_event("T", "refused")};
    boxcar_appended appended[2] = {BOXCAR_APPENDED_INIT};
    char actual[64], wanted[64];
    size_t before = count_stream(f, stream);
    memset(appended, 0x55, sizeof(appended));
    appended[0].struct_size = sizeof(appended[0]);
    boxcar_appended untouched[2];
    memcpy(untouched, appended, sizeof(appended));
    ASSERT_FAILS(
        f, BOXCAR_E_CONFLICT,
        boxcar_event_append(f->store, boxcar_str_of(stream), expected, events, 2, appended, &f->err));
    assert_string_equal(f->err.argument, "expected_version");
    assert_false(f->err.retryable);
    snprintf(actual, sizeof(actual), "version %zu,", before);
    snprintf(wanted, sizeof(wanted), "expected was %lld", (long long)expected);
    assert_non_null(strstr(f->err.message, actual));
    assert_non_null(strstr(f->err.message, wanted));
    assert_memory_equal(appended, untouched, sizeof(appended));
    if (!f->err.must_roll_back)
        assert_int_equal(count_stream(f, stream), before);
}

boxcar_event_list *read_stream(struct fixture *f, const char *stream, int64_t from, int limit) {
    boxcar_event_list *list = NULL;
    ASSERT_OK(f, boxcar_event_read(f->store, boxcar_str_of(stream), from, limit, &list, &f->err));
    return list;
}

size_t count_stream(struct fixture *f, const char *stream) {
    boxcar_event_list *list = read_stream(f, stream, 1, 10000);
    size_t count = list->count;
    boxcar_list_free(list);
    return count;
}

boxcar_event_list *read_filtered(struct fixture *f, const boxcar_event_filter *filter) {
    boxcar_event_list *list = NULL;
    ASSERT_OK(f, boxcar_event_read_all(f->store, filter, &list, &f->err));
    return list;
}

boxcar_event_list *read_all(struct fixture *f, int64_t after, int limit) {
    boxcar_event_filter filter = BOXCAR_EVENT_FILTER_INIT;
    filter.after = after;
    filter.limit = limit;
    return read_filtered(f, &filter);
}

int64_t last_position(struct fixture *f) {
    int64_t position = 0;
    for (;;) {
        boxcar_event_list *list = read_all(f, position, 10000);
        int64_t next = list->position;
        boxcar_list_free(list);
        if (next == position)
            return position;
        position = next;
    }
}

struct known_stream {
    char name[64];
    int64_t version;
};

static int64_t *version_of(struct known_stream *known, size_t max, boxcar_str stream) {
    size_t i = 0;
    while (i < max && known[i].name[0] && strncmp(known[i].name, stream.data, stream.len) != 0)
        i++;
    assert_true(i < max && stream.len < sizeof(known[i].name));
    memcpy(known[i].name, stream.data, stream.len);
    return &known[i].version;
}

void assert_sequence(struct fixture *f, int64_t count) {
    struct known_stream known[64] = {{{0}, 0}};
    int64_t position = 0;
    for (;;) {
        boxcar_event_list *list = read_all(f, position, 1000);
        size_t got = list->count;
        for (size_t i = 0; i < got; i++) {
            const boxcar_event *event = list->items[i];
            assert_int_equal(event->position, ++position);
            assert_int_equal(event->version, ++*version_of(known, 64, event->stream));
        }
        assert_int_equal(list->position, position);
        boxcar_list_free(list);
        if (got == 0)
            break;
    }
    assert_int_equal(position, count);
}

boxcar_message_id message_id_of(boxcar_event_id id) {
    boxcar_message_id message_id;
    memcpy(message_id.uuid.bytes, id.uuid.bytes, sizeof(id.uuid.bytes));
    return message_id;
}

void assert_same_event_id(boxcar_event_id a, boxcar_event_id b) {
    assert_memory_equal(a.uuid.bytes, b.uuid.bytes, sizeof(a.uuid.bytes));
}
