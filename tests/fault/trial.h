/* A trial of real workers: processes of the program itself, with faults done to them or to their server,
 * and a count afterwards by SQL and by what their handlers wrote down (starts.h), never by what a worker
 * says of itself. */
#ifndef BOXCAR_TESTS_TRIAL_H
#define BOXCAR_TESTS_TRIAL_H

#include <sys/types.h>

#include "reckoning.h"
#include "starts.h"
#include "storm.h"

#define HANDS_MAX 512 /* workers in one trial, one after the other or at once */

/* A worker process. */
struct hand {
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
    const char *program; /* boxcar */
    const char *note;    /* the handler program */
    const char *scribe;  /* the worker program with handlers in C */
    char evidence[320];
    int64_t enqueued;
    struct client self; /* chance */
    struct hand hands[HANDS_MAX];
    int hand_count;
    bool has_failed; /* what was to happen did not; no use in going on */
};

struct scenario {
    const char *name;
    void (*run)(struct trial *trial);
    bool postgres_only, full_only;
    int64_t messages, full_messages;
    int kills, full_kills; /* of workers, of the server: whatever is done many times */
    int max_attempts, full_max_attempts;
};

extern const struct scenario KILL_RANDOM, POISON, STOPPED, STOPPED_IN_C, SERVER_CRASH, TERMINATE, CUT_LINK,
    TERMINATE_GRACEFULLY, TWO_SERVICES, CANARIES, WRONG_CLOCK, HANG, DRAIN_MANY, JOINS, JOIN_LOCKS, INBOX,
    EVENTS, STREAMS, STREAM_CROWD;

/* ---- workers ---- */

/* How a worker is started: NULL-terminated lists. */
struct post {
    const char *const *before;    /* a program around it, or NULL */
    const char *const *arguments; /* what follows `boxcar worker --owner UUID` */
    const char *url_suffix;       /* to its store's URL, or NULL */
    bool is_scribe;               /* the worker program in C; arguments follow EVIDENCE OWNER */
};
struct hand *hand_start(struct trial *trial, const struct post *post);
/* SIGKILL; afterwards nothing of it is left at the server, and hand->held is what it held. */
void hand_kill(struct trial *trial, struct hand *hand);
/* Sends SIGTERM, once it means something to the worker. */
void hand_dismiss(struct hand *hand);
/* Until it has ended; false: it has not within the time. */
bool hand_wait(struct hand *hand, int64_t ms);
/* Dismisses all and waits; every one that was not killed must end with status 0. */
void hands_dismiss(struct trial *trial);
/* Whether one of those that nobody killed has ended; it is shown. */
bool hands_any_fallen(struct trial *trial);
/* The hand whose process that was, or NULL. */
const struct hand *hand_of(const struct trial *trial, int pid);
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
    int64_t streams; /* over so many, in turns; 0 = in none */
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
int64_t count_done_by(struct trial *trial, const struct hand *hand);
int64_t count_held_by(struct trial *trial, const struct hand *hand);
/* Only those with a later epoch than the last call met; 0 for the first. */
int64_t count_held_since(struct trial *trial, const struct hand *hand, int64_t *last_epoch);
/* Waits until so many are finished; when they are not in time the trial has failed. */
bool wait_finished(struct trial *trial, int64_t count, int64_t ms);
/* Waits until so many lines with this event are in the evidence. */
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
