/* Stores that are no stores: wrong URLs and schema names, unreachable servers, other files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

static void write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
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

/* A path is a path: SQLite's URIs can turn off locks, keep the database in memory or choose another VFS. One
 * process that does so destroys the file under the others. `folder`: the test's own stands between the two
 * parts. BX-011 */
static void sqlite_uri_is_refused(void **state) {
    struct fixture *f = *state;
    static const struct {
        const char *before, *after, *says;
        bool folder;
    } BAD[] = {{":memory:", "", "in memory", false},
               {"file::memory:", "", "file:", false},
               {"file::memory:", "?cache=shared", "file:", false},
               {"file:", "", "file:", false},
               {"file:", "/a.db", "file:", true},
               {"file:", "/a.db?mode=memory", "file:", true},
               {"file:", "/a.db?nolock=1", "file:", true},
               {"file:", "/a.db?immutable=1", "file:", true},
               {"file:", "/a.db?vfs=unix-none", "file:", true},
               {"", "/a.db?mode=memory", "parameters", true},
               {"", "/a.db?nolock=1", "parameters", true}};
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        char url[200];
        boxcar_store *store = NULL;
        snprintf(url, sizeof(url), "sqlite:%s%s%s", BAD[i].before, BAD[i].folder ? f->directory : "",
                 BAD[i].after);
        ASSERT_INVALID(f, "url", open_url(f, url, NULL, &store));
        assert_null(store);
        assert_non_null(strstr(f->err.message, BAD[i].says));
        assert_non_null(strstr(f->err.message, "give sqlite:PATH"));
    }
}

/* BX-011 */
static void what_is_no_file_is_refused(void **state) {
    struct fixture *f = *state;
    char url[200];
    boxcar_store *store = NULL;
    snprintf(url, sizeof(url), "sqlite:%s/pipe", f->directory);
    assert_int_equal(mkfifo(url + strlen("sqlite:"), 0600), 0);
    ASSERT_INVALID(f, "url", open_url(f, url, NULL, &store));
    ASSERT_INVALID(f, "url", open_url(f, "sqlite:/dev/null", NULL, &store));
    ASSERT_INVALID(f, "url", open_url(f, "sqlite:/", NULL, &store));
    assert_null(store);
}

/* The rights of a file, and of the two that SQLite keeps next to it. */
static void assert_mode(const char *path, mode_t wanted) {
    static const char *const ENDINGS[] = {"", "-wal", "-shm"};
    char *real = realpath(path, NULL);
    assert_non_null(real);
    for (size_t i = 0; i < sizeof(ENDINGS) / sizeof(ENDINGS[0]); i++) {
        char name[200];
        struct stat info;
        snprintf(name, sizeof(name), "%s%s", real, ENDINGS[i]);
        assert_int_equal(stat(name, &info), 0);
        assert_int_equal(info.st_mode & 0777, wanted);
    }
    free(real);
}

static void deploy_under(struct fixture *f, mode_t mask, const char *name, mode_t wanted) {
    char url[200];
    boxcar_store *store = NULL;
    mode_t before = umask(mask);
    snprintf(url, sizeof(url), "sqlite:%s/%s", f->directory, name);
    boxcar_status status = open_url(f, url, NULL, &store);
    umask(before);
    ASSERT_OK(f, status);
    boxcar_new_message message = new_message("t", "p");
    ASSERT_OK(f, boxcar_enqueue(store, BOXCAR_OUTBOX, &message, NULL, &f->err));
    assert_mode(url + strlen("sqlite:"), wanted);
    boxcar_store_close(store);
}

/* Payloads are for the owner and the group, and for fewer where the umask says so; what is there keeps its
 * rights. */
static void new_file_is_not_for_everybody(void **state) {
    struct fixture *f = *state;
    char path[160];
    deploy_under(f, 0, "open.db", 0640);
    deploy_under(f, 022, "usual.db", 0640);
    deploy_under(f, 077, "private.db", 0600);
    snprintf(path, sizeof(path), "%s/there.db", f->directory);
    write_file(path, "");
    assert_int_equal(chmod(path, 0664), 0);
    deploy_under(f, 077, "there.db", 0664);
    snprintf(path, sizeof(path), "%s/link.db", f->directory);
    assert_int_equal(symlink("far.db", path), 0);
    deploy_under(f, 0, "link.db", 0640);
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
static void at_sign_in_a_password_is_to_be_encoded(void **state) {
    struct fixture *f = *state;
    static const char *const BAD[] = {"postgres://u:a@b@127.0.0.1:1/d",
                                      "postgres://u:a@b@127.0.0.1:1,127.0.0.1:2/d",
                                      "postgres://u:1/b@127.0.0.1:1/d", "postgres://u@b:a@127.0.0.1:1/d",
                                      "postgres://127.0.0.1:1?user=u@b"};
    static const char *const GOOD[] = {"postgres://u:a%40b@127.0.0.1:1/d", "postgres://u:a?b@127.0.0.1:1/d",
                                       "postgres://u@127.0.0.1:1/d?password=a@b",
                                       "postgres://127.0.0.1:1/?user=u@b&password=a@b"};
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        boxcar_store *store = NULL;
        ASSERT_INVALID(f, "url", open_url(f, BAD[i], NULL, &store));
        assert_null(store);
        assert_non_null(strstr(f->err.message, "write %40 for @"));
    }
    for (size_t i = 0; i < sizeof(GOOD) / sizeof(GOOD[0]); i++) {
        boxcar_store *store = NULL;
        ASSERT_FAILS(f, BOXCAR_E_UNAVAILABLE, open_url(f, GOOD[i], NULL, &store));
        assert_null(store);
    }
}

/* BX-010 */
static void password_of_a_url_is_in_no_error(void **state) {
    struct fixture *f = *state;
    static const char *const URLS[] = {"postgres://u:hunter2@127.0.0.1:1/d",
                                       "postgres://u:hunter2@[bad/d",
                                       "postgres://u:hunter2@127.0.0.1:1/d?nonsense=1",
                                       "postgres://u@127.0.0.1:1/d?password=hunter2",
                                       "postgres://u:a@hunter2@127.0.0.1:1/d",
                                       "postgres://u:a@hunter2@127.0.0.1:1,127.0.0.1:2/d",
                                       "postgres://u:a@b@hunter2,c@127.0.0.1:1/d?sslmode=disable",
                                       "postgresql://u:1/hunter2@127.0.0.1:1/d",
                                       "postgres://u:1/hunter2@127.0.0.1:1,127.0.0.1:2/d",
                                       "postgres://u:a?hunter2@127.0.0.1:1/d",
                                       "postgres://127.0.0.1:1?password=a@hunter2",
                                       "postgres://127.0.0.1:1?password=hunter2@b",
                                       "postgres://u:hunter2@127.0.0.1:1,127.0.0.1:2/d",
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
    BARE_TEST(sqlite_uri_is_refused),
    BARE_TEST(what_is_no_file_is_refused),
    BARE_TEST(new_file_is_not_for_everybody),
    BARE_TEST(schema_name_is_validated),
    BARE_TEST(options_that_make_no_sense_are_refused),
    BARE_TEST(file_that_is_not_a_database_is_left_as_it_is),
    BARE_TEST(directory_that_does_not_exist_is_unavailable),
    BARE_TEST(missing_file_is_not_created_without_deployment),
    BARE_TEST(server_that_does_not_answer_is_unavailable_and_worth_a_retry),
    BARE_TEST(url_that_cannot_be_read_is_an_invalid_argument),
    BARE_TEST(at_sign_in_a_password_is_to_be_encoded),
    BARE_TEST(password_of_a_url_is_in_no_error),
};

/* No server takes part: run once, with the SQLite store. */
const struct suite BAD_STORE_SUITE = SUITE(TESTS);
