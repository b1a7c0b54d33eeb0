/* The inbox: each key is decided once, also by callers at the same time, and no caller waits for long. */
#include "trap.h"

static const char TWICE[] = "a message was stored or accepted twice";
static const char LOST[] = "a message was neither stored nor accepted";
static const char HANGS[] = "a call waits for another's open transaction";
static const char FORGOTTEN[] = "a key does not know how its message ended";
static const char DEADLOCK[] = "two calls waited for each other";
static const char WALKS[] = "a call reads the keys of others";

#define ENQUEUE(id) "select not duplicate from inbox_enqueue('shop', '" id "', 't', '" id "')"
#define ACCEPT(id) "select inbox_accept('shop', '" id "')"
#define LOOK(id) "select inbox_already_processed('shop', '" id "')"
#define STATE(id) "select state from inbox_receipt where external_id = '" id "'"
#define UPKEEP "select purged_done, purged_dead, purged_keys from _maintain(1::smallint)"
#define CLAIM_INBOX "select count(*) from inbox_claim(" WORKER ", '30 s', 100)"

enum { PATIENCE_MS = 2500 };

/* `second` is sent while `first` is not decided yet. What it answers after the end of that: t or f. */
static const char *in_parallel(struct fixture *f, const char *first, const char *second, bool commit,
                               const char **ret_first) {
    PGconn *a = sql_connect(f), *b = sql_connect(f);
    sql_run(a, "begin");
    *ret_first = sql_text(a, "%s", first);
    sql_send(b, "%s", second);
    (void)sql_is_answered(b, 200);
    sql_run(a, commit ? "commit" : "rollback");
    return sql_answer(b);
}

static const char *verdict_of(const char *first, const char *second, bool commit) {
    if (!same(first, "t"))
        return LOST;
    if (commit)
        return same(second, "f") ? NULL : TWICE;
    return same(second, "t") ? NULL : LOST;
}

/* BX-080, BX-083: the second waits for the first, and has its turn if that rolls back. */
static const char *pairs(struct fixture *f, const char *const statements[][2], size_t count) {
    for (size_t i = 0; i < count; i++) {
        for (int commit = 0; commit < 2; commit++) {
            const char *first, *second = in_parallel(f, statements[i][0], statements[i][1], commit, &first);
            const char *verdict = verdict_of(first, second, commit);
            if (verdict)
                return verdict;
            sql_run(sql_connect(f), "delete from inbox_key");
            sql_run(sql_connect(f), "delete from message");
        }
    }
    return NULL;
}

static const char *decided_once(struct fixture *f) {
    static const char *const PAIRS[][2] = {{ENQUEUE("1"), ENQUEUE("1")},
                                           {ENQUEUE("1"), ACCEPT("1")},
                                           {ACCEPT("1"), ENQUEUE("1")},
                                           {ACCEPT("1"), ACCEPT("1")}};
    return pairs(f, PAIRS, sizeof(PAIRS) / sizeof(PAIRS[0]));
}

/* A key that was only seen is there already: the first caller that takes it has it. BX-081 */
static const char *sighting_decided_once(struct fixture *f) {
    static const char *const SECONDS[] = {ENQUEUE("1"), ACCEPT("1")};
    for (int i = 0; i < 4; i++) {
        const char *first, *second;
        sql_run(sql_connect(f), LOOK("1"));
        second = in_parallel(f, SECONDS[i % 2], SECONDS[i / 2], true, &first);
        const char *verdict = verdict_of(first, second, true);
        if (verdict)
            return verdict;
        if (sql_number(sql_connect(f), "select count(*) from message") != (i % 2 == 0))
            return same(first, "t") && i % 2 == 0 ? LOST : TWICE;
        sql_run(sql_connect(f), "delete from inbox_key");
        sql_run(sql_connect(f), "delete from message");
    }
    return NULL;
}

/* Seen during the first delivery, and the other way round: one message, no error. BX-081 */
static const char *sighting_beside_a_delivery(struct fixture *f) {
    const char *first, *second = in_parallel(f, LOOK("1"), ENQUEUE("1"), true, &first);
    if (!same(second, "t"))
        return LOST;
    PGconn *conn = sql_connect(f);
    if (sql_number(conn, "select count(*) from message") != 1)
        return LOST;
    return same(sql_text(conn, ENQUEUE("1")), "f") ? NULL : TWICE;
}

#define MANY(order)                                                                                          \
    "select count(*) from inbox_enqueue_many((select jsonb_agg(jsonb_build_object('source', 'shop', 'id', "  \
    "i::text, 'topic', 't', 'payload', 'p') order by i " order ") from generate_series(1, 9) i))"

static const char *both_answer(PGconn *a, PGconn *b) {
    bool fine = same(sql_answer(a), "9");
    return same(sql_answer(b), "9") && fine ? NULL : DEADLOCK;
}

/* Two calls with the same keys in opposite orders. */
static const char *opposite_orders(struct fixture *f) {
    PGconn *a = sql_connect(f), *b = sql_connect(f), *observer = sql_connect(f);
    /* A third session holds the key in the middle, so that both are on their way when it releases the key. */
    sql_run(observer, "begin");
    sql_run(observer, ENQUEUE("5"));
    sql_send(a, MANY(""));
    sql_wait_blocked(sql_connect(f), a);
    sql_send(b, MANY("desc"));
    sql_wait_blocked(sql_connect(f), b);
    sql_run(observer, "rollback");
    return both_answer(a, b);
}

/* The keys are known. Somebody holds the last one: the first call has looked for new ones when it waits, so
 * that the second one meets it among those that are known. */
static const char *opposite_orders_of_known(struct fixture *f) {
    PGconn *a = sql_connect(f), *b = sql_connect(f), *observer = sql_connect(f);
    sql_run(observer, MANY(""));
    sql_run(observer, "begin");
    sql_run(observer, "select from inbox_key where external_id = '9' for update");
    sql_send(a, MANY("desc"));
    sql_wait_blocked(sql_connect(f), a);
    sql_send(b, MANY(""));
    sql_wait_blocked(sql_connect(f), b);
    sql_run(observer, "rollback");
    return both_answer(a, b);
}

static void finish_two(PGconn *conn) {
    sql_run(conn, ENQUEUE("1"));
    sql_run(conn, ENQUEUE("2"));
    assert_int_equal(sql_number(conn, CLAIM_INBOX), 2);
    assert_int_equal(sql_number(conn, "select count(*) from inbox_ack(" WORKER
                                      ", array(select work_id from message "
                                      "where external_id = '1'))"),
                     1);
    assert_int_equal(
        sql_number(conn, "select count(*) from inbox_fail(" WORKER ", array(select work_id from message))"),
        1);
    sql_run(conn, "insert into setting (name, number) values ('retention_done', 0), ('retention_dead', 0)");
}

/* A purge of a message records how it ended. BX-082 */
static const char *purge_keeps_the_key(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    finish_two(conn);
    sql_run(conn, UPKEEP);
    assert_int_equal(sql_number(conn, "select count(*) from message"), 0);
    if (!same(sql_text(conn, STATE("1")), "done") || !same(sql_text(conn, STATE("2")), "dead") ||
        !same(sql_text(conn, LOOK("1")), "t"))
        return FORGOTTEN;
    return same(sql_text(conn, ENQUEUE("1")), "f") && same(sql_text(conn, ENQUEUE("2")), "f") ? NULL : TWICE;
}

static const char *purge_by_hand_keeps_the_key(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    finish_two(conn);
    sql_run(conn, "select _dead_purge(1::smallint, array(select work_id from dead))");
    assert_int_equal(sql_number(conn, "select count(*) from message"), 1);
    return same(sql_text(conn, STATE("2")), "dead") ? NULL : FORGOTTEN;
}

/* A duplicate in somebody's long transaction: upkeep passes its message over, and purges it another time. */
static const char *purge_beside_a_long_duplicate(struct fixture *f) {
    PGconn *holder = sql_connect(f), *upkeep = sql_connect(f);
    finish_two(holder);
    sql_run(holder, "begin");
    sql_run(holder, ENQUEUE("1"));
    sql_run(holder, ENQUEUE("2"));
    sql_send(upkeep, UPKEEP);
    bool hangs = !sql_is_answered(upkeep, PATIENCE_MS);
    sql_run(holder, "commit");
    sql_answer(upkeep);
    if (hangs)
        return HANGS;
    if (sql_number(upkeep, "select count(*) from message") != 2)
        return FORGOTTEN;
    sql_run(upkeep, UPKEEP);
    assert_int_equal(sql_number(upkeep, "select count(*) from message"), 0);
    return same(sql_text(upkeep, STATE("1")), "done") && same(sql_text(upkeep, STATE("2")), "dead")
               ? NULL
               : FORGOTTEN;
}

/* Retention does not remove a key that another transaction uses now, and does not wait for it. */
static const char *retention_beside_an_accept(struct fixture *f) {
    PGconn *holder = sql_connect(f), *upkeep = sql_connect(f);
    sql_run(holder, ACCEPT("1"));
    sql_run(holder, ENQUEUE("2"));
    sql_run(holder, "insert into setting (name, number) values ('retention_inbox', 0)");
    sql_run(holder, "begin");
    assert_string_equal(sql_text(holder, ACCEPT("1")), "f");
    sql_send(upkeep, UPKEEP);
    bool hangs = !sql_is_answered(upkeep, PATIENCE_MS);
    sql_run(holder, "commit");
    sql_answer(upkeep);
    if (hangs)
        return HANGS;
    if (sql_number(upkeep, "select count(*) from inbox_key") != 2)
        return FORGOTTEN;
    sql_run(upkeep, UPKEEP);
    /* The one whose message is there stays, however old. */
    return same(sql_text(upkeep, "select string_agg(external_id, ',') from inbox_key"), "2") ? NULL
                                                                                             : FORGOTTEN;
}

/* The ack of a message touches no key: it is done as soon as that commits, and not before. BX-081 */
static const char *asking_beside_an_ack(struct fixture *f) {
    PGconn *acker = sql_connect(f), *other = sql_connect(f);
    sql_run(acker, ENQUEUE("1"));
    sql_run(acker, ENQUEUE("2"));
    assert_int_equal(sql_number(acker, CLAIM_INBOX), 2);
    sql_run(acker, "begin");
    sql_run(acker,
            "select inbox_ack(" WORKER ", array(select work_id from message where external_id = '1'))");
    sql_send(other, LOOK("1"));
    if (!sql_is_answered(other, PATIENCE_MS)) {
        sql_run(acker, "commit");
        return HANGS;
    }
    if (!same(sql_answer(other), "f"))
        return TWICE;
    sql_run(acker, "commit");
    return same(sql_text(other, LOOK("1")), "t") && same(sql_text(other, LOOK("2")), "f") ? NULL : FORGOTTEN;
}

enum { LARGE = 4000 };

static int64_t reads(PGconn *conn) {
    return sql_number(
        conn,
        "select sum(pg_stat_get_xact_tuples_returned(c.oid)) from pg_class c where c.relnamespace = "
        "current_schema()::regnamespace and (c.relname = 'inbox_key' or c.relname = 'message' or c.oid in "
        "(select indexrelid from pg_index where indrelid in ('inbox_key'::regclass, 'message'::regclass)))");
}

/* Two messages, leased. */
static void make_work(PGconn *conn, const char *id) {
    sql_run(conn, "select inbox_enqueue('shop', '%s 1', 't', 'p'), inbox_enqueue('shop', '%s 2', 't', 'p')",
            id, id);
    sql_run(conn, "create temp table got as select * from inbox_claim(" WORKER ", '30 s', 10, '{t}')");
    assert_int_equal(sql_number(conn, "select count(*) from got"), 2);
}

/* Everything else once around, and upkeep that purges them. */
static void use_inbox(PGconn *conn, const char *id) {
    sql_run(conn, "select inbox_already_processed('shop', '%s seen')", id);
    sql_run(conn, "select inbox_enqueue('shop', '%s seen', 'later', 'p')", id);
    sql_run(conn, "select inbox_enqueue('shop', '%s 1', 't', 'p')", id);
    sql_run(conn,
            "select inbox_enqueue_many('[{\"source\": \"shop\", \"id\": \"%s 1\", \"topic\": \"t\", "
            "\"payload\": 1}]')",
            id);
    sql_run(conn, "select inbox_accept('shop', '%s accepted')", id);
    sql_run(conn, "select inbox_ack(" WORKER ", array(select work_id from got order by work_id limit 1))");
    sql_run(conn, "select inbox_fail(" WORKER ", array(select work_id from got))");
    sql_run(conn, "select inbox_already_processed('shop', '%s 1')", id);
    sql_run(conn, "select * from _inbox_find('shop', '%s 2')", id);
    sql_run(conn, "drop table got");
    sql_run(conn, UPKEEP);
}

static int64_t reads_of_use(PGconn *conn, const char *id) {
    make_work(conn, id);
    sql_run(conn, "begin");
    int64_t before = reads(conn);
    use_inbox(conn, id);
    int64_t after = reads(conn);
    sql_run(conn, "commit");
    return after - before;
}

/* Plans made while the inbox was empty must serve a full one; so must those made anew, with statistics. */
static const char *plans(struct fixture *f) {
    PGconn *conn = sql_connect(f), *other = sql_connect(f);
    sql_run(other, "alter table inbox_key set (autovacuum_enabled = off)");
    sql_run(other, "alter table message set (autovacuum_enabled = off)");
    sql_run(other, "vacuum analyze inbox_key, message");
    sql_run(other, "insert into setting (name, number) values ('retention_done', 0), ('retention_dead', 0)");
    static const char *const IDS[] = {"a", "b", "c", "d", "e", "f", "g"};
    for (size_t i = 0; i < sizeof(IDS) / sizeof(IDS[0]); i++) {
        make_work(conn, IDS[i]);
        use_inbox(conn, IDS[i]);
    }
    sql_run(other,
            "insert into inbox_key (source, external_id, message_id, state, first_seen_at, last_seen_at, "
            "seen_count) "
            "select 'shop', 'old ' || i, gen_random_uuid(), i %% 4, now(), now() - interval '1 day', 1 "
            "from generate_series(1, %d) i",
            LARGE);
    sql_run(
        other,
        "insert into message (message_id, box, lane, era, created_at, topic, payload, source, external_id) "
        "select message_id, 1, 0, 0, now(), 'other', 'p', source, external_id from inbox_key where state = 1 "
        "and external_id like 'old %%'");
    bool walks = reads_of_use(conn, "x") > LARGE / 4;
    sql_run(other, "analyze inbox_key, message");
    sql_run(conn, "discard plans");
    walks = reads_of_use(conn, "y") > LARGE / 4 || walks;
    return walks ? WALKS : NULL;
}

static const struct trap TRAPS[] = {
    {"new_key_is_decided_once", decided_once, {{0}}},
    {"key_that_was_only_seen_is_decided_once",
     sighting_decided_once,
     {{"telling sightings from the rest", "_note_keys", "where k.state <> 0 or p_state = 0", "", LOST},
      {"telling which was first", "_note_keys", "w.message_id is null or w.seen_count = s.times",
       "w.message_id is null or w.seen_count > 0", TWICE}}},
    {"sighting_beside_a_delivery_disturbs_nobody", sighting_beside_a_delivery, {{0}}},
    {"new_keys_are_locked_in_their_order",
     opposite_orders,
     {{"the order", "_inbox_enqueue", "order by s.source collate \"C\", s.external_id collate \"C\", s.n",
       "order by s.n", DEADLOCK}}},
    {"known_keys_are_locked_in_their_order",
     opposite_orders_of_known,
     {{"the order", "_note_keys", "from mentions s order by s.source, s.external_id",
       "from mentions s order by (select min(i) from generate_subscripts(ids, 1) i where ids[i] = s.id)",
       DEADLOCK}}},
    {"purge_leaves_the_end_in_the_key",
     purge_keeps_the_key,
     {{"noting what is done", "_purge_done", "perform :\"schema\"._end_keys(array(",
       "perform cardinality(array(", FORGOTTEN},
      {"noting what is dead", "_dead_purge", "perform :\"schema\"._end_keys(gone);", "", FORGOTTEN}}},
    {"purge_by_hand_leaves_the_end_in_the_key",
     purge_by_hand_keeps_the_key,
     {{"noting what is dead", "_dead_purge", "perform :\"schema\"._end_keys(gone);", "", FORGOTTEN}}},
    {"purge_does_not_wait_for_a_key_that_somebody_holds",
     purge_beside_a_long_duplicate,
     {{"skip locked", "_busy_keys", "for update skip locked) l", "for update) l", HANGS}}},
    {"retention_does_not_wait_for_a_key_that_somebody_holds",
     retention_beside_an_accept,
     {{"skip locked", "_maintain", "order by x.last_seen_at limit most for update skip locked",
       "order by x.last_seen_at limit most for update", HANGS},
      {"keeping keys of messages", "_maintain", "x.state <> 1 and ", "", FORGOTTEN}}},
    {"message_is_done_with_its_ack_and_not_before",
     asking_beside_an_ack,
     {{"looking at the message", "_inbox_look", "if known.state = 1 then", "if false then", FORGOTTEN},
      {"looking at the end of its run", "_inbox_look", "and f.last_id >= m.work_id", "", FORGOTTEN}}},
    {"plans_made_without_keys_serve_many",
     plans,
     {{"looking keys up", "_end_keys",
       "where k.source = m.source and k.external_id = m.external_id limit 1) k",
       "where k.source || '' = m.source and k.external_id || '' = m.external_id limit 1) k", WALKS},
      {"looking one message up", "_inbox_put", "where m.message_id = p_id limit 1",
       "where m.message_id::text = p_id::text limit 1", WALKS},
      {"looking messages up", "_inbox_enqueue", "and m.message_id = i.id limit 1) m",
       "and m.message_id::text = i.id::text limit 1) m", WALKS}}},
};

const struct trap_group INBOX_TRAPS = TRAP_GROUP(TRAPS);
