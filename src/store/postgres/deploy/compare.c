/* A deployed schema compared with what this library makes: which objects are missing, which functions were
 * changed.
 *
 * Only the catalogs are read, which every role may do, and nothing of the schema's is executed. The doctor
 * asks under whatever search_path the session has, so everything is named with its schema (see
 * statement/statement.c). */
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/error.h"
#include "base/memory.h"
#include "objects.h"
#include "steps.h"

#define IS "operator(pg_catalog.=)"
#define BODY_BEGIN "as $$"
#define BODY_END "$$"
#define PINNED_PATH "search_path = pg_catalog, pg_temp"

/* "3 17 20": the objects with these numbers. */
static boxcar_status pick(const struct pg_object_list *list, const char *numbers, struct arena *arena,
                          struct pg_object_list *ret_picked, boxcar_error *err) {
    struct pg_object_list picked = {.items = arena_alloc_array(arena, list->count, sizeof(*picked.items))};
    char *at = NULL;

    if (!picked.items)
        return error_no_memory(err);
    for (const char *rest = numbers; rest && *rest && picked.count < list->count; rest = at) {
        unsigned long number = strtoul(rest, &at, 10);

        if (at == rest || number >= list->count)
            break;
        picked.items[picked.count++] = list->items[number];
    }
    *ret_picked = picked;
    return BOXCAR_OK;
}

/* ---- what is there ---- */

boxcar_status pg_objects_find(struct pg_store *pg, bool there, struct arena *arena,
                              struct pg_object_list *ret_found, boxcar_error *err) {
    AUTO_BUF struct buf text = BUF_INIT;
    AUTO_FREE char *numbers = NULL;
    struct pg_object_list list;

    TRY(pg_objects_read(arena, &list, err));
    buf_append_text(
        &text, "select pg_catalog.string_agg((o.nr operator(pg_catalog.-) 1)::pg_catalog.text, ' ' "
               "order by o.nr) from (select kind, name, pg_catalog.row_number() over () as nr from (values ");
    pg_objects_as_values(&text, &list);
    buf_append_format(&text,
                      ") v(kind, name)) o left join pg_catalog.pg_namespace n on n.nspname " IS
                      " :'schema' where (case "
                      "when o.kind " IS " 'f' then exists (select from pg_catalog.pg_proc p "
                      "where p.pronamespace " IS " n.oid and p.proname " IS " o.name) "
                      "when o.kind " IS " 't' then exists (select from pg_catalog.pg_type t "
                      "where t.typnamespace " IS " n.oid and t.typname " IS " o.name) "
                      "when o.kind " IS " 'c' then exists (select from pg_catalog.pg_constraint k "
                      "where k.connamespace " IS " n.oid and k.conname " IS " o.name) "
                      "when o.kind " IS " 'g' then exists (select from pg_catalog.pg_trigger g "
                      "join pg_catalog.pg_class c on c.oid " IS " g.tgrelid "
                      "where c.relnamespace " IS " n.oid and g.tgname " IS " o.name) "
                      "else exists (select from pg_catalog.pg_class c where c.relnamespace " IS " n.oid "
                      "and c.relname " IS " o.name and c.relkind " IS " o.kind::pg_catalog.\"char\") end) "
                      "is %s true",
                      there ? "" : "not");
    TRY(pg_deploy_ask_buf(pg, &text, &numbers, err));
    return pick(&list, numbers, arena, ret_found, err);
}

/* ---- what was changed ---- */

/* A function as its file has it: the words before its body, and the body itself. */
struct source {
    boxcar_str head, body;
};

static bool split(const char *text, struct source *ret_source) {
    const char *body = strstr(text, BODY_BEGIN), *end = NULL;

    if (!body)
        return false;
    ret_source->head = (boxcar_str){text, (size_t)(body - text)};
    body += strlen(BODY_BEGIN);
    for (const char *at = strstr(body, BODY_END); at; at = strstr(at + 1, BODY_END))
        end = at;
    if (!end)
        return false;
    ret_source->body = (boxcar_str){body, (size_t)(end - body)};
    return true;
}

static bool mentions(boxcar_str head, const char *words) {
    return memmem(head.data, head.len, words, strlen(words));
}

static char volatility_of(boxcar_str head) {
    return mentions(head, " immutable ") ? 'i' : mentions(head, " stable ") ? 's' : 'v';
}

/* (number, name, digest of the body, volatility, with the owner's rights, with a pinned search_path) */
static boxcar_status append_function(struct pg_store *pg, const struct pg_object *object, size_t number,
                                     struct buf *text, boxcar_error *err) {
    AUTO_FREE char *filled = pg_fill_in(object->source, pg->schema);
    uint8_t digest[DIGEST_SIZE];
    struct source source;

    if (!filled)
        return error_no_memory(err);
    if (!split(filled, &source))
        return error_set(err, BOXCAR_E_STORE, "the function %.*s has no body", (int)object->name.len,
                         object->name.data);
    if (!digest_sha256("", source.body, digest))
        return error_set(err, BOXCAR_E_UNSUPPORTED, "SHA-256 is not to be had");
    buf_append_format(text, "%s(%zu, '%.*s', '", text->len ? ", " : "", number, (int)object->name.len,
                      object->name.data);
    for (size_t i = 0; i < DIGEST_SIZE; i++)
        buf_append_format(text, "%02x", digest[i]);
    buf_append_format(text, "', '%c', %s, %s)", volatility_of(source.head),
                      mentions(source.head, "security definer") ? "true" : "false",
                      mentions(source.head, PINNED_PATH) ? "true" : "false");
    return BOXCAR_OK;
}

/* Without an entry in proacl every role may execute a function. Deployment removes that right, so such a
 * function was made by hand. */
boxcar_status pg_objects_find_changed(struct pg_store *pg, struct arena *arena,
                                      struct pg_object_list *ret_changed, boxcar_error *err) {
    AUTO_BUF struct buf ours = BUF_INIT, text = BUF_INIT;
    AUTO_FREE char *numbers = NULL;
    struct pg_object_list list;

    TRY(pg_objects_read(arena, &list, err));
    for (size_t i = 0; i < list.count; i++)
        if (list.items[i].kind == PG_OBJECT_FUNCTION)
            TRY(append_function(pg, &list.items[i], i, &ours, err));
    if (ours.failed)
        return error_no_memory(err);
    buf_append_text(&text,
                    "select pg_catalog.string_agg(o.nr::pg_catalog.text, ' ' order by o.nr) from (values ");
    buf_append_str(&text, (boxcar_str){ours.data, ours.len});
    buf_append_text(
        &text,
        ") o(nr, name, digest, volatility, definer, pinned) cross join lateral ("
        "select pg_catalog.count(*) as there, pg_catalog.count(*) filter (where "
        "pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to(p.prosrc, 'UTF8')), 'hex') " IS
        " o.digest "
        "and p.provolatile " IS " o.volatility::pg_catalog.\"char\" and p.prosecdef " IS " o.definer "
        "and coalesce('search_path=pg_catalog, pg_temp' " IS " any (p.proconfig), false) " IS " o.pinned "
        "and p.proacl is not null) as ours "
        "from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid " IS " p.pronamespace "
        "where n.nspname " IS " :'schema' and p.proname " IS " o.name) f "
        "where f.there operator(pg_catalog.>) 0 and f.ours " IS " 0");
    TRY(pg_deploy_ask_buf(pg, &text, &numbers, err));
    return pick(&list, numbers, arena, ret_changed, err);
}
