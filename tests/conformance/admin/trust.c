/* Whose code runs, and with whose rights: nothing that another role put into a schema is executed by a
 * deployment or by the library's own statements, whatever the search_path is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "events.h"
#include "findings.h"
#include "joins.h"
#include "pg.h"

/* The attacker is a login role of this test's own; so is the victim, if it is no superuser. */
struct role {
    char name[80];
    char url[512];
};

static struct role role_of(struct fixture *f, const char *suffix) {
    struct role role;
    const char *server = strchr(getenv("BOXCAR_TEST_POSTGRES"), '@');
    assert_non_null(server);
    snprintf(role.name, sizeof(role.name), "%s_%s", f->schema, suffix);
    snprintf(role.url, sizeof(role.url), "postgres://%s:pw@%s", role.name, server + 1);
    return role;
}

/* May make schemas of its own. */
static struct role make_role(struct fixture *f, const char *suffix) {
    struct role role = role_of(f, suffix);
    PGconn *conn = fixture_connect(f);
    pg_exec(conn, "create role %s login password 'pw'", role.name);
    pg_exec(conn, "grant create on database boxcar to %s", role.name);
    PQfinish(conn);
    return role;
}

static void drop_role(struct fixture *f, const struct role *role) {
    PGconn *conn = fixture_connect(f);
    pg_exec(conn, "drop owned by %s cascade", role->name);
    pg_exec(conn, "drop role %s", role->name);
    PQfinish(conn);
}

static PGconn *connect_as(const struct role *role) {
    PGconn *conn = PQconnectdb(role->url);
    assert_int_equal(PQstatus(conn), CONNECTION_OK);
    return conn;
}

/* A function in `schema` that makes its author a superuser when a superuser runs it. */
static void plant_function(PGconn *conn, const struct role *author, const char *schema, const char *signature,
                           const char *returns) {
    pg_exec(conn,
            "create function %s.%s returns %s language plpgsql volatile as $$ begin "
            "begin execute 'alter role %s superuser'; exception when insufficient_privilege then null; end; "
            "return null; end $$",
            schema, signature, returns, author->name);
    pg_exec(conn, "grant usage on schema %s to public", schema);
}

static bool is_superuser(struct fixture *f, const struct role *role) {
    PGconn *conn = fixture_connect(f);
    bool is = pg_number(conn, "select rolsuper from pg_roles where rolname = '%s'", role->name) == 1;
    PQfinish(conn);
    return is;
}

/* Deploys into `schema` as this role; NULL = the tests' superuser. */
static boxcar_status deploy_as(struct fixture *f, const struct role *role, const char *schema) {
    boxcar_store_options options = fixture_options(f);
    boxcar_store *store = NULL;
    boxcar_status status;
    if (role)
        options.url = boxcar_str_of(role->url);
    options.schema = boxcar_str_of(schema);
    options.deploy = true;
    status = boxcar_store_open(&options, &store, &f->err);
    boxcar_store_close(store);
    return status;
}

static void assert_said(struct fixture *f, const char *part) {
    if (!strstr(f->err.message, part))
        fail_msg("\"%s\" does not say \"%s\"", f->err.message, part);
}

/* BX-011 */
static void function_planted_in_public_does_not_run_in_a_deployment(void **state) {
    struct fixture *f = *state;
    struct role mallory = make_role(f, "mallory");
    PGconn *conn = fixture_connect(f);
    pg_exec(conn, "select grant_access('%s', 'worker')", mallory.name);
    pg_exec(conn, "create schema %s_lure authorization %s", f->schema, mallory.name);
    pg_exec(conn, "alter role tester set search_path = %s_lure, public", f->schema);
    PQfinish(conn);
    conn = connect_as(&mallory);
    char lure[80];
    snprintf(lure, sizeof(lure), "%s_lure", f->schema);
    plant_function(conn, &mallory, lure, "format(text, text, name, text)", "text");
    plant_function(conn, &mallory, lure, "hashtext(varchar)", "int");
    PQfinish(conn);
    boxcar_status status = deploy_as(f, NULL, f->schema);
    conn = fixture_connect(f);
    pg_exec(conn, "alter role tester reset search_path");
    PQfinish(conn);
    ASSERT_OK(f, status);
    assert_false(is_superuser(f, &mallory));
    drop_role(f, &mallory);
}

/* BX-011 */
static void schema_of_another_role_is_refused_before_anything_in_it_is_read(void **state) {
    struct fixture *f = *state;
    struct role mallory = make_role(f, "mallory"), victim = make_role(f, "victim");
    PGconn *conn = connect_as(&mallory);
    pg_exec(conn, "create schema %s", f->schema);
    pg_exec(conn, "create table %s.log (who text)", f->schema);
    pg_exec(conn,
            "create function %s.spy() returns int language plpgsql volatile as $$ begin "
            "insert into %s.log values (current_user); return 0; end $$",
            f->schema, f->schema);
    pg_exec(conn, "create view %s.store as select %s.spy() as schema_version", f->schema, f->schema);
    pg_exec(conn, "grant all on schema %s to public", f->schema);
    pg_exec(conn, "grant all on all tables in schema %s to public", f->schema);
    ASSERT_FAILS(f, BOXCAR_E_DENIED, deploy_as(f, &victim, f->schema));
    assert_said(f, "belongs to role");
    assert_said(f, mallory.name);
    assert_said(f, victim.name);
    assert_int_equal(pg_number(conn, "select count(*) from %s.log", f->schema), 0);
    PQfinish(conn);
    drop_role(f, &mallory);
    drop_role(f, &victim);
}

/* BX-011: code in a schema can take back the role that a deployment has set. So a superuser does not run any
 * that somebody else could have put there. */
static void superuser_is_refused_where_another_role_can_plant_code(void **state) {
    struct fixture *f = *state;
    struct role mallory = make_role(f, "mallory");
    PGconn *conn = connect_as(&mallory);
    ASSERT_OK(f, deploy_as(f, &mallory, f->schema));
    pg_exec(conn,
            "create function %s.grab() returns trigger language plpgsql as $$ begin execute 'reset role'; "
            "execute 'alter role %s superuser'; return new; end $$",
            f->schema, mallory.name);
    pg_exec(conn, "create trigger grab before update on %s.store for each row execute function %s.grab()",
            f->schema, f->schema);
    pg_exec(conn, "drop function %s.outbox_reap", f->schema); /* so that a deployment has something to do */
    ASSERT_FAILS(f, BOXCAR_E_DENIED, deploy_as(f, NULL, f->schema));
    assert_said(f, mallory.name);
    assert_said(f, "alter schema");
    assert_false(is_superuser(f, &mallory));
    PQfinish(conn);
    drop_role(f, &mallory);
}

/* BX-011: the same where the owner is a group, and somebody is in it. Where nobody is, a superuser deploys
 * for it. */
static void superuser_deploys_for_a_role_that_nobody_can_act_as(void **state) {
    struct fixture *f = *state;
    struct role mallory = make_role(f, "mallory");
    PGconn *conn = fixture_connect(f);
    pg_exec(conn, "create role %s_group", f->schema);
    pg_exec(conn, "create schema %s authorization %s_group", f->schema, f->schema);
    pg_exec(conn, "grant %s_group to %s", f->schema, mallory.name);
    ASSERT_FAILS(f, BOXCAR_E_DENIED, deploy_as(f, NULL, f->schema));
    assert_said(f, mallory.name);
    pg_exec(conn, "revoke %s_group from %s", f->schema, mallory.name);
    ASSERT_OK(f, deploy_as(f, NULL, f->schema));
    assert_int_equal(pg_number(conn,
                               "select count(*) from pg_proc where pronamespace = '%s'::regnamespace "
                               "and proowner <> '%s_group'::regrole",
                               f->schema, f->schema),
                     0);
    pg_exec(conn, "drop owned by %s_group cascade", f->schema);
    pg_exec(conn, "drop role %s_group", f->schema);
    PQfinish(conn);
    drop_role(f, &mallory);
}

/* BX-011: a member of the owning role deploys for that role. */
static void member_of_the_owner_may_deploy(void **state) {
    struct fixture *f = *state;
    struct role team = make_role(f, "team"), member = make_role(f, "member");
    PGconn *conn = fixture_connect(f);
    pg_exec(conn, "create schema %s authorization %s", f->schema, team.name);
    pg_exec(conn, "grant %s to %s", team.name, member.name);
    ASSERT_OK(f, deploy_as(f, &member, f->schema));
    ASSERT_OK(f, deploy_as(f, &team, f->schema));
    assert_int_equal(pg_number(conn,
                               "select count(*) from pg_class where relnamespace = '%s'::regnamespace "
                               "and relowner <> '%s'::regrole",
                               f->schema, team.name),
                     0);
    PQfinish(conn);
    drop_role(f, &member);
    drop_role(f, &team);
}

/* BX-011: a role that may create in the schema could add a function that fits better than ours. */
static void schema_where_others_may_create_is_refused_and_the_doctor_names_them(void **state) {
    struct fixture *f = *state;
    struct role mallory = make_role(f, "mallory");
    PGconn *conn = fixture_connect(f);
    assert_found(f, "schema", BOXCAR_SEVERITY_OK, "");
    pg_exec(conn, "grant create on schema %s to %s", f->schema, mallory.name);
    ASSERT_FAILS(f, BOXCAR_E_DENIED, deploy_as(f, NULL, f->schema));
    assert_said(f, mallory.name);
    assert_said(f, "revoke create on schema");
    assert_found(f, "schema", BOXCAR_SEVERITY_PROBLEM, mallory.name);
    pg_exec(conn, "revoke create on schema %s from %s", f->schema, mallory.name);
    pg_exec(conn, "grant create on schema %s to public", f->schema);
    ASSERT_FAILS(f, BOXCAR_E_DENIED, deploy_as(f, NULL, f->schema));
    assert_said(f, "from public");
    pg_exec(conn, "revoke create on schema %s from public", f->schema);
    ASSERT_OK(f, deploy_as(f, NULL, f->schema));
    PQfinish(conn);
    drop_role(f, &mallory);
}

/* BX-011: a function that a role put there while it still could. */
static void function_of_another_role_that_looks_like_ours_is_refused(void **state) {
    struct fixture *f = *state;
    struct role mallory = make_role(f, "mallory");
    PGconn *conn = fixture_connect(f), *theirs = connect_as(&mallory);
    pg_exec(conn, "grant create, usage on schema %s to %s", f->schema, mallory.name);
    plant_function(theirs, &mallory, f->schema, "_setting(text, int)", "double precision");
    pg_exec(conn, "revoke create on schema %s from %s", f->schema, mallory.name);
    ASSERT_FAILS(f, BOXCAR_E_DENIED, deploy_as(f, NULL, f->schema));
    assert_said(f, "_setting");
    assert_said(f, mallory.name);
    pg_exec(theirs, "drop function %s._setting(text, int)", f->schema);
    ASSERT_OK(f, deploy_as(f, NULL, f->schema));
    PQfinish(theirs);
    PQfinish(conn);
    drop_role(f, &mallory);
}

/* Operators and a type that are found before PostgreSQL's own, and raise an error when they are used. */
static void lay_traps(struct fixture *f, const char *lure) {
    static const char *const TYPES[] = {"text", "name", "oid", "int8", "int2"};
    static const char *const OPERATORS[] = {"=", "<>"};
    PGconn *conn = fixture_connect(f);
    pg_exec(conn, "create schema %s", lure);
    for (size_t i = 0; i < sizeof(TYPES) / sizeof(TYPES[0]); i++) {
        pg_exec(
            conn,
            "create function %s.trap(pg_catalog.%s, pg_catalog.%s) returns pg_catalog.bool language plpgsql "
            "immutable as $$ begin raise exception 'trapped'; end $$",
            lure, TYPES[i], TYPES[i]);
        for (size_t k = 0; k < sizeof(OPERATORS) / sizeof(OPERATORS[0]); k++)
            pg_exec(conn,
                    "create operator %s.%s (leftarg = pg_catalog.%s, rightarg = pg_catalog.%s, function = "
                    "%s.trap)",
                    lure, OPERATORS[k], TYPES[i], TYPES[i], lure);
    }
    pg_exec(conn,
            "create function %s.trap(pg_catalog.text) returns pg_catalog.bool language plpgsql immutable "
            "as $$ begin raise exception 'trapped'; end $$",
            lure);
    pg_exec(conn, "create domain %s.text as pg_catalog.text check (%s.trap(value))", lure, lure);
    PQfinish(conn);
}

/* Every kind of statement once, those first that do more than call a function. */
static void use_everything(struct fixture *f) {
    boxcar_work_id work_id = enqueue(f, "mine", "p").work_id;
    boxcar_list_free(find(f, work_id));
    boxcar_message_filter page = BOXCAR_MESSAGE_FILTER_INIT;
    boxcar_message_list *messages = NULL;
    ASSERT_OK(f, boxcar_message_page(f->store, &page, &messages, &f->err));
    boxcar_list_free(messages);
    boxcar_join_id join = start_join(f, 2);
    enqueue_step(f, join);
    boxcar_join_member_list *members = NULL;
    ASSERT_OK(f, boxcar_join_member_page(f->store, join, (boxcar_message_id){0}, 10, &members, &f->err));
    boxcar_list_free(members);
    append(f, "s", BOXCAR_ANY_VERSION, "p");
    boxcar_list_free(read_stream(f, "s", 1, 10));
    assert_true(ack(f, f->owner, take_topic(f, f->owner, "mine", work_id)));
    boxcar_list_free(diagnose(f));
    ASSERT_OK(f, boxcar_maintenance_run(f->store, NULL, &f->err));
}

/* BX-011: on a connection of its own, and on the caller's, which has the caller's search_path. */
static void search_path_decides_nothing(void **state) {
    struct fixture *f = *state;
    char lure[80], url[640];
    snprintf(lure, sizeof(lure), "%s_lure", f->schema);
    snprintf(url, sizeof(url), "%s?options=-csearch_path%%3D%s,pg_catalog", getenv("BOXCAR_TEST_POSTGRES"),
             lure);
    lay_traps(f, lure);
    boxcar_store *own = f->store;
    boxcar_store_options options = fixture_options(f);
    options.url = boxcar_str_of(url);
    ASSERT_OK(f, boxcar_store_open(&options, &f->store, &f->err));
    use_everything(f);
    ASSERT_OK(f, boxcar_store_deploy(f->store, &f->err));
    boxcar_store_close(f->store);
    PGconn *conn = PQconnectdb(url);
    assert_int_equal(PQstatus(conn), CONNECTION_OK);
    ASSERT_OK(f, boxcar_store_borrow_postgres(conn, &options, &f->store, &f->err));
    use_everything(f);
    boxcar_store_close(f->store);
    PQfinish(conn);
    f->store = own;
    conn = fixture_connect(f);
    pg_exec(conn, "drop schema %s cascade", lure);
    PQfinish(conn);
}

/* BX-011: what has no search_path of its own runs only inside functions that have one. */
static void roles_cannot_call_what_has_no_search_path_of_its_own(void **state) {
    struct fixture *f = *state;
    static const char *const LEVELS[] = {"viewer", "producer", "worker"};
    PGconn *conn = fixture_connect(f);
    for (size_t i = 0; i < sizeof(LEVELS) / sizeof(LEVELS[0]); i++) {
        struct role role = make_role(f, LEVELS[i]);
        pg_exec(conn, "select grant_access('%s', '%s')", role.name, LEVELS[i]);
        assert_int_equal(
            pg_number(conn,
                      "select count(*) from pg_proc p where p.pronamespace = '%s'::regnamespace and "
                      "has_function_privilege('%s', p.oid, 'execute') and not exists ("
                      "select from unnest(p.proconfig) c where c = 'search_path=pg_catalog, pg_temp')",
                      f->schema, role.name),
            0);
        drop_role(f, &role);
    }
    PQfinish(conn);
}

/* BX-011: what the server refuses for good is not worth a retry. */
static void wrong_password_and_missing_database_are_told_apart_from_an_outage(void **state) {
    struct fixture *f = *state;
    struct role role = make_role(f, "member");
    const char *server = strchr(getenv("BOXCAR_TEST_POSTGRES"), '@') + 1;
    boxcar_store_options options = fixture_options(f);
    boxcar_store *store = NULL;
    char url[512];
    snprintf(url, sizeof(url), "postgres://%s:wrong@%s", role.name, server);
    options.url = boxcar_str_of(url);
    ASSERT_FAILS(f, BOXCAR_E_DENIED, boxcar_store_open(&options, &store, &f->err));
    assert_false(f->err.retryable);
    assert_string_equal(f->err.sqlstate, "28P01");
    snprintf(url, sizeof(url), "postgres://%s:pw@%.*s/no_such_database", role.name, (int)strcspn(server, "/"),
             server);
    options.url = boxcar_str_of(url);
    ASSERT_FAILS(f, BOXCAR_E_NOT_FOUND, boxcar_store_open(&options, &store, &f->err));
    assert_false(f->err.retryable);
    options.url = BOXCAR_STR("postgres://tester@127.0.0.1:1/boxcar");
    ASSERT_FAILS(f, BOXCAR_E_UNAVAILABLE, boxcar_store_open(&options, &store, &f->err));
    assert_true(f->err.retryable);
    drop_role(f, &role);
}

/* BX-011: a pooler gives one code for everything. */
static void refusal_by_a_pooler_names_both_possibilities(void **state) {
    struct fixture *f = *state;
    const char *pooler = getenv("BOXCAR_TEST_PGBOUNCER");
    boxcar_store_options options = fixture_options(f);
    boxcar_store *store = NULL;
    char url[512];
    assert_non_null(pooler);
    snprintf(url, sizeof(url), "%.*s/no_such_database", (int)(strrchr(pooler, '/') - pooler), pooler);
    options.url = boxcar_str_of(url);
    ASSERT_FAILS(f, BOXCAR_E_UNAVAILABLE, boxcar_store_open(&options, &store, &f->err));
    assert_said(f, "check the user, the password and the name of the database");
}

/* BX-011: in such a database one byte of a producer could stop every claim. */
static void database_that_does_not_check_texts_is_refused(void **state) {
    struct fixture *f = *state;
    boxcar_store_options options = fixture_options(f);
    boxcar_store *store = NULL;
    PGconn *conn = fixture_connect(f);
    const char *server = getenv("BOXCAR_TEST_POSTGRES");
    char url[512];
    pg_exec(conn,
            "create database %s_ascii encoding 'SQL_ASCII' template template0 lc_collate 'C' lc_ctype 'C'",
            f->schema);
    snprintf(url, sizeof(url), "%.*s/%s_ascii", (int)(strrchr(server, '/') - server), server, f->schema);
    options.url = boxcar_str_of(url);
    options.deploy = true;
    ASSERT_FAILS(f, BOXCAR_E_UNSUPPORTED, boxcar_store_open(&options, &store, &f->err));
    assert_said(f, "UTF8");
    pg_exec(conn, "drop database %s_ascii with (force)", f->schema);
    PQfinish(conn);
}

/* The list of objects is read from the migrations, and must be what they make. */
static void objects_of_a_store_are_known_by_name(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    int64_t before = pg_number(
        conn, "select count(*) from pg_class where relnamespace = '%s'::regnamespace and relkind = 'i'",
        f->schema);
    pg_exec(conn,
            "do $$ declare i regclass; begin for i in select x.indexrelid from pg_index x join pg_class c "
            "on c.oid = x.indexrelid where c.relnamespace = '%s'::regnamespace and not exists (select from "
            "pg_constraint k where k.conindid = c.oid) loop execute format('drop index %%s', i); end loop; "
            "end $$",
            f->schema);
    ASSERT_OK(f, boxcar_store_deploy(f->store, &f->err));
    assert_int_equal(
        pg_number(conn,
                  "select count(*) from pg_class where relnamespace = '%s'::regnamespace and relkind = 'i'",
                  f->schema),
        before);
    PQfinish(conn);
}

/* Any login can take any advisory lock: this one made deployments wait before version 10. BX-011 */
static void advisory_lock_of_an_outsider_does_not_hold_up_a_deployment(void **state) {
    struct fixture *f = *state;
    struct role mallory = make_role(f, "mallory");
    PGconn *conn = connect_as(&mallory);
    boxcar_store_options options = fixture_options(f);
    boxcar_store *store = NULL;
    pg_exec(conn, "select pg_advisory_lock(hashtext('boxcar deploy'), hashtext('%s'))", f->schema);
    options.answer_timeout_ms = 200; /* waits 2 s for locks */
    ASSERT_OK(f, boxcar_store_open(&options, &store, &f->err));
    ASSERT_OK(f, boxcar_store_deploy(store, &f->err));
    boxcar_store_close(store);
    PQfinish(conn);
    drop_role(f, &mallory);
}

/* BX-011: whatever access a role was given. */
static void only_the_owner_can_hold_up_a_deployment(void **state) {
    static const char *const ACCESS[] = {"viewer", "producer", "worker", "admin"};
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof(ACCESS) / sizeof(ACCESS[0]); i++) {
        struct role mallory = make_role(f, "mallory");
        PGconn *conn = fixture_connect(f);
        pg_exec(conn, "select grant_access('%s', '%s')", mallory.name, ACCESS[i]);
        PQfinish(conn);
        conn = connect_as(&mallory);
        pg_exec(conn, "begin");
        pg_fails(conn, "42501", "lock table %s.store in share update exclusive mode", f->schema);
        pg_exec(conn, "rollback");
        pg_exec(conn, "begin");
        pg_fails(conn, "42501", "lock table %s.store in access share mode", f->schema);
        PQfinish(conn);
        drop_role(f, &mallory);
    }
}

/* A deployment does not wait for ever, and says for whom it waited. */
static void deployment_that_waited_in_vain_names_the_session_in_the_way(void **state) {
    static const char *const LOCKS[] = {
        "lock table store in share update exclusive mode", /* another deployment */
        "lock table store in access exclusive mode"};
    struct fixture *f = *state;
    boxcar_store_options options = fixture_options(f);
    boxcar_store *store = NULL;
    options.answer_timeout_ms = 200;
    ASSERT_OK(f, boxcar_store_open(&options, &store, &f->err));
    for (size_t i = 0; i < sizeof(LOCKS) / sizeof(LOCKS[0]); i++) {
        PGconn *conn = fixture_connect(f);
        char session[100];
        pg_exec(conn, "set application_name = 'forgetful'");
        pg_exec(conn, "begin");
        pg_exec(conn, "%s", LOCKS[i]);
        snprintf(session, sizeof(session), "session %d (forgetful, role tester, idle in transaction)",
                 PQbackendPID(conn));
        ASSERT_FAILS(f, BOXCAR_E_UNAVAILABLE, boxcar_store_deploy(store, &f->err));
        assert_said(f, session);
        assert_said(f, "run `boxcar init` again");
        assert_true(f->err.retryable);
        PQfinish(conn);
        ASSERT_OK(f, boxcar_store_deploy(store, &f->err));
    }
    boxcar_store_close(store);
}

/* The same for one that nobody else sees yet: two that make the schema at once. */
static void first_deployment_that_waited_in_vain_names_the_session_in_the_way(void **state) {
    struct fixture *f = *state;
    boxcar_store_options options = fixture_options(f);
    boxcar_store *store = NULL;
    PGconn *conn = fixture_connect(f);
    char session[100];
    pg_exec(conn, "begin");
    pg_exec(conn, "create schema %s", f->schema);
    pg_exec(conn, "create table %s.store (a int)", f->schema);
    snprintf(session, sizeof(session), "session %d (", PQbackendPID(conn));
    options.deploy = true;
    options.answer_timeout_ms = 200;
    ASSERT_FAILS(f, BOXCAR_E_UNAVAILABLE, boxcar_store_open(&options, &store, &f->err));
    assert_said(f, session);
    pg_exec(conn, "rollback");
    PQfinish(conn);
    ASSERT_OK(f, boxcar_store_open(&options, &f->store, &f->err));
}

static const struct CMUnitTest TESTS[] = {
    TEST(advisory_lock_of_an_outsider_does_not_hold_up_a_deployment),
    TEST(only_the_owner_can_hold_up_a_deployment),
    TEST(deployment_that_waited_in_vain_names_the_session_in_the_way),
    BARE_TEST(first_deployment_that_waited_in_vain_names_the_session_in_the_way),
    TEST(function_planted_in_public_does_not_run_in_a_deployment),
    BARE_TEST(schema_of_another_role_is_refused_before_anything_in_it_is_read),
    BARE_TEST(superuser_is_refused_where_another_role_can_plant_code),
    BARE_TEST(superuser_deploys_for_a_role_that_nobody_can_act_as),
    BARE_TEST(member_of_the_owner_may_deploy),
    TEST(schema_where_others_may_create_is_refused_and_the_doctor_names_them),
    TEST(function_of_another_role_that_looks_like_ours_is_refused),
    TEST(search_path_decides_nothing),
    TEST(wrong_password_and_missing_database_are_told_apart_from_an_outage),
    TEST(refusal_by_a_pooler_names_both_possibilities),
    TEST(database_that_does_not_check_texts_is_refused),
    TEST(objects_of_a_store_are_known_by_name),
    TEST(roles_cannot_call_what_has_no_search_path_of_its_own),
};

/* Roles are the server's business: once, directly. */
const struct suite TRUST_SUITE = SUITE(TESTS);
