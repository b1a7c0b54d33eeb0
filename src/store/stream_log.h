/* Log records about streams, for every function that finds them. */
#ifndef BOXCAR_STORE_STREAM_LOG_H
#define BOXCAR_STORE_STREAM_LOG_H

#include "store.h"

/* WARN, "stream_halt": a message died, and its stream stands still until it is resumed (BX-006). */
void stream_log_halted(const struct boxcar_store *store, boxcar_box box, boxcar_str stream,
                       boxcar_work_id work_id);

/* Streams that a transaction has halted, for the log once it has succeeded. What does not fit is not told. */
#define HALTED_TOLD_MAX 100
struct halted {
    int box;
    boxcar_str stream;
    int64_t work_id;
};

struct halted_list {
    struct arena arena;
    struct halted items[HALTED_TOLD_MAX];
    size_t count;
};

void stream_log_remember(const struct boxcar_store *store, struct halted_list *list, int box,
                         boxcar_str stream, int64_t work_id);
void stream_log_forget(struct halted_list *list);
/* Logs them, and forgets. */
void stream_log_remembered(const struct boxcar_store *store, struct halted_list *list);

#endif
