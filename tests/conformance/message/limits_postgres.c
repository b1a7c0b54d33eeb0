/* What C callers and SQL callers may give at most is the same, value by value. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance.h"
#include "pg.h"

/* Each gives one value to the library: a text of that many characters, or the number. */
typedef boxcar_status give_fn(struct fixture *f, boxcar_str text, int64_t number);

static boxcar_status give_message(struct fixture *f, boxcar_box box, const boxcar_new_message *message) {
    boxcar_enqueued enqueued;
    return boxcar_enqueue(f->store, box, message, &enqueued, &f->err);
}

#define GIVE(name, given)                                                                                    \
    static boxcar_status give_##name(struct fixture *f, boxcar_str text, int64_t number) {                   \
        boxcar_new_message message = new_message("t", "p");                                                  \
        (void)text, (void)number;                                                                            \
        given;                                                                                               \
        return give_message(f, BOXCAR_OUTBOX, &message);                                                     \
    }
GIVE(topic, message.topic = text)
GIVE(correlation_id, message.correlation_id = text)
GIVE(causation_id, message.causation_id = text)
GIVE(stream, message.stream = text)
GIVE(key, message.key = text)
GIVE(event_type, (message.stream = BOXCAR_STR("s"), message.event_type = text))
GIVE(max_attempts, message.max_attempts = (int)number)
GIVE(ttl, message.ttl_ms = number)

static boxcar_status give_to_inbox(struct fixture *f, boxcar_str source, boxcar_str id, boxcar_str hash) {
    boxcar_new_message message = new_message("t", "p");
    message.source = source;
    message.external_id = id;
    message.content_hash = hash;
    return give_message(f, BOXCAR_INBOX, &message);
}
static boxcar_status give_source(struct fixture *f, boxcar_str text, int64_t number) {
    (void)number;
    return give_to_inbox(f, text, BOXCAR_STR("c"), BOXCAR_NO_STR);
}
static boxcar_status give_external_id(struct fixture *f, boxcar_str text, int64_t number) {
    (void)number;
    return give_to_inbox(f, BOXCAR_STR("c"), text, BOXCAR_NO_STR);
}
static boxcar_status give_content_hash(struct fixture *f, boxcar_str text, int64_t number) {
    (void)number;
    return give_to_inbox(f, BOXCAR_STR("c"), BOXCAR_STR("hash"), text);
}

static boxcar_status give_grouping_key(struct fixture *f, boxcar_str text, int64_t number) {
    boxcar_new_join join = BOXCAR_NEW_JOIN_INIT;
    boxcar_join_id id;
    (void)number;
    join.expected_steps = 1;
    join.grouping_key = text;
    return boxcar_join_start(f->store, &join, &id, &f->err);
}

static boxcar_status give_append_type(struct fixture *f, boxcar_str text, int64_t number) {
    boxcar_new_event event = BOXCAR_NEW_EVENT_INIT;
    boxcar_appended appended = BOXCAR_APPENDED_INIT;
    (void)number;
    event.type = text;
    event.payload = BOXCAR_STR("p");
    return boxcar_event_append(f->store, BOXCAR_STR("c"), BOXCAR_ANY_VERSION, &event, 1, &appended, &f->err);
}

static boxcar_status claim_with(struct fixture *f, int64_t lease_ms, int64_t batch_size) {
    boxcar_claimer claimer = BOXCAR_CLAIMER_INIT;
    boxcar_message_list *list = NULL;
    claimer.owner = f->owner;
    claimer.lease_ms = lease_ms;
    claimer.batch_size = (int)batch_size;
    boxcar_status status = boxcar_claim(f->store, &claimer, &list, &f->err);
    boxcar_list_free(list);
    return status;
}
static boxcar_status give_lease(struct fixture *f, boxcar_str text, int64_t number) {
    (void)text;
    return claim_with(f, number, 1);
}
static boxcar_status give_batch_size(struct fixture *f, boxcar_str text, int64_t number) {
    (void)text;
    return claim_with(f, 1000, number);
}

#define OWNER "'00000000-0000-7000-8000-000000000001'::uuid"
#define MS "make_interval(secs => @ / 1000.0)"
#define CHARACTERS "repeat('\xe2\x82\xac', @)"

/* `call`: the same in SQL, with @ for the value. `step`: what takes the value over its limit; below zero it
 * is the least one. */
static const struct {
    give_fn *give;
    const char *call;
    int64_t limit;
    int step;
} LIMITED[] = {
    {give_topic, "select enqueue(" CHARACTERS ", 'p')", BOXCAR_TOPIC_MAX, 1},
    {give_correlation_id, "select enqueue('t', 'p', correlation_id => " CHARACTERS ")",
     BOXCAR_CORRELATION_ID_MAX, 1},
    {give_causation_id, "select enqueue('t', 'p', causation_id => " CHARACTERS ")", BOXCAR_CAUSATION_ID_MAX,
     1},
    {give_stream, "select enqueue('t', 'p', stream => " CHARACTERS ")", BOXCAR_STREAM_MAX, 1},
    {give_key, "select enqueue('t', 'p', key => " CHARACTERS ")", BOXCAR_KEY_MAX, 1},
    {give_event_type, "select enqueue('t', 'p', stream => 's', event_type => " CHARACTERS ")",
     BOXCAR_EVENT_TYPE_MAX, 1},
    {give_max_attempts, "select enqueue('t', 'p', max_attempts => @)", BOXCAR_MAX_ATTEMPTS_MAX, 1},
    {give_ttl, "select enqueue('t', 'p', ttl => " MS ")", BOXCAR_DELAY_MS_MAX, 1},
    {give_source, "select inbox_enqueue(" CHARACTERS ", 'sql', 't', 'p')", BOXCAR_SOURCE_MAX, 1},
    {give_external_id, "select inbox_enqueue('sql', " CHARACTERS ", 't', 'p')", BOXCAR_EXTERNAL_ID_MAX, 1},
    {give_content_hash, "select inbox_enqueue('sql', 'hash', 't', 'p', " CHARACTERS ")",
     BOXCAR_CONTENT_HASH_MAX, 1},
    {give_grouping_key, "select join_start(1, " CHARACTERS ")", BOXCAR_GROUPING_KEY_MAX, 1},
    {give_append_type, "select event_append('s', " CHARACTERS ", 'p')", BOXCAR_EVENT_TYPE_MAX, 1},
    {give_lease, "select count(*) from outbox_claim(" OWNER ", " MS ", 1)", BOXCAR_LEASE_MS_MAX, 1},
    {give_lease, "select count(*) from outbox_claim(" OWNER ", " MS ", 1)", BOXCAR_LEASE_MS_MIN, -1},
    {give_batch_size, "select count(*) from outbox_claim(" OWNER ", '1s', @::int)", BOXCAR_BATCH_SIZE_MAX, 1},
};

static char *text_of(int64_t characters) { /* of three bytes each */
    char *text = malloc(3 * (size_t)characters + 1);
    assert_non_null(text);
    for (int64_t i = 0; i < characters; i++)
        memcpy(text + 3 * i, "\xe2\x82\xac", 3);
    text[3 * characters] = '\0';
    return text;
}

static boxcar_status give(struct fixture *f, size_t i, int64_t value) {
    char *text = strstr(LIMITED[i].call, "repeat(") ? text_of(value) : NULL;
    boxcar_status status = LIMITED[i].give(f, boxcar_str_of(text), value);
    free(text);
    return status;
}

static void call_text(size_t i, int64_t value, char *ret_text, size_t size) {
    const char *call = LIMITED[i].call, *at = strchr(call, '@');
    assert_non_null(at);
    snprintf(ret_text, size, "%.*s%" PRId64 "%s", (int)(at - call), call, value, at + 1);
}

/* BX-011 */
static void library_and_sql_have_the_same_limits(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    char call[300];
    for (size_t i = 0; i < sizeof(LIMITED) / sizeof(LIMITED[0]); i++) {
        print_message("%s %" PRId64 "\n", LIMITED[i].call, LIMITED[i].limit);
        ASSERT_OK(f, give(f, i, LIMITED[i].limit));
        assert_int_equal(give(f, i, LIMITED[i].limit + LIMITED[i].step), BOXCAR_E_INVALID);
        call_text(i, LIMITED[i].limit, call, sizeof(call));
        pg_exec(conn, "%s", call);
        call_text(i, LIMITED[i].limit + LIMITED[i].step, call, sizeof(call));
        pg_fails(conn, "BX001", "%s", call);
    }
    PQfinish(conn);
}

static const struct CMUnitTest TESTS[] = {
    TEST(library_and_sql_have_the_same_limits),
};

const struct suite LIMITS_POSTGRES_SUITE = SUITE(TESTS);
