/* The state of an open PostgreSQL store: its connection, and what is remembered from one call to the next.
 *
 * connection/ connects, waits and asks, statement/ knows every statement and the binary formats of its
 * parameters and rows; above them is a room for each group of operations. */
#ifndef BOXCAR_STORE_POSTGRES_STATE_H
#define BOXCAR_STORE_POSTGRES_STATE_H

#include <libpq-fe.h>

#include "store/postgres/statement/statement.h"
#include "store/store.h"
#include "store/stream_log.h"

/* What a session knows about being woken (connection/sleep.c); gone with the connection. */
struct pg_rest {
    bool listening;
    bool refused;        /* the server would not let us sleep: wait without it */
    bool heard;          /* a notification came and was not handled yet */
    int64_t until_ms;    /* producers take us for asleep until then (monotonic); 0 = they do not */
    uint64_t nap;        /* a digest of the sleeping owner and its topics */
    bool awaited[BOXES]; /* which boxes */
};

/* A claim whose answer did not arrive (claim/lost.c). */
struct pg_lost_claim {
    boxcar_owner owner;
    boxcar_box box;
    int64_t number;
    int64_t next_ms, pause_ms; /* when the server is asked next (monotonic), and again after that */
    int64_t until_ms;          /* the lease has ended by then */
};
#define PG_LOST_MAX 16

/* The sessions that blocked claims (claim/blocker.h); 0 = none yet. */
struct pg_held_up {
    uint64_t seen; /* the last time */
    uint64_t told; /* to the log ... */
    int64_t told_at_ms;
};

/* How long the server may be silent: as the options say, much longer, or less. */
enum pg_pace { PG_ORDINARY, PG_LONG, PG_CONNECTING };

struct pg_store {
    struct boxcar_store base;
    PGconn *conn;
    bool borrowed; /* the connection is the caller's: never reopen, begin or commit */
    bool begun;    /* a transaction that spans calls is open: until it is ended, calls are part of it */
    char *url;
    char *schema;             /* validated, not quoted */
    int64_t patience_ms;      /* how long a call waits for a lost connection */
    int64_t answer_ms;        /* how long the server may be silent while a call waits for it; 0 = for ever */
    enum pg_pace pace;        /* of what is under way */
    int64_t silent_ms;        /* the connection was cut after a silence this long; 0 = it was not */
    bool malformed;           /* an answer on it could not be read: it is not used any more */
    char *sql[PG_STATEMENTS]; /* with the schema's quoted name in them */
    uint32_t session;         /* a random number, new with every connection */
    bool was_connected;       /* at least once */
    bool own_session;         /* ours alone, no pooler between */
    bool begins_claims;       /* a transaction is not READ COMMITTED unless its beginning says so */
    bool keeps_statements;    /* as far as that allows: statements can be prepared in it */
    unsigned uses[PG_STATEMENTS]; /* in this session; from the second on a statement is prepared */
    bool repeated;                /* the answer to the first try of the last query was lost */
    struct pg_rest rest;
    struct pg_held_up held_up[BOXES];
    struct halted_list halted; /* by the transaction that is being answered */
    uint64_t claim_number;     /* of the last claim; 0 = none was made yet */
    struct pg_lost_claim lost[PG_LOST_MAX];
    size_t lost_count;
    /* The joins that the caller's transaction had ended before this call; NULL = none. */
    PGresult *ended_before;
};

static inline struct pg_store *pg_store_of(struct boxcar_store *store) { return (struct pg_store *)store; }

#endif
