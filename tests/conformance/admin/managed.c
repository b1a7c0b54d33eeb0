/* A server that somebody else runs: the role is no superuser, and pg_control_system() is refused to it. By
 * that function a store knows that it is where it was made; without it, a row of its own tells. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "findings.h"
#include "pg.h"

/* A database of this test's own, since rights on the server's functions are those of a database. */
struct place {
    char name[80], url[512];
    boxcar_store *store;
};

static PGconn *connect_to(const char *url) {
    PGconn *conn = PQconnectdb(url);
    assert_int_equal(PQstatus(conn), CONNECTION_OK);
    return conn;
}

static void run_as_superuser(const struct place *place, const char *text) {
    char url[512];
    const char *server = getenv("BOXCAR_TEST_POSTGRES");
    snprintf(url, sizeof(url), "%.*s/%s", (int)(strrchr(server, '/') - server), server, place->name);
    PGconn *conn = connect_to(url);
    pg_exec(conn, "%s", text);
    PQfinish(conn);
}

static void refuse(const struct place *place) {
    run_as_superuser(place, "revoke execute on function pg_control_system() from public");
}

static void allow(const struct place *place) {
    run_as_superuser(place, "grant execute on function pg_control_system() to public");
}

static struct place make_place(struct fixture *f) {
    struct place place = {.store = NULL};
    const char *server = strchr(getenv("BOXCAR_TEST_POSTGRES"), '@');
    PGconn *conn = fixture_connect(f);
    assert_non_null(server);
    snprintf(place.name, sizeof(place.name), "%s_managed", f->schema);
    snprintf(place.url, sizeof(place.url), "postgres://%s:pw%.*s/%s", place.name,
             (int)(strrchr(server, '/') - server), server, place.name);
    pg_exec(conn, "create role %s login password 'pw'", place.name);
    pg_exec(conn, "create database %s owner %s", place.name, place.name);
    PQfinish(conn);
    return place;
}

static boxcar_status open_place(struct fixture *f, struct place *place) {
    boxcar_store_options options = fixture_options(f);
    options.url = boxcar_str_of(place->url);
    options.schema = BOXCAR_STR("boxcar");
    options.deploy = true;
    boxcar_store_close(place->store);
    place->store = NULL;
    return boxcar_store_open(&options, &place->store, &f->err);
}

static void remove_place(struct fixture *f, struct place *place) {
    PGconn *conn = fixture_connect(f);
    boxcar_store_close(place->store);
    pg_exec(conn, "drop database %s with (force)", place->name);
    pg_exec(conn, "drop role %s", place->name);
    PQfinish(conn);
}

static boxcar_status claim_one(struct fixture *f, const struct place *place, size_t *ret_count) {
    boxcar_claimer claim = BOXCAR_CLAIMER_INIT;
    boxcar_message_list *list = NULL;
    claim.owner = f->owner;
    claim.lease_ms = 60000;
    claim.batch_size = 1;
    boxcar_status status = boxcar_claim(place->store, &claim, &list, &f->err);
    *ret_count = list->count;
    boxcar_list_free(list);
    return status;
}

static void assert_delivers(struct fixture *f, const struct place *place) {
    boxcar_new_message message = new_message("t", "p");
    boxcar_enqueued enqueued;
    size_t count = 0;
    ASSERT_OK(f, boxcar_enqueue(place->store, BOXCAR_OUTBOX, &message, &enqueued, &f->err));
    ASSERT_OK(f, claim_one(f, place, &count));
    assert_int_equal(count, 1);
}

/* What a dump that is restored does to the row that knows: it is written by another transaction. A claim
 * looks about once a second. */
static void copy_from_elsewhere(const struct place *place) {
    run_as_superuser(place,
                     "update boxcar.origin set xid = xid; update boxcar.frontier set look_at = '-infinity'");
}

static void assert_foreign(struct fixture *f, const struct place *place) {
    PGconn *conn = connect_to(place->url);
    PGresult *result = PQexec(conn, "select boxcar.outbox_claim(gen_random_uuid(), '30 s', 1)");
    const char *sqlstate = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    assert_non_null(sqlstate);
    assert_string_equal(sqlstate, "BX005");
    PQclear(result);
    PQfinish(conn);
    assert_found_with(f, place->store, "schema", BOXCAR_SEVERITY_PROBLEM, "restored or copied");
}

/* Design 5.11 */
static void store_is_deployed_and_used_without_the_servers_identifier(void **state) {
    struct fixture *f = *state;
    struct place place = make_place(f);
    refuse(&place);
    ASSERT_OK(f, open_place(f, &place));
    assert_delivers(f, &place);
    assert_found_with(f, place.store, "schema", BOXCAR_SEVERITY_OK, "schema version");
    assert_found_with(f, place.store, "claim", BOXCAR_SEVERITY_OK, "had its turn");
    run_as_superuser(&place, "vacuum full freeze boxcar.origin");
    allow(&place);
    ASSERT_OK(f, open_place(f, &place));
    assert_delivers(f, &place);
    remove_place(f, &place);
}

/* Design 5.11 */
static void copy_is_noticed_without_the_servers_identifier(void **state) {
    struct fixture *f = *state;
    struct place place = make_place(f);
    refuse(&place);
    ASSERT_OK(f, open_place(f, &place));
    assert_delivers(f, &place);
    copy_from_elsewhere(&place);
    assert_foreign(f, &place);
    assert_delivers(f, &place); /* the library adopts it */
    assert_found_with(f, place.store, "schema", BOXCAR_SEVERITY_OK, "schema version");
    remove_place(f, &place);
}

static void right_to_the_identifier_may_be_lost_and_come_back(void **state) {
    struct fixture *f = *state;
    struct place place = make_place(f);
    ASSERT_OK(f, open_place(f, &place));
    assert_delivers(f, &place);
    refuse(&place);
    run_as_superuser(&place, "update boxcar.frontier set look_at = '-infinity'");
    assert_delivers(f, &place);
    ASSERT_OK(f, open_place(f, &place));
    allow(&place);
    assert_found_with(f, place.store, "schema", BOXCAR_SEVERITY_OK, "schema version");
    remove_place(f, &place);
}

static const struct CMUnitTest TESTS[] = {
    TEST(store_is_deployed_and_used_without_the_servers_identifier),
    TEST(copy_is_noticed_without_the_servers_identifier),
    TEST(right_to_the_identifier_may_be_lost_and_come_back),
};

const struct suite MANAGED_SUITE = SUITE(TESTS);
