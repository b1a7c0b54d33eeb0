/* The threads that run handlers, the queue they take jobs from, and what they hand back.
 *
 * One mutex guards the queue, the finished jobs and the slots. The work loop puts jobs in and takes
 * finished ones out; it waits on `wake_fd`, which is written only while it says that it waits. */
#ifndef BOXCAR_WORKER_CREW_CREW_H
#define BOXCAR_WORKER_CREW_CREW_H

#include <pthread.h>

#include "delivery.h"
#include "job.h"

/* How long a handler may ignore that it was cancelled before its thread is given up. */
#define CREW_ABANDON_MS 10000

struct crew;

/* A thread and what it is doing. */
struct slot {
    struct slot *next;
    struct crew *crew;
    pthread_t thread;
    struct boxcar_delivery delivery;
    struct job *job; /* NULL = idle */
    int64_t started_us;
    int64_t cancelled_at_ms; /* INT64_MAX = it was not; the deadline is not entered here */
    bool abandoned;          /* given up: what it says no longer counts, it ends itself */
};

/* Shared with threads that were given up and outlive the worker: counted. */
struct crew {
    pthread_mutex_t mutex;
    pthread_cond_t work; /* something is queued, or a thread should end */
    _Atomic int references;
    int wake_fd; /* the worker's */
    bool loop_waits;
    struct job_list queue;
    struct job_list finished;
    struct slot *slots;
    struct slot *ended;             /* to be joined */
    size_t slot_count;              /* threads that count: not the abandoned ones */
    size_t leaving;                 /* threads that end, but have not yet */
    size_t wanted;                  /* threads there should be */
    size_t running;                 /* of them in handlers */
    size_t behind;                  /* jobs held back in their streams */
    _Atomic bool has_stages;        /* some handler has recorded a stage */
    size_t abandoned;               /* threads given up that have not returned */
    int64_t timeout_ms;             /* of handlers; 0 = none */
    int64_t abandon_ms;             /* CREW_ABANDON_MS */
    boxcar_store_options store;     /* for handlers that want a transaction */
    struct arena arena;             /* of the texts of the options, and of the logger's id */
    boxcar_str subscription;        /* that the messages are delivered to; absent = the main readers */
    struct handler_table *handlers; /* kept alive as long as a thread may run one */
    struct boxcar_store logger;     /* no store: what store_log() needs to know, for any thread */
};

/* `wake_fd` is an eventfd that outlives the crew. */
boxcar_status crew_open(const boxcar_store_options *store, const char *store_id,
                        struct handler_table *handlers, int wake_fd, struct crew **ret_crew,
                        boxcar_error *err);
/* Before there are threads. */
boxcar_status crew_set_subscription(struct crew *crew, boxcar_str name, boxcar_error *err);
/* Ends the idle threads and waits for them; those in handlers that do not return are given up. */
void crew_close(struct crew *crew);

/* The number of threads from now on. Surplus ones end when they are idle. An error says how many there are
 * when not all could be started; crew_supervise() goes on trying. */
boxcar_status crew_resize(struct crew *crew, size_t concurrency, boxcar_error *err);
size_t crew_threads(struct crew *crew);
void crew_set_timeout(struct crew *crew, int64_t timeout_ms);

/* The jobs behind a job come with it and begin in order: each when the one before it has the verdict ack. If
 * one has another verdict, or its ack came too late, those behind it never run: they are among the finished
 * jobs together with it, to be given back. */
void crew_put(struct crew *crew, struct job_list *jobs);
/* Takes every finished job out. */
void crew_collect(struct crew *crew, struct job_list *ret_finished);
/* Takes every job out that no thread has begun; without `all`, those stay that are held back behind one
 * which is running. */
void crew_take_back(struct crew *crew, bool all, struct job_list *ret_jobs);
/* Takes one job out; false = a thread has it, or had it. */
bool crew_take_back_one(struct crew *crew, struct job *job);
/* Takes out what is behind a job and not begun, whatever became of the job itself. */
void crew_take_back_behind(struct crew *crew, struct job *job, struct job_list *ret_jobs);

struct crew_view {
    size_t queued, running, behind, abandoned;
    int64_t elapsed_ms;       /* of the running handlers, on average */
    int64_t next_check_ms;    /* when crew_supervise() has something to do; INT64_MAX = never */
    int64_t oldest_queued_ms; /* since when the longest waiting job is queued; INT64_MAX = none */
};
void crew_look(struct crew *crew, struct crew_view *ret_view);

/* Tells the handler of a job (NULL = of every job) to stop, if it is still running. */
void crew_cancel(struct crew *crew, const struct job *job, enum cancel_reason reason);
/* Gives up on handlers that ignored their cancellation for too long: their jobs are among
 * the finished, other threads take their place. With `all`, on every one that still runs.
 * Returns how many. */
size_t crew_supervise(struct crew *crew, bool all);

/* Waiting: the loop says that it is going to wait, unless something is finished already (false). */
bool crew_begin_wait(struct crew *crew);
void crew_end_wait(struct crew *crew); /* empties wake_fd */

#endif
