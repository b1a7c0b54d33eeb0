/* Every function that a producer, a worker or a viewer may execute is called with a wrong value for each of
 * its arguments in turn: null, empty, too long, negative, huge, infinite, JSON of another shape. It answers,
 * or it refuses with an error of Boxcar's own (SQLSTATE BX...), which shows no payload. Afterwards the store
 * is used as if nothing had happened. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance.h"
#include "pg.h"

#define SECRET "s3cret-payload"
#define OWNER "'11111111-1111-4111-8111-111111111111'"
#define JOIN "'22222222-2222-4222-8222-222222222222'"
#define MEMBER "'33333333-3333-4333-8333-333333333333'"
#define NIL "'00000000-0000-0000-0000-000000000000'"
#define NEW_ID "gen_random_uuid()"
/* A message that OWNER has leased; another one in each call. */
#define LEASED "@"
#define BOX "0"
#define SECRETS "array['" SECRET "']"

enum { ARGUMENTS_MAX = 24, LEASED_COUNT = 5000 };

/* A call that works. The types are the server's to say. */
struct call {
    const char *function;
    const char *arguments[ARGUMENTS_MAX];
};

#define ENQUEUE_ARGUMENTS                                                                                    \
    BOX, "array[" NEW_ID "]", "array['t']", SECRETS, "array['c']", "array['s']",                             \
        "array['{\"h\": \"" SECRET "\"}']", "array[now()]", "array[0]", "array[60000]", "array[3]", "false", \
        "array[" JOIN "]", "null", "null"
#define SETTLE_ARGUMENTS OWNER, "array[" LEASED "]", "array[0]"
#define BOX_SETTLE_ARGUMENTS BOX, SETTLE_ARGUMENTS

static const struct call CALLS[] = {
    {"_abandon", {BOX_SETTLE_ARGUMENTS, "array[0]", SECRETS}},
    {"_ack", {BOX_SETTLE_ARGUMENTS}},
    {"_ack_run", {BOX, OWNER, LEASED, LEASED, "0"}},
    {"_attach", {JOIN, "array[" NEW_ID "]"}},
    {"_attempts", {LEASED}},
    {"_attempts_spent", {LEASED, "true"}},
    {"_beat_alone", {OWNER, "'host'", "1", "1"}},
    {"_before_claims", {NULL}},
    {"_bury_expired", {BOX, "10"}},
    {"_checkup", {BOX, "'1 minute'", "'1 minute'", "10"}},
    {"_check_reader", {BOX}},
    {"_claim", {BOX, OWNER, "'1 second'", "1", "array['t']", "array['t']", "false", "true"}},
    {"_claim_blockers", {BOX}},
    {"_claim_own",
     {BOX, OWNER, "'1 second'", "1", "array['t']", "array['t']", "array[" NEW_ID "]", "1", "4096"}},
    {"_claim_numbered",
     {BOX, OWNER, "'1 second'", "1", "array['t']", "array['t']", "false", "true", "1", "false", "4096"}},
    {"_dead_page", {BOX, "'t'", "false", "1", "now()", "array[1]", "array[" NEW_ID "]", "1", "10"}},
    {"_defer", {BOX_SETTLE_ARGUMENTS, "array[0]"}},
    {"_delivery_attempts", {BOX, LEASED}},
    {"_derive_id", {"'n'", "'n'"}},
    {"_enqueue", {ENQUEUE_ARGUMENTS}},
    {"_enqueue_known", {NEW_ID, "'t'", "'" SECRET "'", NEW_ID}},
    {"_enqueue_messages",
     {ENQUEUE_ARGUMENTS, "array[" NEW_ID "]", "array[" NEW_ID "]", "array['c']", "array['T']",
      "array['{\"m\": [\"" SECRET "\"]}']", "false"}},
    {"_enqueue_one",
     {NEW_ID, "'t'", "'" SECRET "'", "'c'", "'s'", "'{\"h\": \"" SECRET "\"}'", "now()", "'1 second'",
      "'1 hour'", "3", "false", JOIN, NEW_ID, NEW_ID, "'c'", "'T'", "'{\"m\": [\"" SECRET "\"]}'"}},
    {"_enqueue_plain", {NEW_ID, "'t'", "'" SECRET "'"}},
    {"_evaluate_due_waits", {"10"}},
    {"_event_append",
     {"'s'", "null", "array[" NEW_ID "]", "array['T']", SECRETS, "array['c']",
      "array['{\"h\": \"" SECRET "\"}']", "array['t']", "array['c']"}},
    {"_event_read_all", {"0", "10", "array['T']", "array['T']", "'s'", "false"}},
    {"_expire_fresh", {BOX, "0", "10"}},
    {"_fail", {BOX_SETTLE_ARGUMENTS, SECRETS, "1"}},
    {"_fall_asleep", {OWNER, BOX, "array['t']", "array['t']", "'1 second'", "false"}},
    {"_farewell", {NEW_ID}},
    {"_get_up", {OWNER}},
    {"_give_back_claim", {BOX, OWNER, "1"}},
    {"_heartbeat", {OWNER, BOX, "'host'", "1", "1", "array['t']", "array['t']"}},
    {"_held_snapshots", {"10"}},
    {"_hold_keys", {"array[" NEW_ID "]"}},
    {"_ids", {"'{[1,3)}'"}},
    {"_inbox_accept", {"'s'", "gen_random_uuid()::text", "'h'", NEW_ID}},
    {"_inbox_enqueue",
     {"array[" NEW_ID "]", "array['t']", SECRETS, "array['c']", "array['s']",
      "array['{\"h\": \"" SECRET "\"}']", "array[now()]", "array[0]", "array[60000]", "array[3]",
      "array['s']", "array[gen_random_uuid()::text]", "array['h']", "array['c']", "array['T']",
      "array['{\"m\": [\"" SECRET "\"]}']"}},
    {"_inbox_enqueue_one",
     {NEW_ID, "'t'", "'" SECRET "'", "'c'", "'s'", "'{\"h\": \"" SECRET "\"}'", "now()", "'1 second'",
      "'1 hour'", "3", "'s'", "gen_random_uuid()::text", "'h'", "true", "'c'", "'T'",
      "'{\"m\": [\"" SECRET "\"]}'"}},
    {"_inbox_enqueue_plain",
     {NEW_ID, "'t'", "'" SECRET "'", "'s'", "gen_random_uuid()::text", "'h'", "true"}},
    {"_inbox_find", {"'s'", "'1'"}},
    {"_inbox_look", {"'s'", "gen_random_uuid()::text", "'h'", NEW_ID}},
    {"_instances", {NULL}},
    {"_is_drained", {BOX, "array['t']", "array['t']", "'1 minute'", "'join.wait'"}},
    {"_join_cancel", {NEW_ID}},
    {"_join_find", {JOIN}},
    {"_join_members", {JOIN, NEW_ID, "10"}},
    {"_join_page", {"'g'", "0", "now()", JOIN, "10", MEMBER}},
    {"_join_report", {JOIN, MEMBER, "1"}},
    {"_join_start", {NEW_ID, "1", "'g'", "'" SECRET "'", "now()", "60000"}},
    {"_join_wait", {JOIN, NEW_ID, "'{\"join_id\": \"x\", \"s\": \"" SECRET "\"}'", "'c'", "3", "'c'"}},
    {"_joins_ended", {NULL}},
    {"_live_hosts", {BOX, "'1 minute'"}},
    {"_live_patterns", {BOX, "'1 minute'"}},
    {"_lock_ahead", {OWNER, "array[" LEASED "]", "array[1]", "array[1]", "array[1]", "array[" JOIN "]"}},
    {"_lock_ahead_of",
     {BOX, "1", OWNER, "array[" LEASED "]", "array[1]", "array[1]", "array[1]", "array[" JOIN "]"}},
    {"_lock_joins", {OWNER, "array[" LEASED "]", "array[1]", "array[" JOIN "]"}},
    {"_locked_streams", {BOX}},
    {"_maintain", {BOX}},
    {"_page", {BOX, "'ready'", "'t'", "false", "1", "10"}},
    {"_query_shape", {"'select ''" SECRET "'' from " SECRET "'"}},
    {"_readers", {NULL}},
    {"_ready_topics", {BOX, "10"}},
    {"_reap", {BOX}},
    {"_record_stages", {BOX_SETTLE_ARGUMENTS, "array[1]"}},
    {"_register", {OWNER, BOX, "'host'", "1", "1", "array['t']", "array['t']"}},
    {"_remove_stale", {"'1 hour'"}},
    {"_renew", {BOX_SETTLE_ARGUMENTS, "'24 hours'"}},
    {"_resolve",
     {BOX_SETTLE_ARGUMENTS, "array[" JOIN "]", "array[true]", "array['t']", SECRETS, "array['t']", SECRETS,
      "array['c']", "array[" NEW_ID "]"}},
    {"_returned", {BOX, OWNER, "array[" LEASED "]"}},
    {"_sees_owners", {NULL}},
    {"_sequence_events", {"10", "false"}},
    {"_session", {"1", "'v'"}},
    {"_settings", {NULL}},
    {"_snapshot_holders", {"10"}},
    {"_sort_now", {BOX}},
    {"_spent", {BOX, LEASED, "true"}},
    {"_stages", {LEASED}},
    {"_stats", {BOX, "true"}},
    {"_store_info", {NULL}},
    {"_stream_holders", {BOX}},
    {"_stream_page", {BOX, "'s'", "false", "''", "''", "10"}},
    {"_stream_rules", {NULL}},
    {"_stream_violations", {NULL}},
    {"_schedule_slices", {"'t'", "'k'"}},
    {"_schedules", {"'t'", "'k'"}},
    {"_subscription_list", {"'s'", "false", "false"}},
    {"_subscriptions", {"'s'"}},
    {"_table_health", {NULL}},
    {"_try_claim", {BOX}},
    {"_veil", {OWNER}},
    {"_upkeep", {NULL}},
    {"_want_partitions", {"10000"}},
    {"_was_settled", {BOX, "'acked'", SETTLE_ARGUMENTS}},
    {"_work_ids", {BOX, "array[" NEW_ID "]"}},
    {"enqueue",
     {"'t'", "'" SECRET "'", "'c'", "now()", "'1 hour'", "'s'", "'{\"h\": \"" SECRET "\"}'", "null",
      "gen_random_uuid()::text", "3", JOIN, "false", "'c'", "'{\"m\": [\"" SECRET "\"]}'", "true", "'T'"}},
    {"enqueue_many", {"'[{\"topic\": \"t\", \"payload\": \"" SECRET "\"}]'"}},
    {"event_append",
     {"'s'", "'T'", "'" SECRET "'", "null", NEW_ID, "'{\"h\": \"" SECRET "\"}'", "'c'", "'t'", "'c'"}},
    {"event_append_many", {"'s'", "'[{\"type\": \"T\", \"payload\": \"" SECRET "\"}]'", "null"}},
    {"event_read", {"'s'", "1", "10"}},
    {"event_read_all", {"0", "10", "array['T']", "'s'"}},
    {"inbox_abandon", {SETTLE_ARGUMENTS, "'" SECRET "'", "'1 second'", "null"}},
    {"inbox_accept", {"'s'", "gen_random_uuid()::text", "'h'"}},
    {"inbox_ack", {SETTLE_ARGUMENTS, "null"}},
    {"inbox_already_processed", {"'s'", "gen_random_uuid()::text", "'h'"}},
    {"inbox_claim", {OWNER, "'1 second'", "1", "array['t']", "true", "null"}},
    {"inbox_defer", {SETTLE_ARGUMENTS, "'1 second'", "null"}},
    {"inbox_enqueue",
     {"'s'", "gen_random_uuid()::text", "'t'", "'" SECRET "'", "'h'", "'c'", "now()", "'1 hour'", "'s'",
      "'{\"h\": \"" SECRET "\"}'", "3", "'c'", "'{\"m\": [\"" SECRET "\"]}'", "true", "'T'"}},
    {"inbox_enqueue_many",
     {"'[{\"source\": \"s\", \"id\": \"1\", \"topic\": \"t\", \"payload\": \"" SECRET "\"}]'"}},
    {"inbox_fail", {SETTLE_ARGUMENTS, "'" SECRET "'", "null"}},
    {"inbox_reap", {"null"}},
    {"inbox_record_stages", {SETTLE_ARGUMENTS, "1", "null"}},
    {"inbox_renew", {SETTLE_ARGUMENTS, "'24 hours'", "null"}},
    {"inbox_work_ids", {"array[" NEW_ID "]"}},
    {"join_attach", {JOIN, NEW_ID}},
    {"join_attach_many", {JOIN, "array[" NEW_ID "]"}},
    {"join_cancel", {NEW_ID}},
    {"join_report_completed", {JOIN, MEMBER}},
    {"join_report_failed", {JOIN, MEMBER}},
    {"join_start", {"1", "'g'", "'" SECRET "'", "now()", NEW_ID}},
    {"join_wait", {JOIN, "true", "'t'", "'" SECRET "'", "'t'", "'" SECRET "'", "'c'", NEW_ID, "'c'"}},
    {"message_joins", {MEMBER}},
    {"outbox_abandon", {SETTLE_ARGUMENTS, "'" SECRET "'", "'1 second'", "null"}},
    {"outbox_ack", {SETTLE_ARGUMENTS, "null"}},
    {"outbox_claim", {OWNER, "'1 second'", "1", "array['t']", "true", "null"}},
    {"outbox_defer", {SETTLE_ARGUMENTS, "'1 second'", "null"}},
    {"outbox_fail", {SETTLE_ARGUMENTS, "'" SECRET "'", "null"}},
    {"outbox_reap", {"null"}},
    {"outbox_record_stages", {SETTLE_ARGUMENTS, "1", "null"}},
    {"outbox_renew", {SETTLE_ARGUMENTS, "'24 hours'", "null"}},
    {"outbox_work_ids", {"array[" NEW_ID "]"}},
    {"process_work_batch",
     {OWNER, "'{\"outbox\": {\"messages\": [{\"topic\": \"t\", \"payload\": \"" SECRET "\"}]}}'"}},
    {"schedule_complete", {"'t'", "'k'", "0", "1"}},
    {"schedule_plan", {OWNER, "'1 second'", "null", "10"}},
};
static const size_t CALL_COUNT = sizeof(CALLS) / sizeof(CALLS[0]);

/* What else a value of a type can be. */
enum { WRONG_MAX = 16 };

static const struct {
    const char *type;
    const char *values[WRONG_MAX];
} WRONG[] = {
    /* too long for an index, however well it is compressed */
    {"text",
     {"null", "''", "(select string_agg(md5(i::text), '') from generate_series(1, 200) i)",
      "'" SECRET " is no JSON'", "'{\"h\": \"" SECRET "'", "'[\"" SECRET "\"]'", "'{\"" SECRET "\": 5}'",
      "'{\"h\": [\"" SECRET "\"]}'", "'{\"" SECRET "\": \"\\u0000\"}'",
      "repeat('[', 100000) || '" SECRET "'"}},
    {"smallint", {"null", "-1", "7", "32767"}},
    {"integer", {"null", "-1", "0", "2147483647", "-2147483648"}},
    {"bigint", {"null", "-1", "0", "9223372036854775807", "-9223372036854775808"}},
    {"boolean", {"null"}},
    {"uuid", {"null", NIL, NEW_ID}},
    {"interval", {"null", "'-1 second'", "'0'", "'178000000 years'", "'-178000000 years'", "'300000 years'"}},
    {"timestamp with time zone", {"null", "'infinity'", "'-infinity'", "'294276-12-31'", "'4713-01-01 BC'"}},
    {"int8multirange", {"null", "'{}'", "'{(,)}'"}},
    {"jsonb",
     {"null", "'null'", "'5'", "'\"" SECRET "\"'", "'[]'", "'{}'", "'[1]'", "'[null]'", "'[\"" SECRET "\"]'",
      "'{\"h\": 5}'", "'{\"h\": [\"" SECRET "\"]}'",
      "'[{\"topic\": {}, \"type\": [], \"payload\": \"" SECRET "\"}]'",
      "'{\"outbox\": [], \"inbox\": 5, \"heartbeat\": {\"pid\": 1e300}}'",
      "'{\"outbox\": {\"claim\": {\"batch_size\": 1e300}, \"acks\": [1e300], \"lease\": \"" SECRET "\"}}'"}},
};

static const char *const *wrong_values(const char *type, size_t len) {
    for (size_t i = 0; i < sizeof(WRONG) / sizeof(WRONG[0]); i++)
        if (strlen(WRONG[i].type) == len && strncmp(WRONG[i].type, type, len) == 0)
            return WRONG[i].values;
    fail_msg("there are no wrong values of the type %s", type);
    return NULL;
}

struct sweep {
    struct fixture *f;
    PGconn *conn;
    int64_t next_leased;
    int refused, answered, faults;
};

/* `text` with a leased message where it asks for one. */
static void add_argument(struct sweep *sweep, char *sql, size_t size, const char *text) {
    for (; *text; text++) {
        size_t len = strlen(sql);
        if (*text == LEASED[0])
            snprintf(sql + len, size - len, "%lld", (long long)sweep->next_leased++);
        else
            snprintf(sql + len, size - len, "%c", *text);
    }
}

static bool shows_secret(const PGresult *result) {
    static const int FIELDS[] = {PG_DIAG_MESSAGE_PRIMARY, PG_DIAG_MESSAGE_DETAIL, PG_DIAG_MESSAGE_HINT,
                                 PG_DIAG_CONTEXT, PG_DIAG_COLUMN_NAME};
    for (size_t i = 0; i < sizeof(FIELDS) / sizeof(FIELDS[0]); i++) {
        const char *text = PQresultErrorField(result, FIELDS[i]);
        if (text && strstr(text, SECRET))
            return true;
    }
    return false;
}

/* All faults are told before the test fails. */
static void call(struct sweep *sweep, const char *sql) {
    PGresult *result = PQexec(sweep->conn, sql);
    const char *sqlstate = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    if (!sqlstate) {
        sweep->answered++;
    } else if (strncmp(sqlstate, "BX", 2) == 0 && !shows_secret(result)) {
        sweep->refused++;
    } else {
        sweep->faults++;
        print_error("%s\n  %s%s%s\n", sql, sqlstate, shows_secret(result) ? " shows a payload: " : ": ",
                    PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY));
    }
    PQclear(result);
}

/* The call with `value` in the place of argument `wrong`. */
static void call_with(struct sweep *sweep, const struct call *good, char types[][64], int count, int wrong,
                      const char *value) {
    char sql[8192];
    snprintf(sql, sizeof(sql), "select * from %s(", good->function);
    for (int i = 0; i < count; i++) {
        snprintf(sql + strlen(sql), sizeof(sql) - strlen(sql), "%s(", i ? ", " : "");
        add_argument(sweep, sql, sizeof(sql), i == wrong ? value : good->arguments[i]);
        snprintf(sql + strlen(sql), sizeof(sql) - strlen(sql), ")::%s", types[i]);
    }
    snprintf(sql + strlen(sql), sizeof(sql) - strlen(sql), ")");
    call(sweep, sql);
}

static void call_with_each_wrong_value(struct sweep *sweep, const struct call *good, char types[][64],
                                       int count, int wrong) {
    const char *type = types[wrong];
    size_t len = strlen(type);
    bool is_array = len > 2 && strcmp(type + len - 2, "[]") == 0;
    const char *const *values = wrong_values(type, is_array ? len - 2 : len);
    for (int i = 0; i < WRONG_MAX && values[i]; i++) {
        char value[512];
        snprintf(value, sizeof(value), is_array ? "array[%s]" : "%s", values[i]);
        call_with(sweep, good, types, count, wrong, value);
    }
    if (is_array && strcmp(good->arguments[wrong], "null") != 0) {
        char value[512];
        call_with(sweep, good, types, count, wrong, "null");
        call_with(sweep, good, types, count, wrong, "'{}'");
        snprintf(value, sizeof(value), "array[(%s)::%s, (%s)::%s]", good->arguments[wrong], type,
                 good->arguments[wrong], type);
        call_with(sweep, good, types, count, wrong, value); /* two dimensions */
        snprintf(value, sizeof(value), "(%s)::%s || (%s)::%s", good->arguments[wrong], type,
                 good->arguments[wrong], type);
        call_with(sweep, good, types, count, wrong, value); /* one more than the others have */
    }
}

static void sweep_function(struct sweep *sweep, const struct call *good, const char *types_text) {
    char types[ARGUMENTS_MAX][64];
    int count = 0;
    for (const char *at = types_text; *at; count++) {
        size_t len = strcspn(at, ",");
        assert_in_range(count, 0, ARGUMENTS_MAX - 1);
        assert_non_null(good->arguments[count]);
        snprintf(types[count], sizeof(types[count]), "%.*s", (int)len, at);
        at += len + (at[len] == ',');
    }
    call_with(sweep, good, types, count, -1, NULL);
    for (int i = 0; i < count; i++)
        call_with_each_wrong_value(sweep, good, types, count, i);
}

/* A login role of this test's own. */
static PGconn *connect_as(struct fixture *f, const char *access) {
    char url[512];
    PGconn *admin = fixture_connect(f);
    const char *server = strchr(getenv("BOXCAR_TEST_POSTGRES"), '@');
    assert_non_null(server);
    pg_exec(admin, "create role %s_%s login password 'pw'", f->schema, access);
    pg_exec(admin, "select grant_access('%s_%s', '%s')", f->schema, access, access);
    PQfinish(admin);
    snprintf(url, sizeof(url), "postgres://%s_%s:pw@%s", f->schema, access, server + 1);
    PGconn *conn = PQconnectdb(url);
    assert_int_equal(PQstatus(conn), CONNECTION_OK);
    pg_exec(conn, "set search_path = %s", f->schema);
    pg_exec(conn, "set statement_timeout = '60s'");
    pg_exec(conn, "set client_min_messages = error");
    return conn;
}

static void drop_role(struct fixture *f, const char *access) {
    PGconn *admin = fixture_connect(f);
    pg_exec(admin, "drop owned by %s_%s", f->schema, access);
    pg_exec(admin, "drop role %s_%s", f->schema, access);
    PQfinish(admin);
}

static const struct call *find_call(const char *function) {
    for (size_t i = 0; i < CALL_COUNT; i++)
        if (strcmp(CALLS[i].function, function) == 0)
            return &CALLS[i];
    fail_msg("%s is granted: add a call that works to CALLS", function);
    return NULL;
}

/* Work for the settling functions, a join, one of its members. */
static void prepare(struct sweep *sweep) {
    PGconn *conn = fixture_connect(sweep->f);
    pg_exec(conn, "select join_start(1000000, join_id => " JOIN ")");
    pg_exec(conn, "select join_attach(" JOIN ", " MEMBER ")");
    pg_exec(conn, "select enqueue('t', 'p') from generate_series(1, %d)", LEASED_COUNT);
    sweep->next_leased =
        pg_number(conn, "select min(work_id) from outbox_claim(" OWNER ", '24 hours', %d)", LEASED_COUNT);
    PQfinish(conn);
}

static void sweep_access(struct sweep *sweep, const char *access) {
    sweep->conn = connect_as(sweep->f, access);
    PGresult *granted = PQexec(
        sweep->conn,
        "select p.proname, (select coalesce(string_agg(format_type(t.oid, null), ',' order by t.n), '') "
        "from unnest(p.proargtypes::oid[]) with ordinality t(oid, n)) from pg_proc p "
        "where p.pronamespace = current_schema()::regnamespace and has_function_privilege(p.oid, 'execute') "
        "order by 1");
    assert_int_equal(PQresultStatus(granted), PGRES_TUPLES_OK);
    assert_true(PQntuples(granted) > 20);
    for (int i = 0; i < PQntuples(granted); i++)
        sweep_function(sweep, find_call(PQgetvalue(granted, i, 0)), PQgetvalue(granted, i, 1));
    PQclear(granted);
    PQfinish(sweep->conn);
    drop_role(sweep->f, access);
}

/* Whatever was accepted can be claimed, shown and counted. */
static void assert_store_works(struct fixture *f) {
    boxcar_work_id id = enqueue(f, "afterwards", "p").work_id;
    bool met = false;
    for (size_t count = 1; count > 0;) {
        boxcar_message_list *list = claim(f, f->owner, 1000);
        count = list->count;
        for (size_t i = 0; i < count; i++)
            met |= list->items[i]->work_id.value == id.value;
        boxcar_list_free(list);
    }
    assert_true(met);
    PGconn *conn = fixture_connect(f);
    assert_int_equal(
        pg_number(conn, "select count(*) from _try_claim(0::smallint) where failure is not null"), 0);
    assert_int_equal(
        pg_number(conn, "select count(*) from _try_claim(1::smallint) where failure is not null"), 0);
    assert_true(pg_number(conn, "select count(*) from outbox") > LEASED_COUNT);
    assert_true(pg_number(conn, "select count(*) from inbox") > 0);
    pg_exec(conn, "select _maintain(0::smallint), _maintain(1::smallint)");
    PQfinish(conn);
}

/* BX-010, BX-011 */
static void no_argument_breaks_a_function_that_a_role_can_call(void **state) {
    struct sweep sweep = {.f = *state};
    prepare(&sweep);
    sweep_access(&sweep, "worker"); /* which has what a producer has */
    sweep_access(&sweep, "viewer");
    assert_int_equal(sweep.faults, 0);
    assert_true(sweep.refused > 500 && sweep.answered > 500);
    assert_store_works(sweep.f);
}

static const struct CMUnitTest TESTS[] = {
    TEST(no_argument_breaks_a_function_that_a_role_can_call),
};

const struct suite ENTRY_SWEEP_SUITE = SUITE(TESTS);
