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
    boxcar_str remedy; /* what to do about it; absent when there is nothing to do */
} boxcar_finding;

/* Several findings may have the same name: each topic without a worker is one finding. */
typedef struct boxcar_finding_list {
    const boxcar_finding *const *items;
    size_t count;
} boxcar_finding_list;

/* "ok", "note", "warning", "problem". */
BOXCAR_API const char *boxcar_severity_name(boxcar_severity severity);

/* Looks at schema and version, the connection, the clock, sessions that hold snapshots or streams, bloat,
 * running workers, topics that no worker handles, expired leases, the oldest message that is ready, dead
 * letters, halted streams, the order in streams, upkeep and subscriptions of the box. It changes nothing and is cheap, whatever the
 * store holds. If the caller's role may not see something, the finding is a note, and the call succeeds. The
 * caller owns *ret_list. `box` may be the number of a subscription: then it looks at that reader. */
BOXCAR_API boxcar_status boxcar_doctor_run(boxcar_store *store, boxcar_box box, boxcar_finding_list **ret_list,
                                         boxcar_error *err);

#ifdef __cplusplus
}
#endif
#endif
