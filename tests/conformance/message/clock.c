/* One clock counts: the database's, read once per call.
 *
 * This program has a clock of its own to lie with: the C library's functions are replaced here,
 * and while `lie_seconds` is set the library under test sees another time than the server. */
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "findings.h"

static long lie_seconds;
static int lies_told;

int clock_gettime(clockid_t clock, struct timespec *ret_time) {
    int rc = (int)syscall(SYS_clock_gettime, clock, ret_time);
    if (rc == 0 && clock == CLOCK_REALTIME && lie_seconds != 0) {
        ret_time->tv_sec += lie_seconds;
        lies_told++;
    }
    return rc;
}

int gettimeofday(struct timeval *restrict ret_time, void *restrict zone) {
    (void)zone;
    struct timespec now;
    int rc = clock_gettime(CLOCK_REALTIME, &now);
    *ret_time = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
    return rc;
}

time_t time(time_t *ret_time) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (ret_time)
        *ret_time = now.tv_sec;
    return now.tv_sec;
}

static int truthful_teardown(void **state) {
    lie_seconds = 0;
    return fixture_teardown(state);
}

/* OBX-015, BX-009 */
static void created_at_is_the_databases_time(void **state) {
    struct fixture *f = *state;
    boxcar_time before = database_now(f);
    boxcar_work_id id = enqueue(f, "t", "p").work_id;
    boxcar_time after = database_now(f);
    boxcar_message_list *list = find(f, id);
    assert_true(look(list)->created_at >= before - 5000 && look(list)->created_at <= after + 5000);
    boxcar_list_free(list);
}

/* BX-009 */
static void one_call_has_one_time(void **state) {
    struct fixture *f = *state;
    enqueue_many(f, "t", 200, NULL);
    boxcar_message_list *list = claim(f, f->owner, 200);
    assert_int_equal(list->count, 200);
    const boxcar_message *first = list->items[0];
    for (size_t i = 1; i < 200; i++) {
        assert_true(list->items[i]->created_at == first->created_at);
        assert_true(list->items[i]->locked_until == first->locked_until);
    }
    boxcar_list_free(list);
}

static void assert_sane_life(struct fixture *f) {
    boxcar_time before = database_now(f);
    boxcar_new_message message = new_message("t", "p");
    message.delay_ms = 50;
    message.ttl_ms = 60000;
    boxcar_work_id id = enqueue_message(f, &message).work_id;
    boxcar_message_list *list = claim_wait(f, f->owner, 1, 20000);
    boxcar_time after = database_now(f);
    const boxcar_message *m = look(list);
    assert_int_equal(m->work_id.value, id.value);
    assert_true(m->created_at >= before && m->created_at <= after);
    assert_true(m->due_at >= before + 50000 && m->due_at <= after + 50000);
    assert_true(m->expires_at >= before + 60000000 && m->expires_at <= after + 60000000);
    assert_true(m->locked_until >= before + 20000000 && m->locked_until <= after + 20000000);
    struct taken taken = {m->work_id, m->epoch, 0, 0};
    boxcar_list_free(list);
    assert_nothing_claimable(f);
    assert_int_equal(reap(f), 0);
    assert_true(ack(f, f->owner, taken));
    list = find(f, id);
    assert_true(look(list)->processed_at >= before && look(list)->processed_at <= database_now(f));
    boxcar_list_free(list);
}

/* BX-009, OBX-015, OBX-020 */
static void wrong_clock_of_a_worker_changes_nothing(void **state) {
    struct fixture *f = *state;
    if (fixture_is_sqlite(f))
        skip(); /* its clock is the clock of the machine it runs on: there is no other */
    static const long LIES[] = {86400, -86400, 20L * 365 * 86400};
    for (size_t i = 0; i < sizeof(LIES) / sizeof(LIES[0]); i++) {
        lie_seconds = LIES[i];
        assert_sane_life(f);
    }
    assert_true(lies_told > 0); /* message ids are made here, so the lie was heard */
}

/* BX-009: on SQLite the clock that was wrong is right again, and the messages tell of it. */
static void doctor_notices_a_wrong_clock(void **state) {
    struct fixture *f = *state;
    enqueue(f, "t", "p");
    assert_found(f, "clock_skew", BOXCAR_SEVERITY_OK, "");
    lie_seconds = 3600;
    if (fixture_is_sqlite(f)) {
        enqueue(f, "t", "p");
        lie_seconds = 0;
        assert_found(f, "clock_skew", BOXCAR_SEVERITY_WARNING, "from now: the clock was set back");
        return;
    }
    assert_found(f, "clock_skew", BOXCAR_SEVERITY_WARNING, "s ahead of the database's");
    lie_seconds = -3600;
    assert_found(f, "clock_skew", BOXCAR_SEVERITY_WARNING, "s behind the database's");
}

#define CLOCK_TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, truthful_teardown)

static const struct CMUnitTest TESTS[] = {
    CLOCK_TEST(created_at_is_the_databases_time),
    CLOCK_TEST(one_call_has_one_time),
    CLOCK_TEST(wrong_clock_of_a_worker_changes_nothing),
    CLOCK_TEST(doctor_notices_a_wrong_clock),
};

const struct suite CLOCK_SUITE = SUITE(TESTS);
