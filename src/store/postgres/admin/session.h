/* Another session, or a prepared transaction, as _session describes it. */
#ifndef BOXCAR_STORE_POSTGRES_ADMIN_SESSION_H
#define BOXCAR_STORE_POSTGRES_ADMIN_SESSION_H

#include "base/buf.h"
#include "store/postgres/state.h"

/* Texts are lent by the result. */
struct pg_session {
    int pid;        /* 0 = a prepared transaction ... */
    boxcar_str gid; /* ... with this name, a literal of SQL */
    boxcar_str name, role, state;
    bool has_seconds; /* this role may see it */
    double seconds;   /* how long its transaction is open */
    boxcar_str query; /* what its last one is about, without data; absent = not visible, or nothing to say */
};
#define PG_SESSION_COLUMNS 7 /* pid, gid, name, role_name, state, seconds, query */

/* From the first columns of a row. */
struct pg_session pg_read_session(const PGresult *result, int row);
/* Whether this role cannot see how long one of them is there. */
bool pg_is_any_age_hidden(const PGresult *result);
/* Appends its name: "session 42 (psql, role app, idle in transaction)". */
void pg_describe_session(const struct pg_session *session, struct buf *text);
/* Appends its age: ", in a transaction of 3m". */
void pg_describe_age(const struct pg_session *session, struct buf *text);
/* Appends its query: "; query: update ? set ? = $1", or nothing. */
void pg_describe_query(const struct pg_session *session, struct buf *text);

#endif
