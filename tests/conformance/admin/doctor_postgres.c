/* The doctor on a server: what only PostgreSQL has. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "findings.h"
#include "pg.h"
#include "scenes.h"

/* Makes this session look as if its transaction had begun so long ago, and as if it were the only one. */
static void age_transaction(struct fixture *f, PGconn *session, const char *how_long) {
    PGconn *conn = fixture_connect(f);
    pg_exec(conn, "alter function _snapshot_holders rename to held_for_real");
    pg_exec(conn,
            "create function _snapshot_holders(max_rows int) returns table (pid int, gid text, name text, "
            "role_name text, "
            "state text, seconds double precision, query text, kind text, xids bigint) language sql as $$ "
            "select pid, gid, "
            "name, role_name, state, seconds + extract(epoch from interval '%s'), query, kind, xids "
            "from %s.held_for_real(1000000) where pid = %d $$",
            how_long, f->schema, PQbackendPID(session));
    PQfinish(conn);
}

/* A session in the midst of a transaction, with something in its last query that is nobody's business. */
static PGconn *hold_snapshot(struct fixture *f) {
    PGconn *conn = fixture_connect(f);
    pg_exec(conn, "set application_name = 'forgetful'");
    pg_exec(conn, "begin isolation level repeatable read");
    pg_exec(conn, "select 's3cret'");
    return conn;
}

static void open_transaction_of_a_moment_is_no_trouble(void **state) {
    struct fixture *f = *state;
    PGconn *holder = hold_snapshot(f);
    PGconn *conn = fixture_connect(f);
    assert_int_equal(
        pg_number(conn,
                  "select count(*) from _held_snapshots(100) where kind = 'session' and pid = %d "
                  "and name = 'forgetful' and state = 'idle in transaction' and seconds >= 0",
                  PQbackendPID(holder)),
        1);
    PQfinish(conn);
    assert_found(f, "held_snapshot", BOXCAR_SEVERITY_OK, "the oldest open transaction is");
    PQfinish(holder);
}

/* What a finding says of a session of ours. */
static void name_session(struct fixture *f, PGconn *session, const char *application, char ret_text[128]) {
    PGconn *conn = fixture_connect(f);
    PGresult *role = PQexec(conn, "select current_user");
    snprintf(ret_text, 128, "session %d (%s, role %s, idle in transaction)", PQbackendPID(session),
             application, PQgetvalue(role, 0, 0));
    PQclear(role);
    PQfinish(conn);
}

static void snapshot_of_some_seconds_is_named_and_no_trouble(void **state) {
    struct fixture *f = *state;
    PGconn *holder = hold_snapshot(f);
    char session[128];
    name_session(f, holder, "forgetful", session);
    age_transaction(f, holder, "90 s");
    assert_found(f, "held_snapshot", BOXCAR_SEVERITY_OK, session);
    assert_found(f, "held_snapshot", BOXCAR_SEVERITY_OK, "; query: select ...");
    PQfinish(holder);
}

/* BX-010 */
static void snapshot_held_for_minutes_is_a_warning_that_names_the_session(void **state) {
    struct fixture *f = *state;
    PGconn *holder = hold_snapshot(f);
    char session[128];
    name_session(f, holder, "forgetful", session);
    age_transaction(f, holder, "6 min");
    assert_found(f, "held_snapshot", BOXCAR_SEVERITY_WARNING, session);
    assert_found(f, "held_snapshot", BOXCAR_SEVERITY_WARNING, "in a transaction of 6m; query: select ...");
    boxcar_finding_list *list = diagnose(f);
    for (size_t i = 0; i < list->count; i++)
        assert_false(has_text(list->items[i]->text, "s3cret"));
    boxcar_list_free(list);
    PQfinish(holder);
}

static void snapshot_held_for_hours_is_a_problem(void **state) {
    struct fixture *f = *state;
    PGconn *holder = hold_snapshot(f);
    age_transaction(f, holder, "2 h");
    assert_found(f, "held_snapshot", BOXCAR_SEVERITY_PROBLEM, "(forgetful, role ");
    PQfinish(holder);
}

/* Other holders of rows; a test server has none of them, so their rows are made up. */
static void forgotten_slots_and_prepared_transactions_are_told(void **state) {
    struct fixture *f = *state;
    fixture_sql(
        f, NULL,
        "create or replace function _snapshot_holders(max_rows int) returns table (pid int, gid text, name "
        "text, "
        "role_name text, state text, seconds double precision, query text, kind text, xids bigint) language "
        "sql as $$ "
        "select pid, quote_literal(name), name, null, state, seconds, null, kind, xids from (values "
        "('prepared', null::int, 'transfer-7', 'prepared', 400::float8, 10::bigint), "
        "('slot', null, 'old_copy', 'inactive', null, 10), ('slot', null, 'copy', 'active', null, 10), "
        "('standby', 77, 'far', null, null, 2000000), ('standby', 78, 'near', null, null, 10)) "
        "h(kind, pid, name, state, seconds, xids) $$");
    boxcar_finding_list *list = diagnose(f);
    assert_int_equal(count_findings(list, "held_snapshot", NULL), 3);
    assert_int_equal(count_findings(list, "held_snapshot", "prepared transaction 'transfer-7' (role "), 1);
    assert_int_equal(count_findings(list, "held_snapshot", "slot old_copy (inactive)"), 1);
    assert_int_equal(count_findings(list, "held_snapshot", "standby behind session 77 (far)"), 1);
    boxcar_list_free(list);
    assert_found(f, "held_snapshot", BOXCAR_SEVERITY_WARNING, "old_copy");
}

static void transaction_that_only_writes_holds_as_well(void **state) {
    struct fixture *f = *state;
    PGconn *holder = fixture_connect(f), *conn = fixture_connect(f);
    pg_exec(holder, "begin");
    pg_exec(holder, "select pg_current_xact_id()");
    assert_int_equal(
        pg_number(conn, "select count(*) from _held_snapshots(100) where pid = %d", PQbackendPID(holder)), 1);
    pg_exec(holder, "commit");
    assert_int_equal(
        pg_number(conn, "select count(*) from _held_snapshots(100) where pid = %d", PQbackendPID(holder)), 0);
    PQfinish(conn);
    PQfinish(holder);
}

static void table_that_autovacuum_leaves_alone_is_a_warning(void **state) {
    struct fixture *f = *state;
    assert_found(f, "bloat", BOXCAR_SEVERITY_OK, "autovacuum keeps up");
    fixture_sql(f, NULL, "alter table lease set (autovacuum_enabled = false)");
    assert_found(f, "bloat", BOXCAR_SEVERITY_WARNING, "autovacuum is off for the table lease");
}

/* The server learns of dead rows when the session that made them ends. */
static void table_full_of_dead_rows_is_a_warning(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    pg_exec(conn, "alter table tally_delta set (autovacuum_enabled = false)");
    pg_exec(conn, "insert into tally_delta select n, n, 0 from generate_series(1, 100001) n");
    pg_exec(conn, "delete from tally_delta");
    PQfinish(conn);
    conn = fixture_connect(f);
    for (int i = 0; i < 200; i++) {
        if (pg_number(conn,
                      "select n_dead_tup from pg_stat_all_tables where relid = 'tally_delta'::regclass") >
            100000)
            break;
        pause_ms(50);
    }
    PQfinish(conn);
    assert_found(f, "bloat", BOXCAR_SEVERITY_WARNING, "the table tally_delta has 100001 dead rows");
}

/* Design 5.11 */
static void store_restored_from_elsewhere_is_a_problem(void **state) {
    struct fixture *f = *state;
    fixture_sql(f, NULL, "update store set system_identifier = '1'");
    assert_found(f, "schema", BOXCAR_SEVERITY_PROBLEM, "restored or copied");
}

/* BX-029 */
static void functions_of_another_build_are_noted(void **state) {
    struct fixture *f = *state;
    fixture_sql(f, NULL, "update store set functions_digest = 'another'");
    assert_found(f, "schema", BOXCAR_SEVERITY_NOTE, "another build");
}

/* BX-029 */
static void newer_schema_that_accepts_this_program_is_noted(void **state) {
    struct fixture *f = *state;
    fixture_sql(f, NULL, "update store set schema_version = schema_version + 1");
    assert_found(f, "schema", BOXCAR_SEVERITY_NOTE, "newer than this program");
}

/* BX-012 */
static void pooler_is_told_from_a_direct_connection(void **state) {
    struct fixture *f = *state;
    assert_found(f, "connection",
                 fixture_sql_number(f, NULL, "select (current_setting('fsync') = 'off')::int")
                     ? BOXCAR_SEVERITY_WARNING
                     : BOXCAR_SEVERITY_OK,
                 "");
    boxcar_finding_list *list = diagnose(f);
    bool pooled = f->kind == FIXTURE_PGBOUNCER;
    assert_int_equal(count_findings(list, "connection", "through a pooler"), pooled);
    assert_int_equal(count_findings(list, "connection", "directly"), !pooled);
    boxcar_list_free(list);
}

/* A topic must not be hidden by the many messages of another: stats look at a sample. */
static void topic_behind_many_messages_of_another_is_named(void **state) {
    struct fixture *f = *state;
    const boxcar_str topics[] = {BOXCAR_STR("a")};
    report_worker(f, f->owner, BOXCAR_OUTBOX, "here", topics, 1);
    fixture_sql(f, NULL,
                "insert into parked (work_id, box, available_at, topic) "
                "select n, 0, now() - interval '1 s', case when n <= 20000 then 'a' else 'z' end "
                "from generate_series(1, 20001) n");
    assert_found(f, "unhandled_topics", BOXCAR_SEVERITY_WARNING, "handles z");
}

/* ---- streams ---- */

/* Leases a message of a stream, acks it in a transaction, and goes about something else. */
static PGconn *hold_stream(struct fixture *f, const char *stream) {
    PGconn *conn = fixture_connect(f);
    boxcar_new_message message = new_message("t", "p");
    char owner[BOXCAR_UUID_TEXT_SIZE];
    message.stream = boxcar_str_of(stream);
    struct taken taken = take(f, f->owner, enqueue_message(f, &message).work_id);
    boxcar_uuid_format(f->owner.uuid, owner);
    pg_exec(conn, "set application_name = 'dawdler'");
    pg_exec(conn, "begin");
    pg_exec(conn, "select outbox_ack('%s', array[%lld], array[%lld]), 's3cret'", owner,
            (long long)taken.work_id.value, (long long)taken.epoch.value);
    return conn;
}

static void transaction_that_holds_a_stream_is_named(void **state) {
    struct fixture *f = *state;
    char session[128], held[256];
    assert_found(f, "held_streams", BOXCAR_SEVERITY_OK, "no session holds a stream");
    PGconn *holder = hold_stream(f, "order-7");
    name_session(f, holder, "dawdler", session);
    wait_out(f, 1000); /* less is nothing to speak of */
    snprintf(held, sizeof(held), "%s holds the stream order-7, in a transaction of ", session);
    assert_found(f, "held_streams", BOXCAR_SEVERITY_NOTE, held);
    assert_found(f, "held_streams", BOXCAR_SEVERITY_NOTE, "; query: select outbox_ack( ...");
    boxcar_finding_list *list = diagnose(f);
    snprintf(held, sizeof(held), "select pg_terminate_backend(%d);", PQbackendPID(holder));
    assert_true(has_text(only_finding(list, "held_streams")->remedy, held));
    boxcar_list_free(list);
    pg_exec(holder, "commit");
    assert_found(f, "held_streams", BOXCAR_SEVERITY_OK, "no session holds a stream");
    PQfinish(holder);
}

/* The row has the number of the savepoint then, and the server tells nobody whose that is. */
static void stream_that_was_locked_behind_a_savepoint_has_a_holder_as_well(void **state) {
    struct fixture *f = *state;
    char session[128];
    boxcar_new_message message = new_message("t", "p");
    message.stream = BOXCAR_STR("order-7");
    take(f, f->owner, enqueue_message(f, &message).work_id);
    PGconn *holder = fixture_connect(f);
    pg_exec(holder, "set application_name = 'dawdler'");
    pg_exec(holder, "begin");
    pg_exec(holder, "savepoint one");
    pg_exec(holder, "select from stream where key = 'order-7' for update");
    pg_exec(holder, "release savepoint one");
    name_session(f, holder, "dawdler", session);
    wait_out(f, 1000); /* less is nothing to speak of */
    assert_found(f, "held_streams", BOXCAR_SEVERITY_NOTE, session);
    PQfinish(holder);
}

/* Nor is a session named that held one. */
static void stream_held_for_a_moment_is_no_trouble(void **state) {
    struct fixture *f = *state;
    PGconn *holder = hold_stream(f, "order-7");
    PGconn *conn = fixture_connect(f);
    assert_int_equal(
        pg_number(conn, "select count(*) from _stream_holders(0::smallint) where stream = 'order-7'"), 1);
    assert_int_equal(pg_number(conn, "select count(*) from _stream_holders(1::smallint)"), 0);
    pg_exec(holder, "rollback");
    assert_int_equal(pg_number(conn, "select count(*) from _stream_holders(0::smallint)"), 0);
    PQfinish(conn);
    PQfinish(holder);
}

/* ---- what is shown of a query ---- */

static void assert_shape(PGconn *conn, const char *query, const char *shape) {
    const char *const values[] = {query};
    PGresult *result = PQexecParams(conn, "select coalesce(_query_shape($1), 'null')", 1, (const Oid[]){25},
                                    values, NULL, NULL, 0);
    if (PQresultStatus(result) != PGRES_TUPLES_OK || strcmp(PQgetvalue(result, 0, 0), shape) != 0)
        fail_msg("%s\n  becomes: %s%s", query, PQgetvalue(result, 0, 0), PQerrorMessage(conn));
    PQclear(result);
}

/* BX-010: what may be data is not shown, however the query is spelt or cut off. */
static void query_is_shown_without_its_data(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    assert_shape(conn, "select 's3cret'", "select ...");
    assert_shape(conn, "update message set payload = E'a\\'s3cret' where work_id = 7",
                 "update message set ? = ? ...");
    assert_shape(conn, "select $$s3cret$$", "select ...");
    assert_shape(conn, "select $tag$s3cret", "select ...");
    assert_shape(conn, "INSERT INTO \"message\" (\"s3cret\") VALUES ($1, s3cret, 42, 0x2a, 4.2e1)",
                 "insert into message (?) values ($1, ?, ?, ?, ?.?)");
    assert_shape(conn, "set app.token = s3cret", "set ?.? = ?");
    assert_shape(conn, "/* s3cret */ select 1 /* s3cret */", "select ? ...");
    assert_shape(conn, "-- s3cret\nselect 1 -- s3cret", "select ? ...");
    assert_shape(conn, "/* /* nested */ s3cret */ select", "? */ select");
    assert_shape(conn, "select \"s3cret", "select ...");
    assert_shape(conn,
                 "s\xc3\xa9"
                 "cret",
                 "?");
    assert_shape(conn, "begin; select outbox_claim(gen_random_uuid(), '30 s', 1)",
                 "begin; select outbox_claim(gen_random_uuid(), ...");
    assert_shape(conn, "  ", "null");
    PQfinish(conn);
}

/* ---- roles and settings: directly on the server ---- */

static boxcar_store *open_url(struct fixture *f, const char *url) {
    boxcar_store_options options = fixture_options(f);
    boxcar_store *store = NULL;
    options.url = boxcar_str_of(url);
    ASSERT_OK(f, boxcar_store_open(&options, &store, &f->err));
    return store;
}

/* A store opened with a role of this test's own that has the access named. */
static boxcar_store *open_as(struct fixture *f, const char *access) {
    char url[512];
    PGconn *conn = fixture_connect(f);
    pg_exec(conn, "create role %s_%s login password 'pw'", f->schema, access);
    pg_exec(conn, "select grant_access('%s_%s', '%s')", f->schema, access, access);
    PQfinish(conn);
    const char *server = strchr(getenv("BOXCAR_TEST_POSTGRES"), '@');
    assert_non_null(server);
    snprintf(url, sizeof(url), "postgres://%s_%s:pw%s", f->schema, access, server);
    return open_url(f, url);
}

static void close_as(struct fixture *f, const char *access, boxcar_store *store) {
    boxcar_store_close(store);
    PGconn *conn = fixture_connect(f);
    pg_exec(conn, "drop owned by %s_%s", f->schema, access);
    pg_exec(conn, "drop role %s_%s", f->schema, access);
    PQfinish(conn);
}

/* OBX-125 */
static void viewer_may_look_at_everything_but_others_sessions(void **state) {
    struct fixture *f = *state;
    boxcar_store *store = open_as(f, "viewer");
    PGconn *holder = hold_snapshot(f);
    enqueue_dead(f, "t", "no");
    assert_found_with(f, store, "dead_letters", BOXCAR_SEVERITY_NOTE, "1 dead letter");
    assert_found_with(f, store, "schema", BOXCAR_SEVERITY_OK, "schema version");
    assert_found_with(f, store, "bloat", BOXCAR_SEVERITY_OK, "autovacuum");
    assert_found_with(f, store, "held_snapshot", BOXCAR_SEVERITY_NOTE, "this role cannot see");
    assert_found_with(f, store, "held_snapshot", BOXCAR_SEVERITY_NOTE, ", role ");
    PQfinish(holder);
    close_as(f, "viewer", store);
}

/* Every role can see which session it is, but not its query; the finding names the right that shows the
 * query. OBX-125 */
static void viewer_is_told_who_holds_a_stream_and_what_would_show_more(void **state) {
    struct fixture *f = *state;
    boxcar_store *store = open_as(f, "viewer");
    PGconn *holder = hold_stream(f, "order-7"), *conn = fixture_connect(f);
    char session[128];
    snprintf(session, sizeof(session), "session %d (dawdler, role ", PQbackendPID(holder));
    assert_found_with(f, store, "held_streams", BOXCAR_SEVERITY_NOTE, session);
    assert_found_with(f, store, "held_streams", BOXCAR_SEVERITY_NOTE,
                      "whose age and query this role cannot see");
    boxcar_finding_list *list = diagnose_with(f, store);
    assert_true(has_text(only_finding(list, "held_streams")->remedy, "grant pg_read_all_stats to "));
    boxcar_list_free(list);
    pg_exec(conn, "grant pg_read_all_stats to %s_viewer", f->schema);
    assert_found_with(f, store, "held_streams", BOXCAR_SEVERITY_NOTE, "; query: select outbox_ack( ...");
    PQfinish(conn);
    PQfinish(holder);
    close_as(f, "viewer", store);
}

static void worker_may_look(void **state) {
    struct fixture *f = *state;
    boxcar_store *store = open_as(f, "worker");
    assert_found_with(f, store, "dead_letters", BOXCAR_SEVERITY_OK, "none");
    close_as(f, "worker", store);
}

/* OBX-123 */
static void producer_is_told_what_it_may_not_see(void **state) {
    struct fixture *f = *state;
    static const char *const CHECKS[] = {"schema",       "held_snapshot",    "bloat",          "held_streams",
                                         "workers",      "unhandled_topics", "expired_leases", "oldest_ready",
                                         "dead_letters", "halted_streams",   "stream_order",   "upkeep"};
    boxcar_store *store = open_as(f, "producer");
    for (size_t i = 0; i < sizeof(CHECKS) / sizeof(CHECKS[0]); i++)
        assert_found_with(f, store, CHECKS[i], BOXCAR_SEVERITY_NOTE, "not visible to this role");
    assert_found_with(f, store, "clock_skew", BOXCAR_SEVERITY_OK, "differ by");
    close_as(f, "producer", store);
}

/* BX-001, design 5.4 */
static void careless_settings_of_a_session_are_told(void **state) {
    struct fixture *f = *state;
    char url[700];
    snprintf(
        url, sizeof(url),
        "%s%coptions=-c%%20synchronous_commit%%3Doff%%20-c%%20default_transaction_isolation%%3Dserializable",
        f->url, strchr(f->url, '?') ? '&' : '?');
    boxcar_store *store = open_url(f, url);
    assert_found_with(f, store, "connection", BOXCAR_SEVERITY_WARNING, "synchronous_commit is off");
    boxcar_finding_list *list = diagnose_with(f, store);
    assert_int_equal(count_findings(list, "connection", "transactions are serializable by default"), 1);
    boxcar_list_free(list);
    boxcar_store_close(store);
    assert_int_equal(count_findings(list = diagnose(f), "connection", "synchronous_commit"), 0);
    boxcar_list_free(list);
}

/* In a transaction of the program's own nothing may fail, or the transaction would be lost. */
static void diagnosis_inside_a_transaction_of_the_program_does_not_end_it(void **state) {
    struct fixture *f = *state;
    boxcar_store_options options = fixture_options(f);
    boxcar_store *store = NULL;
    PGconn *conn = fixture_connect(f);
    ASSERT_OK(f, boxcar_store_borrow_postgres(conn, &options, &store, &f->err));
    pg_exec(conn, "begin");
    boxcar_list_free(diagnose_with(f, store));
    assert_int_equal(PQtransactionStatus(conn), PQTRANS_INTRANS);
    pg_exec(conn, "commit");
    boxcar_store_close(store);
    PQfinish(conn);
}

/* ---- claims ---- */

/* A session that has claimed and then does something else. */
static PGconn *hold_turn(struct fixture *f) {
    PGconn *conn = fixture_connect(f);
    pg_exec(conn, "set application_name = 'slowpoke'");
    pg_exec(conn, "begin; select _turn(0::smallint, true)");
    return conn;
}

/* BX-020: and nothing is left of it. */
static void claim_is_tried_and_taken_back(void **state) {
    struct fixture *f = *state;
    boxcar_work_id id = enqueue(f, "t", "p").work_id;
    int64_t rows = fixture_sql_number(f, NULL, "select count(*) from frontier");
    assert_found(f, "claim", BOXCAR_SEVERITY_OK, "had its turn after");
    assert_int_equal(fixture_sql_number(f, NULL, "select count(*) from frontier"), rows);
    assert_int_equal(fixture_sql_number(f, NULL, "select count(*) from lease"), 0);
    assert_true(ack(f, f->owner, take(f, f->owner, id)));
}

/* BX-020 */
static void transaction_that_keeps_the_turn_is_named(void **state) {
    struct fixture *f = *state;
    PGconn *holder = hold_turn(f);
    char session[64];
    snprintf(session, sizeof(session), "session %d (slowpoke, role ", PQbackendPID(holder));
    assert_found(f, "claim", BOXCAR_SEVERITY_PROBLEM, session);
    PQfinish(holder);
    assert_found(f, "claim", BOXCAR_SEVERITY_OK, "had its turn after");
}

/* BX-020 */
static void claim_that_fails_is_a_problem(void **state) {
    struct fixture *f = *state;
    fixture_sql(f, NULL, "alter table frontier rename column pool_from to misplaced");
    assert_found(f, "claim", BOXCAR_SEVERITY_PROBLEM, "a claim fails: ");
}

/* Behind messages that can be claimed lies one that cannot even be looked at. BX-020 */
static void claim_that_fails_for_other_topics_is_a_problem(void **state) {
    struct fixture *f = *state;
    enqueue(f, "t", "p");
    fixture_sql(f, NULL,
                "alter table message drop constraint message_limits; "
                "insert into message (message_id, box, lane, created_at, topic, payload) "
                "select gen_random_uuid(), 0, 0, now(), string_agg(md5(i::text), ''), 'p' from "
                "generate_series(1, 200) i");
    assert_found(f, "claim", BOXCAR_SEVERITY_PROBLEM, "a claim fails: index row size");
}

/* Viewers take no turn, and still learn which session has it. BX-020, OBX-125 */
static void viewer_is_told_who_keeps_the_turn(void **state) {
    struct fixture *f = *state;
    boxcar_store *store = open_as(f, "viewer");
    assert_found_with(f, store, "claim", BOXCAR_SEVERITY_OK, "no session keeps the claimers' turn");
    PGconn *conn = fixture_connect(f);
    pg_exec(conn, "grant pg_read_all_stats to %s_viewer", f->schema);
    PGconn *holder = hold_turn(f);
    wait_out(f, 1200); /* less is nothing to speak of */
    assert_found_with(f, store, "claim", BOXCAR_SEVERITY_PROBLEM, "(slowpoke, role ");
    PQfinish(holder);
    PQfinish(conn);
    close_as(f, "viewer", store);
}

static void assert_told_of(struct fixture *f, boxcar_store *store, const PGconn *holder, const char *what) {
    char session[80];
    snprintf(session, sizeof(session), "session %d (slowpoke, role ", PQbackendPID(holder));
    boxcar_finding_list *list = diagnose_with(f, store);
    const boxcar_finding *finding = only_finding(list, "claim");
    assert_int_equal(finding->severity, BOXCAR_SEVERITY_PROBLEM);
    assert_true(has_text(finding->text, session));
    assert_true(has_text(finding->text, what));
    assert_true(has_text(finding->text, "whose age and query this role cannot see"));
    assert_true(has_text(finding->remedy, "grant pg_read_all_stats to "));
    boxcar_list_free(list);
}

/* Not for how long: but that it is in the way, and which right shows more. BX-020, OBX-125 */
static void viewer_without_more_rights_is_told_who_is_in_the_way(void **state) {
    struct fixture *f = *state;
    boxcar_store *store = open_as(f, "viewer");
    PGconn *holder = hold_turn(f);
    assert_told_of(f, store, holder, " has the claimers' turn");
    pg_exec(holder, "commit; begin; lock table message in access exclusive mode");
    assert_told_of(f, store, holder, " has a lock on message (AccessExclusiveLock)");
    pg_exec(holder, "commit");
    assert_found_with(f, store, "claim", BOXCAR_SEVERITY_OK, "no session keeps the claimers' turn");
    PQfinish(holder);
    close_as(f, "viewer", store);
}

/* Leaves a trace of each try, instead of trying. */
static void trace_tries(struct fixture *f) {
    PGconn *conn = fixture_connect(f);
    pg_exec(conn, "create table tried (box smallint)");
    pg_exec(conn,
            "create or replace function _try_claim(p_box smallint, out had_turn boolean, out seconds double "
            "precision, "
            "out failure text) language sql volatile as $$ insert into %s.tried values (p_box); "
            "select true, 0::double precision, null::text $$",
            f->schema);
    PQfinish(conn);
}

static int64_t count_tries(struct fixture *f) {
    PGconn *conn = fixture_connect(f);
    int64_t count = pg_number(conn, "select count(*) from tried");
    PQfinish(conn);
    return count;
}

/* A claim that is tried keeps the turn for a moment. Workers look for trouble every minute, each of them.
 * BX-020 */
static void worker_that_looks_for_trouble_tries_no_claim(void **state) {
    struct fixture *f = *state;
    trace_tries(f);
    enqueue(f, "nobody.wants", "p");
    struct scene *s = scene_new(f);
    s->options.drain = false;
    s->options.maintain_ms = 50;
    scene_make(s);
    scene_handle(s, "orders");
    scene_start(s);
    while (!scene_logged(s, "nobody.wants"))
        pause_ms(10);
    scene_stop(s);
    scene_free(s);
    assert_int_equal(count_tries(f), 0);
    boxcar_list_free(diagnose(f));
    assert_int_equal(count_tries(f), 1);
}

static const struct CMUnitTest TESTS[] = {
    TEST(claim_is_tried_and_taken_back),
    TEST(transaction_that_keeps_the_turn_is_named),
    TEST(claim_that_fails_is_a_problem),
    TEST(claim_that_fails_for_other_topics_is_a_problem),
    TEST(open_transaction_of_a_moment_is_no_trouble),
    TEST(snapshot_of_some_seconds_is_named_and_no_trouble),
    TEST(snapshot_held_for_minutes_is_a_warning_that_names_the_session),
    TEST(snapshot_held_for_hours_is_a_problem),
    TEST(forgotten_slots_and_prepared_transactions_are_told),
    TEST(transaction_that_only_writes_holds_as_well),
    TEST(table_that_autovacuum_leaves_alone_is_a_warning),
    TEST(table_full_of_dead_rows_is_a_warning),
    TEST(store_restored_from_elsewhere_is_a_problem),
    TEST(functions_of_another_build_are_noted),
    TEST(newer_schema_that_accepts_this_program_is_noted),
    TEST(pooler_is_told_from_a_direct_connection),
    TEST(topic_behind_many_messages_of_another_is_named),
    TEST(transaction_that_holds_a_stream_is_named),
    TEST(stream_that_was_locked_behind_a_savepoint_has_a_holder_as_well),
    TEST(stream_held_for_a_moment_is_no_trouble),
    TEST(query_is_shown_without_its_data),
};

const struct suite DOCTOR_POSTGRES_SUITE = SUITE(TESTS);

static const struct CMUnitTest DIRECT_TESTS[] = {
    TEST(viewer_may_look_at_everything_but_others_sessions),
    TEST(viewer_is_told_who_holds_a_stream_and_what_would_show_more),
    TEST(worker_may_look),
    TEST(viewer_is_told_who_keeps_the_turn),
    TEST(viewer_without_more_rights_is_told_who_is_in_the_way),
    TEST(producer_is_told_what_it_may_not_see),
    TEST(careless_settings_of_a_session_are_told),
    TEST(diagnosis_inside_a_transaction_of_the_program_does_not_end_it),
    TEST(worker_that_looks_for_trouble_tries_no_claim),
};

/* Roles and session settings are the server's business: once, directly. */
const struct suite DOCTOR_ROLE_SUITE = SUITE(DIRECT_TESTS);
