/* Somebody who keeps claims from going on, as _claim_blockers finds them. */
#ifndef BOXCAR_STORE_POSTGRES_PG_BLOCKER_H
#define BOXCAR_STORE_POSTGRES_PG_BLOCKER_H

#include "base/buf.h"
#include "pg_store.h"

#define PG_BLOCKER_SECONDS 2 /* claims wait for their turn as long: less is nothing to speak of */

/* Texts are lent by the result. */
struct pg_blocker {
    int pid;        /* 0 = a prepared transaction ... */
    boxcar_str gid; /* ... with this name, a literal of SQL */
    boxcar_str name, role, state, command;
    bool has_seconds; /* this role may see it */
    double seconds;
    bool has_turn;
    boxcar_str relation, mode; /* what it has locked; absent = nothing of ours */
    int behind;                /* a session that waits for it, in the way of others; 0 = it is in the way itself */
};

/* The caller clears *ret_result, which has a row for each. */
boxcar_status pg_find_blockers(struct pg_store *pg, boxcar_box box, PGresult **ret_result, boxcar_error *err);
struct pg_blocker pg_read_blocker(const PGresult *result, int row);
/* Who it is and what it has; appended, one line. */
void pg_describe_blocker(const struct pg_blocker *blocker, struct buf *text);
/* Logs who keeps claims from going on, if that is news: for a claim that did not have its turn in time. */
void pg_tell_blocker(struct pg_store *pg, boxcar_box box);

#endif
