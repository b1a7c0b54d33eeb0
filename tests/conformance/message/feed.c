/* Messages that come chunk by chunk and are stored in one transaction. */
#include <stdio.h>
#include <string.h>

#include "borrow.h"
#include "conformance.h"
#include "seam.h"

enum { CHUNKS_MAX = 6, CHUNK_SIZE = 3 };

/* A feed by script. */
struct script {
    struct fixture *f;
    boxcar_new_message messages[CHUNKS_MAX][CHUNK_SIZE];
    boxcar_enqueued enqueued[CHUNKS_MAX][CHUNK_SIZE];
    size_t chunks, at;
    void (*act)(struct script *s); /* before the last chunk is given */
    bool is_late;                  /* once, before that */
    bool was_open;                 /* the last chunk was asked for with a transaction open */
    boxcar_store *store;           /* of somebody else */
    boxcar_enqueued theirs;
};

static void script_start(struct script *s, struct fixture *f, size_t chunks) {
    *s = (struct script){.f = f, .chunks = chunks};
    for (size_t i = 0; i < chunks; i++)
        for (size_t j = 0; j < CHUNK_SIZE; j++)
            s->messages[i][j] = new_message("t", "p");
}

static boxcar_status next_chunk(void *context, int64_t wait_ms, boxcar_chunk *ret_chunk, boxcar_error *err) {
    struct script *s = context;
    size_t at = s->at;
    (void)err;
    if (at + 1 == s->chunks) {
        if (s->is_late) {
            s->is_late = false;
            return BOXCAR_OK;
        }
        s->was_open = wait_ms >= 0;
        if (s->act)
            s->act(s);
    }
    s->at++;
    ret_chunk->messages = s->messages[at];
    ret_chunk->enqueued = s->enqueued[at];
    ret_chunk->count = CHUNK_SIZE;
    ret_chunk->is_last = s->at == s->chunks;
    return BOXCAR_OK;
}

static boxcar_status run(struct script *s) {
    return boxcar_enqueue_feed(s->f->store, BOXCAR_OUTBOX, next_chunk, s, &s->f->err);
}

/* All are there once, in the order of the feed, and new. */
static void assert_stored(struct script *s) {
    struct taken taken[CHUNKS_MAX * CHUNK_SIZE + 1];
    size_t count = take_all(s->f, s->f->owner, 30000, taken, CHUNKS_MAX * CHUNK_SIZE + 1);
    assert_int_equal(count, s->chunks * CHUNK_SIZE);
    for (size_t i = 0; i < count; i++) {
        const boxcar_enqueued *enqueued = &s->enqueued[i / CHUNK_SIZE][i % CHUNK_SIZE];
        assert_false(enqueued->duplicate);
        assert_int_equal(taken[i].work_id.value, enqueued->work_id.value);
    }
}

static void assert_nothing_stored(struct fixture *f) {
    boxcar_stats stats = stats_of(f);
    assert_int_equal(stats.ready + stats.waiting + stats.in_progress, 0);
    assert_nothing_claimable(f);
}

static void look_from_outside(struct script *s) {
    boxcar_store *mine = s->f->store;
    s->f->store = s->store;
    assert_int_equal(stats_of(s->f).ready, 0);
    s->f->store = mine;
}

/* BX-001 */
static void chunks_are_stored_together_and_in_order(void **state) {
    struct fixture *f = *state;
    struct script s;
    script_start(&s, f, 4);
    s.act = look_from_outside;
    s.store = fixture_open(f);
    ASSERT_OK(f, run(&s));
    assert_true(s.was_open);
    assert_stored(&s);
    boxcar_store_close(s.store);
}

/* BX-001, BX-011 */
static void bad_message_in_a_later_chunk_stores_nothing(void **state) {
    struct fixture *f = *state;
    struct script s;
    script_start(&s, f, 4);
    s.messages[3][1].topic = BOXCAR_STR("");
    ASSERT_INVALID(f, "messages[10].topic", run(&s));
    assert_true(s.was_open);
    assert_nothing_stored(f);
    enqueue(f, "t", "p"); /* the connection is as before */
    assert_int_equal(stats_of(f).ready, 1);
}

/* BX-011: refused by the store alone. */
static void message_that_the_store_refuses_stores_nothing(void **state) {
    struct fixture *f = *state;
    struct script s;
    static char large[70000];
    memset(large, 'x', sizeof(large) - 1);
    set_setting(f, "payload_bytes_max", "65536");
    script_start(&s, f, 3);
    s.messages[1][0].payload = boxcar_str_of(large);
    ASSERT_FAILS(f, BOXCAR_E_INVALID, run(&s));
    assert_nothing_stored(f);
}

/* JOIN-012 */
static void join_that_does_not_exist_stores_nothing(void **state) {
    struct fixture *f = *state;
    struct script s;
    script_start(&s, f, 3);
    s.messages[2][2].join_id.uuid.bytes[3] = 7;
    ASSERT_FAILS(f, BOXCAR_E_NOT_FOUND, run(&s));
    assert_nothing_stored(f);
}

static void write_from_outside(struct script *s) {
    boxcar_new_message message = new_message("other", "p");
    message.key = BOXCAR_STR("k");
    ASSERT_OK(s->f, boxcar_enqueue(s->store, BOXCAR_OUTBOX, &message, &s->theirs, &s->f->err));
}

/* On SQLite nobody else could write while the transaction is open. */
static void slow_feed_keeps_nobody_waiting(void **state) {
    struct fixture *f = *state;
    struct script s;
    script_start(&s, f, 4);
    s.is_late = true;
    s.act = write_from_outside;
    s.store = fixture_open(f);
    ASSERT_OK(f, run(&s));
    assert_false(s.was_open);
    assert_true(ack(f, f->owner, take(f, f->owner, s.theirs.work_id)));
    assert_stored(&s);
    boxcar_store_close(s.store);
}

/* BX-027: a transaction that uses a key waits for an open one that has stored it. A feed makes none wait. */
static void keys_are_not_held_while_the_feed_goes_on(void **state) {
    struct fixture *f = *state;
    struct script s;
    script_start(&s, f, 3);
    s.messages[1][0].topic = s.messages[2][2].topic = BOXCAR_STR("other");
    s.messages[1][0].key = s.messages[2][2].key = BOXCAR_STR("k");
    s.act = fixture_is_sqlite(f) ? NULL : write_from_outside;
    s.store = fixture_open(f);
    ASSERT_OK(f, run(&s));
    assert_true(s.was_open);
    assert_int_equal(s.enqueued[1][0].duplicate, !fixture_is_sqlite(f));
    assert_true(s.enqueued[2][2].duplicate);
    assert_int_equal(s.enqueued[2][2].work_id.value, s.enqueued[1][0].work_id.value);
    assert_true(s.enqueued[0][2].work_id.value < s.enqueued[1][1].work_id.value);
    assert_true(s.enqueued[1][2].work_id.value < s.enqueued[2][0].work_id.value);
    assert_int_equal(stats_of(f).ready, 3 * CHUNK_SIZE - 1);
    boxcar_store_close(s.store);
}

/* OBX-003 */
static void feed_is_part_of_the_callers_transaction(void **state) {
    struct fixture *f = *state;
    struct borrowed b = borrow(f);
    boxcar_store *mine = f->store;
    struct script s;
    for (int i = 0; i < 3; i++) {
        script_start(&s, f, 3);
        f->store = b.store;
        borrowed_exec(&b, i < 2 ? "begin" : "select 1");
        ASSERT_OK(f, run(&s));
        assert_false(s.was_open);
        assert_int_equal(borrowed_in_transaction(&b), i < 2);
        if (i < 2)
            borrowed_exec(&b, i == 0 ? "rollback" : "commit");
        f->store = mine;
        if (i == 0)
            assert_nothing_stored(f);
        else
            assert_stored(&s);
    }
    borrowed_close(&b);
}

/* OBX-003: a handler's transaction is neither ended nor rolled back. */
static void feed_is_part_of_a_handlers_transaction(void **state) {
    struct fixture *f = *state;
    struct script s;
    script_start(&s, f, 3);
    ASSERT_OK(f, seam_begin(f->store, &f->err));
    enqueue(f, "t", "of the handler");
    ASSERT_OK(f, run(&s));
    seam_roll_back(f->store);
    assert_nothing_stored(f);
}

static void end_connection(struct script *s) {
    char sql[200];
    snprintf(sql, sizeof(sql), "select pg_terminate_backend(%d, 10000)::int",
             PQbackendPID(boxcar_store_postgres_handle(s->f->store)));
    assert_int_equal(fixture_sql_number(s->f, NULL, sql), 1);
}

/* BX-001 */
static void connection_that_is_lost_between_chunks_costs_nothing(void **state) {
    struct fixture *f = *state;
    struct script s;
    if (f->kind != FIXTURE_POSTGRES) /* there is none, or it is the pooler's */
        return;
    script_start(&s, f, 4);
    s.act = end_connection;
    ASSERT_OK(f, run(&s));
    assert_true(s.was_open);
    assert_stored(&s);
}

static const struct CMUnitTest TESTS[] = {
    TEST(chunks_are_stored_together_and_in_order),
    TEST(bad_message_in_a_later_chunk_stores_nothing),
    TEST(message_that_the_store_refuses_stores_nothing),
    TEST(join_that_does_not_exist_stores_nothing),
    TEST(slow_feed_keeps_nobody_waiting),
    TEST(keys_are_not_held_while_the_feed_goes_on),
    TEST(feed_is_part_of_the_callers_transaction),
    TEST(feed_is_part_of_a_handlers_transaction),
    TEST(connection_that_is_lost_between_chunks_costs_nothing),
};

const struct suite FEED_SUITE = SUITE(TESTS);
