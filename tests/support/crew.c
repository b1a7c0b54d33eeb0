#include "crew.h"

#include <pthread.h>

struct crew_thread {
    struct crew_member member;
    pthread_t thread;
    pthread_barrier_t *start;
    crew_fn work;
    const char *trouble;
};

static void *run_member(void *argument) {
    struct crew_thread *t = argument;
    pthread_barrier_wait(t->start);
    t->trouble = t->work(&t->member);
    return NULL;
}

static void run_threads(struct crew_thread *threads, int size) {
    pthread_barrier_t start;
    assert_int_equal(pthread_barrier_init(&start, NULL, (unsigned)size), 0);
    for (int i = 0; i < size; i++) {
        threads[i].start = &start;
        assert_int_equal(pthread_create(&threads[i].thread, NULL, run_member, &threads[i]), 0);
    }
    for (int i = 0; i < size; i++)
        pthread_join(threads[i].thread, NULL);
    pthread_barrier_destroy(&start);
}

static void run(struct fixture *f, int size, crew_fn work, void *context, bool with_store) {
    struct crew_thread threads[CREW_MAX] = {0};
    assert_in_range(size, 1, CREW_MAX);
    for (int i = 0; i < size; i++) {
        threads[i].work = work;
        threads[i].member = (struct crew_member){
            .f = f, .number = i, .context = context, .owner = (boxcar_owner){boxcar_uuid_new()}};
        if (with_store)
            threads[i].member.store = fixture_open(f);
    }
    run_threads(threads, size);
    for (int i = 0; i < size; i++) {
        boxcar_store_close(threads[i].member.store);
        if (threads[i].trouble)
            fail_msg("thread %d: %s: %s", i, threads[i].trouble, threads[i].member.err.message);
    }
}

void crew_run(struct fixture *f, int size, crew_fn work, void *context) { run(f, size, work, context, true); }

void crew_run_bare(struct fixture *f, int size, crew_fn work, void *context) {
    run(f, size, work, context, false);
}
