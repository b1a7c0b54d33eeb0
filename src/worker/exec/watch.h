/* Standing by while a program runs: feeding it, listening to it, ending it when the handler is told to
 * stop. */
#ifndef BOXCAR_WORKER_EXEC_WATCH_H
#define BOXCAR_WORKER_EXEC_WATCH_H

#include "child.h"
#include "worker/crew/delivery.h"

struct exec_end {
    bool is_known; /* false: the embedding program took the status (SIGCHLD ignored, a waitpid() for all) */
    int status;    /* as waitpid() gives it */
    enum cancel_reason cancelled;
    int64_t cancelled_after_ms;
};

/* Returns when the program has ended and is reaped. When the delivery is cancelled, the program and all it
 * has started get SIGTERM, and SIGKILL after a while or as soon as the program itself has ended, so that
 * nothing of it goes on; the mark is for exec_family_init(). What the program left in the background after
 * an end of its own is left alone. */
void exec_watch(struct exec_child *child, const char *mark, const struct boxcar_delivery *delivery,
                struct exec_tail *tail, struct exec_end *ret_end);

#endif
