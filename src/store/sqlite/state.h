/* The state of an open SQLite store: its connection, and what the running transaction has gathered so far.
 * The structs that it holds are here too; the rooms' headers say what is done with them. One writer at a time
 * does most of the work: see claim/claim.c for the mechanism and sql/sqlite/migrations for the tables. */
#ifndef BOXCAR_STORE_SQLITE_STATE_H
#define BOXCAR_STORE_SQLITE_STATE_H

#include <sqlite3.h>

#include "base/error.h"
#include "base/memory.h"
#include "boxcar/backoff.h"
#include "store/sqlite/statement/query.h"
#include "store/sqlite/statement/statement.h"
#include "store/store.h"
#include "store/stream_log.h"

/* While a call waits for a lock, it sleeps for short random times, and gives up at the deadline. */
struct busy {
    int64_t deadline_us; /* monotonic */
    uint64_t random;
};

/* The counters of one topic; the columns of boxcar_tally. */
enum tally_kind {
    TALLY_FRESH,
    TALLY_PARKED,
    TALLY_BEHIND,
    TALLY_LEASED,
    TALLY_DONE,
    TALLY_DEAD,
    TALLY_KINDS
};

/* What the running transaction has changed, by topic; written once before it commits. */
struct tally_entry {
    boxcar_str topic;
    int box;
    int64_t delta[TALLY_KINDS];
};

struct tally {
    struct tally_entry *entries;
    size_t count, capacity;
    uint32_t *slots; /* hash table of indexes into entries, + 1; 0 = empty */
    size_t slot_count;
    size_t last; /* most messages of a request have the topic of the one before */
    bool failed; /* out of memory */
};

struct sqlite_settings {
    bool loaded;
    int max_attempts;
    int64_t payload_max, headers_max; /* bytes */
    int64_t retention_done_ms, retention_dead_ms, retention_joins_ms, retention_inbox_ms;
    boxcar_str wait_topic; /* of messages that wait for joins */
    boxcar_stream_policy stream_policy;
    int partition_count, partitions_max; /* the second: of one worker, 0 = no limit */
    int64_t instance_timeout_ms;
    bool partitions_fixed; /* the store has had streamed messages */
    boxcar_backoff_curve curve;
};

/* Messages buried by the running transaction: their joins are told once, see join/count.c. */
struct burial_list {
    int64_t *ids; /* in the scratch arena */
    size_t count, capacity;
};

/* The policies of streams; read once a transaction. */
struct stream_rules {
    bool loaded;
    boxcar_stream_rule *items; /* in the scratch arena */
    size_t count;
};

/* Streamed messages acked by the running call; see sqlite_stream_check_acks(). */
struct acked {
    int box;
    boxcar_str stream;
    int64_t work_id;
};

struct acked_list {
    struct acked *items; /* in the scratch arena */
    size_t count, capacity;
    bool from_lot; /* some of them were parked */
};

/* A subscription, while something is done for it. */
struct reader {
    int number;
    boxcar_box box; /* of the messages that it reads */
    bool paused, only;
    boxcar_str *patterns; /* in the scratch arena */
    size_t pattern_count;
    int64_t max_lag_ms, max_lag_count; /* 0 = off */
};

/* Which topics of a box subscriptions have taken from the main reader; read once a transaction. */
struct taken {
    bool loaded;
    boxcar_str *patterns; /* in the scratch arena */
    size_t count, capacity;
};

/* How far maintenance has looked at what may have to be kept for subscriptions; the next look goes on there.
 */
struct kept_look {
    boxcar_time at;
    int64_t work_id;
};

/* Messages buried because they are damaged: how many, the first one, and which text of it. */
struct damage {
    size_t count;
    int64_t work_id;
    const char *field;
};

/* What is known of the log before the transaction that needs it, which would hold the write lock for as long
 * as it looks: nothing up to `position` was stored at this time or later, and up to `without` nothing is kept
 * of a box. It counts for this connection's file. */
struct survey {
    const sqlite3 *db;
    boxcar_time time;
    int64_t position, without[2];
};

struct sqlite_store {
    struct boxcar_store base;
    sqlite3 *db;
    sqlite3 *checkpointer; /* see connection/checkpoint.c; opened when first needed */
    bool borrowed;         /* db belongs to the caller */
    bool begun;            /* a transaction that spans calls is open */
    char *path;            /* as given to SQLite */
    int64_t busy_timeout_ms;
    struct busy busy;
    bool relaxed;                   /* the caller asked for synchronous=NORMAL */
    bool syncs;                     /* what the connection is set to now */
    int wal_pages;                  /* in the WAL after our last commit */
    int wal_checkpoint_at;          /* copy the WAL back when it has this many pages */
    int last_rc;                    /* of the last error: tells busy from the rest */
    int wal_watch;                  /* an inotify descriptor, see connection/sleep.c; -1 = none yet */
    int64_t seen_version;           /* of the file when it was last looked through; 0 = never */
    boxcar_message_id unknown_from; /* see sqlite_join_recognize_step() */
    struct kept_look kept_done, kept_dead, kept_passed;
    struct survey survey;
    sqlite3_stmt *statements[2][STATEMENT_COUNT]; /* for the main readers; for subscriptions */

    /* Of the running transaction. */
    boxcar_time now;
    const struct reader *reader; /* whose knowledge statements are about; NULL = the main readers' */
    struct taken taken[BOXES];
    struct arena scratch;
    struct tally tally;
    struct burial_list buried;
    struct ended_list
        ended; /* by the last transaction, for the log; stays until the next transaction begins */
    struct halted_list halted; /* by the last transaction */
    struct damage damage;      /* found by the last transaction */
    struct stream_rules rules;
    struct acked_list acked;
    struct sqlite_settings settings;
};

static inline struct sqlite_store *sqlite_of(struct boxcar_store *store) {
    return (struct sqlite_store *)store;
}

#endif
