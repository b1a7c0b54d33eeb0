/* boxcar/doctor.h: is this store well, and if not, what to do. */
#ifndef BOXCAR_DOCTOR_H
#define BOXCAR_DOCTOR_H

#include "error.h"
#include "store.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum boxcar_severity {
    BOXCAR_SEVERITY_OK = 0,      /* looked at, nothing wrong */
    BOXCAR_SEVERITY_NOTE = 1,    /* good to know */
    BOXCAR_SEVERITY_WARNING = 2, /* will hurt if it goes on */
    BOXCAR_SEVERITY_PROBLEM = 3  /* hurts now */
} boxcar_severity;

/* One thing that was looked at. Text is lent by the list. */
typedef struct boxcar_finding {
    boxcar_str check; /* a fixed name: "schema", "clock_skew", "held_snapshot", ... */
    boxcar_severity severity;
    boxcar_str text;   /* what was seen, one line */
} boxcar_finding;

/* Several findings may have one name: a topic without a worker is one, each. */
typedef struct boxcar_finding_list {
    const boxcar_finding *const *items;
    size_t count;
} boxcar_finding_list;

/* "ok", "note", "warning", "problem". */
BOXCAR_API const char *boxcar_severity_name(boxcar_severity severity);

/* Looks at schema and version, the connection, the clock, who holds snapshots or streams, bloat, running workers,
 * topics that none of them handles, expired leases, the oldest message that is ready, dead
 * letters, halted streams, the order in streams and upkeep. Changes nothing and is cheap, whatever the store holds. What the caller's role may
 * not see is a note, not an error. The caller owns *ret_list. */
BOXCAR_API boxcar_status boxcar_doctor_run(boxcar_store *store, boxcar_box box, boxcar_finding_list **ret_list,
                                         boxcar_error *err);

#ifdef __cplusplus
}
#endif
#endif
