/* The parts of the doctor. */
#ifndef BOXCAR_STORE_POSTGRES_ADMIN_DIAGNOSE_H
#define BOXCAR_STORE_POSTGRES_ADMIN_DIAGNOSE_H

#include "session.h"
#include "store/finding.h"

/* How to end what this session does, for the finding that was added last; and what shows `role` more of it.
 */
void pg_remedy_session(struct findings *findings, const struct pg_session *session, boxcar_str role);
/* Transactions, standbys and slots that keep dead rows from being removed. */
boxcar_status pg_check_snapshots(struct pg_store *pg, boxcar_str role, struct findings *findings,
                                 boxcar_error *err);
/* Transactions that keep streams from being claimed. */
boxcar_status pg_check_streams(struct pg_store *pg, boxcar_box box, boxcar_str role,
                               struct findings *findings, boxcar_error *err);
/* Whether a claim works now, and which session blocks it. `may_claim`: the role may try a claim. *ret_locked:
 * a lock on a table blocks it, and other checks would wait for that lock, too. */
boxcar_status pg_check_claim(struct pg_store *pg, boxcar_box box, boxcar_str role, bool may_claim,
                             struct findings *findings, bool *ret_locked, boxcar_error *err);
/* Which parts of the schema are missing, by name. *ret_whole: all parts are there that the other checks
 * need. */
boxcar_status pg_check_missing(struct pg_store *pg, struct findings *findings, bool *ret_whole,
                               boxcar_error *err);
/* Which functions were changed by hand, in a store whose functions this very library made. */
boxcar_status pg_check_changed(struct pg_store *pg, struct findings *findings, boxcar_error *err);

#endif
