/* A fresh, deployed store for each test, whatever the kind: an SQLite file in a directory of its
 * own, or a PostgreSQL schema of its own, reached directly or through PgBouncer.
 *
 * The kind is chosen once per program with fixture_choose(); PostgreSQL is found through
 * BOXCAR_TEST_POSTGRES and BOXCAR_TEST_PGBOUNCER (see tests/support/with-postgres). */
#ifndef BOXCAR_TESTS_FIXTURE_H
#define BOXCAR_TESTS_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "boxcar.h"
#include "boxcar/postgres.h"
#include "boxcar/sqlite.h"
#include "claimers.h"

enum fixture_kind { FIXTURE_SQLITE = 1, FIXTURE_POSTGRES = 2, FIXTURE_PGBOUNCER = 4 };

struct fixture {
    enum fixture_kind kind;
    char directory[64]; /* SQLite: where the file lives; also a place for other files */
    char url[512];      /* as boxcar_store_options.url wants it */
    char schema[64];    /* PostgreSQL; empty for SQLite */
    boxcar_store *store;
    boxcar_owner owner, other; /* two workers */
    boxcar_error err;          /* of the last call that failed */
    bool is_reusable;          /* its schema is as a fresh one, once it is reset */
};

/* False: no such kind, or (*ret_skip) the environment lacks its server. */
bool fixture_choose(const char *kind_name, bool *ret_skip);
enum fixture_kind fixture_chosen(void);
bool fixture_is_sqlite(const struct fixture *f);

/* For cmocka: *state becomes a struct fixture with a deployed, open store. */
int fixture_setup(void **state);
/* The same place without a store in it: nothing deployed, nothing open. */
int fixture_setup_bare(void **state);
int fixture_teardown(void **state);

/* Whether tests may share a PostgreSQL schema, one after the other. Not those that change its functions,
 * rights or versions. fixture_end() drops what was kept for the next test. */
void fixture_reuse(bool may_reuse);
void fixture_end(void);
/* fixture_reset.c: what a fresh schema has, and making it fresh again. */
void fixture_remember(struct fixture *f);
void fixture_reset(struct fixture *f);

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
#define BARE_TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup_bare, fixture_teardown)

/* Options that lead to the fixture's store. */
boxcar_store_options fixture_options(const struct fixture *f);
/* One more handle on the same store, with a connection of its own. The caller closes it.
 * fixture_try_open() does not assert, for use off the main thread. */
boxcar_store *fixture_open(struct fixture *f);
boxcar_status fixture_try_open(const struct fixture *f, boxcar_store **ret_store, boxcar_error *err);
/* Opens with deployment off; the status is for the test to judge. */
boxcar_status fixture_open_undeployed(struct fixture *f, boxcar_store **ret_store);

/* SQL straight on the database, past the store: for set-ups and counts that the API does not
 * offer. Both texts are templates of the same statement; only the one that fits is run. In
 * PostgreSQL the search path is the fixture's schema. Text NULL = nothing to do there. */
void fixture_sql(struct fixture *f, const char *sqlite_text, const char *postgres_text);
int64_t fixture_sql_number(struct fixture *f, const char *sqlite_text, const char *postgres_text);

/* Handles of the caller's own for borrowing. fixture_connect() goes straight to the server with
 * the search path set; fixture_connect_kind() through the pooler when that is the kind. */
sqlite3 *fixture_open_sqlite(struct fixture *f);
PGconn *fixture_connect(struct fixture *f);
PGconn *fixture_connect_kind(struct fixture *f);

#endif
