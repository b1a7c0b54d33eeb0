/* The steps of a deployment: statements of its own, its turn, its locks, what it repairs, and whom it trusts.
 */
#ifndef BOXCAR_STORE_POSTGRES_DEPLOY_STEPS_H
#define BOXCAR_STORE_POSTGRES_DEPLOY_STEPS_H

#include "base/buf.h"
#include "store/postgres/state.h"

/* deploy.c: one text, tokens filled in; or one that was put together. */
boxcar_status pg_deploy_run(struct pg_store *pg, const char *text, boxcar_error *err);
boxcar_status pg_deploy_run_buf(struct pg_store *pg, const struct buf *text, boxcar_error *err);
/* One text value of a query, or the absent text; *ret_text is malloc'ed. */
boxcar_status pg_deploy_ask(struct pg_store *pg, const char *text, char **ret_text, boxcar_error *err);
boxcar_status pg_deploy_ask_buf(struct pg_store *pg, const struct buf *text, char **ret_text,
                                boxcar_error *err);

/* turn.c: one deployment at a time. Every lock that the transaction waits for, it waits for so long only. */
int64_t pg_deploy_patience_ms(const struct pg_store *pg);
boxcar_status pg_deploy_bound_waits(struct pg_store *pg, boxcar_error *err);
/* Waits for other deployments, until the transaction ends. Not *ret_taken: there is no store yet, so nothing
 * to lock. Then a deployment may collide with another one, and is to be begun anew. In a schema that is
 * trusted. */
boxcar_status pg_deploy_take_turn(struct pg_store *pg, bool *ret_taken, boxcar_error *err);
#define PG_DEPLOY_COLLIDED "42P06 42P07 42710 42723 23505" /* SQLSTATEs: something exists already */
/* After the rollback of a deployment that did not get a lock in time: names the sessions that hold the lock
 * in the error. Returns the status. */
boxcar_status pg_deploy_name_blockers(struct pg_store *pg, boxcar_status status, boxcar_error *err);

/* lock.c: takes exclusive locks on all tables and views that exist, as soon as no other transaction uses
 * them. */
boxcar_status pg_deploy_lock(struct pg_store *pg, boxcar_error *err);

/* repair.c: refuses a store that has lost a table; makes missing indexes, constraints and the like again.
 * *functions: true before if this very library made the views and functions; false afterwards if some are
 * missing or were changed, so that all of them have to be made again. Adds the number of objects that it
 * made, or that have to be made, to *mended. */
boxcar_status pg_repair(struct pg_store *pg, bool *functions, int *mended, boxcar_error *err);
/* Repairs triggers, which need functions and so come after them. */
boxcar_status pg_repair_triggers(struct pg_store *pg, int *mended, boxcar_error *err);
/* Refuses a schema that has objects of ours but does not know their version. */
boxcar_status pg_check_empty(struct pg_store *pg, boxcar_error *err);
/* When a store could not be asked for its version since something does not exist: names what is missing, if
 * anything of the store is there. Returns the status, which may be another one then. */
boxcar_status pg_explain_absence(struct pg_store *pg, boxcar_status status, boxcar_error *err);

/* trust.c: refuses a schema in which code of another role could run, before anything in it is read. Then the
 * rest of the transaction runs with the rights of the schema's owner. */
boxcar_status pg_trust_schema(struct pg_store *pg, boxcar_error *err);

#endif
