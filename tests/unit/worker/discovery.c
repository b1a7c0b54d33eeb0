/* Lists of stores: what is read, what is refused, and what stores are called. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "boxcar.h"
#include "worker/discovery/discovery.h"

static char folder[] = "/tmp/boxcar-discovery-XXXXXX";

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) ? chdir(folder) : -1;
}

static int remove_folder(void **state) {
    char command[100];

    (void)state;
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    return chdir("/") || system(command);
}

static void write_file(const char *name, const char *text) {
    FILE *file = fopen(name, "w");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static boxcar_status discover(boxcar_discovery kind, const char *where, boxcar_found_store_list **ret_list,
                              boxcar_error *err) {
    boxcar_fleet_options options = BOXCAR_FLEET_OPTIONS_INIT;

    *err = BOXCAR_ERROR_INIT;
    options.discovery = kind;
    options.where = boxcar_str_of(where);
    return boxcar_store_discover(&options, BOXCAR_NO_STR, ret_list, err);
}

static void assert_text(const char *wanted, boxcar_str text) {
    assert_int_equal(strlen(wanted), text.len);
    assert_memory_equal(wanted, text.data, text.len);
}

/* BX-101 */
static void a_file_has_a_store_a_line(void **state) {
    boxcar_found_store_list *list;
    boxcar_error err;

    (void)state;
    write_file("list", "# tenants\n\nsqlite:one.db\r\n  acme\tsqlite:two.db\nzoo postgres://h/db side");
    assert_int_equal(discover(BOXCAR_DISCOVERY_FILE, "list", &list, &err), BOXCAR_OK);
    assert_int_equal(list->count, 3);
    assert_text("sqlite:one.db", list->items[0]->url);
    assert_null(list->items[0]->key.data);
    assert_text("boxcar", list->items[0]->schema);
    assert_text("acme", list->items[1]->key);
    assert_text("zoo", list->items[2]->key);
    assert_text("side", list->items[2]->schema);
    assert_string_equal(list->items[2]->id, "postgres:h:5432/db/side");
    boxcar_list_free(list);
}

static void refuses(const char *text, boxcar_status status, const char *saying) {
    boxcar_found_store_list *list;
    boxcar_error err;

    write_file("list", text);
    assert_int_equal(discover(BOXCAR_DISCOVERY_FILE, "list", &list, &err), status);
    if (!strstr(err.message, saying))
        fail_msg("'%s' does not say '%s'", err.message, saying);
}

/* BX-011, BX-101: rubbish is refused as a whole, so that the last good list stays. */
static void rubbish_is_refused(void **state) {
    (void)state;
    refuses("sqlite:a.db\nnonsense\n", BOXCAR_E_INVALID, "line 2: ");
    refuses("<html>\n", BOXCAR_E_INVALID, "line 1: ");
    refuses("a b c d\n", BOXCAR_E_INVALID, "more than three words");
    refuses("key mysql://x\n", BOXCAR_E_INVALID, "unknown form");
    refuses("k postgres://h/d bad-schema\n", BOXCAR_E_INVALID, "line 1: ");
    refuses("k\xff sqlite:x.db\n", BOXCAR_E_INVALID, "line 1: ");
    refuses("sqlite:a.db\nx sqlite:./a.db\n", BOXCAR_E_CONFLICT, "twice (key x)");
    refuses("postgres://u:one@H/d\npostgres://v:two@h:5432/d?sslmode=prefer\n", BOXCAR_E_CONFLICT, "twice");
}

static void a_directory_has_an_sqlite_file_for_each_store(void **state) {
    boxcar_found_store_list *list;
    boxcar_error err;

    (void)state;
    assert_int_equal(mkdir("tenants", 0700), 0);
    write_file("tenants/beta.db", "");
    write_file("tenants/alpha.db", "");
    write_file("tenants/alpha.db-wal", "");
    write_file("tenants/.new.db", "");
    write_file("tenants/notes.txt", "");
    assert_int_equal(discover(BOXCAR_DISCOVERY_DIRECTORY, "tenants", &list, &err), BOXCAR_OK);
    assert_int_equal(list->count, 2);
    assert_text("alpha", list->items[0]->key);
    assert_text("sqlite:tenants/beta.db", list->items[1]->url);
    boxcar_list_free(list);
    assert_int_equal(discover(BOXCAR_DISCOVERY_DIRECTORY, "nowhere", &list, &err), BOXCAR_E_NOT_FOUND);
}

static void a_command_prints_the_list(void **state) {
    boxcar_found_store_list *list;
    boxcar_error err;

    (void)state;
    assert_int_equal(discover(BOXCAR_DISCOVERY_COMMAND, "/bin/echo 'acme sqlite:x.db'", &list, &err),
                     BOXCAR_OK);
    assert_int_equal(list->count, 1);
    assert_text("acme", list->items[0]->key);
    boxcar_list_free(list);
    assert_int_equal(discover(BOXCAR_DISCOVERY_COMMAND, "/bin/sh -c 'echo sqlite:x.db; exit 3'", &list, &err),
                     BOXCAR_E_UNAVAILABLE);
    assert_non_null(strstr(err.message, "status 3"));
    assert_int_equal(discover(BOXCAR_DISCOVERY_COMMAND, "/no/such/program", &list, &err), BOXCAR_E_NOT_FOUND);
}

/* One that hangs, also with its output closed, is killed when its time is over, or when the worker ends. */
static void a_command_that_hangs_is_killed(void **state) {
    static const char *const COMMANDS[] = {"/bin/sleep 1000",
                                           "/bin/sh -c 'echo sqlite:x.db; exec >&-; sleep 1000'"};
    struct boxcar_discovered list = {.arena = ARENA_INIT};
    atomic_bool is_over = false;
    boxcar_error err = BOXCAR_ERROR_INIT;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(COMMANDS); i++) {
        assert_int_equal(discovery_run_command(boxcar_str_of(COMMANDS[i]), 200, &is_over, &list, &err),
                         BOXCAR_E_UNAVAILABLE);
        assert_non_null(strstr(err.message, "killed"));
    }
    is_over = true;
    assert_int_equal(discovery_run_command(boxcar_str_of(COMMANDS[0]), 1000000, &is_over, &list, &err),
                     BOXCAR_E_UNAVAILABLE);
    assert_int_equal(list.count, 0);
}

static boxcar_status add_two(void *context, boxcar_discovered *list, boxcar_error *err) {
    boxcar_store_entry entry = BOXCAR_STORE_ENTRY_INIT;

    ++*(int *)context;
    entry.url = BOXCAR_STR("sqlite:x.db");
    boxcar_status status = boxcar_discovered_add(list, &entry, err);
    entry.url = BOXCAR_STR("sqlite:y.db");
    return status == BOXCAR_OK ? boxcar_discovered_add(list, &entry, err) : status;
}

static void a_callback_adds_the_stores(void **state) {
    boxcar_fleet_options options = BOXCAR_FLEET_OPTIONS_INIT;
    boxcar_store_entry fixed = BOXCAR_STORE_ENTRY_INIT;
    boxcar_found_store_list *list;
    int calls = 0;

    (void)state;
    fixed.url = BOXCAR_STR("sqlite:fixed.db");
    options.stores = &fixed;
    options.store_count = 1;
    options.discovery = BOXCAR_DISCOVERY_FUNCTION;
    options.discover = add_two;
    options.discover_context = &calls;
    assert_int_equal(boxcar_store_discover(&options, BOXCAR_NO_STR, &list, NULL), BOXCAR_OK);
    assert_int_equal(calls, 1);
    assert_int_equal(list->count, 3);
    assert_text("sqlite:fixed.db", list->items[0]->url);
    boxcar_list_free(list);
}

static void assert_id(const char *url, const char *wanted) {
    char id[BOXCAR_STORE_ID_SIZE];

    assert_int_equal(boxcar_store_identify(boxcar_str_of(url), BOXCAR_NO_STR, id, sizeof(id), NULL),
                     BOXCAR_OK);
    assert_string_equal(id, wanted);
}

/* BX-103, OBX-070 */
static void an_identifier_stays_when_a_password_changes_and_differs_between_servers(void **state) {
    static const char WANTED[] = "postgres:db.example:5432/app/boxcar";

    (void)state;
    assert_id("postgres://db.example/app", WANTED);
    assert_id("postgresql://me:secret@DB.example:5432/app?sslmode=require&application_name=x", WANTED);
    assert_id("postgres://you@db.example/app?connect_timeout=3", WANTED);
    assert_id("postgres://db.example:5433/app", "postgres:db.example:5433/app/boxcar");
    assert_id("postgres://other.example/app", "postgres:other.example:5432/app/boxcar");
    assert_id("postgres://[::1]/app", "postgres:[::1]:5432/app/boxcar");
    assert_id("postgres://a,b:7/app", "postgres:a:5432,b:7/app/boxcar");
    assert_id("postgres:///app?host=/var/run/postgresql", "postgres:local:5432/app/boxcar");
}

static void the_path_of_an_sqlite_file_is_its_identifier(void **state) {
    char wanted[200], here[100];

    (void)state;
    assert_non_null(getcwd(here, sizeof(here)));
    snprintf(wanted, sizeof(wanted), "sqlite:%s/not-yet.db", here);
    assert_id("sqlite:not-yet.db", wanted);
    assert_id("sqlite:./not-yet.db", wanted);
    assert_int_equal(symlink(".", "link"), 0);
    assert_id("sqlite:link/not-yet.db", wanted);
}

static void an_identifier_that_does_not_fit_is_refused(void **state) {
    char id[10];
    boxcar_error err = BOXCAR_ERROR_INIT;

    (void)state;
    assert_int_equal(boxcar_store_identify(BOXCAR_STR("postgres://h/d"), BOXCAR_NO_STR, id, sizeof(id), &err),
                     BOXCAR_E_INVALID);
    assert_string_equal(err.argument, "size");
    assert_int_equal(boxcar_store_identify(BOXCAR_STR("what"), BOXCAR_NO_STR, id, sizeof(id), &err),
                     BOXCAR_E_INVALID);
}

static void refuses_options(boxcar_fleet_options options, const char *argument) {
    boxcar_found_store_list *list;
    boxcar_error err = BOXCAR_ERROR_INIT;

    assert_int_equal(boxcar_store_discover(&options, BOXCAR_NO_STR, &list, &err), BOXCAR_E_INVALID);
    assert_string_equal(err.argument, argument);
}

/* BX-011 */
static void bad_options_are_refused_by_name(void **state) {
    boxcar_fleet_options good = BOXCAR_FLEET_OPTIONS_INIT, options;
    boxcar_store_entry entry = BOXCAR_STORE_ENTRY_INIT;

    (void)state;
    assert_int_equal(good.refresh_ms, 5 * 60 * 1000); /* OBX-076 */
    refuses_options(good, "fleet.stores");
    good.stores = &entry;
    good.store_count = 1;
    refuses_options(good, "stores[0].url");
    entry.url = BOXCAR_STR("sqlite:x.db");
    options = good;
    options.connections = 0;
    refuses_options(options, "fleet.connections");
    options = good;
    options.refresh_ms = 1;
    refuses_options(options, "fleet.refresh_ms");
    options = good;
    options.idle_ms = -1;
    refuses_options(options, "fleet.idle_ms");
    options = good;
    options.look_ms = 0;
    refuses_options(options, "fleet.look_ms");
    options = good;
    options.selection = (boxcar_selection)7;
    refuses_options(options, "fleet.selection");
    options = good;
    options.discovery = (boxcar_discovery)17;
    refuses_options(options, "fleet.discovery");
    options = good;
    options.discovery = BOXCAR_DISCOVERY_FUNCTION;
    refuses_options(options, "fleet.discover");
    options = good;
    options.discovery = BOXCAR_DISCOVERY_FILE;
    refuses_options(options, "fleet.where");
    options = good;
    options.discovery = BOXCAR_DISCOVERY_SQL;
    options.where = BOXCAR_STR("mysql:x");
    refuses_options(options, "fleet.url");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_has_a_store_a_line),
        cmocka_unit_test(rubbish_is_refused),
        cmocka_unit_test(a_directory_has_an_sqlite_file_for_each_store),
        cmocka_unit_test(a_command_prints_the_list),
        cmocka_unit_test(a_command_that_hangs_is_killed),
        cmocka_unit_test(a_callback_adds_the_stores),
        cmocka_unit_test(an_identifier_stays_when_a_password_changes_and_differs_between_servers),
        cmocka_unit_test(the_path_of_an_sqlite_file_is_its_identifier),
        cmocka_unit_test(an_identifier_that_does_not_fit_is_refused),
        cmocka_unit_test(bad_options_are_refused_by_name),
    };

    return cmocka_run_group_tests_name("discovery", tests, make_folder, remove_folder);
}
