/* A trial of real workers: processes of the program itself, with faults done to them or to their server,
 * and a count afterwards by SQL and by what their handlers wrote down (starts.h), never by what a worker
 * says of itself. */
#ifndef BOXCAR_TESTS_TRIAL_H
#define BOXCAR_TESTS_TRIAL_H

#include <sys/types.h>

#include "ledger.h"
#include "starts.h"
#include "storm.h"

#define WORKERS_MAX 512 /* workers in one trial, one after the other or at once */

/* A worker process. */
struct worker {
    pid_t pid; /* 0: it has ended */
    pid_t was;
    int status; /* as waitpid() says */
    boxcar_owner owner;
    char owner_text[BOXCAR_UUID_TEXT_SIZE];
    char application[96]; /* what its sessions are called */
    char log[320];
    bool killed;
    int64_t held; /* messages leased to it when it was killed */
};

struct trial {
    const char *name;
    struct storm storm;
    struct ledger ledger; /* for its SQL and its offences */
    struct verdict verdict;
    bool full;
    int64_t messages;
    int kills;
    const char *program;      /* boxcar */
    const char *exec_handler; /* a program that is run for a message */
    const char *c_worker;     /* the worker program with handlers in C */
    char evidence[320];
    int64_t enqueued;
    struct client self; /* chance */
    struct worker workers[WORKERS_MAX];
    int worker_count;
    bool has_failed; /* what was to happen did not; no use in going on */
};

/* What a trial does. Its name, and where it runs, are in trial/meson.build. */
struct scenario {
    void (*run)(struct trial *trial);
    int64_t messages, full_messages;
    int kills, full_kills; /* of workers, of the server: whatever is done many times */
    int max_attempts, full_max_attempts;
};

/* ---- workers ---- */

/* How a worker is started: NULL-terminated lists. */
struct launch {
    const char *const *before;    /* a program around it, or NULL */
    const char *const *arguments; /* what follows `boxcar worker --owner UUID` */
    const char *url_suffix;       /* to its store's URL, or NULL */
    bool is_c_worker;             /* the worker program in C; arguments follow EVIDENCE OWNER */
};
struct worker *worker_start(struct trial *trial, const struct launch *launch);
/* SIGKILL; afterwards nothing of it is left at the server, and worker->held is what it held. */
void worker_kill(struct trial *trial, struct worker *worker);
/* Sends SIGTERM, once it means something to the worker. */
void worker_terminate(struct worker *worker);
/* Until it has ended; false: it has not within the time. */
bool worker_wait(struct worker *worker, int64_t ms);
/* Sends SIGTERM to all and waits; every one that was not killed must end with status 0. */
void workers_terminate(struct trial *trial);
/* Whether one of those that nobody killed has ended; it is shown. */
bool workers_any_ended(struct trial *trial);
/* The worker whose process that was, or NULL. */
const struct worker *worker_of(const struct trial *trial, int pid);
/* Runs the program to its end with what it prints in FILE; returns its exit status. */
int program_run(struct trial *trial, const char *const *arguments, const char *input_path, const char *log);

/* ---- messages ---- */

struct load {
    const char *topic;
    const char *payload; /* NULL: something */
    int64_t count;
    int batch;
    int pause_ms; /* between batches */
    int64_t delay_ms;
    int64_t streams; /* spread over this many, in turns; 0 = in none */
};
/* Enqueues, however long the server is away; the same message is never stored twice. */
void load_enqueue(struct trial *trial, struct load load);
/* The same from a process of its own, while other things happen. */
pid_t load_start(struct trial *trial, struct load load);
void load_finish(struct trial *trial, pid_t pid);

/* ---- looking ---- */

/* Done or dead, by SQL. */
int64_t count_finished(struct trial *trial);
/* Done by one worker, by SQL. */
int64_t count_done_by(struct trial *trial, const struct worker *worker);
int64_t count_held_by(struct trial *trial, const struct worker *worker);
/* Only those with a later epoch than the last call met, 0 for the first; and the attempts that it was charged
 * from this time of the store's clock on (INT64_MAX: none). */
int64_t count_held_since(struct trial *trial, const struct worker *worker, int64_t *last_epoch,
                         int64_t charged_from);
int64_t store_clock_us(struct trial *trial);
/* Waits until `count` messages are finished; if they are not finished in time, the trial has failed. */
bool wait_finished(struct trial *trial, int64_t count, int64_t ms);
/* Waits until `count` lines with this event are in the evidence. */
bool wait_starts(struct trial *trial, const char *event, int64_t count, int64_t ms);
int64_t sql_number(struct trial *trial, const char *sqlite_text, const char *postgres_text);

/* One message, by SQL over the view. */
struct item {
    int64_t work_id;
    char topic[32];
    char status[16];
    int retry_count;
    char processed_by[BOXCAR_UUID_TEXT_SIZE];
};
struct items {
    struct item *rows; /* by work id */
    size_t count;
};
void items_read(struct trial *trial, struct items *items);
void items_free(struct items *items);

/* ---- judging ---- */

void judge(struct trial *trial, const char *promise, int64_t offences);
/* Every message that was enqueued is done, none is lost, none is left in progress. BX-001 */
void judge_all_done(struct trial *trial);
/* Shows how many handlers were started more than once and returns how many starts were too many: more
 * than one, and one for every attempt that the store has counted if `charged` says that this is fair. */
void judge_starts(struct trial *trial, bool charged);

#endif
