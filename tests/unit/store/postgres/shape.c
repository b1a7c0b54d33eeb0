/* Answers of a PostgreSQL server that are not what was asked for: each is refused before anything of it is
 * read. */
#include "store/postgres/statement/params.h"
#include "store/postgres/statement/rows.h"

#include <endian.h>
#include <string.h>

#include "unit.h"

static struct pg_store PG;
static boxcar_error ERR;

struct column {
    Oid type;
    int format;
};

static PGresult *make(const struct column *columns, int count) {
    PGresult *result = PQmakeEmptyPGresult(NULL, PGRES_TUPLES_OK);
    PGresAttDesc attributes[32] = {{0}};

    assert_true(count <= 32);
    for (int i = 0; i < count; i++)
        attributes[i] =
            (PGresAttDesc){.name = (char *)"c", .typid = columns[i].type, .format = columns[i].format};
    assert_true(PQsetResultAttrs(result, count, attributes));
    return result;
}

static void put(PGresult *result, int row, int column, const void *bytes, int len) {
    assert_true(PQsetvalue(result, row, column, (char *)(uintptr_t)bytes, len));
}

static boxcar_status judge(enum pg_statement statement, PGresult *result) {
    PG = (struct pg_store){.conn = NULL};
    ERR = BOXCAR_ERROR_INIT;
    boxcar_status status = pg_check_answer(&PG, statement, result, &ERR);
    PQclear(result);
    return status;
}

static void assert_good(enum pg_statement statement, PGresult *result) {
    assert_int_equal(judge(statement, result), BOXCAR_OK);
    assert_false(PG.malformed);
}

/* It is an error, and the connection is not trusted any more. */
static void assert_malformed(enum pg_statement statement, PGresult *result) {
    assert_int_equal(judge(statement, result), BOXCAR_E_STORE);
    assert_true(PG.malformed);
    assert_non_null(strstr(ERR.message, "the server's answer is malformed"));
}

/* One row with one field. */
static PGresult *single(Oid type, int format, const void *bytes, int len) {
    PGresult *result = make(&(struct column){type, format}, 1);

    put(result, 0, 0, bytes, len);
    return result;
}

/* ---- fields ---- */

static void numbers_have_their_length(void **state) {
    static const char bytes[16] = {0};

    (void)state;
    assert_good(PG_REAP, single(PG_INT8, 1, bytes, 8));
    assert_good(PG_REAP, single(PG_INT8, 1, NULL, -1)); /* null reads as 0 */
    for (int len = 0; len <= 16; len++)
        if (len != 8)
            assert_malformed(PG_REAP, single(PG_INT8, 1, bytes, len));
}

static void columns_are_binary_and_of_their_type(void **state) {
    (void)state;
    assert_malformed(PG_REAP, single(PG_INT8, 0, "12345678", 8));
    assert_malformed(PG_REAP, single(PG_FLOAT8, 1, "12345678", 8));
    assert_malformed(PG_IS_DRAINED, single(PG_INT8, 1, "12345678", 8));
}

static void texts_have_no_zero_byte_and_are_there(void **state) {
    (void)state;
    assert_good(PG_LIVE_PATTERNS, single(PG_TEXT, 1, "a*", 2));
    assert_good(PG_LIVE_PATTERNS, single(PG_TEXT, 1, "", 0));
    assert_malformed(PG_LIVE_PATTERNS, single(PG_TEXT, 1, "a\0b", 3));
    assert_malformed(PG_LIVE_PATTERNS, single(PG_TEXT, 1, NULL, -1));
}

/* What a server with an encoding checks; something between may have changed it. */
static void texts_are_utf_8(void **state) {
    static const char *const bad[] = {
        "\xff", "\xc3", "a\xc3", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "aaaaaaaaaaaaaaaa\xe2\x82"};

    (void)state;
    assert_good(PG_LIVE_PATTERNS, single(PG_TEXT, 1, "\xe2\x82\xac\xf0\x9f\x98\x80", 7));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_malformed(PG_LIVE_PATTERNS, single(PG_TEXT, 1, bad[i], (int)strlen(bad[i])));
}

static PGresult *ready_topic(uint64_t seconds_bits) {
    PGresult *result = make((const struct column[]){{PG_TEXT, 1}, {PG_FLOAT8, 1}}, 2);
    uint64_t bits = htobe64(seconds_bits);

    put(result, 0, 0, "t", 1);
    put(result, 0, 1, &bits, 8);
    return result;
}

static void floats_are_finite(void **state) {
    (void)state;
    assert_good(PG_READY_TOPICS, ready_topic(UINT64_C(0x3ff0000000000000)));
    assert_malformed(PG_READY_TOPICS, ready_topic(UINT64_C(0x7ff0000000000000)));
    assert_malformed(PG_READY_TOPICS, ready_topic(UINT64_C(0x7ff8000000000000)));
}

static PGresult *member(int status) {
    static const char bytes[16] = {0};
    PGresult *result =
        make((const struct column[]){{PG_UUID, 1}, {PG_INT8, 1}, {PG_INT4, 1}, {PG_TIMESTAMPTZ, 1}}, 4);
    uint32_t number = htobe32((uint32_t)status);

    put(result, 0, 0, bytes, 16);
    put(result, 0, 1, bytes, 8);
    put(result, 0, 2, &number, 4);
    put(result, 0, 3, bytes, 8);
    return result;
}

static void names_that_are_numbers_exist(void **state) {
    (void)state;
    assert_good(PG_JOIN_MEMBERS, member(BOXCAR_MEMBER_FAILED));
    assert_malformed(PG_JOIN_MEMBERS, member(BOXCAR_MEMBER_FAILED + 1));
    assert_malformed(PG_JOIN_MEMBERS, member(-1));
}

/* ---- rows and columns ---- */

static void counts_of_rows_and_columns_are_right(void **state) {
    static const char bytes[8] = {0};
    const struct column two[] = {{PG_INT8, 1}, {PG_INT8, 1}};
    PGresult *result;

    (void)state;
    assert_malformed(PG_REAP, make(two, 1)); /* no row */
    result = single(PG_INT8, 1, bytes, 8);
    put(result, 1, 0, bytes, 8);
    assert_malformed(PG_REAP, result); /* two */
    result = make(two, 2);
    put(result, 0, 0, bytes, 8);
    put(result, 0, 1, bytes, 8);
    assert_malformed(PG_REAP, result);
    assert_malformed(PG_REAP, PQmakeEmptyPGresult(NULL, PGRES_COMMAND_OK));
    assert_malformed(PG_BEGIN, single(PG_INT8, 1, bytes, 8));
    assert_good(PG_BEGIN, PQmakeEmptyPGresult(NULL, PGRES_COMMAND_OK));
    assert_good(PG_LIVE_PATTERNS, make(&(struct column){PG_TEXT, 1}, 1));
}

/* ---- arrays ---- */

struct words {
    uint32_t at[32];
};

/* Two numbers as the server sends them. */
static struct words two_numbers(void) { return (struct words){{1, 0, PG_INT8, 2, 1, 8, 0, 7, 8, 0, 9}}; }

static PGresult *ids(struct words words, int len) {
    for (size_t i = 0; i < 32; i++)
        words.at[i] = htobe32(words.at[i]);
    return single(PG_INT8_ARRAY, 1, words.at, len);
}

static void arrays_end_where_they_say(void **state) {
    (void)state;
    assert_good(PG_ACK, ids(two_numbers(), 44));
    assert_good(PG_ACK, ids((struct words){{0, 0, PG_INT8}}, 12));
    assert_good(PG_ACK, single(PG_INT8_ARRAY, 1, NULL, -1));
    for (int len = 0; len <= 128; len++)
        if (len != 44)
            assert_malformed(PG_ACK, ids(two_numbers(), len));
}

static void arrays_are_of_one_dimension_without_nulls(void **state) {
    static const struct {
        size_t word;
        uint32_t value;
    } WRONG[] = {{0, 2},          {0, 0},          {1, 1}, {2, PG_INT4},    {3, 0},          {3, 3},
                 {3, UINT32_MAX}, {3, 0x15555557}, {5, 4}, {5, UINT32_MAX}, {8, UINT32_MAX}, {8, 16}};

    (void)state;
    for (size_t i = 0; i < sizeof(WRONG) / sizeof(WRONG[0]); i++) {
        struct words words = two_numbers();

        words.at[WRONG[i].word] = WRONG[i].value;
        assert_malformed(PG_ACK, ids(words, 44));
    }
}

/* ---- the table ---- */

/* A new statement needs a shape of its answer. */
static void every_statement_has_a_shape(void **state) {
    (void)state;
    for (int i = 0; i < PG_STATEMENTS; i++) {
        (void)judge((enum pg_statement)i, make(NULL, 0));
        assert_null(strstr(ERR.message, "no shape"));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_have_their_length),
        cmocka_unit_test(columns_are_binary_and_of_their_type),
        cmocka_unit_test(texts_have_no_zero_byte_and_are_there),
        cmocka_unit_test(texts_are_utf_8),
        cmocka_unit_test(floats_are_finite),
        cmocka_unit_test(names_that_are_numbers_exist),
        cmocka_unit_test(counts_of_rows_and_columns_are_right),
        cmocka_unit_test(arrays_end_where_they_say),
        cmocka_unit_test(arrays_are_of_one_dimension_without_nulls),
        cmocka_unit_test(every_statement_has_a_shape),
    };

    return cmocka_run_group_tests_name("answers are checked", tests, NULL, NULL);
}
