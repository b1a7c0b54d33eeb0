/* boxcar/log.h: log records, which the library hands to the program.
 *
 * The library never writes to a file descriptor. It calls the function given in
 * boxcar_store_options, on the thread that made the call being reported, and forgets
 * the record afterwards. Records never contain payloads or passwords. */
#ifndef BOXCAR_LOG_H
#define BOXCAR_LOG_H

#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum boxcar_log_level {
    BOXCAR_LOG_DEBUG = 0,
    BOXCAR_LOG_INFO = 1,
    BOXCAR_LOG_WARN = 2,
    BOXCAR_LOG_ERROR = 3
} boxcar_log_level;

typedef struct boxcar_log_field {
    const char *name;
    boxcar_str value;
} boxcar_log_field;

typedef struct boxcar_log_record {
    boxcar_log_level level;
    const char *event;    /* a fixed name: "enqueue", "claim", "reap", "reconnect", ... */
    const char *text;     /* one line for people */
    const char *store_id; /* boxcar_store_id() of the store concerned */
    const boxcar_log_field *fields;
    size_t field_count;
} boxcar_log_record;

/* Must not call back into the store it reports about, nor ask a worker for figures: it may hold the worker's
 * locks. */
typedef void (*boxcar_log_fn)(void *context, const boxcar_log_record *record);

BOXCAR_API const char *boxcar_log_level_name(boxcar_log_level level);

#ifdef __cplusplus
}
#endif
#endif
