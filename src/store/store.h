/* The seam: what Boxcar needs of a database. Two tables of functions implement it, one
 * conformance suite (tests/conformance) defines it, and nothing above knows which one it
 * talks to.
 *
 * Contract for every operation: arguments have been validated; `ret_` outputs are written
 * only on success; each call is one transaction unless it says otherwise; deadlocks,
 * serialization failures and busy files are retried inside; times come from the database's
 * clock, read once per call. */
#ifndef BOXCAR_STORE_STORE_H
#define BOXCAR_STORE_STORE_H

#include "batch.h"
#include "boxcar/dead_letter.h"
#include "boxcar/inspect.h"
#include "boxcar/log.h"
#include "boxcar/maintain.h"
#include "boxcar/store.h"

struct boxcar_attempt_list {
    struct arena arena;
    boxcar_attempt *items;
    size_t count;
};

struct boxcar_stats_list {
    struct arena arena;
    boxcar_stats *items;
    size_t count;
};

/* A setting as a store keeps it: only those that differ from their default. */
struct setting_value {
    boxcar_str name;
    double number;
};

struct setting_value_list {
    struct arena arena;
    struct setting_value *items;
    size_t count;
};

enum dead_action { DEAD_REPLAY, DEAD_PURGE };

struct store_ops {
    const char *kind; /* "sqlite", "postgres" */

    void (*close)(struct boxcar_store *store); /* frees the store */
    boxcar_status (*deploy)(struct boxcar_store *store, boxcar_deployment *ret_deployment, boxcar_error *err);

    boxcar_status (*process)(struct boxcar_store *store, const struct batch *batch,
                             struct batch_result *ret_result, boxcar_error *err);

    /* Inspection. Lists are allocated with malloc and owned by the caller. find: with payload,
     * BOXCAR_E_NOT_FOUND when there is none. */
    boxcar_status (*find)(struct boxcar_store *store, boxcar_box box, boxcar_message_ref ref,
                          struct boxcar_message_list **ret_list, boxcar_error *err);
    boxcar_status (*page)(struct boxcar_store *store, const boxcar_list_options *options,
                          struct boxcar_message_list **ret_list, boxcar_error *err);
    boxcar_status (*attempts)(struct boxcar_store *store, boxcar_work_id work_id,
                              struct boxcar_attempt_list **ret_list, boxcar_error *err);
    boxcar_status (*stats)(struct boxcar_store *store, boxcar_box box, bool by_topic,
                           struct boxcar_stats_list **ret_list, boxcar_error *err);

    /* Dead letters. `dead_act` works on at most `limit` of them in one transaction, newest first
     * among those older than *cursor (0 = all), says how many it did, and moves *cursor on; 0 = the
     * end. So a run through all of them ends even if some die again meanwhile. */
    boxcar_status (*dead_page)(struct boxcar_store *store, const boxcar_dead_filter *filter, int limit,
                               boxcar_work_id after, struct boxcar_message_list **ret_list, boxcar_error *err);
    boxcar_status (*dead_act)(struct boxcar_store *store, const boxcar_dead_filter *filter,
                              enum dead_action action, boxcar_str note, int limit,
                              boxcar_work_id *cursor, int64_t *ret_count, boxcar_error *err);
    boxcar_status (*cancel)(struct boxcar_store *store, boxcar_box box, boxcar_message_ref ref, boxcar_error *err);

    /* Upkeep. */
    boxcar_status (*maintain)(struct boxcar_store *store, boxcar_maintenance *ret_maintenance, boxcar_error *err);
    boxcar_status (*audit)(struct boxcar_store *store, bool repair, boxcar_audit *ret_audit, boxcar_error *err);
    boxcar_status (*settings_read)(struct boxcar_store *store, struct setting_value_list *ret_list, boxcar_error *err);
    boxcar_status (*setting_write)(struct boxcar_store *store, boxcar_str name, double number, boxcar_error *err);
    boxcar_status (*setting_reset)(struct boxcar_store *store, boxcar_str name, boxcar_error *err);
};

/* What every store begins with; the backends embed it as their first member. */
struct boxcar_store {
    const struct store_ops *ops;
    boxcar_log_fn log;
    void *log_context;
    char *id; /* for logs; malloc'ed, freed by the backend's close */
};

/* Lays the caller's options over the defaults and checks everything but the URL's form; the
 * schema is always set afterwards. For the ways into a store: open and the two borrows. */
boxcar_status store_options_read(const boxcar_store_options *given, boxcar_store_options *ret_options,
                                 boxcar_error *err);

#define STORE_URL_SQLITE "sqlite:" /* the path follows */

/* The backends' entry points. `options` went through store_options_read() and its URL has the
 * backend's form. They deploy when `options` says so. */
boxcar_status store_sqlite_open(const boxcar_store_options *options, struct boxcar_store **ret_store, boxcar_error *err);
boxcar_status store_postgres_open(const boxcar_store_options *options, struct boxcar_store **ret_store, boxcar_error *err);

/* Hands a record to the store's log function, if there is one. */
void store_log(const struct boxcar_store *store, boxcar_log_level level, const char *event,
               const boxcar_log_field *fields, size_t field_count, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

/* The schema version both stores deploy: the number of their newest migration; and the
 * oldest program (by schema version) that may use such a store. */
#define STORE_SCHEMA_VERSION 1

#endif
