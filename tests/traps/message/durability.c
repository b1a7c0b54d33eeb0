/* Which commits wait for the disk. A deferred trigger fires in the commit itself and writes down
 * what synchronous_commit says just then. */
#include "trap.h"

#include "actions.h"
#include "store/store.h"

static const char CLAIM_WAITS[] = "the library's claim waits for the disk";
static const char SIGHTING_WAITS[] = "a key that comes again waits for the disk";
static const char NOT_DURABLE[] = "something that must survive does not wait for the disk";

static PGconn *watch(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    sql_run(conn, "create table seen (kind text, waits text, xid xid8)");
    sql_run(conn,
            "create function see() returns trigger language plpgsql as $$ begin "
            "insert into \"%s\".seen values (tg_table_name, current_setting('synchronous_commit'), "
            "pg_current_xact_id()); return null; end $$",
            f->schema);
    static const char *const TABLES[] = {"message", "lease", "finished", "dead"};
    for (size_t i = 0; i < sizeof(TABLES) / sizeof(TABLES[0]); i++)
        sql_run(conn,
                "create constraint trigger see after insert on %s deferrable initially deferred "
                "for each row execute function see()",
                TABLES[i]);
    return conn;
}

/* What was seen since the last time, e.g. "lease:off". */
static const char *seen(PGconn *conn) {
    return sql_text(conn, "with s as (delete from seen returning *) "
                          "select coalesce(string_agg(kind || ':' || waits, ' ' order by kind), '') from s");
}

static struct result process(struct fixture *f, struct taken *settled, int claim_size) {
    struct result result;
    boxcar_settlement ack = settlement_of(*settled);
    struct request batch = {.base.owner = f->owner,
                            .parts[BOXCAR_OUTBOX] = {.claim_size = claim_size, .lease_ms = 30000}};
    batch.parts[BOXCAR_OUTBOX].settle[BOXCAR_ACK] = (boxcar_settlement_list){&ack, 1};
    ASSERT_OK(f, f->store->ops->process(f->store, &batch, &result, &f->err));
    return result;
}

/* BX-001 */
static const char *library(struct fixture *f) {
    PGconn *conn = watch(f);
    boxcar_enqueued first = enqueue(f, "t", "a");
    enqueue(f, "t", "b");
    if (!same(seen(conn), "message:on message:on"))
        return NOT_DURABLE;
    struct taken taken = take(f, f->owner, first.work_id);
    if (!same(seen(conn), "lease:off"))
        return CLAIM_WAITS;
    struct result result = process(f, &taken, 1);
    assert_int_equal(result.parts[BOXCAR_OUTBOX].settled[BOXCAR_ACK].count, 1);
    assert_int_equal(result.parts[BOXCAR_OUTBOX].claimed_count, 1);
    struct taken next = {result.parts[BOXCAR_OUTBOX].claimed[0].work_id,
                         result.parts[BOXCAR_OUTBOX].claimed[0].epoch, 0, 0};
    result_release(&result);
    if (sql_number(conn, "select count(distinct xid) from seen") != 2)
        return "settling and claiming are one transaction";
    if (!same(seen(conn), "finished:on lease:off"))
        return NOT_DURABLE;
    assert_true(bury(f, f->owner, next, "x"));
    struct taken last = take(f, f->owner, enqueue(f, "t", "c").work_id);
    if (!same(seen(conn), "dead:on lease:off message:on"))
        return NOT_DURABLE;
    last.epoch.value = 0; /* which the short way of an ack does not take */
    assert_true(ack(f, f->owner, last));
    return same(seen(conn), "finished:on") ? NULL : NOT_DURABLE;
}

/* BX-012: nothing is left in the session, and a caller's transaction stays as it is. */
static const char *callers_session(struct fixture *f) {
    PGconn *conn = watch(f);
    sql_run(conn, "set synchronous_commit = local");
    sql_enqueue(conn, "a");
    sql_enqueue(conn, "b");
    sql_enqueue(conn, "b2");
    assert_string_equal(seen(conn), "message:local message:local message:local");
    sql_run(conn, "begin");
    sql_run(conn, "select pg_sleep(0.06)");
    assert_int_equal(
        sql_number(conn, "select count(*) from outbox_claim(" WORKER ", '30 s', 1, alone => true)"),
        1); /* but is not */
    sql_run(conn, "commit");
    if (!same(seen(conn), "lease:local"))
        return NOT_DURABLE;
    sql_run(conn, "begin");
    sql_enqueue(conn, "d");
    assert_int_equal(
        sql_number(conn, "select count(*) from outbox_claim(" WORKER ", '30 s', 1, alone => true)"), 1);
    sql_run(conn, "commit");
    if (!same(seen(conn), "lease:local message:local"))
        return NOT_DURABLE;
    assert_int_equal(sql_number(conn, "select count(*) from outbox_claim(" WORKER ", '30 s', 1)"), 1);
    if (!same(seen(conn), "lease:local"))
        return NOT_DURABLE;
    assert_int_equal(
        sql_number(conn, "select count(*) from outbox_claim(" WORKER ", '30 s', 1, alone => true)"), 1);
    if (!same(seen(conn), "lease:off"))
        return CLAIM_WAITS;
    return same(sql_text(conn, "show synchronous_commit"), "local") ? NULL : "the session was changed";
}

/* A borrowed connection: the claim is part of the caller's transaction, which must be durable.
 * BX-001, BX-012 */
static const char *borrowed_connection(struct fixture *f) {
    PGconn *conn = watch(f), *mine = sql_connect(f);
    boxcar_store *store = NULL;
    boxcar_store_options options = fixture_options(f);
    ASSERT_OK(f, boxcar_store_borrow_postgres(mine, &options, &store, &f->err));
    enqueue(f, "t", "a");
    assert_string_equal(seen(conn), "message:on");
    boxcar_claimer claim = BOXCAR_CLAIMER_INIT;
    claim.owner = f->owner;
    boxcar_message_list *list = NULL;
    sql_run(mine, "begin");
    ASSERT_OK(f, boxcar_claim(store, &claim, &list, &f->err));
    boxcar_list_free(list);
    boxcar_store_close(store);
    sql_run(mine, "commit");
    return same(seen(conn), "lease:on") && same(sql_text(mine, "show synchronous_commit"), "on")
               ? NULL
               : NOT_DURABLE;
}

/* The settlement stands when the claim behind it fails. BX-001, BX-004 */
static const char *claim_that_fails(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    boxcar_enqueued first = enqueue(f, "t", "a");
    enqueue(f, "t", "b");
    struct taken taken = take(f, f->owner, first.work_id);
    sql_run(conn, "alter table lease add constraint full_of_leases check (false) not valid");
    struct result result = process(f, &taken, 1);
    size_t settled = result.parts[BOXCAR_OUTBOX].settled[BOXCAR_ACK].count,
           claimed = result.parts[BOXCAR_OUTBOX].claimed_count;
    result_release(&result);
    sql_run(conn, "alter table lease drop constraint full_of_leases");
    assert_int_equal(claimed, 0);
    if (settled != 1 || !same(sql_text(conn, "select status from outbox where payload = 'a'"), "done"))
        return "a failed claim took the settlement with it";
    return same(sql_claim(conn, 10), "b") ? NULL : "a message was lost";
}

#define CARELESS "setting := set_config('synchronous_commit', 'off', true)"
#define IF_NOT_DURABLE "if not durable then\n        " CARELESS

/* With a correlation id the message takes the way in of those that have more than a topic and a payload. */
static void deliver(struct fixture *f, const char *external_id, const char *correlation) {
    boxcar_new_message message = BOXCAR_NEW_MESSAGE_INIT;
    message.source = BOXCAR_STR("shop");
    message.external_id = boxcar_str_of(external_id);
    if (correlation)
        message.correlation_id = boxcar_str_of(correlation);
    message.topic = BOXCAR_STR("t");
    message.payload = BOXCAR_STR("p");
    boxcar_enqueued enqueued;
    ASSERT_OK(f, boxcar_enqueue(f->store, BOXCAR_INBOX, &message, &enqueued, &f->err));
}

/* A key that comes again leaves nothing but a sighting; in a transaction of the caller's there may be more.
 * BX-082 */
static const char *sightings(struct fixture *f) {
    PGconn *conn = watch(f);
    sql_run(conn,
            "create constraint trigger see after insert or update on inbox_key deferrable initially deferred "
            "for each row execute function see()");
    for (int i = 0; i < 2; i++) {
        const char *external_id = i == 0 ? "1" : "2", *correlation = i == 0 ? NULL : "c";
        deliver(f, external_id, correlation);
        if (!same(seen(conn), "inbox_key:on message:on"))
            return NOT_DURABLE;
        deliver(f, external_id, correlation);
        if (!same(seen(conn), "inbox_key:off"))
            return SIGHTING_WAITS;
    }
    sql_run(conn, "select inbox_enqueue('shop', '1', 't', 'p')");
    return same(seen(conn), "inbox_key:on") ? NULL : NOT_DURABLE;
}

static const struct trap TRAPS[] = {
    {"sighting_of_a_known_key_does_not_wait_for_the_disk",
     sightings,
     {{"not waiting", "_inbox_put", "if p_alone and p_hash is null then", "if false then", SIGHTING_WAITS},
      {"not waiting for a plain message", "_inbox_enqueue_plain", "if p_alone and p_hash is null then",
       "if false then", SIGHTING_WAITS},
      {"asking for other statements", "_inbox_put", "if p_alone and p_hash is null then",
       "if p_hash is null then", NOT_DURABLE}}},
    {"only_the_librarys_claims_do_not_wait_for_the_disk",
     library,
     {{"turning waiting off", "_claim_numbered", CARELESS, "setting := current_setting('synchronous_commit')",
       CLAIM_WAITS},
      {"its end with the transaction", "_claim_numbered", CARELESS,
       "setting := set_config('synchronous_commit', 'off', false)", NOT_DURABLE},
      {"on in settling a run", "_ack_run", "begin\n",
       "begin\n    perform set_config('synchronous_commit', 'off', true);\n", NOT_DURABLE},
      {"on in settling", "_ack", "begin\n",
       "begin\n    perform set_config('synchronous_commit', 'off', true);\n", NOT_DURABLE}}},
    {"a_claim_by_sql_is_as_durable_as_its_caller_wants",
     callers_session,
     {{"the difference", "_claim_numbered", IF_NOT_DURABLE, "if true then\n        " CARELESS, NOT_DURABLE},
      {"looking at the clock", "_claim_numbered",
       "or clock_timestamp() >= transaction_timestamp() + interval '50 milliseconds'", "", NOT_DURABLE},
      {"looking what it has written", "_claim_numbered", "or pg_current_xact_id_if_assigned() is not null",
       "", NOT_DURABLE},
      {"leaving the session alone", "outbox_claim", "begin\n",
       "begin\n    perform set_config('synchronous_commit', 'on', false);\n", NOT_DURABLE}}},
    {"a_claim_in_the_callers_transaction_leaves_that_durable",
     borrowed_connection,
     {{"the difference", "_claim_numbered", IF_NOT_DURABLE, "if true then\n        " CARELESS, NOT_DURABLE}}},
    {"a_settlement_stands_when_the_claim_behind_it_fails", claim_that_fails, {{0}}},
};

const struct trap_group DURABILITY_TRAPS = TRAP_GROUP(TRAPS);
