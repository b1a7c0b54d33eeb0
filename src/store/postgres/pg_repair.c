/* What a deployed store lacks, because somebody dropped it. Views, functions and indexes are made again. A table is not:
 * an empty one in its place would hide that its rows are gone. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "pg_deploy.h"

static const char *const NAMES[] = {[PG_OBJECT_TABLE] = "table", [PG_OBJECT_SEQUENCE] = "sequence",
                                    [PG_OBJECT_TYPE] = "type",   [PG_OBJECT_INDEX] = "index",
                                    [PG_OBJECT_VIEW] = "view",   [PG_OBJECT_FUNCTION] = "function"};

/* The numbers of objects that are there, or are not, in the order of the list, as a text. */
static boxcar_status find(struct pg_store *pg, const struct pg_object_list *list, bool there, char **ret_numbers,
                          boxcar_error *err) {
    AUTO_BUF struct buf text = BUF_INIT;

    buf_append_text(&text, "select string_agg((o.nr - 1)::text, ' ' order by o.nr) from (select kind, name, "
                           "row_number() over () as nr from (values ");
    pg_objects_as_values(&text, list);
    buf_append_format(&text,
                      ") v(kind, name)) o left join pg_namespace n on n.nspname = :'schema' where (case o.kind "
                      "when 'f' then exists (select from pg_proc p where p.pronamespace = n.oid and p.proname = o.name) "
                      "when 't' then exists (select from pg_type t where t.typnamespace = n.oid and t.typname = o.name) "
                      "else exists (select from pg_class c where c.relnamespace = n.oid and c.relname = o.name "
                      "and c.relkind = o.kind::\"char\") end) = %s",
                      there ? "true" : "false");
    return text.failed ? error_no_memory(err) : pg_deploy_ask(pg, text.data, ret_numbers, err);
}

static boxcar_status error_lost(struct pg_store *pg, const struct pg_object *object, boxcar_error *err) {
    return error_set(err, BOXCAR_E_STORE,
                     "schema \"%s\" has lost the %s %.*s: restore it from a backup, or drop the schema and deploy it anew",
                     pg->schema, NAMES[object->kind], (int)object->name.len, object->name.data);
}

static boxcar_status make_index(struct pg_store *pg, const struct pg_object *object, boxcar_error *err) {
    AUTO_FREE char *text = memory_copy_text(object->text);

    return text ? pg_deploy_run(pg, text, err) : error_no_memory(err);
}

static boxcar_status repair(struct pg_store *pg, const struct pg_object *object, boxcar_error *err) {
    boxcar_status status = BOXCAR_OK;

    if (object->kind <= PG_OBJECT_TYPE)
        return error_lost(pg, object, err);
    if (object->kind == PG_OBJECT_INDEX)
        status = make_index(pg, object, err);
    if (status == BOXCAR_OK)
        store_log(&pg->base, BOXCAR_LOG_WARN, "deploy", NULL, 0, "the %s %.*s was missing and is made again",
                  NAMES[object->kind], (int)object->name.len, object->name.data);
    return status;
}

/* Tables without the one that knows their version. */
boxcar_status pg_check_empty(struct pg_store *pg, boxcar_error *err) {
    AUTO_ARENA struct arena arena = ARENA_INIT;
    AUTO_FREE char *numbers = NULL;
    struct pg_object_list list;
    boxcar_status status = pg_objects_read(&arena, &list, err);
    const struct pg_object *object;

    if (status == BOXCAR_OK)
        status = find(pg, &list, true, &numbers, err);
    if (status != BOXCAR_OK || !numbers)
        return status;
    object = &list.items[atoi(numbers)];
    return error_set(err, BOXCAR_E_STORE,
                     "schema \"%s\" has the %s %.*s but not the table store: restore that from a backup, or use another "
                     "schema if this is no store",
                     pg->schema, NAMES[object->kind], (int)object->name.len, object->name.data);
}

boxcar_status pg_repair(struct pg_store *pg, bool *functions, boxcar_error *err) {
    bool deployed = *functions;
    AUTO_ARENA struct arena arena = ARENA_INIT;
    AUTO_FREE char *numbers = NULL;
    struct pg_object_list list;
    boxcar_status status = pg_objects_read(&arena, &list, err);

    if (status == BOXCAR_OK)
        status = find(pg, &list, false, &numbers, err);
    for (char *at = numbers; status == BOXCAR_OK && at && *at;) {
        const struct pg_object *object = &list.items[strtol(at, &at, 10)];

        if (object->kind >= PG_OBJECT_VIEW && !deployed)
            continue; /* they are made anyway */
        status = repair(pg, object, err);
        *functions &= object->kind < PG_OBJECT_VIEW;
    }
    return status;
}
