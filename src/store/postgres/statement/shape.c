/* Checks what each answer looks like before anything of it is read. The functions in rows.c take fields as
 * they are: a server, a proxy or a function that is not ours must not make them read past a field's end. The
 * shapes are in statement.c. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "params.h"
#include "rows.h"
#include "store/postgres/connection/connection.h"

static const struct kind {
    char letter;
    Oid type;
    size_t len;       /* 0 = any */
    int most;         /* of a number that stands for a name; 0 = any number */
    bool is_required; /* not null */
} KINDS[] = {
    {.letter = 'l', .type = PG_INT8, .len = 8},
    {.letter = 'i', .type = PG_INT4, .len = 4},
    {.letter = 's', .type = PG_INT2, .len = 2},
    {.letter = 'b', .type = PG_BOOL, .len = 1},
    {.letter = 'f', .type = PG_FLOAT8, .len = 8},
    {.letter = 'T', .type = PG_TIMESTAMPTZ, .len = 8},
    {.letter = 'u', .type = PG_UUID, .len = 16},
    {.letter = 'L', .type = PG_INT8_ARRAY},
    {.letter = 'U', .type = PG_UUID_ARRAY},
    {.letter = 'v', .type = PG_VOID},
    {.letter = 't', .type = PG_TEXT, .is_required = true},
    {.letter = 'n', .type = PG_TEXT},
    {.letter = 'B', .type = PG_INT2, .len = 2, .most = BOXCAR_INBOX},
    {.letter = 'R', .type = PG_INT2, .len = 2, .most = BOXCAR_REASON_CANCELLED},
    {.letter = 'M', .type = PG_INT4, .len = 4, .most = BOXCAR_MEMBER_FAILED},
};

static const struct kind *kind_of(char letter) {
    size_t i = 0;

    while (KINDS[i].letter != letter)
        i++;
    return &KINDS[i];
}

/* Dimensions, flags, element type; then size and lower bound; then the elements, each behind its length. One
 * dimension, no nulls. */
static bool is_array(const char *bytes, size_t len, Oid element, size_t element_len) {
    size_t count;

    if (len < 12 || pg_u32(bytes + 8) != element)
        return false;
    if (pg_u32(bytes) == 0)
        return len == 12;
    if (pg_u32(bytes) != 1 || pg_u32(bytes + 4) != 0 || len < 20)
        return false;
    count = pg_u32(bytes + 12);
    if (count != (len - 20) / (4 + element_len) || (len - 20) % (4 + element_len) != 0)
        return false;
    for (size_t i = 0; i < count; i++)
        if (pg_u32(bytes + 20 + i * (4 + element_len)) != element_len)
            return false;
    return true;
}

/* The callers of the library, and JSON, rely on these. A server whose database has no encoding keeps and says
 * any bytes: its texts are its users' matter, and one of them must not stop every claim. */
static const char *judge_text(const PGconn *conn, boxcar_str text) {
    if (str_has_nul(text))
        return "has a zero byte in its text";
    return utf8_is_valid(text) || pg_is_sql_ascii(conn) ? NULL : "is not UTF-8";
}

/* What is wrong with a field; NULL = nothing. */
static const char *judge_field(const PGconn *conn, const struct kind *kind, const PGresult *result, int row,
                               int column) {
    if (PQgetisnull(result, row, column))
        return kind->is_required ? "is missing" : NULL;
    const char *bytes = PQgetvalue(result, row, column);
    size_t len = (size_t)PQgetlength(result, row, column);
    if (kind->len > 0 && len != kind->len)
        return "has a wrong length";
    if (kind->type == PG_TEXT)
        return judge_text(conn, (boxcar_str){bytes, len});
    if (kind->type == PG_INT8_ARRAY && !is_array(bytes, len, PG_INT8, 8))
        return "is no array of numbers";
    if (kind->type == PG_UUID_ARRAY && !is_array(bytes, len, PG_UUID, 16))
        return "is no array of ids";
    if (kind->type == PG_FLOAT8 && !isfinite(pg_get_float8(result, row, column)))
        return "is no finite number";
    if (kind->most > 0) {
        int number = kind->len == 2 ? pg_get_int2(result, row, column) : pg_get_int4(result, row, column);

        if (number < 0 || number > kind->most)
            return "is a number that does not exist";
    }
    return NULL;
}

static const char *judge_column(const struct kind *kind, const PGresult *result, int column) {
    if (PQfformat(result, column) != 1)
        return "is not binary";
    return PQftype(result, column) == kind->type ? NULL : "has a wrong type";
}

static boxcar_status complain(struct pg_store *pg, enum pg_statement statement, int row, int column,
                              const char *why, boxcar_error *err) {
    pg->malformed = true;
    return error_set(err, BOXCAR_E_STORE,
                     "the server's answer is malformed: statement %d, row %d, column %d %s: check that this "
                     "is the server of the store, and that no proxy changes its answers",
                     (int)statement, row + 1, column + 1, why);
}

boxcar_status pg_check_answer(struct pg_store *pg, enum pg_statement statement, const PGresult *result,
                              boxcar_error *err) {
    const char *shape = PG_STATEMENT_TABLE[statement].shape;
    const char *columns = shape && shape[0] ? shape + 1 : "";
    int count = (int)strlen(columns), rows = PQntuples(result);
    const char *why;

    if (!shape)
        return complain(pg, statement, 0, 0, "has no shape", err);
    if (PQnfields(result) != count)
        return complain(pg, statement, 0, PQnfields(result), "is not the last one", err);
    if ((shape[0] == '1' && rows != 1) || (PQresultStatus(result) == PGRES_TUPLES_OK) != (count > 0))
        return complain(pg, statement, rows, 0, "is not the end", err);
    for (int column = 0; column < count; column++) {
        const struct kind *kind = kind_of(columns[column]);

        why = judge_column(kind, result, column);
        if (why)
            return complain(pg, statement, 0, column, why, err);
        for (int row = 0; row < rows; row++) {
            why = judge_field(pg->conn, kind, result, row, column);
            if (why)
                return complain(pg, statement, row, column, why, err);
        }
    }
    return BOXCAR_OK;
}

boxcar_status pg_malformed(struct pg_store *pg, const char *why, boxcar_error *err) {
    pg->malformed = true;
    return error_set(err, BOXCAR_E_STORE, "the server's answer is malformed: %s", why);
}
