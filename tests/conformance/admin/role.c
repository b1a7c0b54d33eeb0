/* Rights on PostgreSQL: on functions only, nothing for PUBLIC, roles that may do just their part. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "findings.h"
#include "joins.h"
#include "pg.h"

/* A login role of this test's own with the access named (NULL = none), and its URL. */
struct role {
    char name[80];
    char url[512];
};

static struct role make_role(struct fixture *f, const char *access) {
    struct role role;
    snprintf(role.name, sizeof(role.name), "%s_%s", f->schema, access ? access : "stranger");
    const char *server = strchr(getenv("BOXCAR_TEST_POSTGRES"), '@');
    assert_non_null(server);
    snprintf(role.url, sizeof(role.url), "postgres://%s:pw@%s", role.name, server + 1);
    PGconn *conn = fixture_connect(f);
    pg_exec(conn, "create role %s login password 'pw'", role.name);
    if (access)
        pg_exec(conn, "select grant_access('%s', '%s')", role.name, access);
    PQfinish(conn);
    return role;
}

static void drop_role(struct fixture *f, const struct role *role) {
    PGconn *conn = fixture_connect(f);
    pg_exec(conn, "drop owned by %s", role->name);
    pg_exec(conn, "drop role %s", role->name);
    PQfinish(conn);
}

static PGconn *connect_as(struct fixture *f, const struct role *role) {
    PGconn *conn = PQconnectdb(role->url);
    assert_int_equal(PQstatus(conn), CONNECTION_OK);
    pg_exec(conn, "set search_path = %s", f->schema);
    return conn;
}

static boxcar_status open_as(struct fixture *f, const struct role *role, boxcar_store **ret_store) {
    boxcar_store_options options = fixture_options(f);
    options.url = boxcar_str_of(role->url);
    return boxcar_store_open(&options, ret_store, &f->err);
}

/* OBX-124, OBX-123 */
static void nothing_is_open_to_public(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    assert_true(pg_number(conn, "select count(*) from pg_proc where pronamespace = '%s'::regnamespace",
                          f->schema) > 9);
    assert_int_equal(
        pg_number(
            conn,
            "select count(*) from pg_proc p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a "
            "where p.pronamespace = '%s'::regnamespace and a.grantee = 0",
            f->schema),
        0);
    assert_int_equal(pg_number(conn,
                               "select count(*) from pg_class c, aclexplode(c.relacl) a "
                               "where c.relnamespace = '%s'::regnamespace and a.grantee = 0",
                               f->schema),
                     0);
    assert_int_equal(pg_number(conn,
                               "select count(*) from pg_namespace n, aclexplode(n.nspacl) a "
                               "where n.nspname = '%s' and a.grantee = 0",
                               f->schema),
                     0);
    PQfinish(conn);
}

/* BX-011 */
static void functions_that_run_with_their_owners_rights_pin_the_search_path(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    assert_int_equal(
        pg_number(conn,
                  "select count(*) from pg_proc where pronamespace = '%s'::regnamespace and prosecdef "
                  "and not exists (select from unnest(proconfig) c where c like 'search_path=%%')",
                  f->schema),
        0);
    PQfinish(conn);
}

/* OBX-124, BX-011 */
static void stranger_is_denied(void **state) {
    struct fixture *f = *state;
    struct role stranger = make_role(f, NULL);
    boxcar_store *store = NULL;
    ASSERT_FAILS(f, BOXCAR_E_DENIED, open_as(f, &stranger, &store));
    assert_null(store);
    assert_false(f->err.retryable);
    char granted[256];
    snprintf(granted, sizeof(granted), "select \"%s\".grant_access('%s', LEVEL); LEVEL is 'producer'",
             f->schema, stranger.name);
    assert_non_null(strstr(f->err.message, granted));
    PGconn *conn = connect_as(f, &stranger);
    pg_fails(conn, "42501", "select %s.enqueue('t', 'p')", f->schema);
    pg_fails(conn, "42501", "select * from %s.outbox", f->schema);
    PQfinish(conn);
    drop_role(f, &stranger);
}

/* OBX-123, OBX-124 */
static void producer_enqueues_and_does_nothing_else(void **state) {
    struct fixture *f = *state;
    struct role producer = make_role(f, "producer");
    boxcar_store *own = f->store;
    f->store = NULL;
    ASSERT_OK(f, open_as(f, &producer, &f->store));
    enqueue(f, "t", "p");
    enqueue_many(f, "t", 2, NULL);
    boxcar_claimer options = BOXCAR_CLAIMER_INIT;
    options.owner = f->owner;
    boxcar_message_list *list = NULL;
    ASSERT_FAILS(f, BOXCAR_E_DENIED, boxcar_claim(f->store, &options, &list, &f->err));
    assert_non_null(strstr(f->err.message, "needs worker access"));
    boxcar_message_filter page = BOXCAR_MESSAGE_FILTER_INIT;
    ASSERT_FAILS(f, BOXCAR_E_DENIED, boxcar_message_page(f->store, &page, &list, &f->err));
    assert_non_null(strstr(f->err.message, "needs viewer access"));
    assert_null(strstr(f->err.message, "'worker'"));
    boxcar_stats_list *stats = NULL;
    ASSERT_FAILS(f, BOXCAR_E_DENIED, boxcar_stats_read(f->store, BOXCAR_OUTBOX, false, &stats, &f->err));
    assert_non_null(strstr(f->err.message, "'viewer'); (with 'worker' it can run workers, too)"));
    ASSERT_FAILS(f, BOXCAR_E_DENIED, boxcar_audit_run(f->store, false, NULL, &f->err));
    assert_non_null(strstr(f->err.message, "needs admin access"));
    boxcar_store_close(f->store);
    f->store = own;
    PGconn *conn = connect_as(f, &producer);
    assert_int_equal(pg_number(conn, "select count(*) from enqueue('t', 'p')"), 1);
    pg_fails(conn, "42501", "select outbox_claim(gen_random_uuid(), '30 s', 1)");
    pg_fails(conn, "42501", "select payload from message");
    pg_fails(conn, "42501", "delete from message");
    PQfinish(conn);
    assert_int_equal(stats_of(f).ready, 4);
    drop_role(f, &producer);
}

/* OBX-112, OBX-120, OBX-123, OBX-124 */
static void worker_needs_no_right_on_any_table(void **state) {
    struct fixture *f = *state;
    struct role worker = make_role(f, "worker");
    boxcar_store *own = f->store;
    f->store = NULL;
    ASSERT_OK(f, open_as(f, &worker, &f->store));
    boxcar_work_id id = enqueue(f, "t", "p").work_id;
    assert_true(abandon(f, f->owner, take(f, f->owner, id), 0));
    assert_true(defer(f, f->owner, take(f, f->owner, id), 0));
    struct taken taken = take(f, f->owner, id);
    assert_true(renew(f, f->owner, taken, 60000));
    assert_true(ack(f, f->owner, taken));
    boxcar_work_id bad = enqueue(f, "t", "p").work_id;
    assert_true(bury(f, f->owner, take(f, f->owner, bad), "no"));
    assert_int_equal(reap(f), 0);
    boxcar_store_close(f->store);
    f->store = own;
    assert_status(f, id, BOXCAR_DONE);
    PGconn *conn = connect_as(f, &worker);
    pg_fails(conn, "42501", "select work_id from message");
    pg_fails(conn, "42501", "delete from lease");
    PQfinish(conn);
    drop_role(f, &worker);
}

static boxcar_verdict ack_it(void *context, boxcar_delivery *delivery) {
    (void)context;
    (void)delivery;
    return BOXCAR_VERDICT_ACK;
}

static void count_heartbeat_lines(void *context, const boxcar_log_record *record) {
    if (strcmp(record->event, "heartbeat") == 0)
        (*(int *)context)++;
}

/* Works everything off, as a role that may not call these functions; returns how often it complained. */
static int work_without(struct fixture *f, const struct role *role, const char *functions) {
    boxcar_store_options store = fixture_options(f);
    boxcar_worker_options options = BOXCAR_WORKER_OPTIONS_INIT;
    boxcar_worker *worker = NULL;
    PGconn *conn = fixture_connect(f);
    int complaints = 0;
    pg_exec(conn, "select grant_access('%s', 'worker')", role->name);
    pg_exec(conn, "revoke execute on function %s from %s", functions, role->name);
    PQfinish(conn);
    store.url = boxcar_str_of(role->url);
    store.log = count_heartbeat_lines; /* the loop's own thread says it */
    store.log_context = &complaints;
    options.store = &store;
    options.drain = true;
    options.maintain_ms = 0;
    enqueue_many(f, "t", 20, NULL);
    ASSERT_OK(f, boxcar_worker_new(&options, &worker, &f->err));
    ASSERT_OK(f,
              boxcar_worker_handle(worker, HANDLER(BOXCAR_OUTBOX, BOXCAR_STR("t"), ack_it, NULL), &f->err));
    ASSERT_OK(f, boxcar_worker_run(worker, &f->err));
    boxcar_worker_free(worker);
    assert_int_equal(stats_of(f).ready + stats_of(f).in_progress, 0);
    return complaints;
}

/* BX-023: it is not listed, and complains once. If only the batch may not register it, a call without the
 * batch does. */
static void worker_that_may_not_register_works(void **state) {
    struct fixture *f = *state;
    struct role role = make_role(f, "worker");
    assert_int_equal(work_without(f, &role, "_heartbeat, _register"), 1);
    assert_int_equal(work_without(f, &role, "_register"), 0);
    drop_role(f, &role);
}

/* OBX-125, OBX-123 */
static void viewer_sees_everything_but_payloads(void **state) {
    struct fixture *f = *state;
    enqueue_dead(f, "t", "no");
    struct role viewer = make_role(f, "viewer");
    PGconn *conn = connect_as(f, &viewer);
    assert_int_equal(
        pg_number(conn, "select count(work_id) from outbox where status = 'failed' and topic = 't'"), 1);
    assert_int_equal(pg_number(conn, "select count(work_id) from dead_letter where reason = 'rejected'"), 1);
    pg_fails(conn, "42501", "select payload from outbox");
    pg_fails(conn, "42501", "select payload from message");
    pg_fails(conn, "42501", "select enqueue('t', 'p')");
    PQfinish(conn);
    drop_role(f, &viewer);
}

/* OBX-123, OBX-124, OBX-083 */
static void producer_may_start_fill_and_wait_for_joins(void **state) {
    struct fixture *f = *state;
    struct role producer = make_role(f, "producer");
    boxcar_store *own = f->store;
    f->store = NULL;
    ASSERT_OK(f, open_as(f, &producer, &f->store));
    boxcar_join_id id = start_join(f, 3);
    boxcar_enqueued step = enqueue_step(f, id);
    assert_false(attach(f, id, step.message_id).is_new);
    boxcar_message_id by_hand = {boxcar_uuid_new()};
    assert_true(attach(f, id, by_hand).is_new);
    assert_true(report(f, id, by_hand, BOXCAR_MEMBER_FAILED));
    enqueue_wait(f, id);
    ASSERT_OK(f, boxcar_join_cancel(f->store, id, &f->err));
    boxcar_store_close(f->store);
    f->store = own;
    assert_join(f, id, BOXCAR_JOIN_CANCELLED, 0, 1);
    PGconn *conn = connect_as(f, &producer);
    assert_int_equal(pg_number(conn, "select join_start(1) is not null"), 1);
    pg_fails(conn, "42501", "delete from join_member");
    PQfinish(conn);
    drop_role(f, &producer);
}

/* OBX-123, JOIN-030, JOIN-053 */
static void worker_counts_steps_and_evaluates_waits(void **state) {
    struct fixture *f = *state;
    struct role worker = make_role(f, "worker");
    boxcar_store *own = f->store;
    boxcar_join_id id = start_join(f, 2);
    boxcar_enqueued wait = enqueue_wait(f, id);
    boxcar_store *hand = NULL;
    ASSERT_OK(f, open_as(f, &worker, &hand));
    f->store = hand;
    assert_true(ack(f, f->owner, take_step(f, id)));
    struct taken taken = take_topic(f, f->owner, WAIT, wait.work_id);
    f->store = own; /* a worker may not read what it has not claimed */
    assert_int_equal(resolve_in(f, hand, taken), WAIT_DEFERRED);
    f->store = hand;
    assert_true(bury(f, f->owner, take_step(f, id), "no")); /* evaluates the wait */
    f->store = own;
    ASSERT_OK(f, boxcar_maintenance_run(hand, NULL, &f->err));
    boxcar_store_close(hand);
    assert_continuation(f, wait, "failed", "no");
    drop_role(f, &worker);
}

/* OBX-123, OBX-125 */
static void viewer_sees_joins_and_changes_none(void **state) {
    struct fixture *f = *state;
    enqueue_step(f, start_join(f, 2));
    struct role viewer = make_role(f, "viewer");
    PGconn *conn = connect_as(f, &viewer);
    assert_int_equal(pg_number(conn, "select expected_steps from outbox_join where status = 'pending'"), 2);
    assert_int_equal(pg_number(conn, "select count(*) from outbox_join_member where status = 'pending'"), 1);
    pg_fails(conn, "42501", "select join_start(1)");
    pg_fails(conn, "42501", "select join_cancel(join_id) from outbox_join");
    pg_fails(conn, "42501", "select join_attach(join_id, gen_random_uuid()) from outbox_join");
    PQfinish(conn);
    drop_role(f, &viewer);
}

/* BX-001 */
static void caller_is_told_when_the_connection_breaks_and_does_not_come_back(void **state) {
    struct fixture *f = *state;
    struct role role = make_role(f, "worker");
    boxcar_store_options options = fixture_options(f);
    options.url = boxcar_str_of(role.url);
    options.busy_timeout_ms = 100;
    boxcar_store *store = NULL;
    ASSERT_OK(f, boxcar_store_open(&options, &store, &f->err));
    PGconn *conn = fixture_connect(f);
    pg_exec(conn, "alter role %s nologin", role.name);
    pg_exec(conn, "select pg_terminate_backend(pid, 5000) from pg_stat_activity where usename = '%s'",
            role.name);
    boxcar_new_message message = new_message("t", "p");
    ASSERT_FAILS(f, BOXCAR_E_UNAVAILABLE, boxcar_enqueue(store, BOXCAR_OUTBOX, &message, NULL, &f->err));
    assert_true(f->err.retryable);
    assert_true(f->err.outcome_unknown);
    pg_exec(conn, "alter role %s login", role.name);
    ASSERT_OK(f, boxcar_enqueue(store, BOXCAR_OUTBOX, &message, NULL, &f->err));
    boxcar_store_close(store);
    PQfinish(conn);
    drop_role(f, &role);
}

/* BX-029: an upgrade drops and adds functions; a role that had access before has access to all of them. */
static void roles_keep_their_access_through_an_upgrade(void **state) {
    struct fixture *f = *state;
    struct role worker = make_role(f, "worker"), viewer = make_role(f, "viewer");
    PGconn *conn = fixture_connect(f);
    pg_exec(conn, "create role %s_gone", f->schema);
    pg_exec(conn, "select grant_access('%s_gone', 'worker')", f->schema);
    pg_exec(conn, "revoke all on schema %s from %s_gone", f->schema, f->schema);
    pg_exec(conn, "drop function join_start, _maintain, _join_find, _resolve cascade");
    pg_exec(conn, "update store set functions_digest = 'of another version'");
    ASSERT_OK(f, boxcar_store_deploy(f->store, &f->err));
    assert_int_equal(pg_number(conn,
                               "select count(*) from pg_proc p where p.pronamespace = '%s'::regnamespace and "
                               "p.proname in ('join_start', '_maintain', '_join_find', '_resolve') and "
                               "has_function_privilege('%s', p.oid, 'execute')",
                               f->schema, worker.name),
                     4);
    assert_int_equal(pg_number(conn,
                               "select count(*) from pg_proc p where p.pronamespace = '%s'::regnamespace and "
                               "p.proname in ('join_start', '_maintain', '_join_find', '_resolve') and "
                               "has_function_privilege('%s', p.oid, 'execute')",
                               f->schema, viewer.name),
                     1);
    assert_int_equal(pg_number(conn,
                               "select count(*) from unnest(array['%s_gone']) r where "
                               "has_schema_privilege(r, '%s', 'usage')",
                               f->schema, f->schema),
                     0);
    pg_exec(conn, "drop owned by %s_gone", f->schema);
    pg_exec(conn, "drop role %s_gone", f->schema);
    PQfinish(conn);
    drop_role(f, &worker);
    drop_role(f, &viewer);
}

/* How many of the owners that these queries show are the real one. */
static int64_t count_shown(PGconn *conn, const char *owner, bool is_worker) {
    int64_t shown = pg_number(conn, "select count(*) from _instances() where instance_id = '%s'", owner);
    shown += pg_number(
        conn, "select count(*) from _stream_page(0::smallint, null, false, '', '', 10) where owner = '%s'",
        owner);
    if (is_worker)
        return shown;
    return shown + pg_number(conn, "select count(*) from outbox where owner = '%s'", owner) +
           pg_number(conn, "select count(*) from outbox where processed_by = '%s'", owner) +
           pg_number(conn, "select count(*) from instance where instance_id = '%s'", owner) +
           pg_number(conn, "select count(*) from stream_state where owner = '%s'", owner) +
           pg_number(
               conn,
               "select count(*) from _page(0::smallint, null, null, false, null, 10) where owner = '%s'",
               owner) +
           pg_number(conn,
                     "select count(*) from (select work_id from outbox) m, _attempts(m.work_id) a where "
                     "a.owner = '%s'",
                     owner);
}

/* BX-002: a role that knows the id could settle its owner's messages. */
static void owner_ids_are_shown_to_admins_only(void **state) {
    struct fixture *f = *state;
    struct role roles[] = {make_role(f, "admin"), make_role(f, "viewer"), make_role(f, "worker")};
    boxcar_str topics[] = {BOXCAR_STR("t")};
    char owner[BOXCAR_UUID_TEXT_SIZE];
    boxcar_uuid_format(f->owner.uuid, owner);
    report_worker(f, f->owner, BOXCAR_OUTBOX, "here", topics, 1);
    enqueue_done(f, "t");
    boxcar_work_id held = enqueue_streamed(f, "s", "p").work_id;
    abandon(f, f->owner, take(f, f->owner, held), 0);
    take(f, f->owner, held);
    for (size_t i = 0; i < 3; i++) {
        PGconn *conn = connect_as(f, &roles[i]);
        assert_int_equal(count_shown(conn, owner, i == 2), i == 0 ? 8 : 0);
        assert_int_equal(
            pg_number(conn, "select count(*) from _instances() where host = 'here' and leased = 1"), 1);
        if (i == 2)
            assert_int_equal(
                pg_number(conn, "select count(*) from _instances() i, outbox_ack(i.instance_id, array[%lld])",
                          (long long)held.value),
                0);
        PQfinish(conn);
    }
    boxcar_store *store = NULL;
    boxcar_instance_list *list = NULL;
    ASSERT_OK(f, open_as(f, &roles[2], &store));
    ASSERT_OK(f, boxcar_instance_read(store, &list, &f->err));
    assert_int_equal(list->count, 1);
    assert_true(boxcar_instance_is(list->items[0], f->owner));
    assert_false(boxcar_instance_is(list->items[0], f->other));
    boxcar_list_free(list);
    boxcar_store_close(store);
    for (size_t i = 0; i < 3; i++)
        drop_role(f, &roles[i]);
}

static const struct CMUnitTest TESTS[] = {
    TEST(caller_is_told_when_the_connection_breaks_and_does_not_come_back),
    TEST(nothing_is_open_to_public),
    TEST(functions_that_run_with_their_owners_rights_pin_the_search_path),
    TEST(stranger_is_denied),
    TEST(producer_enqueues_and_does_nothing_else),
    TEST(worker_needs_no_right_on_any_table),
    TEST(worker_that_may_not_register_works),
    TEST(viewer_sees_everything_but_payloads),
    TEST(producer_may_start_fill_and_wait_for_joins),
    TEST(worker_counts_steps_and_evaluates_waits),
    TEST(viewer_sees_joins_and_changes_none),
    TEST(roles_keep_their_access_through_an_upgrade),
    TEST(owner_ids_are_shown_to_admins_only),
};

/* Roles are the server's business: once, directly. */
const struct suite ROLE_SUITE = SUITE(TESTS);
