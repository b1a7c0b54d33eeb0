/* The SQL surface of the PostgreSQL store, used as a program in any language would use it, and
 * what the C library promises on PostgreSQL alone. */
#include <stdio.h>
#include <string.h>

#include "borrow.h"
#include "conformance.h"
#include "pg.h"

#define OWNER "'00000000-0000-7000-8000-000000000001'::uuid"
#define OTHER "'00000000-0000-7000-8000-000000000002'::uuid"

/* OBX-112, OBX-108 */
static void functions_have_the_documented_signatures(void **state) {
    static const char *const SIGNATURES[] = {
        "enqueue(text,text,text,timestamptz,interval,text,jsonb,uuid,text,int,uuid,boolean,text,jsonb,"
        "boolean,text)",
        "enqueue_many(jsonb)",
        "outbox_claim(uuid,interval,int,text[],boolean,text)",
        "outbox_ack(uuid,bigint[],bigint[],text)",
        "outbox_abandon(uuid,bigint[],bigint[],text,interval,text)",
        "outbox_defer(uuid,bigint[],bigint[],interval,text)",
        "outbox_fail(uuid,bigint[],bigint[],text,text)",
        "outbox_renew(uuid,bigint[],bigint[],interval,text)",
        "outbox_reap(text)",
        "process_work_batch(uuid,jsonb)",
        "outbox_record_stages(uuid,bigint[],bigint[],int,text)",
        "inbox_record_stages(uuid,bigint[],bigint[],int,text)",
        "subscription_add(text,text[],text,text,boolean,interval,bigint)",
        "subscription_change(text,text[],interval,bigint)",
        "subscription_pause(text)",
        "subscription_resume(text)",
        "subscription_rewind(text,text)",
        "subscription_remove(text,boolean)",
        "fanout_add(text,text[],text[],text,text,boolean,text,text)",
        "fanout_pause(text)",
        "fanout_resume(text)",
        "fanout_rewind(text,text)",
        "fanout_remove(text,boolean)",
        "schedule_add(text,text,interval,interval,int,text,text)",
        "schedule_pause(text,text)",
        "schedule_resume(text,text)",
        "schedule_remove(text,text)",
        "schedule_complete(text,text,int,bigint)",
        "schedule_plan(uuid,interval,bigint,int)",
    };
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    for (size_t i = 0; i < sizeof(SIGNATURES) / sizeof(SIGNATURES[0]); i++)
        if (pg_number(conn, "select to_regprocedure('%s.%s') is not null", f->schema, SIGNATURES[i]) != 1)
            fail_msg("there is no %s", SIGNATURES[i]);
    PQfinish(conn);
}

/* OBX-001, OBX-006, OBX-016 */
static void enqueue_needs_only_topic_and_payload_and_says_what_it_stored(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    assert_int_equal(pg_number(conn, "select work_id from enqueue('t', '')"), 1);
    assert_int_equal(pg_number(conn, "select duplicate from enqueue('t', 'p')"), 0);
    assert_int_equal(pg_number(conn,
                               "select count(*) from enqueue('t', 'p') where message_id::text ~ "
                               "'^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$' and "
                               "abs(('x' || translate(left(message_id::text, 13), '-', ''))::bit(48)::bigint "
                               "- extract(epoch from clock_timestamp()) * 1000) < 60000"),
                     1);
    assert_int_equal(pg_number(conn, "select count(*) from outbox where status = 'ready' and retry_count = 0 "
                                     "and not is_processed"),
                     3);
    boxcar_message_list *list = claim(f, f->owner, 10);
    assert_int_equal(list->count, 3);
    assert_text(list->items[0]->payload, "");
    boxcar_list_free(list);
    PQfinish(conn);
}

/* OBX-008, OBX-012, BX-027 */
static void enqueue_takes_everything_by_name(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    pg_exec(conn,
            "select enqueue(topic => 't', payload => 'p', correlation_id => 'c', due_at => now() - interval "
            "'1 s', "
            "ttl => '1 hour', stream => 's', headers => '{\"h\": \"v\"}', key => 'k', max_attempts => 4)");
    boxcar_message_list *list = claim(f, f->owner, 1);
    const boxcar_message *m = look(list);
    assert_text(m->correlation_id, "c");
    assert_text(m->stream, "s");
    assert_int_equal(m->max_attempts, 4);
    assert_true(m->expires_at == m->created_at + INT64_C(3600) * 1000000);
    assert_same_message_id(m->message_id, boxcar_message_id_of_topic_key(BOXCAR_STR("t"), BOXCAR_STR("k")));
    boxcar_list_free(list);
    assert_int_equal(pg_number(conn, "select duplicate from enqueue('t', 'y', key => 'k')"), 1);
    pg_exec(conn, "select enqueue('later', 'p', correlation_id => '', due_at => now() + interval '1 hour')");
    assert_int_equal(pg_number(conn, "select correlation_id is null from outbox where topic = 'later'"), 1);
    assert_nothing_claimable(f);
    PQfinish(conn);
}

/* OBX-003, BX-001 */
static void enqueue_in_sql_is_delivered_if_and_only_if_its_transaction_commits(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    pg_exec(conn, "begin");
    pg_exec(conn, "select enqueue('t', 'never')");
    assert_nothing_claimable(f);
    pg_exec(conn, "rollback");
    assert_nothing_claimable(f);
    pg_exec(conn, "begin");
    int64_t id = pg_number(conn, "select work_id from enqueue('t', 'surely')");
    pg_exec(conn, "commit");
    take(f, f->owner, (boxcar_work_id){id});
    PQfinish(conn);
}

/* BX-027 */
static void enqueue_takes_unique_keys(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    static const char UNIQUE[] = "select duplicate from enqueue('t', 'p', key => 'k', \"unique\" => true)";
    static const char MANY[] =
        "select count(*) from enqueue_many('[{\"topic\": \"t\", \"payload\": \"p\", \"key\": \"k\", "
        "\"unique\": true}, {\"topic\": \"u\", \"payload\": \"p\", \"key\": \"k\", \"unique\": true}, "
        "{\"topic\": \"u\", \"payload\": \"p\", \"key\": \"k\", \"unique\": false}]') where duplicate";
    assert_int_equal(pg_number(conn, UNIQUE), 0);
    assert_int_equal(pg_number(conn, UNIQUE), 1);
    assert_int_equal(pg_number(conn, MANY), 1);
    assert_int_equal(pg_number(conn, MANY), 3);
    assert_int_equal(pg_number(conn, "select count(*) from outbox_claim(" OWNER ", '30 s', 10)"), 3);
    assert_int_equal(
        pg_number(conn, "select count(*) from outbox_ack(" OWNER ", array(select work_id from outbox))"), 3);
    assert_int_equal(pg_number(conn, MANY), 1); /* a key without unique is remembered */
    assert_int_equal(pg_number(conn, UNIQUE), 1);
    pg_fails(conn, "BX001", "select enqueue('t', 'p', \"unique\" => true)");
    pg_fails(conn, "BX001",
             "select enqueue_many('[{\"topic\": \"t\", \"payload\": \"p\", \"unique\": true}]')");
    pg_fails(
        conn, "BX001",
        "select enqueue_many('[{\"topic\": \"t\", \"payload\": \"p\", \"key\": \"k\", \"unique\": 1}]')");
    PQfinish(conn);
}

/* BX-027, BX-029: what a program of schema version 9 calls, with the id that it derives from the key alone.
 */
static void program_of_version_9_finds_keys_of_newer_ones(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    static const char OLD[] =
        "select duplicate from _enqueue(0::smallint, array[_derive_id('boxcar:key:', 'k')], array['%s'], "
        "array['p'], null, null, null, null, null, null, null, false, null)";
    assert_int_equal(pg_number(conn, "select duplicate from enqueue('t', 'p', key => 'k')"), 0);
    assert_int_equal(pg_number(conn, OLD, "t"), 1);
    assert_int_equal(pg_number(conn, OLD, "u"), 0);
    assert_int_equal(pg_number(conn, "select duplicate from enqueue('u', 'p', key => 'k')"), 1);
    assert_int_equal(pg_number(conn, "select duplicate from enqueue('v', 'p', key => 'k')"), 0);
    assert_int_equal(pg_number(conn, "select count(*) from message"), 3);
    PQfinish(conn);
}

/* Each ack by itself, more than are looked at one by one; as a busy store is without upkeep. */
static void done_is_counted_while_nobody_keeps_house(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    int64_t wanted = 120000;
    pg_exec(
        conn,
        "insert into message (message_id, box, lane, era, created_at, topic, payload) "
        "select gen_random_uuid(), 0, 0, 0, now(), 't.' || i / 80000, 'p' from generate_series(1, 120000) i");
    pg_exec(conn, "insert into finished select work_id, work_id, 0, 1, " OWNER ", now() from message");
    pg_exec(conn, "insert into tally_delta (first_id, last_id, box) select work_id, work_id, 0 from message");
    boxcar_stats_list *list = NULL;
    ASSERT_OK(f, boxcar_stats_read(f->store, BOXCAR_OUTBOX, true, &list, &f->err));
    assert_int_equal(list->count, 3);
    for (size_t i = 0; i < 3; i++) {
        const boxcar_stats *stats = list->items[i];
        int64_t of_row = i == 0 ? wanted : i == 1 ? 80000 : 40000;
        assert_true(stats->done > of_row - wanted / 20 && stats->done < of_row + wanted / 20);
        assert_false(stats->exact);
        assert_int_equal(stats->estimated & BOXCAR_STATS_DONE, BOXCAR_STATS_DONE);
    }
    boxcar_list_free(list);
    PQfinish(conn);
}

/* OBX-097, BX-027 */
static void enqueue_many_gives_a_row_for_each_message_in_order(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    pg_exec(conn,
            "create temporary table r as select row_number() over () n, e.* from enqueue_many('["
            "{\"topic\": \"a\", \"payload\": \"1\", \"key\": \"k\"}, {\"topic\": \"b\", \"payload\": \"2\"},"
            "{\"topic\": \"a\", \"payload\": \"3\", \"key\": \"k\"}]') e");
    assert_int_equal(pg_number(conn, "select count(*) from r"), 3);
    assert_int_equal(pg_number(conn, "select work_id from r where n = 1"),
                     pg_number(conn, "select work_id from r where n = 3"));
    assert_int_equal(pg_number(conn, "select count(*) from r where duplicate = (n = 3)"), 3);
    assert_int_equal(pg_number(conn, "select count(*) from outbox"), 2);
    pg_fails(conn, "BX",
             "select enqueue_many('[{\"topic\": \"a\", \"payload\": \"1\"}, {\"topic\": \"\", \"payload\": "
             "\"1\"}]')");
    pg_fails(conn, "BX", "select enqueue_many('{}')");
    pg_fails(conn, "BX", "select enqueue_many(null)");
    assert_int_equal(pg_number(conn, "select count(*) from outbox"), 2);
    PQfinish(conn);
}

/* OBX-097, BX-011: objects with nothing but a topic and a payload are read on a short way, others in between
 * are not lost on it */
static void enqueue_many_reads_plain_messages_and_others_alike(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    static const char PLAIN[] = "{\"topic\": \"a\", \"payload\": {\"x\": [1, \"y\"]}}";
    static const char OTHER_ONE[] =
        "{\"topic\": \"a\", \"payload\": 7, \"stream\": \"s\", \"headers\": {\"h\": \"v\"}}";
    assert_int_equal(
        pg_number(conn, "select count(*) from enqueue_many('[%s, %s, %s]')", PLAIN, OTHER_ONE, PLAIN), 3);
    assert_int_equal(
        pg_number(conn,
                  "select count(*) from outbox where payload = '{\"x\": [1, \"y\"]}' and stream is null"),
        2);
    assert_int_equal(pg_number(conn, "select work_id from outbox where payload = '7' and stream = 's'"), 2);
    assert_int_equal(pg_number(conn, "select count(*) from enqueue_many('[%s, %s]')", PLAIN, PLAIN), 2);
    assert_int_equal(pg_number(conn,
                               "select count(distinct message_id) from outbox where message_id::text ~ "
                               "'^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$'"),
                     5);
    for (const char *const *fault =
             (const char *const[]){"7", "null", "{\"topic\": \"\", \"payload\": 1}",
                                   "{\"topic\": 1, \"payload\": 1}", "{\"topic\": \"a\"}",
                                   "{\"topic\": \"a\", \"payload\": null}",
                                   "{\"topic\": \"a\", \"payload\": 1, \"x\": 1}", NULL};
         *fault; fault++) {
        pg_fails(conn, "BX001", "select enqueue_many('[%s, %s]')", PLAIN, *fault);
        pg_fails(conn, "BX001", "select enqueue_many('[%s, %s]')", *fault, PLAIN);
    }
    assert_int_equal(pg_number(conn, "select count(*) from outbox"), 5);
    PQfinish(conn);
}

/* OBX-017, OBX-021, OBX-022, OBX-112, OBX-120 */
static void claim_in_sql_leases_and_ack_finishes(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    enqueue(f, "t", "one");
    enqueue(f, "u", "two");
    assert_int_equal(pg_number(conn, "select count(*) from outbox_claim(" OWNER
                                     ", '30 s', 10, array['t*']) where topic = 't' "
                                     "and payload = 'one' and status = 'in_progress' and owner = " OWNER
                                     " and attempt = 1 "
                                     "and epoch > 0 and locked_until > now() + interval '25 s'"),
                     1);
    assert_int_equal(pg_number(conn, "select work_id from outbox_claim(" OTHER ", '30 s', 10)"), 2);
    assert_int_equal(pg_number(conn, "select count(*) from outbox_claim(" OTHER ", '30 s', 10)"), 0);
    assert_int_equal(pg_number(conn, "select count(*) from outbox_ack(" OTHER ", array[1])"), 0);
    assert_int_equal(pg_number(conn, "select * from outbox_ack(" OWNER ", array[1, 1, 2, 99]::bigint[])"), 1);
    assert_int_equal(pg_number(conn, "select count(*) from outbox_ack(" OTHER ", array[2], array[1])"), 0);
    assert_int_equal(pg_number(conn, "select o.work_id from (select epoch from outbox where work_id = 2) e, "
                                     "outbox_ack(" OTHER ", array[2], array[e.epoch]) o(work_id)"),
                     2);
    assert_int_equal(
        pg_number(conn, "select count(*) from outbox where status = 'done' and processed_at is not null"), 2);
    PQfinish(conn);
}

/* OBX-112, OBX-035, OBX-042, BX-022 */
static void abandon_defer_fail_and_renew_in_sql(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    enqueue_many(f, "t", 4, NULL);
    assert_int_equal(pg_number(conn, "select count(*) from outbox_claim(" OWNER ", '10 s', 10)"), 4);
    assert_int_equal(pg_number(conn, "select * from outbox_abandon(" OWNER ", array[1], null, 'boom')"), 1);
    assert_int_equal(pg_number(conn, "select * from outbox_defer(" OWNER ", array[2], null, '1 hour')"), 2);
    assert_int_equal(pg_number(conn, "select * from outbox_fail(" OWNER ", array[3], null, 'bad')"), 3);
    assert_int_equal(pg_number(conn, "select * from outbox_renew(" OWNER ", array[4], null, '1 hour')"), 4);
    assert_int_equal(pg_number(conn,
                               "select retry_count from outbox where work_id = 1 and last_error = 'boom' and "
                               "available_at between now() + interval '1 s' and now() + interval '3 s'"),
                     1);
    assert_int_equal(pg_number(conn, "select retry_count from outbox where work_id = 2 and status = 'ready'"),
                     0);
    assert_int_equal(
        pg_number(conn, "select count(*) from dead_letter where work_id = 3 and reason = 'rejected' and "
                        "last_error = 'bad'"),
        1);
    assert_int_equal(
        pg_number(conn, "select locked_until > now() + interval '50 min' from outbox where work_id = 4"), 1);
    PQfinish(conn);
}

/* OBX-112, OBX-049, OBX-051 */
static void reap_in_sql_releases_and_counts(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    enqueue_many(f, "t", 3, NULL);
    /* Long enough that the lease outlives the claim itself on a crowded machine. */
    assert_int_equal(pg_number(conn, "select count(*) from outbox_claim(" OWNER ", '600 ms', 10)"), 3);
    wait_out(f, 600);
    assert_int_equal(pg_number(conn, "select outbox_reap()"), 3);
    assert_int_equal(pg_number(conn, "select outbox_reap()"), 0);
    assert_int_equal(
        pg_number(conn, "select count(*) from outbox where status = 'ready' and retry_count = 1"), 3);
    PQfinish(conn);
}

/* BX-011, OBX-004, OBX-005, OBX-007, OBX-009 */
static void bad_input_in_sql_has_an_sqlstate_of_our_own(void **state) {
    static const char *const BAD[] = {
        "select enqueue('', 'p')",
        "select enqueue(null, 'p')",
        "select enqueue(repeat('\xc3\xa4', 256), 'p')",
        "select enqueue('t', null)",
        "select enqueue('t', 'p', correlation_id => repeat('c', 256))",
        "select enqueue('t', 'p', stream => repeat('s', 256))",
        "select enqueue('t', 'p', headers => '[]')",
        "select enqueue('t', 'p', headers => '{\"a\": 1}')",
        "select enqueue('t', 'p', max_attempts => 0)",
        "select enqueue('t', 'p', ttl => '-1 s')",
        "select enqueue('t', 'p', due_at => 'infinity')",
        "select enqueue('t', 'p', key => '')",
        "select enqueue('t', 'p', key => 'k', message_id => gen_random_uuid())",
        "select enqueue('t', 'p', join_id => gen_random_uuid())",
        "select outbox_claim(null, '30 s', 1)",
        "select outbox_claim(" OWNER ", '0 s', 1)",
        "select outbox_claim(" OWNER ", '25 h', 1)",
        "select outbox_claim(" OWNER ", null, 1)",
        "select outbox_claim(" OWNER ", '30 s', 0)",
        "select outbox_claim(" OWNER ", '30 s', 10001)",
        "select outbox_claim(" OWNER ", '30 s', 1, array[''])",
        "select outbox_ack(null, array[1])",
        "select outbox_ack(" OWNER ", null)",
        "select outbox_ack(" OWNER ", array[1, 2], array[1])",
        "select outbox_renew(" OWNER ", array[1], null, '0 s')",
        "select outbox_defer(" OWNER ", array[1], null, '-1 s')",
    };
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++)
        pg_fails(conn, "BX", "%s", BAD[i]);
    assert_int_equal(pg_number(conn, "select count(*) from outbox"), 0);
    assert_int_equal(pg_number(conn, "select work_id from enqueue(repeat('\xc3\xa4', 255), 'p')") > 0, 1);
    PQfinish(conn);
}

/* OBX-098 */
static void claim_refuses_any_isolation_but_read_committed(void **state) {
    struct fixture *f = *state;
    boxcar_work_id id = enqueue(f, "t", "p").work_id;
    PGconn *conn = fixture_connect(f);
    static const char *const LEVELS[] = {"repeatable read", "serializable"};
    for (int i = 0; i < 2; i++) {
        pg_exec(conn, "begin isolation level %s", LEVELS[i]);
        pg_fails(conn, "BX", "select outbox_claim(" OWNER ", '30 s', 1)");
        pg_exec(conn, "rollback");
    }
    PQfinish(conn);
    struct borrowed b = borrow(f);
    boxcar_claimer options = BOXCAR_CLAIMER_INIT;
    options.owner = f->owner;
    boxcar_message_list *list = NULL;
    borrowed_exec(&b, "begin isolation level serializable");
    ASSERT_FAILS(f, BOXCAR_E_TRANSACTION, boxcar_claim(b.store, &options, &list, &f->err));
    borrowed_exec(&b, "rollback");
    borrowed_close(&b);
    take(f, f->owner, id);
}

/* OBX-098, design 5.4: where a session's transactions are of another isolation, the store begins its claims
 * explicitly. Behind a pooler the database's default may do that; here a trigger does, since the store sets
 * its own sessions up. */
static void claims_are_read_committed_whatever_the_session_has(void **state) {
    struct fixture *f = *state;
    boxcar_new_message message = BOXCAR_NEW_MESSAGE_INIT;
    boxcar_claimer options = BOXCAR_CLAIMER_INIT;
    if (f->kind != FIXTURE_POSTGRES)
        skip(); /* the session is the pooler's */
    PGconn *conn = fixture_connect(f);
    boxcar_store *store = fixture_open(f);
    enqueue_many(f, "t", 20, NULL);
    pg_exec(
        conn,
        "create function to_serializable() returns trigger language plpgsql as $$ begin "
        "perform set_config('default_transaction_isolation', 'serializable', false); return null; end $$");
    pg_exec(conn,
            "create trigger to_serializable after insert on message execute function to_serializable()");
    message.topic = message.payload = BOXCAR_STR("t");
    ASSERT_OK(f, boxcar_enqueue(store, BOXCAR_OUTBOX, &message, NULL, &f->err));
    options.owner = f->owner;
    options.batch_size = 1;
    for (int i = 0; i < 4; i++) {
        boxcar_message_list *list = NULL;
        ASSERT_OK(f, boxcar_claim(store, &options, &list, &f->err));
        assert_int_equal(list->count, 1);
        boxcar_list_free(list);
    }
    boxcar_store_close(store);
    pg_exec(conn, "drop trigger to_serializable on message; drop function to_serializable()");
    PQfinish(conn);
}

/* BX-001, OBX-098 */
static void message_that_commits_late_is_delivered_though_later_ones_went_before(void **state) {
    struct fixture *f = *state;
    PGconn *slow = fixture_connect(f);
    pg_exec(slow, "begin");
    int64_t late = pg_number(slow, "select work_id from enqueue('t', 'late')");
    for (int i = 0; i < 5; i++)
        assert_true(ack(f, f->owner, take(f, f->owner, enqueue(f, "t", "p").work_id)));
    assert_nothing_claimable(f);
    pg_exec(slow, "commit");
    take(f, f->owner, (boxcar_work_id){late});
    assert_int_equal(audit_lost(f), 0);
    PQfinish(slow);
}

/* OBX-099, BX-001 */
static void refused_statement_says_that_the_transaction_must_roll_back(void **state) {
    struct fixture *f = *state;
    fixture_sql(f, NULL, "alter table message add constraint no check (topic <> 'forbidden')");
    struct borrowed b = borrow(f);
    borrowed_exec(&b, "begin");
    boxcar_new_message message = new_message("forbidden", "p");
    boxcar_enqueued enqueued;
    ASSERT_FAILS(f, BOXCAR_E_STORE, boxcar_enqueue(b.store, BOXCAR_OUTBOX, &message, &enqueued, &f->err));
    assert_true(f->err.must_roll_back);
    assert_string_equal(f->err.sqlstate, "23514");
    assert_int_equal(PQtransactionStatus(b.conn), PQTRANS_INERROR);
    borrowed_exec(&b, "rollback");
    borrowed_enqueue(f, &b, "p");
    borrowed_close(&b);
}

/* A server that lacks what a function uses says so, and does not send anybody to `boxcar init`. */
static void what_is_missing_inside_a_call_is_not_a_missing_schema(void **state) {
    static const char *const BODIES[] = {"perform no_such_function(1)",
                                         "insert into no_such_table values (1)"};
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    boxcar_new_message message = BOXCAR_NEW_MESSAGE_INIT;
    message.topic = BOXCAR_STR("t");
    message.payload = BOXCAR_STR("p");
    for (size_t i = 0; i < sizeof(BODIES) / sizeof(BODIES[0]); i++) {
        pg_exec(conn,
                "create or replace function strange() returns trigger language plpgsql as 'begin %s; return "
                "new; end'",
                BODIES[i]);
        pg_exec(conn, "create or replace trigger strange before insert on message for each row "
                      "execute function strange()");
        ASSERT_FAILS(f, BOXCAR_E_STORE, boxcar_enqueue(f->store, BOXCAR_OUTBOX, &message, NULL, &f->err));
        assert_non_null(strstr(f->err.message, "no_such_"));
        assert_null(strstr(f->err.message, "init"));
    }
    PQfinish(conn);
}

/* A pooler may have closed the session by itself just before. */
static void end_backends_of(struct fixture *f) {
    PGconn *conn = fixture_connect(f);
    int64_t ended = 0;
    for (int tries = 0; ended == 0 && tries < 50; tries++) {
        stats_of(f);
        ended = pg_number(conn,
                          "select count(pg_terminate_backend(pid)) from pg_stat_activity "
                          "where pid <> pg_backend_pid() and query like '%%%s%%'",
                          f->schema);
    }
    assert_true(ended > 0);
    PQfinish(conn);
}

/* BX-001, BX-012 */
static void store_recovers_from_a_connection_that_was_cut(void **state) {
    struct fixture *f = *state;
    boxcar_new_message message = new_message("t", "p");
    message.message_id.uuid = boxcar_uuid_new();
    enqueue(f, "t", "before");
    end_backends_of(f);
    boxcar_enqueued enqueued;
    boxcar_status status = BOXCAR_E_UNAVAILABLE;
    for (int tries = 0; status != BOXCAR_OK && tries < 50; tries++) {
        status = boxcar_enqueue(f->store, BOXCAR_OUTBOX, &message, &enqueued, &f->err);
        assert_true(status == BOXCAR_OK || (status == BOXCAR_E_UNAVAILABLE && f->err.retryable));
    }
    assert_int_equal(status, BOXCAR_OK);
    struct taken taken[4];
    assert_int_equal(take_all(f, f->owner, 30000, taken, 4), 2); /* once each, whatever was unknown */
}

/* BX-012 */
static void calls_leave_no_state_in_the_session(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    struct borrowed b = {.conn = conn};
    boxcar_store_options options = fixture_options(f);
    ASSERT_OK(f, boxcar_store_borrow_postgres(conn, &options, &b.store, &f->err));
    pg_exec(conn, "create temporary table before as select name, setting from pg_settings");
    boxcar_store *own = f->store;
    f->store = b.store;
    boxcar_work_id id = enqueue(f, "t", "p").work_id;
    assert_true(abandon(f, f->owner, take(f, f->owner, id), 0));
    assert_true(ack(f, f->owner, take(f, f->owner, id)));
    assert_int_equal(reap(f), 0);
    ASSERT_OK(f, boxcar_maintenance_run(f->store, NULL, &f->err));
    stats_of(f);
    f->store = own;
    pg_exec(conn, "select enqueue('t', 'p')");
    pg_exec(conn, "select outbox_claim(" OWNER ", '30 s', 1)");
    boxcar_store_close(b.store);
    assert_int_equal(pg_number(conn, "select count(*) from pg_settings s join before b using (name) "
                                     "where s.setting is distinct from b.setting"),
                     0);
    assert_int_equal(pg_number(conn, "select count(*) from pg_prepared_statements"), 0);
    assert_int_equal(
        pg_number(conn,
                  "select count(*) from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()"),
        0);
    assert_int_equal(pg_number(conn, "select count(*) from pg_listening_channels()"), 0);
    PQfinish(conn);
}

/* OBX-119 */
static void claim_and_ack_scan_no_table_however_much_is_done(void **state) {
    struct fixture *f = *state;
    static struct taken taken[2000];
    enqueue_many(f, "t", 2000, NULL);
    assert_int_equal(take_all(f, f->owner, 60000, taken, 2000), 2000);
    static boxcar_settlement half[1000];
    for (int i = 0; i < 1000; i++)
        half[i] = settlement_of(taken[2 * i]);
    size_t affected = 0;
    ASSERT_OK(f, boxcar_settle(f->store, CLAIMER(BOXCAR_OUTBOX, f->owner), BOXCAR_ACK, half, 1000, NULL,
                               &affected, &f->err));
    for (int i = 0; i < 1000; i++) {
        half[i] = settlement_of(taken[2 * i + 1]);
        half[i].delay_ms = 3600000;
    }
    ASSERT_OK(f, boxcar_settle(f->store, CLAIMER(BOXCAR_OUTBOX, f->owner), BOXCAR_ABANDON, half, 1000, NULL,
                               &affected, &f->err));
    assert_int_equal(affected, 1000);
    boxcar_work_id id = enqueue(f, "t", "p").work_id;
    fixture_sql(f, NULL, "analyze message, parked, dead, finished");
    PGconn *conn = fixture_connect(f);
    pg_exec(conn, "begin");
    assert_int_equal(pg_number(conn, "select work_id from outbox_claim(" OWNER ", '30 s', 1)"), id.value);
    assert_int_equal(
        pg_number(conn, "select count(*) from outbox_ack(" OWNER ", array[%lld])", (long long)id.value), 1);
    assert_in_range(
        pg_number(
            conn,
            "select coalesce(sum(seq_tup_read), 0) from pg_stat_xact_user_tables "
            "where schemaname = '%s' and relname in ('message', 'parked', 'dead', 'finished', 'attempt')",
            f->schema),
        0, 100);
    pg_exec(conn, "commit");
    PQfinish(conn);
}

/* OBX-126 */
static void connection_can_be_encrypted_by_the_url(void **state) {
    struct fixture *f = *state;
    if (f->kind != FIXTURE_POSTGRES)
        skip(); /* the pooler of the tests speaks no TLS */
    boxcar_store_close(f->store);
    strcat(f->url, "?sslmode=require");
    f->store = fixture_open(f);
    enqueue(f, "t", "p");
    PGconn *conn = fixture_connect(f);
    assert_int_equal(pg_number(conn,
                               "select bool_and(ssl) from pg_stat_ssl join pg_stat_activity using (pid) "
                               "where pid <> pg_backend_pid() and query like '%%%s%%'",
                               f->schema),
                     1);
    PQfinish(conn);
}

/* BX-011: texts would come as something else than UTF-8. */
static void connection_of_another_encoding_is_not_borrowed(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    boxcar_store_options options = fixture_options(f);
    boxcar_store *store = NULL;
    pg_exec(conn, "set client_encoding = 'LATIN1'");
    ASSERT_INVALID(f, "conn", boxcar_store_borrow_postgres(conn, &options, &store, &f->err));
    assert_non_null(strstr(f->err.message, "LATIN1"));
    assert_null(store);
    pg_exec(conn, "set client_encoding = 'UTF8'");
    ASSERT_OK(f, boxcar_store_borrow_postgres(conn, &options, &store, &f->err));
    boxcar_store_close(store);
    pg_exec(conn, "set client_encoding = 'SQL_ASCII'"); /* as it is kept */
    ASSERT_OK(f, boxcar_store_borrow_postgres(conn, &options, &store, &f->err));
    boxcar_store_close(store);
    PQfinish(conn);
}

static const struct CMUnitTest TESTS[] = {
    TEST(functions_have_the_documented_signatures),
    TEST(enqueue_needs_only_topic_and_payload_and_says_what_it_stored),
    TEST(enqueue_takes_everything_by_name),
    TEST(enqueue_in_sql_is_delivered_if_and_only_if_its_transaction_commits),
    TEST(enqueue_takes_unique_keys),
    TEST(program_of_version_9_finds_keys_of_newer_ones),
    TEST(done_is_counted_while_nobody_keeps_house),
    TEST(enqueue_many_gives_a_row_for_each_message_in_order),
    TEST(enqueue_many_reads_plain_messages_and_others_alike),
    TEST(claim_in_sql_leases_and_ack_finishes),
    TEST(abandon_defer_fail_and_renew_in_sql),
    TEST(reap_in_sql_releases_and_counts),
    TEST(bad_input_in_sql_has_an_sqlstate_of_our_own),
    TEST(claim_refuses_any_isolation_but_read_committed),
    TEST(claims_are_read_committed_whatever_the_session_has),
    TEST(message_that_commits_late_is_delivered_though_later_ones_went_before),
    TEST(refused_statement_says_that_the_transaction_must_roll_back),
    TEST(what_is_missing_inside_a_call_is_not_a_missing_schema),
    TEST(store_recovers_from_a_connection_that_was_cut),
    TEST(calls_leave_no_state_in_the_session),
    TEST(claim_and_ack_scan_no_table_however_much_is_done),
    TEST(connection_can_be_encrypted_by_the_url),
    TEST(connection_of_another_encoding_is_not_borrowed),
};

const struct suite POSTGRES_SUITE = SUITE(TESTS);
