/* What each answer must look like, checked before anything of it is read. The functions in rows.c take fields
 * as they are: a server, a proxy or a function that is not ours must not make them read past a field's end.
 */
#include "shape.h"

#include <endian.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "params.h"
#include "rows.h"

/* A shape: how many rows (1, or * = any number), then a letter for each column. All fields are binary.
 * Numbers, times and ids may be null, which reads as 0 or none. l int8   i int4   s int2   b bool   f float8
 * (finite)   T timestamptz   u uuid   L int8[]   U uuid[]   v void t text   n text or null   B a box (int2)
 * R a reason (int2)   M a member's status (int4) */
#define COMMAND "" /* no rows at all */
#define NOTHING "1v"
#define COUNT "1l"
#define IDS "1L"
#define CLAIMED "*llunnTTTTnnniiinuTnninnn" /* the last row may be a note without texts */
#define ITEM "luBtntTTTTnnniiinulTTnRTnnnnni"
#define COUNTS "iiitn"
#define JOIN "u" COUNTS "nTTTn"
#define CHANGE "bb" COUNTS

static const char *const SHAPES[PG_STATEMENTS] = {
    [PG_STORE_INFO] = "1iit",
    [PG_BEGIN] = COMMAND,
    [PG_COMMIT] = COMMAND,
    [PG_ENQUEUE] = "*lub",
    [PG_ENQUEUE_PLAIN] = "1lub",
    [PG_ENQUEUE_KNOWN] = "1lub",
    [PG_ENQUEUE_ONE] = "1lub",
    [PG_HOLD_KEYS] = NOTHING,
    [PG_ACK] = IDS,
    [PG_ACK_RUN] = IDS, /* null: all */
    [PG_ABANDON] = IDS,
    [PG_DEFER] = IDS,
    [PG_FAIL] = IDS,
    [PG_RESOLVE] = IDS,
    [PG_RECORD_STAGES] = IDS,
    [PG_RENEW] = IDS,
    [PG_REAP] = COUNT,
    [PG_CLAIM] = CLAIMED,
    [PG_CLAIM_STORED] = CLAIMED,
    [PG_RETURNED] = CLAIMED,
    [PG_BEFORE_CLAIMS] = NOTHING,
    [PG_GIVE_BACK_CLAIM] = COUNT,
    [PG_BURY_EXPIRED] = COUNT,
    [PG_BURY_MALFORMED] = COUNT,
    [PG_WAS_SETTLED] = IDS,
    [PG_ADOPT] = "1b",
    [PG_FIND] = "*" ITEM,
    [PG_WORK_IDS] = IDS,
    [PG_PAGE] = "*" ITEM,
    [PG_ATTEMPTS] = "*Tituln",
    [PG_STATS] = "*nlllllfbi",
    [PG_DEAD_PAGE] = "*" ITEM,
    [PG_DEAD_ACT] = "1lllU",
    [PG_CANCEL] = "1U",
    [PG_MAINTAIN] = "1llllblllUl",
    [PG_UPKEEP] = "1bf",
    [PG_FACTS] = "1bfl",
    [PG_EXPIRE_FRESH] = COUNT,
    [PG_AUDIT] = "1ll",
    [PG_SETTINGS] = "*tfn",
    [PG_SET] = NOTHING,
    [PG_WANT_PARTITIONS] = NOTHING,
    [PG_LOCK_AHEAD] = NOTHING,
    [PG_JOINS_ENDED] = "*u" COUNTS,
    [PG_JOIN_START] = NOTHING,
    [PG_ATTACH] = "*bb",
    [PG_JOIN_REPORT] = "1" CHANGE,
    [PG_JOIN_CANCEL] = "1" CHANGE,
    [PG_JOIN_WAIT] = "1lb" CHANGE,
    [PG_JOIN_FIND] = "*" JOIN,
    [PG_JOIN_PAGE] = "*" JOIN,
    [PG_JOIN_MEMBERS] = "*ulMT",
    [PG_INBOX_ENQUEUE] = "*lubb",
    [PG_INBOX_ENQUEUE_ONE] = "1lubb",
    [PG_INBOX_ENQUEUE_PLAIN] = "1lubb",
    [PG_INBOX_LOOK] = "1bb",
    [PG_INBOX_ACCEPT] = "1bb",
    [PG_INBOX_FIND] = "*ttultnTTlT",
    [PG_EVENT_APPEND] = "*ulb",
    [PG_EVENT_READ] = "*utllttnnTn",
    [PG_EVENT_READ_ALL] = "*unllnnnnTn", /* the last row is no event */
    [PG_SEQUENCE_EVENTS] = NOTHING,
    [PG_REGISTER] = NOTHING,
    [PG_BEAT_ALONE] = NOTHING,
    [PG_REMOVE_STALE] = COUNT,
    [PG_EVALUATE_WAITS] = "1lU",
    [PG_STREAM_PAGE] = "*ttillnTiuTl",
    [PG_STREAM_HEAD] = COUNT,
    [PG_HALTED_BY] = COUNT,
    [PG_RESUME_HALT] = COUNT,
    [PG_STREAM_RULE] = "1b",
    [PG_STREAM_RULES] = "*tb",
    [PG_INSTANCES] = "*utliTTiiilTt",
    [PG_HEARTBEAT] = NOTHING,
    [PG_FAREWELL] = NOTHING,
    [PG_FALL_ASLEEP] = NOTHING,
    [PG_GET_UP] = NOTHING,
    [PG_IS_DRAINED] = "1b",
    [PG_CLOCK] = "1T",
    [PG_SERVER] = "1bbtbbtllib",
    [PG_SCHEMA_RIGHTS] = "*ttbnln",
    [PG_CHECKUP] = "1iinblflll",
    [PG_LIVE_HOSTS] = "*tl",
    [PG_LIVE_PATTERNS] = "*t",
    [PG_READY_TOPICS] = "*tf",
    [PG_SNAPSHOT_HOLDERS] = "*innnnfntl",
    [PG_TABLE_HEALTH] = "*tllfb",
    [PG_CLAIM_BLOCKERS] = "*innnnfnbnnin",
    [PG_STREAM_HOLDERS] = "*innnnfnlti",
    [PG_TRY_CLAIM] = "1bfn",
};

static const struct kind {
    char letter;
    Oid type;
    int len;             /* -1 = any */
    int64_t least, most; /* of a small number, when most > 0 */
    bool is_required;    /* not null */
} KINDS[] = {
    {.letter = 'l', .type = PG_INT8, .len = 8},
    {.letter = 'i', .type = PG_INT4, .len = 4},
    {.letter = 's', .type = PG_INT2, .len = 2},
    {.letter = 'b', .type = PG_BOOL, .len = 1},
    {.letter = 'f', .type = PG_FLOAT8, .len = 8},
    {.letter = 'T', .type = PG_TIMESTAMPTZ, .len = 8},
    {.letter = 'u', .type = PG_UUID, .len = 16},
    {.letter = 'L', .type = PG_INT8_ARRAY, .len = -1},
    {.letter = 'U', .type = PG_UUID_ARRAY, .len = -1},
    {.letter = 'v', .type = PG_VOID, .len = -1},
    {.letter = 't', .type = PG_TEXT, .len = -1, .is_required = true},
    {.letter = 'n', .type = PG_TEXT, .len = -1},
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

static uint32_t get_u32(const char *bytes) {
    uint32_t value;

    memcpy(&value, bytes, sizeof(value));
    return be32toh(value);
}

/* Dimensions, flags, element type; then size and lower bound; then the elements, each behind its length. One
 * dimension, no nulls. */
static bool is_array(const char *bytes, size_t len, Oid element, size_t element_len) {
    size_t count;

    if (len < 12 || get_u32(bytes + 8) != element)
        return false;
    if (get_u32(bytes) == 0)
        return len == 12;
    if (get_u32(bytes) != 1 || get_u32(bytes + 4) != 0 || len < 20)
        return false;
    count = get_u32(bytes + 12);
    if (count != (len - 20) / (4 + element_len) || (len - 20) % (4 + element_len) != 0)
        return false;
    for (size_t i = 0; i < count; i++)
        if (get_u32(bytes + 20 + i * (4 + element_len)) != element_len)
            return false;
    return true;
}

/* A server whose database has no encoding (SQL_ASCII) keeps and says any bytes: its texts are its users'
 * matter, and one of them must not stop every claim. */
static bool may_be_no_utf8(const PGconn *conn) {
    const char *encoding = conn ? PQparameterStatus(conn, "server_encoding") : NULL;

    return encoding && strcmp(encoding, "SQL_ASCII") == 0;
}

/* The callers of the library, and JSON, rely on these. */
static const char *judge_text(const PGconn *conn, boxcar_str text) {
    if (str_has_nul(text))
        return "has a zero byte in its text";
    return utf8_is_valid(text) || may_be_no_utf8(conn) ? NULL : "is not UTF-8";
}

/* What is wrong with a value that has the right length; NULL = nothing. */
static const char *judge_value(const PGconn *conn, const struct kind *kind, const PGresult *result, int row,
                               int column) {
    const char *bytes = PQgetvalue(result, row, column);
    size_t len = (size_t)PQgetlength(result, row, column);
    int64_t number = 0;

    if (kind->type == PG_TEXT)
        return judge_text(conn, (boxcar_str){bytes, len});
    if (kind->type == PG_INT8_ARRAY && !is_array(bytes, len, PG_INT8, 8))
        return "is no array of numbers";
    if (kind->type == PG_UUID_ARRAY && !is_array(bytes, len, PG_UUID, 16))
        return "is no array of ids";
    if (kind->type == PG_FLOAT8 && !isfinite(pg_get_float8(result, row, column)))
        return "is no finite number";
    if (kind->most > 0) {
        number = kind->len == 2 ? pg_get_int2(result, row, column) : pg_get_int4(result, row, column);
        if (number < kind->least || number > kind->most)
            return "is a number that does not exist";
    }
    return NULL;
}

static const char *judge_field(const PGconn *conn, const struct kind *kind, const PGresult *result, int row,
                               int column) {
    if (PQgetisnull(result, row, column))
        return kind->is_required ? "is missing" : NULL;
    if (kind->len >= 0 && PQgetlength(result, row, column) != kind->len)
        return "has a wrong length";
    return judge_value(conn, kind, result, row, column);
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
    const char *shape = SHAPES[statement];
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

const char *pg_only_text(const PGresult *result) {
    if (PQresultStatus(result) != PGRES_TUPLES_OK || PQntuples(result) != 1 || PQnfields(result) != 1 ||
        PQfformat(result, 0) != 0 || PQgetisnull(result, 0, 0))
        return NULL;
    return PQgetvalue(result, 0, 0);
}
