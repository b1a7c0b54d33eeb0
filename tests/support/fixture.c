#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum fixture_kind chosen = FIXTURE_SQLITE;
static bool reuses;
static char kept[64]; /* a schema that is as fresh; empty = none */

static const struct {
    const char *name;
    enum fixture_kind kind;
    const char *variable; /* that names its server */
} KINDS[] = {
    {"sqlite", FIXTURE_SQLITE, NULL},
    {"postgres", FIXTURE_POSTGRES, "BOXCAR_TEST_POSTGRES"},
    {"pgbouncer", FIXTURE_PGBOUNCER, "BOXCAR_TEST_PGBOUNCER"},
};

bool fixture_choose(const char *kind_name, bool *ret_skip) {
    *ret_skip = false;
    for (size_t i = 0; i < sizeof(KINDS) / sizeof(KINDS[0]); i++) {
        if (strcmp(KINDS[i].name, kind_name) != 0)
            continue;
        chosen = KINDS[i].kind;
        *ret_skip = KINDS[i].variable && !getenv(KINDS[i].variable);
        return !*ret_skip;
    }
    return false;
}

enum fixture_kind fixture_chosen(void) { return chosen; }

bool fixture_is_sqlite(const struct fixture *f) { return f->kind == FIXTURE_SQLITE; }

static const char *server_url(enum fixture_kind kind) {
    return getenv(kind == FIXTURE_PGBOUNCER ? "BOXCAR_TEST_PGBOUNCER" : "BOXCAR_TEST_POSTGRES");
}

boxcar_store_options fixture_options(const struct fixture *f) {
    boxcar_store_options options = BOXCAR_STORE_OPTIONS_INIT;
    options.url = boxcar_str_of(f->url);
    if (f->schema[0] != '\0')
        options.schema = boxcar_str_of(f->schema);
    return options;
}

boxcar_status fixture_try_open(const struct fixture *f, boxcar_store **ret_store, boxcar_error *err) {
    boxcar_store_options options = fixture_options(f);
    return boxcar_store_open(&options, ret_store, err);
}

boxcar_store *fixture_open(struct fixture *f) {
    boxcar_store *store = NULL;
    if (fixture_try_open(f, &store, &f->err) != BOXCAR_OK)
        fail_msg("cannot open %s: %s", f->url, f->err.message);
    return store;
}

boxcar_status fixture_open_undeployed(struct fixture *f, boxcar_store **ret_store) {
    return fixture_try_open(f, ret_store, &f->err);
}

static void choose_place(struct fixture *f) {
    static unsigned counter;
    snprintf(f->directory, sizeof(f->directory), "/tmp/boxcar-test.XXXXXX");
    assert_non_null(mkdtemp(f->directory));
    if (fixture_is_sqlite(f)) {
        snprintf(f->url, sizeof(f->url), "sqlite:%s/store.db", f->directory);
        return;
    }
    snprintf(f->url, sizeof(f->url), "%s", server_url(f->kind));
    snprintf(f->schema, sizeof(f->schema), "test_%ld_%u", (long)getpid(), ++counter);
}

int fixture_setup_bare(void **state) {
    struct fixture *f = calloc(1, sizeof(*f));
    assert_non_null(f);
    *state = f;
    f->kind = chosen;
    f->owner.uuid = boxcar_uuid_new();
    f->other.uuid = boxcar_uuid_new();
    choose_place(f);
    return 0;
}

void fixture_reuse(bool may_reuse) { reuses = may_reuse; }

int fixture_setup(void **state) {
    fixture_setup_bare(state);
    struct fixture *f = *state;
    bool is_kept = reuses && kept[0] != '\0';
    if (is_kept)
        snprintf(f->schema, sizeof(f->schema), "%s", kept);
    kept[0] = '\0';
    boxcar_store_options options = fixture_options(f);
    options.deploy = !is_kept;
    if (boxcar_store_open(&options, &f->store, &f->err) != BOXCAR_OK) {
        print_error("cannot deploy %s: %s\n", f->url, f->err.message);
        return -1;
    }
    f->is_reusable = reuses && !fixture_is_sqlite(f);
    if (f->is_reusable && !is_kept)
        fixture_remember(f);
    return 0;
}

static void remove_directory(const char *directory) {
    static const char *const NAMES[] = {"store.db", "store.db-wal", "store.db-shm", "store.db-journal",
                                        "other.db"};
    for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++) {
        char path[128];
        snprintf(path, sizeof(path), "%s/%s", directory, NAMES[i]);
        unlink(path);
    }
    rmdir(directory);
}

static void drop_schema(struct fixture *f) {
    char drop[256];
    snprintf(drop, sizeof(drop),
             "drop schema if exists \"%1$s\" cascade; drop schema if exists \"%1$s_fresh\" cascade",
             f->schema);
    fixture_sql(f, NULL, drop);
}

void fixture_end(void) {
    struct fixture f = {.kind = chosen};
    if (kept[0] == '\0')
        return;
    snprintf(f.url, sizeof(f.url), "%s", server_url(f.kind));
    snprintf(f.schema, sizeof(f.schema), "%s", kept);
    kept[0] = '\0';
    drop_schema(&f);
}

int fixture_teardown(void **state) {
    struct fixture *f = *state;
    boxcar_store_close(f->store);
    if (f->is_reusable) {
        fixture_reset(f);
        snprintf(kept, sizeof(kept), "%s", f->schema);
    } else if (!fixture_is_sqlite(f)) {
        drop_schema(f);
    }
    remove_directory(f->directory);
    free(f);
    *state = NULL;
    return 0;
}
