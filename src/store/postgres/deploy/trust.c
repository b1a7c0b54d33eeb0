/* Checks whose code a deployment would run.
 *
 * Our functions run with the rights of their owner, and call each other by name. A role that can create in
 * the schema can add a function that fits an argument better, and it would run instead of ours. So everything
 * in the schema must belong to one role, and only that role may create there. Reading the catalogs runs no
 * code of the schema.
 *
 * A member of the owner deploys with the owner's rights. But code that runs meanwhile, say a trigger of the
 * owner's, can take the member's own role back (`reset role`). So members have to trust each other and the
 * owner. A superuser is a member of every role, so it is refused if another role can act as the owner. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "objects.h"
#include "steps.h"
#include "store/postgres/connection/query.h"

static boxcar_status check_rights(struct pg_store *pg, const PGresult *result, boxcar_error *err) {
    const char *owner = pg_get_text(result, 0, 0).data, *role = pg_get_text(result, 0, 1).data;
    const char *creators = pg_get_text(result, 0, 3).data, *stranger = pg_get_text(result, 0, 5).data;

    if (!pg_get_bool(result, 0, 2))
        return error_set(
            err, BOXCAR_E_DENIED,
            "schema \"%s\" belongs to role %s, and this is role %s: deploy as %s, or use another schema",
            pg->schema, owner, role, owner);
    if (stranger)
        return error_set(
            err, BOXCAR_E_DENIED,
            "schema \"%s\" belongs to role %s, and code that role %s puts there could run with this "
            "superuser's "
            "rights: deploy as %s, or make a superuser its owner (alter schema ... owner to ...)",
            pg->schema, owner, stranger, stranger);
    if (creators)
        return error_set(
            err, BOXCAR_E_DENIED,
            "other roles may create in schema \"%s\", and what they create could run with its owner's "
            "rights: revoke create on schema \"%s\" from %s;",
            pg->schema, pg->schema, creators);
    return BOXCAR_OK;
}

/* Refuses an object with the name of one of ours that belongs to another role than the schema. */
static boxcar_status check_objects(struct pg_store *pg, const PGresult *rights, boxcar_error *err) {
    AUTO_ARENA struct arena arena = ARENA_INIT;
    AUTO_BUF struct buf text = BUF_INIT;
    AUTO_FREE char *stranger = NULL;
    struct pg_object_list list;

    TRY(pg_objects_read(&arena, &list, err));
    buf_append_text(&text, "with ours(kind, name) as (values ");
    pg_objects_as_values(&text, &list);
    buf_append_text(
        &text,
        "), n as (select oid from pg_namespace where nspname = :'schema') "
        "select format('%s belongs to role %I', o.what, pg_get_userbyid(o.owner)) from ("
        "select format('function %s', p.oid::regprocedure) as what, p.proowner as owner from pg_proc p "
        "join n on n.oid = p.pronamespace join ours on ours.kind = 'f' and ours.name = p.proname "
        "union all select format('relation %s', c.oid::regclass), c.relowner from pg_class c "
        "join n on n.oid = c.relnamespace join ours on ours.kind <> 'f' and ours.name = c.relname "
        "union all select format('type %s', t.oid::regtype), t.typowner from pg_type t "
        "join n on n.oid = t.typnamespace join ours on ours.kind <> 'f' and ours.name = t.typname) o "
        "where o.owner <> ");
    buf_append_format(&text, "%lld order by 1 limit 1", (long long)pg_get_int8(rights, 0, 4));
    TRY(pg_deploy_ask_buf(pg, &text, &stranger, err));
    if (!stranger)
        return BOXCAR_OK;
    return error_set(
        err, BOXCAR_E_DENIED,
        "in schema \"%s\", which is role %s's, %s: if that is no part of Boxcar drop it, else make one role "
        "own both (alter schema ... owner to ...)",
        pg->schema, pg_get_text(rights, 0, 0).data, stranger);
}

boxcar_status pg_trust_schema(struct pg_store *pg, boxcar_error *err) {
    AUTO_PARAMS struct pg_params none = PG_PARAMS_INIT;
    AUTO_RESULT PGresult *result = NULL;
    AUTO_BUF struct buf become = BUF_INIT;

    TRY(pg_query_once(pg, PG_SCHEMA_RIGHTS, &none, &result, err));
    if (PQntuples(result) == 0)
        return BOXCAR_OK;
    TRY(check_rights(pg, result, err));
    TRY(check_objects(pg, result, err));
    const char *owner = pg_get_text(result, 0, 0).data, *role = pg_get_text(result, 0, 1).data;
    if (strcmp(owner, role) == 0)
        return BOXCAR_OK;
    buf_append_format(&become, "set local role %s", owner);
    return pg_deploy_run_buf(pg, &become, err);
}
