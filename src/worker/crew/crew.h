/* The threads that run handlers, the queue they take jobs from, and what they hand back.
 *
 * A work loop has a desk: it puts jobs into the crew's queue there, and takes finished ones out. A worker
 * with many stores has one crew and a desk for each store that is in use: jobs begin in the order in which
 * they were put, whatever desk they are from.
 *
 * One mutex guards the queue, the finished jobs and the slots. A desk belongs to the thread of its work loop,
 * which waits on the desk's `wake_fd`; that is written only while the loop says that it waits. */
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
    struct desk *desk; /* the delivery's: of the job, or of the last one. Counted */
    struct job *job;   /* NULL = idle */
    int64_t started_us;
    int64_t cancelled_at_ms; /* INT64_MAX = it was not; the deadline is not entered here */
    bool abandoned;          /* given up: what it says no longer counts, it ends itself */
};

/* A work loop's share of the crew. Kept alive by threads that were given up: counted. */
struct desk {
    struct crew *crew;
    _Atomic int references;
    int wake_fd; /* the loop's */
    bool loop_waits;
    bool noticed; /* a handler of another desk ended while this one's loop did not wait */
    struct job_list finished;
    size_t queued;              /* of the crew's queue */
    size_t running;             /* in handlers */
    size_t behind;              /* jobs held back in their streams */
    _Atomic bool has_stages;    /* some handler has recorded a stage */
    boxcar_store_options store; /* for handlers that want a transaction */
    struct arena arena;         /* of the texts of the options, and of the logger's id */
    struct boxcar_store logger; /* no store: what store_log() needs to know, for any thread */
    boxcar_str subscription;    /* that the messages are delivered to; absent = the main readers */
};

/* Shared with threads that were given up and outlive the worker: counted. */
struct crew {
    pthread_mutex_t mutex;
    pthread_cond_t work; /* something is queued, or a thread should end */
    _Atomic int references;
    struct job_list queue;
    struct slot *slots;
    struct slot *ended;             /* to be joined */
    size_t slot_count;              /* threads that count: not the abandoned ones */
    size_t leaving;                 /* threads that end, but have not yet */
    size_t wanted;                  /* threads there should be */
    size_t running;                 /* of them in handlers */
    size_t behind;                  /* jobs held back in their streams */
    size_t abandoned;               /* threads given up that have not returned */
    int64_t timeout_ms;             /* of handlers; 0 = none */
    int64_t abandon_ms;             /* CREW_ABANDON_MS */
    struct desk *watcher;           /* its loop wants to know when a handler ends; NULL = none does */
    struct handler_table *handlers; /* kept alive as long as a thread may run one */
};

boxcar_status crew_open(struct handler_table *handlers, struct crew **ret_crew, boxcar_error *err);
/* Ends the idle threads and waits for them; those in handlers that do not return are given up. The desks are
 * closed before. NULL is fine. */
void crew_close(struct crew *crew);

/* The number of threads from now on. Surplus ones end when they are idle. An error says how many there are
 * when not all could be started; desk_supervise() goes on trying. */
boxcar_status crew_resize(struct crew *crew, size_t concurrency, boxcar_error *err);
size_t crew_threads(struct crew *crew);
void crew_set_timeout(struct crew *crew, int64_t timeout_ms);

/* `wake_fd` is an eventfd that outlives the desk. */
boxcar_status desk_open(struct crew *crew, const boxcar_store_options *store, const char *store_id,
                        int wake_fd, struct desk **ret_desk, boxcar_error *err);
/* Before anything is queued. */
boxcar_status desk_set_subscription(struct desk *desk, boxcar_str name, boxcar_error *err);
/* Nothing of it is queued or runs any more. Connections that idle threads keep to its store are closed. NULL
 * is fine. */
void desk_close(struct desk *desk);

/* The jobs behind a job come with it and begin in order: each when the one before it has the verdict ack. If
 * one has another verdict, or its ack came too late, those behind it never run: they are among the finished
 * jobs together with it, to be given back. */
void desk_put(struct desk *desk, struct job_list *jobs);
/* Takes every finished job out. */
void desk_collect(struct desk *desk, struct job_list *ret_finished);
/* Takes every job out that no thread has begun; without `all`, those stay that are held back behind one
 * which is running. */
void desk_take_back(struct desk *desk, bool all, struct job_list *ret_jobs);
/* Takes one job out; false = a thread has it, or had it. */
bool desk_take_back_one(struct desk *desk, struct job *job);
/* Takes out what is behind a job and not begun, whatever became of the job itself. */
void desk_take_back_behind(struct desk *desk, struct job *job, struct job_list *ret_jobs);

struct crew_view {
    struct crew_load {
        size_t queued, running, behind;
    } all;                          /* of every desk */
    size_t queued, running, behind; /* of this one */
    size_t abandoned;               /* of all */
    int64_t elapsed_ms;             /* of all running handlers, on average */
    int64_t next_check_ms;          /* when desk_supervise() has something to do; INT64_MAX = never */
    int64_t oldest_queued_ms;       /* since when this desk's first job is queued; INT64_MAX = none */
};
void desk_look(struct desk *desk, struct crew_view *ret_view);

/* Tells the handler of a job (NULL = of every job of this desk) to stop, if it is still running. */
void desk_cancel(struct desk *desk, const struct job *job, enum cancel_reason reason);
/* Gives up on handlers that ignored their cancellation for too long: their jobs are among
 * the finished, other threads take their place. With `all`, on every one of this desk that still runs.
 * Returns how many. */
size_t desk_supervise(struct desk *desk, bool all);

/* Waiting: the loop says that it is going to wait, unless something is finished already (false). */
bool desk_begin_wait(struct desk *desk);
void desk_end_wait(struct desk *desk); /* empties wake_fd */
/* From now on the end of any handler wakes the loop of this desk, and no longer that of another one that
 * watched; or it does not any more. */
void desk_watch(struct desk *desk, bool watch);

#endif
