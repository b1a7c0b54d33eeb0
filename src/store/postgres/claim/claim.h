/* What keeps claims from messages: sessions that block them, and answers that did not arrive. */
#ifndef BOXCAR_STORE_POSTGRES_CLAIM_CLAIM_H
#define BOXCAR_STORE_POSTGRES_CLAIM_CLAIM_H

#include "store/postgres/admin/session.h"

#define PG_HELD_SECONDS 1 /* a younger transaction is not reported */

/* A session that blocks claims, as _claim_blockers finds it. Texts are lent by the result. */
struct pg_blocker {
    struct pg_session session;
    bool has_turn;
    boxcar_str relation, mode; /* what it has locked; absent = nothing of ours */
    boxcar_str transaction;    /* tells it from the session's next one; absent = a prepared one */
    int behind;                /* a session that blocks claims and waits for this one; 0 = this one blocks
                                  them itself */
};

/* blocker.c. The caller clears *ret_result, which has a row for each. */
boxcar_status pg_find_blockers(struct pg_store *pg, boxcar_box box, PGresult **ret_result, boxcar_error *err);
struct pg_blocker pg_read_blocker(const PGresult *result, int row);
/* Appends one line: which session it is, what it holds, and for how long. */
void pg_describe_blocker(const struct pg_blocker *blocker, struct buf *text);
/* After a claim that did not get its lock in time: logs which session blocks claims, if that is news. */
void pg_tell_blocker(struct pg_store *pg, boxcar_box box);
/* Whether to log the session with this id (never 0), whose transaction is `seconds` old (negative = unknown);
 * if so, notes that it is logged. There is at most one line a minute, and one every ten minutes about the
 * same session. */
bool pg_held_up_is_news(struct pg_held_up *held_up, uint64_t id, double seconds, int64_t now_ms);

/* lost.c: a number for the next claim; 0 = there is none (no randomness), then nothing is noted either. */
int64_t pg_claim_number(struct pg_store *pg);
/* Claims whose answer did not arrive. pg_give_back_lost() asks the server for those that are due, outside of
 * transactions. */
void pg_note_lost_claim(struct pg_store *pg, boxcar_owner owner, boxcar_box box, int64_t number,
                        int64_t lease_ms);
void pg_give_back_lost(struct pg_store *pg);
/* The next pg_give_back_lost() asks for all of them, due or not: the server is known to have ended them. */
void pg_hasten_lost(struct pg_store *pg);

#endif
