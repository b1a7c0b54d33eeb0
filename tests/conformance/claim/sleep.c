/* Waiting for work. A nap may end early for no reason, so what a test can tell is why it must end, and on
 * PostgreSQL, where sleepers are rows, whether it was a call that ended it. */
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "boxes.h"
#include "conformance.h"
#include "pg.h"
#include "request/request.h"

enum { NAP_MS = 30000, TRIES = 30 };

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static const boxcar_str TOPICS[] = {{"t", 1}, {"mail.*", 6}};

static struct nap nap_for(struct fixture *f, int64_t longest_ms) {
    return (struct nap){.owner = f->owner,
                        .boxes[BOXCAR_OUTBOX] = {.awaited = true, .topics = TOPICS, .topic_count = 2},
                        .longest_ms = longest_ms,
                        .wake_fd = -1};
}

static void sleep_on(struct fixture *f, const struct nap *nap) { f->store->ops->sleep(f->store, nap); }

static int64_t count_sleepers(struct fixture *f) {
    return fixture_sql_number(f, NULL, "select count(*) from sleeper where until > clock_timestamp()");
}

static bool can_be_woken(void) { return fixture_chosen() == FIXTURE_POSTGRES; }

/* Goes to sleep as far as others can tell. */
static void register_nap(struct fixture *f, const struct nap *nap) {
    for (int i = 0; i < TRIES && count_sleepers(f) == 0; i++)
        sleep_on(f, nap);
    assert_int_equal(count_sleepers(f), 1);
}

/* Sleeps until a call comes: then, and only then, the row is taken back. */
static bool is_called(struct fixture *f, const struct nap *nap) {
    for (int i = 0; i < TRIES; i++) {
        sleep_on(f, nap);
        if (count_sleepers(f) == 0)
            return true;
    }
    return false;
}

/* The row outlives a nap that nobody disturbs. */
static void assert_not_called(struct fixture *f) {
    struct nap nap = nap_for(f, 100);
    sleep_on(f, &nap);
    assert_int_equal(count_sleepers(f), 1);
}

/* BX-012 */
static void nap_ends_after_its_time(void **state) {
    struct fixture *f = *state;
    int64_t start = now_ms();
    for (int64_t ms = 0; ms <= 60; ms += 20) {
        struct nap nap = nap_for(f, ms);
        sleep_on(f, &nap);
    }
    assert_true(now_ms() - start < NAP_MS);
}

/* BX-012 */
static void nap_ends_when_the_descriptor_becomes_readable(void **state) {
    struct fixture *f = *state;
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_int_equal(write(ends[1], "!", 1), 1);
    struct nap nap = nap_for(f, NAP_MS);
    nap.wake_fd = ends[0];
    int64_t start = now_ms();
    for (int i = 0; i < TRIES; i++) /* also once it has settled down */
        sleep_on(f, &nap);
    assert_true(now_ms() - start < NAP_MS);
    close(ends[0]);
    close(ends[1]);
}

/* BX-012: the worker polls, and finds. */
static void work_is_found_after_a_nap(void **state) {
    struct fixture *f = *state;
    struct nap nap = nap_for(f, 30);
    for (int i = 0; i < 3; i++)
        sleep_on(f, &nap);
    boxcar_work_id id = enqueue(f, "t", "p").work_id;
    sleep_on(f, &nap);
    assert_true(ack(f, f->owner, take(f, f->owner, id)));
}

/* BX-012 */
static void enqueue_wakes_who_would_want_the_message(void **state) {
    struct fixture *f = *state;
    if (!can_be_woken())
        skip();
    boxcar_store *producer = fixture_open(f), *own = f->store;
    struct nap nap = nap_for(f, NAP_MS);
    static const char *const WANTED[] = {"t", "mail.", "mail.send"};
    for (size_t i = 0; i < 3; i++) {
        register_nap(f, &nap);
        f->store = producer;
        enqueue(f, WANTED[i], "p");
        f->store = own;
        assert_true(is_called(f, &nap));
    }
    boxcar_store_close(producer);
}

/* BX-012, BX-027: a key, or an id of the caller's, makes no difference. */
static void message_that_may_be_there_already_wakes_too(void **state) {
    struct fixture *f = *state;
    if (!can_be_woken())
        skip();
    boxcar_store *producer = fixture_open(f), *own = f->store;
    struct nap nap = nap_for(f, NAP_MS);
    for (int keyed = 0; keyed < 2; keyed++) {
        boxcar_new_message message = new_message("mail.send", "p");
        if (keyed)
            message.key = BOXCAR_STR("k");
        else
            message.message_id.uuid = boxcar_uuid_new();
        register_nap(f, &nap);
        f->store = producer;
        assert_false(enqueue_message(f, &message).duplicate);
        f->store = own;
        assert_true(is_called(f, &nap));
    }
    boxcar_store_close(producer);
}

/* BX-012, OBX-003 */
static void enqueue_in_sql_wakes_when_it_commits(void **state) {
    struct fixture *f = *state;
    if (!can_be_woken())
        skip();
    struct nap nap = nap_for(f, NAP_MS);
    PGconn *conn = fixture_connect(f);
    register_nap(f, &nap);
    pg_exec(conn, "begin isolation level serializable");
    pg_exec(conn, "select enqueue('mail.send', 'p')");
    pg_exec(conn, "rollback");
    assert_not_called(f);
    pg_exec(conn, "begin isolation level serializable");
    pg_exec(conn, "select enqueue('mail.send', 'p')");
    pg_exec(conn, "select enqueue_many('[{\"topic\": \"t\", \"payload\": \"p\"}]')");
    pg_exec(conn, "commit");
    assert_true(is_called(f, &nap));
    PQfinish(conn);
}

/* A claimer that waits for both boxes is woken by either, each for its own topics. */
static void either_box_wakes_who_waits_for_both(void **state) {
    struct fixture *f = *state;
    if (!can_be_woken())
        skip();
    boxcar_store *producer = fixture_open(f), *own = f->store;
    struct nap nap = nap_for(f, NAP_MS), brief;
    nap.boxes[BOXCAR_OUTBOX].topic_count = 1;
    nap.boxes[BOXCAR_INBOX].awaited = true;
    nap.boxes[BOXCAR_INBOX].topics = TOPICS + 1;
    nap.boxes[BOXCAR_INBOX].topic_count = 1;
    for (int box = 0; box < BOXES; box++) {
        for (int i = 0; i < TRIES && count_sleepers(f) == 0; i++)
            sleep_on(f, &nap);
        assert_int_equal(count_sleepers(f), 2);
        f->store = producer;
        put_into(f, BOXCAR_INBOX, "t", "x", NULL); /* wanted in the other box only */
        enqueue(f, "mail.send", "p");
        f->store = own;
        brief = nap;
        brief.longest_ms = 100;
        sleep_on(f, &brief);
        assert_int_equal(count_sleepers(f), 2);
        f->store = producer;
        if (box == BOXCAR_OUTBOX)
            enqueue(f, "t", "p");
        else
            put_into(f, BOXCAR_INBOX, "mail.send", "x", NULL);
        f->store = own;
        assert_true(is_called(f, &nap));
    }
    boxcar_store_close(producer);
}

/* BX-012: a claimer that does not sleep for a message costs nothing. */
static void nobody_is_woken_for_what_he_does_not_want_or_cannot_have_yet(void **state) {
    struct fixture *f = *state;
    if (!can_be_woken())
        skip();
    boxcar_store *producer = fixture_open(f), *own = f->store;
    struct nap nap = nap_for(f, NAP_MS);
    boxcar_new_message later = new_message("t", "p");
    later.delay_ms = 3600000;
    register_nap(f, &nap);
    f->store = producer;
    enqueue(f, "other", "p");
    enqueue(f, "mail", "p");
    enqueue(f, "T", "p");
    enqueue_message(f, &later);
    PGconn *conn = fixture_connect(f);
    pg_exec(conn, "select enqueue('t', 'p', due_at => now() + interval '1 hour'), enqueue('other', 'p')");
    PQfinish(conn);
    f->store = own;
    assert_not_called(f);
    boxcar_store_close(producer);
}

/* BX-012: a burst of messages is one call. */
static void who_is_awake_is_not_called_again(void **state) {
    struct fixture *f = *state;
    if (!can_be_woken())
        skip();
    struct nap nap = nap_for(f, NAP_MS);
    PGconn *ear = fixture_connect(f);
    boxcar_store *producer = fixture_open(f), *own = f->store;
    char listen[100];
    snprintf(listen, sizeof(listen), "listen boxcar_%lld",
             (long long)pg_number(ear, "select 'sleeper'::regclass::oid"));
    register_nap(f, &nap);
    pg_exec(ear, "%s", listen);
    f->store = producer;
    enqueue(f, "t", "p");
    f->store = own;
    assert_true(is_called(f, &nap));
    f->store = producer;
    for (int i = 0; i < 20; i++)
        enqueue(f, "t", "p");
    f->store = own;
    pg_exec(ear, "select 1");
    int calls = 0;
    for (PGnotify *note; (note = PQnotifies(ear)) != NULL; calls++)
        PQfreemem(note);
    assert_int_equal(calls, 1);
    boxcar_store_close(producer);
    PQfinish(ear);
}

/* BX-012 */
static void farewell_ends_the_nap_for_good(void **state) {
    struct fixture *f = *state;
    if (!can_be_woken())
        skip();
    struct nap nap = nap_for(f, NAP_MS);
    register_nap(f, &nap);
    ASSERT_OK(f, request_farewell(f->store, f->owner, &f->err));
    assert_int_equal(count_sleepers(f), 0);
    register_nap(f, &nap); /* one that comes back can sleep again */
}

/* BX-012 */
static void nap_of_a_worker_that_died_ends_and_is_cleared_away(void **state) {
    struct fixture *f = *state;
    if (fixture_is_sqlite(f))
        skip();
    fixture_sql(
        f, NULL,
        "insert into sleeper select clock_timestamp() - interval '1 s', gen_random_uuid(), 0, '{t}', '{}' "
        "from generate_series(1, 10)");
    boxcar_maintenance done = BOXCAR_MAINTENANCE_INIT;
    ASSERT_OK(f, boxcar_maintenance_run(f->store, &done, &f->err));
    assert_int_equal(fixture_sql_number(f, NULL, "select count(*) from sleeper"), 0);
}

/* BX-012 */
static void broken_connection_ends_the_nap_and_nothing_else(void **state) {
    struct fixture *f = *state;
    if (!can_be_woken())
        skip();
    struct nap nap = nap_for(f, NAP_MS);
    char end[120];
    register_nap(f, &nap);
    snprintf(end, sizeof(end), "select pg_terminate_backend(%d, 10000)::int",
             PQbackendPID(boxcar_store_postgres_handle(f->store)));
    assert_int_equal(fixture_sql_number(f, NULL, end), 1);
    int64_t start = now_ms();
    sleep_on(f, &nap);
    assert_true(now_ms() - start < NAP_MS);
    take(f, f->owner, enqueue(f, "t", "p").work_id);
    register_nap(f, &nap);
}

/* BX-012: a pooled session is anybody's. */
static void behind_a_pooler_nothing_is_left_in_the_session(void **state) {
    struct fixture *f = *state;
    if (fixture_chosen() != FIXTURE_PGBOUNCER)
        skip();
    struct nap nap = nap_for(f, 50);
    for (int i = 0; i < 3; i++)
        sleep_on(f, &nap);
    assert_int_equal(count_sleepers(f), 0);
}

static const struct CMUnitTest TESTS[] = {
    TEST(nap_ends_after_its_time),
    TEST(nap_ends_when_the_descriptor_becomes_readable),
    TEST(work_is_found_after_a_nap),
    TEST(enqueue_wakes_who_would_want_the_message),
    TEST(message_that_may_be_there_already_wakes_too),
    TEST(enqueue_in_sql_wakes_when_it_commits),
    TEST(either_box_wakes_who_waits_for_both),
    TEST(nobody_is_woken_for_what_he_does_not_want_or_cannot_have_yet),
    TEST(who_is_awake_is_not_called_again),
    TEST(farewell_ends_the_nap_for_good),
    TEST(nap_of_a_worker_that_died_ends_and_is_cleared_away),
    TEST(broken_connection_ends_the_nap_and_nothing_else),
    TEST(behind_a_pooler_nothing_is_left_in_the_session),
};

const struct suite SLEEP_SUITE = SUITE(TESTS);
