/* What the clients wrote down, compared with what the store says. */
#ifndef BOXCAR_TESTS_LEDGER_H
#define BOXCAR_TESTS_LEDGER_H

#include "boxcar/types.h"
#include "storm.h"

struct verdict {
    int passed;
    int failed;
};

/* One line for each check. */
void verdict_add(struct verdict *verdict, const char *promise, int64_t offences);

/* What is known about a message in the end, from the store. */
struct end_state {
    int64_t work_id;
    boxcar_message_id message_id;
    boxcar_message_status status;
    boxcar_reason reason;
    int retry_count;
    int crash_count;
    int max_attempts;
    int stream;                  /* 0 = none */
    const struct record *intent; /* NULL: nobody meant to enqueue it */
    int64_t stored_after;        /* when the enqueue was known to have happened; 0 = unknown */
};

/* One row of the history of bad ends. */
struct bad_end {
    int64_t work_id;
    int64_t order;
    int64_t epoch;
    int retry_count;
    char outcome[16];
    uint8_t owner[16];
};

/* All of it, sorted: end_states by work id, bad_ends by work id and order, acts by work id and epoch and
 * time, enqueues by message id. */
struct ledger {
    struct storm *storm;
    struct record *records;
    size_t record_count;
    struct end_state *end_states;
    size_t end_state_count;
    struct bad_end *bad_ends;
    size_t bad_end_count;
    struct record *acts; /* CLAIMED, SETTLING, SETTLED, CANCELLING, CANCELLED */
    size_t act_count;
    struct record *enqueues; /* INTENT, ENQUEUED, ROLLED_BACK */
    size_t enqueue_count;
    struct record *crashes;
    size_t crash_count;
    int64_t offences; /* of the check that is running */
};

/* Counts an offence of the check that is running and shows the first few. */
void offend(struct ledger *ledger, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Ends the check that is running. */
void conclude(struct ledger *ledger, struct verdict *verdict, const char *promise);

struct end_state *ledger_end_state(const struct ledger *ledger, int64_t work_id);
/* The rows of one work id: *ret_first up to the returned end. */
size_t ledger_bad_ends(const struct ledger *ledger, int64_t work_id, size_t *ret_first);
size_t ledger_acts(const struct ledger *ledger, int64_t work_id, size_t *ret_first);

void ledger_read_journals(struct ledger *ledger);
void ledger_read_store(struct ledger *ledger);
void ledger_free(struct ledger *ledger);
/* One number from the store by SQL; NULL for a store that the question does not concern. */
int64_t ledger_sql_number(const struct ledger *ledger, const char *sqlite_text, const char *postgres_text);
/* Every row of a query, its values as text ("" for null). */
#define ROW_COLUMNS_MAX 16
typedef void (*row_fn)(void *context, const char *const *values);
void ledger_sql_each(const struct ledger *ledger, const char *sqlite_text, const char *postgres_text,
                     row_fn row, void *context);

void check_messages(struct ledger *ledger, struct verdict *verdict);
void check_counts(struct ledger *ledger, struct verdict *verdict);
void check_leases(struct ledger *ledger, struct verdict *verdict);
void check_attempts(struct ledger *ledger, struct verdict *verdict);
void check_streams(struct ledger *ledger, struct verdict *verdict);

/* Reads everything and makes all checks. */
void check_all(struct storm *storm, struct verdict *verdict);
/* Removes what the run left behind. */
void storm_remove(struct storm *storm);

#endif
