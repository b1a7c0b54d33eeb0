/* The router: keys to stores, on SQLite files. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "boxcar.h"

static char folder[] = "/tmp/boxcar-router-XXXXXX";

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

static boxcar_store_entry entry_of(const char *key, const char *url) {
    boxcar_store_entry entry = BOXCAR_STORE_ENTRY_INIT;

    entry.key = boxcar_str_of(key);
    entry.url = boxcar_str_of(url);
    return entry;
}

static boxcar_status new_router(const boxcar_store_entry *entries, size_t count, boxcar_route_fn route,
                                void *context, int most_open, boxcar_router **ret_router, boxcar_error *err) {
    boxcar_router_options options = BOXCAR_ROUTER_OPTIONS_INIT;
    boxcar_store_options store = BOXCAR_STORE_OPTIONS_INIT;

    store.deploy = true;
    options.store = &store;
    options.stores = entries;
    options.store_count = count;
    options.route = route;
    options.route_context = context;
    options.most_open = most_open;
    return boxcar_router_new(&options, ret_router, err);
}

static boxcar_store *find(boxcar_router *router, const char *key) {
    boxcar_store *store;
    boxcar_error err = BOXCAR_ERROR_INIT;

    if (boxcar_router_find(router, boxcar_str_of(key), &store, &err) != BOXCAR_OK)
        fail_msg("%s", err.message);
    return store;
}

/* OBX-072, OBX-121 */
static void a_key_finds_its_store_and_the_handle_is_kept(void **state) {
    const boxcar_store_entry entries[] = {entry_of("acme", "sqlite:acme.db"),
                                          entry_of("zoo", "sqlite:zoo.db"),
                                          entry_of("zoo2", "sqlite:./zoo.db")};
    boxcar_router *router;

    (void)state;
    assert_int_equal(new_router(entries, 3, NULL, NULL, 8, &router, NULL), BOXCAR_OK);
    boxcar_store *acme = find(router, "acme"), *zoo = find(router, "zoo");
    assert_ptr_not_equal(acme, zoo);
    assert_non_null(strstr(boxcar_store_id(acme), "/acme.db"));
    assert_ptr_equal(find(router, "acme"), acme);
    assert_ptr_equal(find(router, "zoo2"), zoo); /* one store, one handle */
    boxcar_router_free(router);
}

/* OBX-073 */
static void an_unknown_key_is_not_found_and_named(void **state) {
    const boxcar_store_entry entries[] = {entry_of("acme", "sqlite:acme.db")};
    boxcar_router *router;
    boxcar_store *store = NULL;
    boxcar_error err = BOXCAR_ERROR_INIT;

    (void)state;
    assert_int_equal(new_router(entries, 1, NULL, NULL, 8, &router, NULL), BOXCAR_OK);
    assert_int_equal(boxcar_router_find(router, BOXCAR_STR("nobody"), &store, &err), BOXCAR_E_NOT_FOUND);
    assert_non_null(strstr(err.message, "'nobody'"));
    assert_string_equal(err.argument, "key");
    assert_null(store);
    assert_int_equal(boxcar_router_find(router, BOXCAR_STR(""), &store, &err), BOXCAR_E_INVALID);
    boxcar_router_free(router);
}

/* OBX-074 */
static void a_uuid_is_the_same_key_in_every_spelling(void **state) {
    const boxcar_store_entry entries[] = {entry_of("018F0000-0000-7000-8000-00000000000A", "sqlite:uuid.db")};
    boxcar_router *router;
    boxcar_store *store;
    boxcar_uuid uuid;

    (void)state;
    assert_true(boxcar_uuid_parse(BOXCAR_STR("018f0000-0000-7000-8000-00000000000a"), &uuid));
    assert_int_equal(new_router(entries, 1, NULL, NULL, 8, &router, NULL), BOXCAR_OK);
    assert_int_equal(boxcar_router_find_id(router, uuid, &store, NULL), BOXCAR_OK);
    assert_ptr_equal(find(router, "018f0000-0000-7000-8000-00000000000a"), store);
    assert_ptr_equal(find(router, "018F0000-0000-7000-8000-00000000000A"), store);
    boxcar_router_free(router);
}

struct directory {
    int calls;
    const char *url;
};

static boxcar_status look_up(void *context, boxcar_str key, boxcar_store_entry *ret_entry,
                             boxcar_error *err) {
    struct directory *directory = context;

    (void)err;
    directory->calls++;
    if (key.len == 6 && memcmp(key.data, "nobody", 6) == 0)
        return BOXCAR_E_NOT_FOUND;
    ret_entry->url = boxcar_str_of(directory->url);
    return BOXCAR_OK;
}

static void a_callback_is_asked_once_until_the_key_is_forgotten(void **state) {
    struct directory directory = {0, "sqlite:one.db"};
    boxcar_router *router;
    boxcar_store *store;
    boxcar_error err = BOXCAR_ERROR_INIT;

    (void)state;
    assert_int_equal(new_router(NULL, 0, look_up, &directory, 8, &router, NULL), BOXCAR_OK);
    find(router, "a");
    find(router, "a");
    assert_int_equal(directory.calls, 1);
    directory.url = "sqlite:two.db";
    boxcar_router_forget(router, BOXCAR_STR("a"));
    boxcar_router_forget(router, BOXCAR_STR("unknown"));
    assert_non_null(strstr(boxcar_store_id(find(router, "a")), "/two.db"));
    assert_int_equal(directory.calls, 2);
    assert_int_equal(boxcar_router_find(router, BOXCAR_STR("nobody"), &store, &err), BOXCAR_E_NOT_FOUND);
    assert_non_null(strstr(err.message, "'nobody'"));
    boxcar_router_free(router);
}

/* What the function says of a key is asked again when the store has to be opened again, and is not kept until
 * then. */
static void a_closed_store_is_asked_for_again(void **state) {
    struct directory directory = {0, "sqlite:one.db"};
    boxcar_store_entry fixed = entry_of("fixed", "sqlite:fixed.db");
    boxcar_router *router;
    boxcar_store *store;

    (void)state;
    assert_int_equal(new_router(&fixed, 1, look_up, &directory, 1, &router, NULL), BOXCAR_OK);
    find(router, "a");
    find(router, "b"); /* of the same store */
    assert_int_equal(directory.calls, 2);
    find(router, "fixed"); /* closes it */
    directory.url = "sqlite:two.db";
    assert_non_null(strstr(boxcar_store_id(find(router, "a")), "/two.db"));
    assert_non_null(strstr(boxcar_store_id(find(router, "b")), "/two.db"));
    assert_int_equal(directory.calls, 4);
    directory.url = "sqlite:/no/such/folder/x.db";
    find(router, "fixed");
    assert_int_not_equal(boxcar_router_find(router, BOXCAR_STR("a"), &store, NULL), BOXCAR_OK);
    directory.url = "sqlite:three.db"; /* what could not be opened is asked for again, too */
    assert_non_null(strstr(boxcar_store_id(find(router, "a")), "/three.db"));
    boxcar_router_free(router);
}

/* Of one store: what another key has opened is closed as well. */
static void forgetting_a_key_closes_its_store(void **state) {
    struct directory directory = {0, "sqlite:one.db"};
    boxcar_store_entry fixed = entry_of("fixed", "sqlite:one.db");
    boxcar_router *router;

    (void)state;
    assert_int_equal(new_router(&fixed, 1, look_up, &directory, 8, &router, NULL), BOXCAR_OK);
    find(router, "a");
    find(router, "b");
    boxcar_router_forget(router, BOXCAR_STR("fixed")); /* was never found by this key */
    directory.url = "sqlite:two.db";
    assert_non_null(strstr(boxcar_store_id(find(router, "b")), "/two.db"));
    assert_non_null(strstr(boxcar_store_id(find(router, "a")), "/two.db"));
    boxcar_router_forget(router, BOXCAR_STR("a"));
    directory.url = "sqlite:three.db";
    assert_non_null(strstr(boxcar_store_id(find(router, "b")), "/three.db"));
    assert_non_null(strstr(boxcar_store_id(find(router, "fixed")), "/one.db"));
    boxcar_router_free(router);
}

static void no_more_stores_stay_open_than_allowed(void **state) {
    enum { STORES = 200 };
    char keys[STORES][16], urls[STORES][32];
    boxcar_store_entry entries[STORES];
    boxcar_router *router;

    (void)state;
    for (int i = 0; i < STORES; i++) {
        snprintf(keys[i], sizeof(keys[i]), "k%d", i);
        snprintf(urls[i], sizeof(urls[i]), "sqlite:many%d.db", i % 5);
        entries[i] = entry_of(keys[i], urls[i]);
    }
    assert_int_equal(new_router(entries, STORES, NULL, NULL, 2, &router, NULL), BOXCAR_OK);
    boxcar_store *first = find(router, "k0");
    find(router, "k1");
    assert_ptr_equal(find(router, "k0"), first);
    find(router, "k2"); /* closes k1, which was not used for longest */
    assert_ptr_equal(find(router, "k0"), first);
    for (int i = 0; i < STORES; i++)
        find(router, keys[i]);
    boxcar_router_free(router);
}

static void refuses(const boxcar_store_entry *entries, size_t count, int most_open, boxcar_status status,
                    const char *argument) {
    boxcar_router *router;
    boxcar_error err = BOXCAR_ERROR_INIT;

    assert_int_equal(new_router(entries, count, NULL, NULL, most_open, &router, &err), status);
    assert_string_equal(err.argument, argument);
}

/* BX-011 */
static void bad_tables_are_refused(void **state) {
    const boxcar_store_entry twins[] = {entry_of("a", "sqlite:a.db"), entry_of("a", "sqlite:b.db")};
    boxcar_store_entry nameless = entry_of("", "sqlite:a.db"), nowhere = entry_of("a", "what");

    (void)state;
    refuses(twins, 2, 8, BOXCAR_E_CONFLICT, "stores[1].key");
    refuses(&nameless, 1, 8, BOXCAR_E_INVALID, "stores[0].key");
    refuses(&nowhere, 1, 8, BOXCAR_E_INVALID, "stores[0].url");
    refuses(twins, 1, 0, BOXCAR_E_INVALID, "most_open");
    refuses(NULL, 1, 8, BOXCAR_E_INVALID, "stores");
    boxcar_router_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_finds_its_store_and_the_handle_is_kept),
        cmocka_unit_test(an_unknown_key_is_not_found_and_named),
        cmocka_unit_test(a_uuid_is_the_same_key_in_every_spelling),
        cmocka_unit_test(a_callback_is_asked_once_until_the_key_is_forgotten),
        cmocka_unit_test(a_closed_store_is_asked_for_again),
        cmocka_unit_test(forgetting_a_key_closes_its_store),
        cmocka_unit_test(no_more_stores_stay_open_than_allowed),
        cmocka_unit_test(bad_tables_are_refused),
    };

    return cmocka_run_group_tests_name("router", tests, make_folder, remove_folder);
}
