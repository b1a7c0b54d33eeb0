/* A dump restored elsewhere: transaction ids in the log are foreign there, lower or higher than the
 * new server's own. Nothing may be lost, and nothing that was done may come again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "actions.h"
#include "trap.h"

static const char NOT_REFUSED[] = "a foreign store was not refused";
static const char LOST[] = "something unfinished was lost";
static const char COLLIDE[] = "new work ids collide with old ones";
static const char AGAIN[] = "something was delivered again";

enum { URL_SIZE = 512, XIDS = 2000, ROUNDS_MAX = 40 };

enum where { OTHER_DATABASE, OTHER_CLUSTER };
enum how { BY_SQL, BY_LIBRARY, BY_INIT };

struct copy {
    char url[URL_SIZE];
    char database[64];
    PGconn *server; /* of the cluster the copy lives in */
    PGconn *conn;
};

/* `url` with another database name in it. */
static void name_database(char *ret_url, const char *url, const char *database) {
    const char *path = strrchr(url, '/');
    const char *query = strchr(url, '?');
    while (query && path > query) /* the passfile has slashes too */
        path = memrchr(url, '/', (size_t)(path - url));
    assert_non_null(path);
    int len = snprintf(ret_url, URL_SIZE, "%.*s/%s%s", (int)(path - url), url, database, query ? query : "");
    assert_true(len > 0 && len < URL_SIZE);
}

static const char *second_cluster(void) {
    const char *url = getenv("BOXCAR_TEST_SECOND_POSTGRES");
    if (!url)
        fail_msg("no second cluster: run this through tests/support/with-second-cluster");
    return url;
}

static void restore(struct fixture *f, enum where where, struct copy *ret_copy) {
    static unsigned counter;
    struct copy *copy = ret_copy;
    char command[3 * URL_SIZE];
    const char *url = where == OTHER_CLUSTER ? second_cluster() : f->url;
    copy->server = sql_connect_to(url, NULL);
    snprintf(copy->database, sizeof(copy->database), "copy_%ld_%u", (long)getpid(), ++counter);
    sql_run(copy->server, "create database %s template template0", copy->database);
    name_database(copy->url, url, copy->database);
    snprintf(command, sizeof(command), "'%s' '%s' '%s' '%s'", COPY_SCHEMA, f->url, copy->url, f->schema);
    assert_int_equal(system(command), 0);
    copy->conn = sql_connect_to(copy->url, f->schema);
}

static void drop(struct copy *copy) {
    sql_run(copy->server, "drop database %s with (force)", copy->database);
}

static void use_up_xids(PGconn *conn, int count) {
    sql_run(conn, "do $$ begin for i in 1..%d loop perform pg_current_xact_id(); commit; end loop; end $$",
            count);
}

static int64_t work_id_of(PGconn *conn, const char *payload) {
    return sql_number(conn, "select work_id from message where payload = '%s'", payload);
}

/* One message of every kind, named after it. */
static void make_messages(PGconn *conn) {
    for (const char *const *name =
             (const char *const[]){"done", "dead", "deferred", "parked", "leased", NULL};
         *name; name++)
        sql_enqueue(conn, *name);
    assert_string_equal(sql_text(conn, CLAIM(WORKER, "'100 ms'", "10")), "dead,deferred,done,leased,parked");
    sql_run(conn, "select outbox_ack(" WORKER ", array[%lld])", (long long)work_id_of(conn, "done"));
    sql_run(conn, "select outbox_fail(" WORKER ", array[%lld])", (long long)work_id_of(conn, "dead"));
    sql_run(conn, "select outbox_abandon(" WORKER ", array[%lld], delay => '0')",
            (long long)work_id_of(conn, "parked"));
    sql_run(conn, "select outbox_defer(" WORKER ", array[%lld], delay => '1 hour')",
            (long long)work_id_of(conn, "deferred"));
    sql_enqueue(conn, "fresh");
    sql_enqueue_streamed(conn, "s", "stream 1");
    sql_enqueue_streamed(conn, "s", "stream 2");
}

/* A store looks at its identity again within a second, or 20 times what the last look took: that
 * time passes here. */
static void let_time_pass(PGconn *conn) { sql_run(conn, "update frontier set look_at = '-infinity'"); }

static void adopt(struct fixture *f, const struct copy *copy, enum how how) {
    boxcar_store_options options = fixture_options(f);
    boxcar_store *store = NULL;
    if (how == BY_SQL) {
        assert_string_equal(sql_text(copy->conn, "select adopt()"), "t");
        return;
    }
    options.url = boxcar_str_of(copy->url);
    options.deploy = how == BY_INIT;
    ASSERT_OK(f, boxcar_store_open(&options, &store, &f->err));
    if (how == BY_LIBRARY) {
        boxcar_claimer claim = BOXCAR_CLAIMER_INIT;
        boxcar_str nothing = boxcar_str_of("none");
        boxcar_message_list *list = NULL;
        claim.owner = f->owner;
        claim.topics = &nothing;
        claim.topic_count = 1;
        ASSERT_OK(f, boxcar_claim(store, &claim, &list, &f->err));
        boxcar_list_free(list);
    }
    boxcar_store_close(store);
}

/* Claims and acks until nothing comes any more: what came, in alphabetical order. */
static const char *drain(PGconn *conn) {
    sql_run(conn, "create table if not exists delivered (payload text)");
    for (int round = 0, idle = 0; round < ROUNDS_MAX && idle < 3; round++) {
        int64_t count =
            sql_number(conn, "with d as (insert into delivered select payload from outbox_claim(" WORKER
                             ", '30 s', 10) returning 1) select count(*) from d");
        idle = count > 0 ? 0 : idle + 1;
        /* Fails when something is finished twice, which the list of what came shows too. */
        (void)sql_state(conn, "select outbox_ack(" WORKER
                              ", array(select _ids(items) from lease where until > now()))");
    }
    return sql_text(conn, "with d as (delete from delivered returning payload) "
                          "select coalesce(string_agg(payload, ',' order by payload), '') from d");
}

static bool has_all(const char *delivered, const char *const *names) {
    for (; *names; names++)
        if (!strstr(delivered, *names))
            return false;
    return true;
}

static const char *judge(const char *delivered) {
    static const char *const UNFINISHED[] = {"after",  "before",   "fresh",    "leased",
                                             "parked", "stream 1", "stream 2", NULL};
    if (!same(delivered, "after,before,fresh,leased,parked,stream 1,stream 2"))
        print_message("delivered: %s\n", delivered);
    if (!has_all(delivered, UNFINISHED))
        return LOST;
    return same(delivered, "after,before,fresh,leased,parked,stream 1,stream 2") ? NULL : AGAIN;
}

static const char *look_at_the_rest(PGconn *conn) {
    if (!same(sql_text(conn, "select string_agg(status, ',' order by payload) from outbox "
                             "where payload in ('dead', 'deferred', 'done')"),
              "failed,ready,done"))
        return "what was settled before has another status";
    if (!same(sql_text(conn, "select lost from audit()"), "0"))
        return LOST;
    return work_id_of(conn, "after") > work_id_of(conn, "before") ? NULL : "work ids are given out twice";
}

static const char *use_copy(struct fixture *f, struct copy *copy, enum how how) {
    PGconn *conn = copy->conn;
    let_time_pass(conn);
    sql_enqueue(conn, "before");
    if (!same(sql_state(conn, CLAIM(WORKER, "'30 s'", "10")), "BX005"))
        return NOT_REFUSED;
    adopt(f, copy, how);
    if (!same(sql_text(conn, "select adopt()"), "f"))
        return "a store is adopted twice";
    sql_enqueue(conn, "after");
    const char *verdict = judge(drain(conn));
    if (!verdict)
        verdict = look_at_the_rest(conn);
    if (verdict)
        return verdict;
    /* Now the new server's transaction ids pass the old ones, which are brought near for that. */
    sql_run(conn,
            "update message set xid = (pg_current_xact_id()::text::bigint + 10)::text::xid8 where era = 1");
    use_up_xids(conn, 20);
    sql_enqueue(conn, "later");
    return same(drain(conn), "later") ? NULL : AGAIN;
}

/* Lets the first cluster's transaction ids be well above those of the second. */
static void run_ahead(PGconn *conn) {
    PGconn *second = sql_connect_to(second_cluster(), NULL);
    int64_t behind = sql_number(second, "select pg_current_xact_id()::text::bigint") + XIDS -
                     sql_number(conn, "select pg_current_xact_id()::text::bigint");
    if (behind > 0)
        use_up_xids(conn, (int)behind);
}

static const char *restored(struct fixture *f, enum where where, enum how how) {
    struct copy copy;
    PGconn *conn = sql_connect(f);
    if (where == OTHER_CLUSTER)
        run_ahead(conn);
    make_messages(conn);
    restore(f, where, &copy);
    if (where == OTHER_CLUSTER)
        assert_string_equal(sql_text(copy.conn, "select bool_and(xid > pg_current_xact_id()) from message"),
                            "t");
    const char *verdict = use_copy(f, &copy, how);
    drop(&copy);
    return verdict;
}

/* BX-001, BX-004, BX-020 */
static const char *into_another_database(struct fixture *f) { return restored(f, OTHER_DATABASE, BY_SQL); }
/* BX-001, BX-004, BX-020 */
static const char *into_another_cluster(struct fixture *f) { return restored(f, OTHER_CLUSTER, BY_SQL); }
/* From a server that refuses to tell its number to another one; the table happens to have the same number in
 * both. Before the dump the store is what it was, though its rows were frozen and moved. BX-001, BX-004,
 * BX-020 */
static const char *from_an_unknown_server(struct fixture *f) {
    struct copy copy;
    PGconn *conn = sql_connect(f);
    run_ahead(conn);
    sql_run(conn, "create or replace function _system_identifier() returns text language sql as $$ select "
                  "'unknown' $$");
    sql_run(conn, "update store set system_identifier = 'unknown'");
    sql_run(conn, "vacuum full freeze origin");
    if (!same(sql_text(conn, "select _is_own()"), "t"))
        return "a store does not know itself";
    make_messages(conn);
    restore(f, OTHER_CLUSTER, &copy);
    sql_run(copy.conn, "update store set message_oid = 'message'::regclass");
    const char *verdict = use_copy(f, &copy, BY_SQL);
    drop(&copy);
    return verdict;
}

/* BX-001, OBX-108 */
static const char *used_by_the_library(struct fixture *f) { return restored(f, OTHER_CLUSTER, BY_LIBRARY); }
/* BX-001, OBX-108 */
static const char *initialized(struct fixture *f) { return restored(f, OTHER_DATABASE, BY_INIT); }

/* A logical copy brings the rows but not the state of sequences. BX-001, BX-027 */
static const char *logical_copy(struct fixture *f) {
    struct copy copy;
    make_messages(sql_connect(f));
    restore(f, OTHER_DATABASE, &copy);
    sql_run(copy.conn, "select setval(pg_get_serial_sequence('message', 'work_id'), 1, false)");
    adopt(f, &copy, BY_SQL);
    const char *state = sql_state(copy.conn, "select enqueue('t', 'after')");
    drop(&copy);
    return same(state, "") ? NULL : COLLIDE;
}

/* Messages that were purged before the dump keep their work ids for ever. BX-001, BX-026 */
static const char *purged_before(struct fixture *f) {
    struct copy copy;
    PGconn *conn = sql_connect(f);
    make_messages(conn);
    sql_enqueue(conn, "purged");
    int64_t purged = work_id_of(conn, "purged");
    sql_run(conn, "select outbox_cancel(%lld)", (long long)purged);
    assert_int_equal(sql_number(conn, "select dead_purge(array[%lld])", (long long)purged), 1);
    restore(f, OTHER_DATABASE, &copy);
    adopt(f, &copy, BY_SQL);
    sql_enqueue(copy.conn, "after");
    int64_t after = work_id_of(copy.conn, "after");
    drop(&copy);
    return after > purged ? NULL : "a work id is used again";
}

/* Adopting with an old snapshot would overlook what was committed since. BX-001 */
static const char *old_snapshot(struct fixture *f) {
    struct copy copy;
    make_messages(sql_connect(f));
    restore(f, OTHER_DATABASE, &copy);
    PGconn *old = sql_connect_to(copy.url, f->schema);
    sql_run(old, "begin isolation level repeatable read");
    sql_run(old, "select count(*) from message");
    sql_enqueue(copy.conn, "before");
    if (!same(sql_state(old, "select adopt()"), ""))
        sql_run(old, "rollback; select adopt()");
    else
        sql_run(old, "commit");
    bool collides = !same(sql_state(copy.conn, "select enqueue('t', 'after')"), "");
    const char *verdict = collides ? COLLIDE : judge(drain(copy.conn));
    drop(&copy);
    return verdict;
}

#define PARK_LEFTOVERS                                                                                       \
    "perform :\"schema\"._unbury(n, :\"schema\"._lost_ids(n, true), true, "                                  \
    "clock_timestamp());"

/* Events: before the dump with and without positions, and between the restore and its adoption. BX-066 */
static const char *events(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    struct copy copy;
    use_up_xids(conn, XIDS); /* so that the new server's own are lower */
    sql_run(conn, "select event_append('s', 'T', 'p'), event_append('t', 'T', 'p')");
    sql_run(conn, "select count(*) from event_read_all()");
    sql_run(conn, "select event_append('s', 'T', 'p')");
    restore(f, OTHER_CLUSTER, &copy);
    sql_run(copy.conn, "select event_append('s', 'T', 'p'), event_append('t', 'T', 'p')");
    const char *state = sql_state(copy.conn, "select count(*) from event_read_all()");
    const char *verdict = same(state, "BX005") ? NULL : NOT_REFUSED;
    sql_run(copy.conn, "select adopt()");
    sql_run(copy.conn, "select event_append('t', 'T', 'p')");
    const char *followed = sql_text(
        copy.conn, "select string_agg(stream || version, ',' order by position) from event_read_all()");
    if (!verdict && !same(followed, "s1,t1,s2,s3,t2,t3"))
        verdict = LOST;
    if (!verdict && sql_number(copy.conn, "select count(distinct position) from event") != 6)
        verdict = LOST;
    drop(&copy);
    return verdict;
}

static const struct trap TRAPS[] = {
    {"events_of_a_restored_store_are_followed_on",
     events,
     {{"the positions of what was left", "_adopt_events", "where gap.low <= gap.high", "where false", LOST},
      {"the new frontier", "_adopt_events", "f.target := f.base;", "", LOST}}},
    {"a_store_restored_into_another_cluster_goes_on",
     into_another_cluster,
     {{"the look at the identity", "_check_identity", "if not ", "if false and not ", NOT_REFUSED},
      {"the era of messages", "_window", "and m.era = f.era", "", AGAIN},
      {"parking what was left", "adopt", PARK_LEFTOVERS, "null;", LOST},
      {"disregarding the old frontier", "adopt", "_lost_ids(n, true)", "_lost_ids(n, false)", LOST},
      {"the era of new messages", "adopt",
       "execute format('alter table :\"schema\".message alter column era set default %s', next_era);", "",
       LOST}}},
    {"a_store_restored_into_another_database_goes_on",
     into_another_database,
     {{"the identity of the table", "_is_own", "s.message_oid = ':\"schema\".message'::regclass", "true",
       NOT_REFUSED},
      {"parking what was left", "adopt", PARK_LEFTOVERS, "null;", LOST}}},
    {"a_store_restored_where_servers_do_not_tell_their_number_goes_on",
     from_an_unknown_server,
     {{"the number of the transaction", "_is_own", "where o.xid = o.xmin::text::bigint", "", NOT_REFUSED},
      {"writing it when a store is adopted", "adopt", "set xid = o.xmin::text::bigint", "set xid = 0",
       "a store is adopted twice"}}},
    {"the_library_adopts_a_restored_store_by_itself", used_by_the_library, {{0}}},
    {"init_adopts_a_restored_store", initialized, {{0}}},
    {"adopting_overlooks_nothing_committed_meanwhile",
     old_snapshot,
     {{"the look at the isolation level", "adopt", "<> 'read committed'", "= 'never'", LOST}}},
    {"a_logical_copy_gets_new_work_ids_above_the_old_ones",
     logical_copy,
     {{"lifting the sequence", "adopt", "(select max(m.work_id) from :\"schema\".message m)", "1", COLLIDE}}},
    {"work_ids_of_purged_messages_are_not_used_again_after_a_restore",
     purged_before,
     {{"the state of the sequence", "adopt", "pg_sequence_last_value(ids)", "0", "a work id is used again"}}},
};

const struct trap_group RESTORE_TRAPS = TRAP_GROUP(TRAPS);
