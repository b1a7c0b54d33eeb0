/* Somebody who keeps claims from going on, as _claim_blockers finds them. */
#ifndef BOXCAR_STORE_POSTGRES_CLAIM_BLOCKER_H
#define BOXCAR_STORE_POSTGRES_CLAIM_BLOCKER_H

#include "store/postgres/admin/session.h"

#define PG_HELD_SECONDS 1 /* who holds something for less is nothing to speak of */

/* Texts are lent by the result. */
struct pg_blocker {
    struct pg_session session;
    bool has_turn;
    boxcar_str relation, mode; /* what it has locked; absent = nothing of ours */
    boxcar_str transaction;    /* tells it from the session's next one; absent = a prepared one */
    int behind;                /* a session that waits for it, in the way of others; 0 = it is in the way itself */
};

/* The caller clears *ret_result, which has a row for each. */
boxcar_status pg_find_blockers(struct pg_store *pg, boxcar_box box, PGresult **ret_result, boxcar_error *err);
struct pg_blocker pg_read_blocker(const PGresult *result, int row);
/* Who it is, what it has, for how long; appended, one line. */
void pg_describe_blocker(const struct pg_blocker *blocker, struct buf *text);
/* Logs who keeps claims from going on, if that is news: for a claim that waited for a lock in vain. */
void pg_tell_blocker(struct pg_store *pg, boxcar_box box);
/* Whether the log is to name the one with this id (never 0), who is in the way for so long (negative = nobody knows), and
 * notes that it does. One line a minute at most, and about the same one every ten minutes. */
bool pg_held_up_is_news(struct pg_held_up *held_up, uint64_t id, double seconds, int64_t now_ms);

#endif
