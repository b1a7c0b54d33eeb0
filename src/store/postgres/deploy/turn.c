/* One deployment at a time.
 *
 * A deployment locks the table `store`. Only the schema's owner has the right to do that, so no other role
 * can keep a deployment waiting (docs/decisions/0023-locks-that-need-rights.md). A schema without that table
 * has nothing to lock. There the first deployment makes the schema or its first type. The others wait for its
 * end at the catalogs' unique keys, fail, and begin anew. */
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "steps.h"
#include "store/postgres/connection/error.h"

/* How long a deployment waits for each lock: half as long as the server may be silent meanwhile
 * (connection/wait.c). */
#define LOCK_FACTOR 10

int64_t pg_deploy_patience_ms(const struct pg_store *pg) { return pg->answer_ms * LOCK_FACTOR; }

boxcar_status pg_deploy_bound_waits(struct pg_store *pg, boxcar_error *err) {
    char text[80];

    snprintf(text, sizeof(text), "set local lock_timeout = %lld", (long long)pg_deploy_patience_ms(pg));
    return pg_deploy_run(pg, text, err);
}

boxcar_status pg_deploy_take_turn(struct pg_store *pg, bool *ret_taken, boxcar_error *err) {
    AUTO_FREE char *found = NULL;

    TRY(pg_deploy_ask(pg,
                      "select 'yes' from pg_class c join pg_namespace n on n.oid = c.relnamespace "
                      "where n.nspname = :'schema' and c.relname = 'store' and c.relkind = 'r'",
                      &found, err));
    if (found)
        TRY(pg_deploy_run(pg, "lock table :\"schema\".store in share update exclusive mode", err));
    *ret_taken = found != NULL;
    return BOXCAR_OK;
}

/* Sessions that hold locks on the store's relations, or on relations that are not visible yet: those belong
 * to a first deployment. The session that has the turn comes first, then the oldest. The statement runs after
 * the rollback, under whatever search_path the session has. */
static const char BLOCKERS[] =
    "select pg_catalog.string_agg(b.name, '; ' order by b.nr) from (select s.name, "
    "pg_catalog.row_number() over (order by s.has_turn desc, s.since) as nr from ("
    "select pg_catalog.format('session %s (%s, role %s, %s)', l.pid, coalesce(nullif(a.application_name, "
    "''), 'no name'), "
    "coalesce(a.usename::pg_catalog.text, 'unknown'), coalesce(a.state, 'state unknown')) as name, "
    "pg_catalog.min(a.xact_start) as since, pg_catalog.bool_or(c.relname operator(pg_catalog.=) 'store' "
    "and l.mode operator(pg_catalog.=) 'ShareUpdateExclusiveLock') is true as has_turn "
    "from pg_catalog.pg_locks l left join pg_catalog.pg_stat_activity a on a.pid operator(pg_catalog.=) "
    "l.pid "
    "left join pg_catalog.pg_class c on c.oid operator(pg_catalog.=) l.relation "
    "left join pg_catalog.pg_namespace n on n.oid operator(pg_catalog.=) c.relnamespace "
    "where l.granted and l.locktype operator(pg_catalog.=) 'relation' and l.pid operator(pg_catalog.<>) "
    "pg_catalog.pg_backend_pid() and l.database operator(pg_catalog.=) (select d.oid from "
    "pg_catalog.pg_database d "
    "where d.datname operator(pg_catalog.=) pg_catalog.current_database()) "
    "and (n.nspname operator(pg_catalog.=) :'schema' "
    "or c.oid is null and l.mode operator(pg_catalog.=) 'AccessExclusiveLock') group by 1) s) b "
    "where b.nr operator(pg_catalog.<=) 3";

boxcar_status pg_deploy_name_blockers(struct pg_store *pg, boxcar_status status, boxcar_error *err) {
    AUTO_FREE char *blockers = NULL;

    if (!pg_error_is(err, PG_LOCK_TIMEOUT))
        return status;
    (void)pg_deploy_ask(pg, BLOCKERS, &blockers, NULL);
    return error_set(
        err, BOXCAR_E_UNAVAILABLE,
        "schema \"%s\" was not deployed: a lock was not free within %lld s. In the way: %s. End that "
        "transaction, or wait for it if it is another deployment, then run `boxcar init` again",
        pg->schema, (long long)(pg_deploy_patience_ms(pg) / 1000),
        blockers ? blockers : "no session any more");
}
