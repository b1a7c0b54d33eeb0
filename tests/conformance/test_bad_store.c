/* Stores that are no stores: wrong URLs and schema names, unreachable servers, other files. */
#include <stdio.h>
#include <string.h>

#include "conformance.h"

static boxcar_status open_url(struct fixture *f, const char *url, const char *schema,
                              boxcar_store **ret_store) {
    boxcar_store_options options = BOXCAR_STORE_OPTIONS_INIT;
    options.url = boxcar_str_of(url);
    options.schema = boxcar_str_of(schema);
    options.deploy = true;
    options.busy_timeout_ms = 2000;
    return boxcar_store_open(&options, ret_store, &f->err);
}

/* BX-011 */
static void url_must_be_of_a_known_form(void **state) {
    struct fixture *f = *state;
    static const char *const BAD[] = {NULL,           "",         "sqlite", "sqlite:", "mysql://h/d",
                                      "/tmp/file.db", "postgres:"};
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        boxcar_store *store = NULL;
        ASSERT_INVALID(f, "url", open_url(f, BAD[i], NULL, &store));
        assert_null(store);
    }
}

/* BX-011 */
static void schema_name_is_validated(void **state) {
    struct fixture *f = *state;
    char too_long[65] = "";
    memset(too_long, 'a', 64);
    const char *const bad[] = {"", "a b", "a\"b", "a'b", "a;b", "1a", "a-b", "sch\xc3\xa4ma", too_long};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        boxcar_store *store = NULL;
        ASSERT_INVALID(f, "schema", open_url(f, f->url, bad[i], &store));
        assert_null(store);
    }
}

/* BX-011 */
static void options_that_make_no_sense_are_refused(void **state) {
    struct fixture *f = *state;
    boxcar_store *store = NULL;
    boxcar_store_options options = fixture_options(f);
    options.busy_timeout_ms = -1;
    ASSERT_INVALID(f, "busy_timeout_ms", boxcar_store_open(&options, &store, &f->err));
    options = fixture_options(f);
    options.durability = (boxcar_durability)7;
    ASSERT_INVALID(f, "durability", boxcar_store_open(&options, &store, &f->err));
    assert_null(store);
}

static void write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* BX-011, OBX-109 */
static void file_that_is_not_a_database_is_left_as_it_is(void **state) {
    struct fixture *f = *state;
    char path[128], url[160], line[128] = "";
    static const char TEXT[] = "Dear diary, this is certainly not a database, however long it may be.";
    snprintf(path, sizeof(path), "%s/other.db", f->directory);
    snprintf(url, sizeof(url), "sqlite:%s", path);
    write_file(path, TEXT);
    boxcar_store *store = NULL;
    ASSERT_FAILS(f, BOXCAR_E_STORE, open_url(f, url, NULL, &store));
    assert_null(store);
    assert_false(f->err.retryable);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof(line), file));
    fclose(file);
    assert_string_equal(line, TEXT);
}

/* BX-011 */
static void directory_that_does_not_exist_is_unavailable(void **state) {
    struct fixture *f = *state;
    boxcar_store *store = NULL;
    char url[160];
    snprintf(url, sizeof(url), "sqlite:%s/no/such/place.db", f->directory);
    assert_int_not_equal(open_url(f, url, NULL, &store), BOXCAR_OK);
    assert_null(store);
    assert_true(f->err.message[0] != '\0');
}

/* OBX-109 */
static void missing_file_is_not_created_without_deployment(void **state) {
    struct fixture *f = *state;
    boxcar_store *store = NULL;
    ASSERT_FAILS(f, BOXCAR_E_NOT_DEPLOYED, fixture_open_undeployed(f, &store));
    assert_null(fopen(f->url + strlen("sqlite:"), "r"));
}

/* BX-011 */
static void server_that_does_not_answer_is_unavailable_and_worth_a_retry(void **state) {
    struct fixture *f = *state;
    boxcar_store *store = NULL;
    ASSERT_FAILS(f, BOXCAR_E_UNAVAILABLE, open_url(f, "postgres://nobody@127.0.0.1:1/nothing", NULL, &store));
    assert_true(f->err.retryable);
    assert_null(store);
}

/* BX-011 */
static void url_that_cannot_be_read_is_an_invalid_argument(void **state) {
    struct fixture *f = *state;
    static const char *const BAD[] = {"postgres://u@[bad/d", "postgres://u@127.0.0.1:1/d?nonsense=1",
                                      "postgres://u@127.0.0.1:port/d", "postgres://%zz@h/d"};
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        boxcar_store *store = NULL;
        ASSERT_INVALID(f, "url", open_url(f, BAD[i], NULL, &store));
        assert_null(store);
    }
}

/* BX-010 */
static void password_of_a_url_is_in_no_error(void **state) {
    struct fixture *f = *state;
    static const char *const URLS[] = {"postgres://u:hunter2@127.0.0.1:1/d", "postgres://u:hunter2@[bad/d",
                                       "postgres://u:hunter2@127.0.0.1:1/d?nonsense=1",
                                       "postgres://u@127.0.0.1:1/d?password=hunter2",
                                       "postgress://u:hunter2@h/d"};
    for (size_t i = 0; i < sizeof(URLS) / sizeof(URLS[0]); i++) {
        boxcar_store *store = NULL;
        assert_int_not_equal(open_url(f, URLS[i], NULL, &store), BOXCAR_OK);
        assert_null(store);
        assert_true(f->err.message[0] != '\0');
        assert_null(strstr(f->err.message, "hunter2"));
    }
}

static const struct CMUnitTest TESTS[] = {
    BARE_TEST(url_must_be_of_a_known_form),
    BARE_TEST(schema_name_is_validated),
    BARE_TEST(options_that_make_no_sense_are_refused),
    BARE_TEST(file_that_is_not_a_database_is_left_as_it_is),
    BARE_TEST(directory_that_does_not_exist_is_unavailable),
    BARE_TEST(missing_file_is_not_created_without_deployment),
    BARE_TEST(server_that_does_not_answer_is_unavailable_and_worth_a_retry),
    BARE_TEST(url_that_cannot_be_read_is_an_invalid_argument),
    BARE_TEST(password_of_a_url_is_in_no_error),
};

/* No server takes part: run once, beside the SQLite store. */
const struct suite BAD_STORE_SUITE = SUITE("bad_store", TESTS, ON_SQLITE);
