/* A program that was started: it leads a process group of its own, reads its input from us, writes
 * errors to us and everything else to /dev/null. It has no other descriptor, no blocked signal and no
 * signal handled otherwise than by default. Used by one thread. */
#ifndef BOXCAR_WORKER_EXEC_CHILD_H
#define BOXCAR_WORKER_EXEC_CHILD_H

#include <sys/types.h>

#include "base/buf.h"
#include "worker/crew/delivery.h"

/* The end of what a program wrote to its standard error, made fit for last_error. Pure. */
#define EXEC_TAIL_MAX BOXCAR_ERROR_TEXT_MAX

struct exec_tail {
    size_t len;
    bool cut; /* something before it was dropped */
    char bytes[2 * EXEC_TAIL_MAX];
};

/* Where up to EXEC_TAIL_MAX new bytes go; exec_tail_add() then says how many came. */
char *exec_tail_room(struct exec_tail *tail);
void exec_tail_add(struct exec_tail *tail, size_t len);

/* Appends the last max_bytes of it as text: whole characters, what is not UTF-8 replaced, no blanks at
 * the end. Out of memory is remembered by the buffer. */
void exec_tail_append_to(const struct exec_tail *tail, size_t max_bytes, struct buf *into);

struct exec_child {
    pid_t pid;       /* of the process and of its group */
    int input_fd;    /* nonblocking; -1 = closed */
    int errors_fd;   /* nonblocking; -1 = closed */
    boxcar_str rest; /* input not yet written; lent by the caller */
};

/* Starts the program at PATH and begins to feed it INPUT, which must live as long as the child is used.
 * 0, or an errno, when nothing was started. */
int exec_child_start(const char *path, char *const *argv, char *const *envp, boxcar_str input,
                     struct exec_child *ret_child);

/* Writes what the pipe takes now; closes it after the last byte, or when nobody reads any more. */
void exec_child_feed(struct exec_child *child);
/* Reads some of what is there now; closes at the end. */
void exec_child_listen(struct exec_child *child, struct exec_tail *tail);
/* Reads all output that is there now, and no more, even if another process continues to write. */
void exec_child_hear_out(struct exec_child *child, struct exec_tail *tail);

bool exec_child_has_ended(const struct exec_child *child);
/* Waits for the process, no other, and closes what is open. *ret_status as waitpid() gives it; false =
 * other code of this program has taken the status. */
bool exec_child_reap(struct exec_child *child, int *ret_status);

struct exec_end {
    bool is_known; /* false: the embedding program took the status (SIGCHLD ignored, a waitpid() for all) */
    int status;    /* as waitpid() gives it */
    enum cancel_reason cancelled;
    int64_t cancelled_after_ms;
};

/* Stands by while the program runs, feeds it, and listens to it. Returns when the program has ended and is
 * reaped. When the delivery is cancelled, the program and all it has started get SIGTERM, and SIGKILL after a
 * while or as soon as the program itself has ended, so that nothing of it goes on; the mark is for
 * exec_family_init(). What the program left in the background after an end of its own is left alone. */
void exec_watch(struct exec_child *child, const char *mark, const struct boxcar_delivery *delivery,
                struct exec_tail *tail, struct exec_end *ret_end);

#endif
