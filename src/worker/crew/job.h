/* What the worker holds: loads as they were claimed, and a job for each message of one.
 *
 * A load keeps the memory of its messages. Its jobs and every handler that was given up hold a
 * reference. When the last reference is released, the load is freed. */
#ifndef BOXCAR_WORKER_CREW_JOB_H
#define BOXCAR_WORKER_CREW_JOB_H

#include <stdatomic.h>

#include "handler.h"
#include "store/store.h"

struct load {
    _Atomic size_t references;
    struct result result;
    struct job *jobs;
    size_t count;
};

/* Where the crew has a job. */
enum job_place {
    PLACE_NONE,   /* it has not: not given to it yet, or taken back */
    PLACE_BEHIND, /* held back until the one before it in its stream is done */
    PLACE_QUEUED,
    PLACE_RUNNING,
    PLACE_FINISHED, /* handed over, or to be */
};

struct job {
    struct job *next;                      /* in the queue or among the finished */
    struct job *held_next, *held_previous; /* among all that the worker holds */
    struct desk *desk;                     /* where it was put (crew.h) */
    struct job *behind;                    /* of the same stream and claim: starts when this one is done */
    enum job_place place;                  /* under the crew's mutex */
    struct load *load;
    const boxcar_message *message;
    struct handler *handler; /* NULL = none for this topic */
    int64_t leased_at_ms;    /* when its lease was last known to begin */
    int64_t queued_at_ms;
    bool collected; /* the work loop has its verdict ... */
    bool sent;      /* ... which is in the request on its way */
    bool refused;   /* the store does not take it, alone: its lease is not renewed any more */
    bool lost;      /* the lease is lost; only the work loop writes this */

    /* What came of it. A wait is for the store to decide. */
    const struct wait *wait; /* in the load's arena; NULL = an ordinary message */
    boxcar_verdict verdict;
    bool settled;    /* acked in the handler's own transaction */
    bool late;       /* that transaction found the lease lost and was rolled back */
    bool given_back; /* deferred by the worker, not by its handler */
    bool shortage;   /* deferred because the machine has too little of something */
    bool unstarted;  /* given back by the crew: the one before it in its stream was not done */
    int64_t delay_ms;
    char *error; /* malloc'ed, or NULL */
    size_t error_len;
    _Atomic int stages;   /* that the handler says are done ... */
    int recorded;         /* ... and those of them that went out */
    int64_t microseconds; /* in the handler; 0 = never ran */
};

struct job_list {
    struct job *first, *last;
    size_t count;
};

/* Takes the result over, also when it fails (NULL: out of memory). */
struct load *load_new(struct result *result);
void load_retain(struct load *load);
void load_release(struct load *load);

/* The order of streams, and of messages in them: by box, stream and work id. */
int stream_compare(const boxcar_message *a, const boxcar_message *b); /* 0 = the same stream */
int stream_compare_places(const boxcar_message *a, const boxcar_message *b);

void job_list_push(struct job_list *list, struct job *job);
struct job *job_list_pop(struct job_list *list); /* NULL = empty */
/* Appends everything in `from`, which is empty afterwards. */
void job_list_append(struct job_list *list, struct job_list *from);
void job_list_remove(struct job_list *list, struct job *job);

#endif
