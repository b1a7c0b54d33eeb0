/* The threads that run handlers: hanging ones are given up, others go on. */
#include "unit.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "worker/crew/crew.h"

struct stage {
    int wake_fd;
    struct crew *crew;
    struct desk *desk;
    struct handler_table *table;
    struct handler handler;
    boxcar_message message;
    _Atomic bool hang; /* handlers ignore that they are cancelled */
    _Atomic int calls, returned;
};

static boxcar_verdict play(void *context, boxcar_delivery *delivery) {
    struct stage *s = context;

    (void)delivery;
    atomic_fetch_add(&s->calls, 1);
    while (atomic_load(&s->hang))
        usleep(500);
    atomic_fetch_add(&s->returned, 1);
    return BOXCAR_VERDICT_ACK;
}

static struct stage *stage_open(size_t threads) {
    struct stage *s = calloc(1, sizeof(*s));
    boxcar_store_options options = BOXCAR_STORE_OPTIONS_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;

    assert_non_null(s);
    options.url = BOXCAR_STR("sqlite:nowhere");
    s->table = handler_table_new();
    assert_non_null(s->table);
    s->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    s->handler = (struct handler){.run = play, .context = s};
    s->message.topic = BOXCAR_STR("t");
    assert_int_equal(crew_open(s->table, &s->crew, &err), BOXCAR_OK);
    assert_int_equal(desk_open(s->crew, &options, "sqlite:nowhere", s->wake_fd, &s->desk, &err), BOXCAR_OK);
    assert_int_equal(crew_resize(s->crew, threads, &err), BOXCAR_OK);
    return s;
}

static void stage_close(struct stage *s) {
    desk_close(s->desk);
    crew_close(s->crew);
    handler_table_release(s->table);
    close(s->wake_fd);
    free(s);
}

/* A load of one message, as a claim would bring it. */
static struct job *job_new(struct stage *s) {
    struct result result = {.arena = ARENA_INIT, .parts[BOXCAR_OUTBOX] = {.claimed_count = 1}};
    struct load *load;

    result.parts[BOXCAR_OUTBOX].claimed =
        arena_alloc(&result.arena, sizeof(*result.parts[BOXCAR_OUTBOX].claimed));
    assert_non_null(result.parts[BOXCAR_OUTBOX].claimed);
    result.parts[BOXCAR_OUTBOX].claimed[0] = s->message;
    load = load_new(&result);
    assert_non_null(load);
    load->jobs[0].handler = &s->handler;
    load_release(load); /* the caller's; the job keeps its own */
    return &load->jobs[0];
}

static struct job *put(struct stage *s) {
    struct job_list jobs = {0};
    struct job *job = job_new(s);

    job_list_push(&jobs, job);
    desk_put(s->desk, &jobs);
    return job;
}

static struct job *put_hanging(struct stage *s) {
    atomic_store(&s->hang, true);
    return put(s);
}

static void wait_for(_Atomic int *count, int wanted) {
    while (atomic_load(count) < wanted)
        usleep(500);
}

static struct job *collect_one(struct stage *s) {
    struct job_list finished = {0};

    while (finished.count == 0) {
        desk_collect(s->desk, &finished);
        usleep(500);
    }
    assert_int_equal(finished.count, 1);
    return finished.first;
}

static void let_go(struct job *job) {
    free(job->error);
    load_release(job->load);
}

/* Design section 7: a handler that hangs is cancelled, then abandoned; others go on. */
static void hanging_handler_is_given_up_and_replaced(void **state) {
    struct stage *s = stage_open(1);
    struct job *job = put_hanging(s);
    struct job *finished;

    (void)state;
    wait_for(&s->calls, 1);
    s->crew->abandon_ms = 0;
    assert_int_equal(desk_supervise(s->desk, false), 0); /* it was not cancelled */
    desk_cancel(s->desk, job, CANCEL_LEASE_LOST);
    assert_int_equal(desk_supervise(s->desk, false), 1);
    finished = collect_one(s);
    assert_ptr_equal(finished, job);
    assert_int_equal(finished->verdict, BOXCAR_VERDICT_RETRY);
    assert_non_null(finished->error);
    let_go(finished);
    put(s); /* another thread takes it, the first one still hangs */
    wait_for(&s->calls, 2);
    atomic_store(&s->hang, false);
    finished = collect_one(s); /* one verdict, not two: that of the abandoned call does not count */
    assert_int_equal(finished->verdict, BOXCAR_VERDICT_ACK);
    let_go(finished);
    wait_for(&s->returned, 2);
    stage_close(s);
}

/* Design section 7: what does not stop at the end of the grace time goes back without an attempt. */
static void handler_given_up_at_the_end_spends_no_attempt(void **state) {
    struct stage *s = stage_open(2);
    struct job *job = put_hanging(s);

    (void)state;
    wait_for(&s->calls, 1);
    desk_cancel(s->desk, NULL, CANCEL_STOP);
    assert_int_equal(desk_supervise(s->desk, true), 1);
    assert_ptr_equal(collect_one(s), job);
    assert_int_equal(job->verdict, BOXCAR_VERDICT_DEFER);
    assert_true(job->given_back);
    let_go(job);
    atomic_store(&s->hang, false);
    wait_for(&s->returned, 1);
    stage_close(s);
}

static void surplus_threads_end_and_new_ones_start(void **state) {
    struct stage *s = stage_open(8);
    struct job *job;

    (void)state;
    assert_int_equal(crew_resize(s->crew, 2, NULL), BOXCAR_OK);
    for (size_t left = 8; left != 2;) {
        pthread_mutex_lock(&s->crew->mutex);
        left = s->crew->slot_count;
        pthread_mutex_unlock(&s->crew->mutex);
    }
    assert_int_equal(crew_resize(s->crew, 5, NULL), BOXCAR_OK);
    assert_int_equal(s->crew->slot_count, 5);
    put(s);
    job = collect_one(s);
    assert_int_equal(job->verdict, BOXCAR_VERDICT_ACK);
    let_go(job);
    stage_close(s);
}

/* What no thread has begun can be taken back; what one has begun cannot. */
static void only_unstarted_jobs_can_be_taken_back(void **state) {
    struct stage *s = stage_open(1);
    struct job *running = put_hanging(s), *queued;

    (void)state;
    wait_for(&s->calls, 1);
    queued = put(s);
    assert_false(desk_take_back_one(s->desk, running));
    assert_true(desk_take_back_one(s->desk, queued));
    assert_false(desk_take_back_one(s->desk, queued));
    let_go(queued);
    atomic_store(&s->hang, false);
    let_go(collect_one(s));
    assert_int_equal(s->calls, 1);
    stage_close(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hanging_handler_is_given_up_and_replaced),
        cmocka_unit_test(handler_given_up_at_the_end_spends_no_attempt),
        cmocka_unit_test(surplus_threads_end_and_new_ones_start),
        cmocka_unit_test(only_unstarted_jobs_can_be_taken_back),
    };

    return cmocka_run_group_tests_name("crew", tests, NULL, NULL);
}
