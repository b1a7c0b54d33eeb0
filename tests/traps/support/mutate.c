#include "mutate.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "store/postgres/statement/statement.h"

static char *fill_in(const char *text, const struct fixture *f) {
    char *filled = *text ? pg_fill_in(text, f->schema) : strdup("");
    assert_non_null(filled);
    return filled;
}

/* `text` with every `piece` replaced, malloc'ed; NULL = it has none. */
static char *replace(const char *text, const char *piece, const char *instead) {
    struct buf out = BUF_INIT;
    const char *hit = strstr(text, piece);
    if (!hit)
        return NULL;
    for (; hit; text = hit + strlen(piece), hit = strstr(text, piece)) {
        buf_append(&out, text, (size_t)(hit - text));
        buf_append_text(&out, instead);
    }
    buf_append_text(&out, text);
    assert_false(out.failed);
    return out.data;
}

static void run(PGconn *conn, const char *text) {
    PGresult *result = PQexec(conn, text);
    if (PQresultStatus(result) != PGRES_COMMAND_OK)
        fail_msg("%s in: %s", PQerrorMessage(conn), text);
    PQclear(result);
}

static PGresult *definitions(PGconn *conn, const struct fixture *f, const char *function) {
    const char *const values[] = {f->schema, function};
    PGresult *result = PQexecParams(conn,
                                    "select pg_get_functiondef(p.oid) from pg_proc p "
                                    "where p.pronamespace = $1::text::regnamespace "
                                    "and $2::text in (p.proname::text, '*')",
                                    2, NULL, values, NULL, NULL, 0);
    if (PQresultStatus(result) != PGRES_TUPLES_OK)
        fail_msg("%s", PQerrorMessage(conn));
    return result;
}

void mutate(struct fixture *f, const struct mutation *mutation) {
    PGconn *conn = sql_connect(f);
    PGresult *found = definitions(conn, f, mutation->function);
    char *piece = fill_in(mutation->piece, f);
    char *instead = fill_in(mutation->instead, f);
    int edited = 0;
    for (int i = 0; i < PQntuples(found); i++) {
        char *text = replace(PQgetvalue(found, i, 0), piece, instead);
        if (!text)
            continue;
        run(conn, text);
        free(text);
        edited++;
    }
    if (edited == 0)
        fail_msg("no function %s has this piece (did the remedy move?): %s", mutation->function, piece);
    free(piece);
    free(instead);
    PQclear(found);
}
