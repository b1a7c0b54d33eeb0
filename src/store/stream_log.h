/* What is logged about streams, whoever finds it out. */
#ifndef BOXCAR_STORE_STREAM_LOG_H
#define BOXCAR_STORE_STREAM_LOG_H

#include "store.h"

/* WARN, "stream_halt": a message died, and its stream stands still until somebody decides (BX-006). */
void stream_log_halted(const struct boxcar_store *store, boxcar_box box, boxcar_str stream,
                       boxcar_work_id work_id);

#endif
