/* Unique keys: one unfinished message each, also with enqueues at the same time, and without deadlocks. */
#include "trap.h"

static const char TWICE[] = "a key has two unfinished messages";
static const char LOST[] = "a message was not stored though its key was free";
static const char DEADLOCK[] = "two calls waited for each other";
static const char HANGS[] = "upkeep waits for another's open transaction";
static const char WALKS[] = "a call reads the keys of others";

#define ENQUEUE(key) "select not duplicate from enqueue('t', 'p', key => '" key "', \"unique\" => true)"
#define KEYED(key) "select enqueue('t', 'p', key => '" key "')"
#define KEYED_BATCH(key)                                                                                     \
    "select process_work_batch(" WORKER                                                                      \
    ", '{\"outbox\": {\"messages\": [{\"topic\": \"t\", \"payload\": \"p\", \"key\": \"" key "\"}]}}')"
#define CLAIM_ALL "select count(*) from _claim_by_topics(0::smallint, " WORKER ", '30 s', 100, null, true)"
#define ACK_ALL                                                                                              \
    "select count(*) from outbox_ack(" WORKER                                                                \
    ", array(select work_id from outbox where status = 'in_progress'))"

/* A second enqueue is sent while the first is not decided yet: it waits, and stores if that rolls back. */
static const char *in_parallel(struct fixture *f, bool commit) {
    PGconn *a = sql_connect(f), *b = sql_connect(f);
    sql_run(a, "begin");
    if (!same(sql_text(a, ENQUEUE("1")), "t"))
        return LOST;
    sql_send(b, ENQUEUE("1"));
    (void)sql_is_answered(b, 200);
    sql_run(a, commit ? "commit" : "rollback");
    if (commit)
        return same(sql_answer(b), "f") ? NULL : TWICE;
    return same(sql_answer(b), "t") ? NULL : LOST;
}

static void finish(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    assert_int_equal(sql_number(conn, CLAIM_ALL), 1);
    assert_int_equal(sql_number(conn, ACK_ALL), 1);
}

/* BX-027: for a new key, and for one whose message has ended. */
static const char *decided_once(struct fixture *f) {
    for (int i = 0; i < 4; i++) {
        const char *verdict = in_parallel(f, i % 2 != 0);
        if (verdict)
            return verdict;
        finish(f);
    }
    return NULL;
}

/* Two wait for a key whose message has ended; the second has to see what the first has stored. */
static const char *two_that_waited(struct fixture *f) {
    PGconn *holder = sql_connect(f), *first = sql_connect(f), *second = sql_connect(f);
    sql_run(holder, ENQUEUE("1"));
    finish(f);
    sql_run(holder, "begin");
    sql_run(holder, "select from unique_key for update");
    sql_send(first, ENQUEUE("1"));
    sql_wait_blocked(sql_connect(f), first);
    sql_send(second, ENQUEUE("1"));
    sql_wait_blocked(sql_connect(f), second);
    sql_run(holder, "commit");
    bool both = same(sql_answer(first), "t");
    return same(sql_answer(second), both ? "f" : "t") ? NULL : TWICE;
}

/* The ack commits while an enqueue waits for the key: what counts is what became of the message by then. */
static const char *ended_meanwhile(struct fixture *f) {
    PGconn *worker = sql_connect(f), *holder = sql_connect(f), *late = sql_connect(f);
    sql_run(worker, ENQUEUE("1"));
    assert_int_equal(sql_number(worker, CLAIM_ALL), 1);
    sql_run(holder, "begin");
    assert_true(same(sql_text(holder, ENQUEUE("1")), "f"));
    sql_send(late, ENQUEUE("1"));
    sql_wait_blocked(worker, late);
    assert_int_equal(sql_number(worker, ACK_ALL), 1);
    sql_run(holder, "commit");
    return same(sql_answer(late), "t") ? NULL : LOST;
}

#define MESSAGES(direction)                                                                                  \
    "(select jsonb_agg(jsonb_build_object('topic', 't', 'payload', 'p', 'unique', true, 'key', i::text) "    \
    "order by i " direction ") from generate_series(1, 9) i)"
#define IN_A_BATCH(direction)                                                                                \
    "select count(*) from process_work_batch(" WORKER                                                        \
    ", jsonb_build_object('outbox', jsonb_build_object('messages', " MESSAGES(direction) ")))"
#define ALONE(direction) "select count(*) from enqueue_many(" MESSAGES(direction) ")"

/* Two calls with the same keys in opposite orders. The fifth is in the middle, so both have locked some when
 * they meet it. */
static const char *opposite_orders_of(struct fixture *f, const char *up, const char *down, const char *rows) {
    PGconn *a = sql_connect(f), *b = sql_connect(f), *observer = sql_connect(f);
    sql_run(observer, "begin");
    sql_run(observer, ENQUEUE("5"));
    sql_send(a, "%s", up);
    sql_wait_blocked(sql_connect(f), a);
    sql_send(b, "%s", down);
    sql_wait_blocked(sql_connect(f), b);
    sql_run(observer, "rollback");
    bool fine = same(sql_answer(a), rows);
    return same(sql_answer(b), rows) && fine ? NULL : DEADLOCK;
}

static const char *opposite_orders(struct fixture *f) {
    return opposite_orders_of(f, IN_A_BATCH(""), IN_A_BATCH("desc"), "1");
}

static const char *opposite_orders_of_many(struct fixture *f) {
    return opposite_orders_of(f, ALONE(""), ALONE("desc"), "9");
}

/* A transaction that has a key and then settles meets a batch that settles and wants the key. */
static const char *keys_before_leases(struct fixture *f) {
    PGconn *a = sql_connect(f), *b = sql_connect(f);
    sql_enqueue(a, "x");
    sql_enqueue(a, "y");
    assert_int_equal(sql_number(a, CLAIM_ALL), 2);
    sql_run(a, "begin");
    sql_run(a, ENQUEUE("1"));
    sql_send(b, "select (process_work_batch(" WORKER
                ", (select jsonb_build_object('outbox', jsonb_build_object('acks', "
                "jsonb_build_array(min(work_id)), 'fails', jsonb_build_array(max(work_id)), 'messages', "
                "'[{\"topic\": \"t\", "
                "\"payload\": \"p\", \"key\": \"1\", \"unique\": true}]'::jsonb)) from message where payload "
                "in ('x', 'y')))"
                ").header #>> '{outbox,messages,0,duplicate}'");
    sql_wait_blocked(sql_connect(f), b);
    sql_send(a, "select count(*) from outbox_defer(" WORKER
                ", array(select work_id from outbox where status = 'in_progress'))");
    if (!same(sql_answer(a), "2"))
        return DEADLOCK;
    sql_run(a, "commit");
    return same(sql_answer(b), "true") ? NULL : DEADLOCK;
}

/* Somebody has the key of a message that is about to be removed. */
static const char *purge_beside_an_enqueue(struct fixture *f) {
    PGconn *conn = sql_connect(f), *holder = sql_connect(f), *upkeep = sql_connect(f);
    sql_run(conn, ENQUEUE("1"));
    finish(f);
    sql_run(conn, "insert into setting (name, number) values ('retention_done', 0)");
    sql_run(holder, "begin");
    sql_run(holder, ENQUEUE("1"));
    sql_send(upkeep, "select purged_done from _maintain(0::smallint)");
    if (!sql_is_answered(upkeep, 2500))
        return HANGS;
    assert_true(same(sql_answer(upkeep), "1"));
    sql_run(holder, "commit");
    return same(sql_text(conn, ENQUEUE("1")), "f") ? NULL : TWICE;
}

enum { LARGE = 20000 };

static int64_t reads(PGconn *conn) {
    return sql_reads(conn, "unique_key") + sql_reads(conn, "unique_key_pkey") + sql_reads(conn, "message") +
           sql_reads(conn, "message_message_id") + sql_reads(conn, "message_fresh") +
           sql_reads(conn, "message_pkey") + sql_reads(conn, "finished") + sql_reads(conn, "finished_pkey") +
           sql_reads(conn, "dead");
}

/* Plans made while there were no keys serve many. */
static const char *plans(struct fixture *f) {
    PGconn *conn = sql_connect(f), *other = sql_connect(f);
    sql_run(other, "select setval('old_key_flag', 1)"); /* as if a program of version 9 had been there */
    for (int i = 0; i < 7; i++) {
        sql_run(conn, ENQUEUE("1"));
        sql_run(conn, KEYED("1"));
        sql_run(conn, KEYED_BATCH("1"));
    }
    sql_run(other, "alter table unique_key set (autovacuum_enabled = off)");
    sql_run(other,
            "insert into unique_key select gen_random_uuid(), gen_random_uuid() from generate_series(1, %d)",
            LARGE);
    sql_run(other, "insert into message (message_id, box, lane, era, created_at, topic, payload) "
                   "select message_id, 0, 0, 0, now(), 'other', 'p' from unique_key on conflict do nothing");
    sql_run(other, "insert into finished select work_id, work_id, 1, 1, " WORKER
                   ", now() from message where topic = 'other' and work_id %% 2 = 0");
    sql_run(conn, "begin");
    int64_t before = reads(conn);
    sql_run(conn, ENQUEUE("2"));
    sql_run(conn, ENQUEUE("2"));
    sql_run(conn, KEYED("2"));
    sql_run(conn, KEYED_BATCH("3"));
    int64_t after = reads(conn);
    sql_run(conn, "commit");
    return after - before > LARGE / 4 ? WALKS : NULL;
}

static const struct trap TRAPS[] = {
    {"free_key_is_taken_once",
     decided_once,
     {{"looking at the message", "_take_keys", "not :\"schema\"._has_key(k.message_id, k.key_id)", "true",
       TWICE},
      {"freeing keys", "_take_keys", "not :\"schema\"._has_key(k.message_id, k.key_id)", "false", LOST}}},
    {"free_key_is_taken_by_one_of_two_that_waited",
     two_that_waited,
     {{"locking keys that are there", "_take_keys",
       "on conflict (key_id) do update set message_id = excluded.message_id where false",
       "on conflict (key_id) do nothing", TWICE}}},
    {"key_is_free_when_its_message_ended_while_one_waited", ended_meanwhile, {{0}}},
    {"unique_keys_are_locked_in_their_order",
     opposite_orders,
     {{"the order", "_take_keys", "select w.key, w.id from wanted w order by w.key",
       "select w.key, w.id from wanted w order by array_position(keys, w.key)", DEADLOCK}}},
    {"unique_keys_of_many_are_locked_in_their_order",
     opposite_orders_of_many,
     {{"the order", "_take_keys", "select w.key, w.id from wanted w order by w.key",
       "select w.key, w.id from wanted w order by array_position(keys, w.key)", DEADLOCK}}},
    {"unique_keys_are_locked_before_leases",
     keys_before_leases,
     {{"holding keys first", "process_work_batch", "perform :\"schema\"._hold_keys(keys);", "null;",
       DEADLOCK}}},
    {"purge_does_not_wait_for_a_unique_key_that_somebody_holds",
     purge_beside_an_enqueue,
     {{"skip locked", "_forget_keys", "for update skip locked", "for update", HANGS}}},
    {"plans_made_without_unique_keys_serve_many",
     plans,
     {{"looking keys up", "_take_keys", "where k.key_id = w.key limit 1",
       "where k.key_id::text = w.key::text limit 1", WALKS},
      {"looking for its other id", "_enqueue_one", "where m.message_id = p_other and",
       "where m.message_id::text = p_other::text and", WALKS},
      {"looking messages up", "_enqueue_messages", "where m.message_id = i.other",
       "where m.message_id::text = i.other::text", WALKS},
      {"looking ends up", "_has_key", "where f.box = m.box and f.first_id <= m.work_id order",
       "where f.first_id <= m.work_id order", WALKS}}},
};

const struct trap_group KEY_TRAPS = TRAP_GROUP(TRAPS);
