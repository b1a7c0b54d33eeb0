/* boxcar/maintain.h: settings kept in the store, upkeep, and the audit. */
#ifndef BOXCAR_MAINTAIN_H
#define BOXCAR_MAINTAIN_H

#include "error.h"
#include "store.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct boxcar_maintenance {
    size_t struct_size;
    int64_t reaped;      /* messages released from expired leases */
    int64_t expired;     /* messages whose time to live ended */
    int64_t purged_done; /* messages removed after their retention */
    int64_t purged_dead;
    int64_t settled;      /* members of joins counted late: their message had ended before they were
                             attached */
    int64_t timed_out;    /* joins whose deadline came */
    int64_t purged_joins; /* joins removed after their retention */
    int64_t purged_keys;  /* keys of the inbox removed after their retention */
    bool more;           /* the work limit was reached; call again */
} boxcar_maintenance;

#ifdef __cplusplus
#define BOXCAR_MAINTENANCE_INIT (boxcar_maintenance{sizeof(boxcar_maintenance), 0, 0, 0, 0, 0, 0, 0, 0, false})
#else
#define BOXCAR_MAINTENANCE_INIT ((boxcar_maintenance){.struct_size = sizeof(boxcar_maintenance)})
#endif

/* One round of maintenance in small transactions: reap, expire, sum up counters, bring joins up to date, purge
 * what is past its retention. The work of one call is bounded; `more` says that there is some left. Safe to
 * run from many processes at once. *ret_maintenance may be NULL. */
BOXCAR_API boxcar_status boxcar_maintenance_run(boxcar_store *store, boxcar_maintenance *ret_maintenance,
                                         boxcar_error *err);

typedef struct boxcar_upkeep {
    size_t struct_size;
    bool has_run;   /* by any program, since the store was deployed or upgraded to schema version 11 */
    double seconds; /* since it last ran; if it never did, since that deployment or upgrade. By the
                       database's clock */
} boxcar_upkeep;

#ifdef __cplusplus
#define BOXCAR_UPKEEP_INIT (boxcar_upkeep{sizeof(boxcar_upkeep), false, 0})
#else
#define BOXCAR_UPKEEP_INIT ((boxcar_upkeep){.struct_size = sizeof(boxcar_upkeep)})
#endif

/* When boxcar_maintenance_run() last ran, in any process. Workers call it, unless their maintain_ms is 0. */
BOXCAR_API boxcar_status boxcar_upkeep_read(boxcar_store *store, boxcar_upkeep *ret_upkeep, boxcar_error *err);

typedef struct boxcar_audit {
    size_t struct_size;
    int64_t lost;     /* messages that are not leased, dead or done, and that no claim can find */
    int64_t repaired; /* lost messages that were made ready again */
} boxcar_audit;

#ifdef __cplusplus
#define BOXCAR_AUDIT_INIT (boxcar_audit{sizeof(boxcar_audit), 0, 0})
#else
#define BOXCAR_AUDIT_INIT ((boxcar_audit){.struct_size = sizeof(boxcar_audit)})
#endif

/* Looks for messages that no claim can find: there should never be any. With `repair` they become
 * ready again. It reads the whole log, so do not run it every minute. */
BOXCAR_API boxcar_status boxcar_audit_run(boxcar_store *store, bool repair, boxcar_audit *ret_audit,
                                          boxcar_error *err);

/* Settings live in the store and apply to every program that uses it. */
typedef struct boxcar_setting {
    boxcar_str name;
    boxcar_str value;         /* as text: a number, or a duration such as 7d */
    boxcar_str default_value;
    boxcar_str help;
} boxcar_setting;

typedef struct boxcar_setting_list {
    const boxcar_setting *const *items;
    size_t count;
} boxcar_setting_list;

/* All settings by name. The caller owns *ret_list. */
BOXCAR_API boxcar_status boxcar_setting_read(boxcar_store *store, boxcar_setting_list **ret_list,
                                              boxcar_error *err);

/* Changes one. BOXCAR_E_NOT_FOUND for an unknown name, BOXCAR_E_INVALID for a value out of
 * range. An absent value restores the default. */
BOXCAR_API boxcar_status boxcar_setting_write(boxcar_store *store, boxcar_str name, boxcar_str value,
                                              boxcar_error *err);

#ifdef __cplusplus
}
#endif
#endif
