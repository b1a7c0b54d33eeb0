/* Every statement that is sent, by name. The table is in statement.c. */
#ifndef BOXCAR_STORE_POSTGRES_STATEMENT_STATEMENT_H
#define BOXCAR_STORE_POSTGRES_STATEMENT_STATEMENT_H

#include "boxcar/error.h"

enum pg_statement {
    PG_STORE_INFO,
    PG_BEGIN,
    PG_COMMIT,
    PG_ENQUEUE,
    PG_ENQUEUE_PLAIN,
    PG_ENQUEUE_KNOWN,
    PG_ENQUEUE_ONE,
    PG_HOLD_KEYS,
    PG_ACK,
    PG_ACK_RUN,
    PG_ABANDON,
    PG_DEFER,
    PG_FAIL,
    PG_RESOLVE,
    PG_RENEW,
    PG_REAP,
    PG_CLAIM,
    PG_CLAIM_STORED,
    PG_RETURNED,
    PG_BEFORE_CLAIMS,
    PG_GIVE_BACK_CLAIM,
    PG_BURY_EXPIRED,
    PG_BURY_MALFORMED,
    PG_WAS_SETTLED,
    PG_ADOPT,
    PG_FIND,
    PG_WORK_IDS,
    PG_PAGE,
    PG_ATTEMPTS,
    PG_DELIVERY_ATTEMPTS,
    PG_STATS,
    PG_DEAD_PAGE,
    PG_DEAD_ACT,
    PG_CANCEL,
    PG_READER,
    PG_READERS,
    PG_MAINTAIN,
    PG_UPKEEP,
    PG_FACTS,
    PG_EXPIRE_FRESH,
    PG_AUDIT,
    PG_SETTINGS,
    PG_SET,
    PG_WANT_PARTITIONS,
    PG_LOCK_AHEAD,
    PG_LOCK_AHEAD_OF,
    PG_JOINS_ENDED,
    PG_JOIN_START,
    PG_ATTACH,
    PG_JOIN_REPORT,
    PG_JOIN_CANCEL,
    PG_JOIN_WAIT,
    PG_EVALUATE_WAITS,
    PG_JOIN_FIND,
    PG_JOIN_PAGE,
    PG_JOIN_MEMBERS,
    PG_INBOX_ENQUEUE,
    PG_INBOX_ENQUEUE_ONE,
    PG_INBOX_ENQUEUE_PLAIN,
    PG_INBOX_LOOK,
    PG_INBOX_ACCEPT,
    PG_INBOX_FIND,
    PG_EVENT_APPEND,
    PG_EVENT_READ,
    PG_EVENT_READ_ALL,
    PG_SEQUENCE_EVENTS,
    PG_RECORD_STAGES,
    PG_REGISTER,
    PG_BEAT_ALONE,
    PG_REMOVE_STALE,
    PG_SUBSCRIPTION_ADD,
    PG_SUBSCRIPTION_PAUSE,
    PG_SUBSCRIPTION_RESUME,
    PG_SUBSCRIPTION_CHANGE,
    PG_SUBSCRIPTION_REWIND,
    PG_SUBSCRIPTION_REMOVE,
    PG_SUBSCRIPTIONS,
    PG_SUBSCRIPTIONS_BRIEF,
    PG_FANOUT_ADD,
    PG_FANOUT_PAUSE,
    PG_FANOUT_RESUME,
    PG_FANOUT_REWIND,
    PG_FANOUT_REMOVE,
    PG_SCHEDULE_ADD,
    PG_SCHEDULE_PAUSE,
    PG_SCHEDULE_RESUME,
    PG_SCHEDULE_REMOVE,
    PG_SCHEDULE_COMPLETE,
    PG_SCHEDULE_PLAN,
    PG_SCHEDULES,
    PG_SCHEDULE_SLICES,
    PG_STREAM_PAGE,
    PG_STREAM_HEAD,
    PG_HALTED_BY,
    PG_RESUME_HALT,
    PG_STREAM_RULE,
    PG_STREAM_RULES,
    PG_INSTANCES,
    PG_HEARTBEAT,
    PG_FAREWELL,
    PG_FALL_ASLEEP,
    PG_GET_UP,
    PG_IS_DRAINED,
    PG_CLOCK,
    PG_SERVER,
    PG_SCHEMA_RIGHTS,
    PG_CHECKUP,
    PG_LIVE_HOSTS,
    PG_LIVE_PATTERNS,
    PG_READY_TOPICS,
    PG_SNAPSHOT_HOLDERS,
    PG_STREAM_HOLDERS,
    PG_TABLE_HEALTH,
    PG_CLAIM_BLOCKERS,
    PG_TRY_CLAIM,
    PG_STATEMENTS
};

/* What is sent, and what the answer must look like (checked in shape.c): how many rows (1, or * = any
 * number), then a letter for each column. All fields are binary. Numbers, times and ids may be null, which
 * reads as 0 or none. l int8   i int4   s int2   b bool   f float8 (finite)   T timestamptz   u uuid   L
 * int8[] U uuid[]   v void   t text   n text or null   B a box (int2)   R a reason (int2)   M a member's
 * status (int4) */
struct pg_statement_entry {
    const char *text, *shape;
    enum {
        PG_SLOW = 1,     /* looks at many rows: the server gets more time for it */
        PG_ONCE = 2,     /* must not run twice: if the connection is lost meanwhile, that is an error */
        PG_SLOW_ONCE = 3 /* both */
    } manner;
};
extern const struct pg_statement_entry PG_STATEMENT_TABLE[PG_STATEMENTS];

struct pg_store;

#define PG_DOCTOR_FUNCTIONS 10
boxcar_status pg_statements_make(struct pg_store *pg, boxcar_error *err);
void pg_statements_free(struct pg_store *pg);
/* A text with :"schema", :'schema', :hot and :pinned filled in; malloc'ed, NULL = no memory. */
char *pg_fill_in(const char *text, const char *schema);

#endif
