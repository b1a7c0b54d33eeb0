/* Many connections at work at once, and the clock over them. */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "bench.h"

#define FILL_BATCH 10000
#define EMPTY_CLAIMS_MAX 10000 /* in a row: the messages are not there */

struct shift {
    struct crew *crew;
    const struct work *work;
    pthread_barrier_t start;
    atomic_size_t reserved; /* messages somebody is about to move */
    atomic_size_t moved;
    double started;
    double marks[TENTHS + 1]; /* when each tenth of the way was reached */
};

struct member {
    pthread_t thread;
    struct shift *shift;
    void *connection;
    void (*run)(struct member *member);
    struct latencies latencies;
};

void crew_open(struct crew *ret_crew, const struct side *side, const struct place *place, int size) {
    *ret_crew = (struct crew){.side = side, .place = place, .size = size};
    for (int i = 0; i < size; i++)
        ret_crew->connections[i] = side->open(place);
}

void crew_close(struct crew *crew) {
    for (int i = 0; i < crew->size; i++)
        crew->side->close(crew->connections[i]);
    crew->size = 0;
}

void crew_fill(struct crew *crew, size_t count) {
    while (count > 0) {
        size_t part = count < FILL_BATCH ? count : FILL_BATCH;

        crew->side->enqueue(crew->connections[0], part);
        count -= part;
    }
}

static void note_moved(struct shift *shift, size_t count) {
    size_t before = atomic_fetch_add(&shift->moved, count);
    size_t goal = shift->work->goal;

    for (size_t tenth = before * TENTHS / goal + 1;
         tenth <= TENTHS && tenth <= (before + count) * TENTHS / goal; tenth++)
        shift->marks[tenth] = bench_now();
}

static bool is_over(const struct shift *shift) {
    return shift->work->seconds > 0 && bench_now() - shift->started > shift->work->seconds;
}

/* How many messages to move next; 0 = the goal is reached. Claims that brought less than they
 * asked for give the rest back, so the last ones wait until everything really has come. */
static size_t reserve(struct shift *shift) {
    const struct work *work = shift->work;

    while (atomic_load(&shift->moved) < work->goal && !is_over(shift)) {
        size_t before = atomic_fetch_add(&shift->reserved, work->batch);

        if (before < work->goal)
            return work->goal - before < work->batch ? work->goal - before : work->batch;
        atomic_fetch_sub(&shift->reserved, work->batch);
        nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
    }
    return 0;
}

static void note_latency(struct member *member, double seconds) {
    if (member->latencies.seconds)
        member->latencies.seconds[member->latencies.count++] = (float)seconds;
}

/* A claim may bring less than it could; what is missing is left to the next one. */
static void drain_shift(struct member *member) {
    struct shift *shift = member->shift;
    size_t want, got, empty = 0;

    while (!is_over(shift) && (want = reserve(shift)) > 0) {
        double before = bench_now();

        got = shift->crew->side->drain(member->connection, want);
        atomic_fetch_sub(&shift->reserved, shift->work->batch - got);
        empty = got == 0 ? empty + 1 : 0;
        if (empty > EMPTY_CLAIMS_MAX)
            bench_die("%s: only %zu of %zu messages came", shift->crew->side->name,
                      atomic_load(&shift->moved), shift->work->goal);
        if (got == 0) { /* all that is there is in others' hands: a worker would nap, too */
            nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL);
            continue;
        }
        note_latency(member, bench_now() - before);
        note_moved(shift, got);
    }
}

static void enqueue_shift(struct member *member) {
    struct shift *shift = member->shift;
    const struct side *side = shift->crew->side;
    size_t want;

    while ((want = reserve(shift)) > 0) {
        double before = bench_now();

        if (shift->work->batch == 1)
            side->enqueue_one(member->connection);
        else
            side->enqueue(member->connection, want);
        note_latency(member, bench_now() - before);
        note_moved(shift, want);
    }
}

static void *run_member(void *argument) {
    struct member *member = argument;

    pthread_barrier_wait(&member->shift->start);
    member->run(member);
    return NULL;
}

static int compare_floats(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;

    return (x > y) - (x < y);
}

static void gather_latencies(struct member *members, int size, struct latencies *ret_latencies) {
    struct latencies all = {0};

    for (int i = 0; i < size; i++)
        all.count += members[i].latencies.count;
    all.seconds = bench_alloc(all.count, sizeof(float));
    all.count = 0;
    for (int i = 0; i < size; i++) {
        for (size_t j = 0; j < members[i].latencies.count; j++)
            all.seconds[all.count++] = members[i].latencies.seconds[j];
        free(members[i].latencies.seconds);
    }
    qsort(all.seconds, all.count, sizeof(float), compare_floats);
    *ret_latencies = all;
}

static void gather_tenths(const struct shift *shift, double *ret_tenths) {
    double before = shift->started;

    for (int i = 0; i < TENTHS; i++) {
        double seconds = shift->marks[i + 1] - before;

        ret_tenths[i] = (double)shift->work->goal / TENTHS / (seconds > 1e-9 ? seconds : 1e-9);
        before = shift->marks[i + 1];
    }
}

static void start_members(struct shift *shift, struct member *members, void (*run)(struct member *)) {
    for (int i = 0; i < shift->crew->size; i++) {
        members[i] = (struct member){.shift = shift, .connection = shift->crew->connections[i], .run = run};
        if (shift->work->ret_latencies) /* a member may end up with all the calls, one message each */
            members[i].latencies.seconds = bench_alloc(shift->work->goal, sizeof(float));
        if (pthread_create(&members[i].thread, NULL, run_member, &members[i]) != 0)
            bench_die("cannot start a thread");
    }
}

static double run_shift(struct crew *crew, const struct work *work, void (*run)(struct member *)) {
    struct member members[BENCH_CREW_MAX];
    struct shift shift = {.crew = crew, .work = work};

    if (pthread_barrier_init(&shift.start, NULL, (unsigned)crew->size + 1) != 0)
        bench_die("cannot make a barrier");
    start_members(&shift, members, run);
    shift.started = bench_now();
    pthread_barrier_wait(&shift.start);
    for (int i = 0; i < crew->size; i++)
        pthread_join(members[i].thread, NULL);
    pthread_barrier_destroy(&shift.start);
    if (work->ret_latencies)
        gather_latencies(members, crew->size, work->ret_latencies);
    if (work->ret_tenths)
        gather_tenths(&shift, work->ret_tenths);
    if (shift.marks[TENTHS] == 0) /* the time was up */
        return (double)atomic_load(&shift.moved) / (bench_now() - shift.started);
    return (double)work->goal / (shift.marks[TENTHS] - shift.started);
}

/* Somebody else may hold what there is for a moment, so a claim may find nothing. */
static void warm_one(struct crew *crew, int i, size_t batch, float *ret_seconds) {
    for (int tries = 0; tries < EMPTY_CLAIMS_MAX; tries++) {
        double before = bench_now();

        if (crew->side->drain(crew->connections[i], batch) > 0) {
            *ret_seconds = (float)(bench_now() - before);
            return;
        }
        nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL);
    }
    bench_die("%s: nothing to claim", crew->side->name);
}

void crew_warm(struct crew *crew, size_t batch, struct latencies *ret_latencies) {
    ret_latencies->seconds = bench_alloc((size_t)crew->size, sizeof(float));
    ret_latencies->count = (size_t)crew->size;
    for (int i = 0; i < crew->size; i++)
        warm_one(crew, i, batch, &ret_latencies->seconds[i]);
    qsort(ret_latencies->seconds, ret_latencies->count, sizeof(float), compare_floats);
}

double crew_drain(struct crew *crew, const struct work *work) { return run_shift(crew, work, drain_shift); }

double crew_enqueue(struct crew *crew, const struct work *work) {
    return run_shift(crew, work, enqueue_shift);
}

double latencies_at(const struct latencies *latencies, double share) {
    size_t index = (size_t)(share * (double)latencies->count);

    if (latencies->count == 0)
        return 0;
    return latencies->seconds[index < latencies->count ? index : latencies->count - 1];
}

void latencies_release(struct latencies *latencies) {
    free(latencies->seconds);
    *latencies = (struct latencies){0};
}
