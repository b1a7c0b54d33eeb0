/* A migration file that holds only comments: the program brings files of its own instead of the library's. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "boxcar.h"
#include "embedded.h"

const struct sql_file SQL_POSTGRES[] = {{NULL, NULL}};
const struct sql_file SQL_SQLITE[] = {
    {"migrations/0001_message.sql",
     "create table boxcar_schema (only_row integer primary key, version integer, oldest_program integer);\n"},
    {"migrations/0002_nothing.sql", "-- Nothing to do for this store.\n\n-- Counters.\n"},
    {"migrations/0003_empty.sql", ""},
    {NULL, NULL},
};

static void migration_of_only_comments_is_applied(void **state) {
    char directory[] = "/tmp/boxcar-comments-XXXXXX", url[96], path[80];
    boxcar_store_options options = BOXCAR_STORE_OPTIONS_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_store *store = NULL;

    (void)state;
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof(path), "%s/s.db", directory);
    snprintf(url, sizeof(url), "sqlite:%s", path);
    options.url = boxcar_str_of(url);
    options.deploy = true;
    for (int applied = 3; applied >= 0; applied -= 3) {
        if (boxcar_store_open(&options, &store, &err) != BOXCAR_OK)
            fail_msg("%s", err.message);
        assert_int_equal(boxcar_store_deployment(store)->applied, applied);
        assert_int_equal(boxcar_store_deployment(store)->schema_version, boxcar_schema_version());
        boxcar_store_close(store);
    }
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(directory), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(migration_of_only_comments_is_applied)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
