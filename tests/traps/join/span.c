/* Spans: members of a join that were enqueued together and are found together. */
#include "large_join.h"

static const char MISCOUNTED[] = "a join did not count what had ended";
static const char INEXACT[] = "spans cover others than their members";

/* There are as few spans as possible: each costs every ack a probe. BX-047 */
static const char *few_spans(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    start_run(conn, 2000, 2000);
    return sql_number(conn, "select count(*) from join_span") == 2
               ? NULL
               : "neighbours have more spans than they need";
}

/* Members of a span, acked while somebody holds their join. BX-041, BX-042 */
static const char *span_put_off(struct fixture *f) {
    PGconn *holder = sql_connect(f), *acker = sql_connect(f);
    start_run(holder, 100, 100);
    assert_int_equal(sql_number(holder, "select count(*) from join_member where in_span"), 100);
    sql_run(holder, "begin");
    sql_run(holder, REPORT("50"));
    sql_run(acker, ACK_WHERE("payload <> '50'"));
    sql_run(holder, "commit");
    sql_run(acker, UPKEEP);
    return same(sql_text(acker, STATUS), "completed") && sql_number(acker, COUNTED) == 100 ? NULL
                                                                                           : MISCOUNTED;
}

/* A member of a span, put off, whose message is purged before it counts. */
static void purge_put_off(PGconn *holder, PGconn *acker) {
    start_run(holder, 100, 100);
    sql_run(acker, ACK_WHERE("payload <> '50'"));
    sql_run(holder, "begin");
    sql_run(holder, "select from join_row for no key update");
    sql_run(acker, ACK("50"));
    sql_run(acker, "insert into setting (name, number) values ('retention_done', 0)");
    sql_run(acker, UPKEEP);
    sql_run(acker, "delete from setting where name = 'retention_done'");
    sql_run(holder, "commit");
    assert_int_equal(sql_number(acker, "select count(*) from message"), 0);
    assert_int_equal(sql_number(acker, COUNTED), 99);
}

/* The same in a store of schema version 12, which marked the member instead of noting the step. */
static void purge_uncounted(PGconn *holder, PGconn *acker) {
    purge_put_off(holder, acker);
    sql_run(acker, "update join_member m set check_at = clock_timestamp() from late_step s where m.work_id = "
                   "s.first_id");
    sql_run(acker, "delete from late_step");
}

/* It counts although its message is gone. BX-026, BX-042 */
static const char *span_put_off_and_purged(struct fixture *f) {
    PGconn *holder = sql_connect(f), *acker = sql_connect(f);
    purge_put_off(holder, acker);
    sql_run(acker, UPKEEP);
    return same(sql_text(acker, STATUS), "completed") && sql_number(acker, COUNTED) == 100 ? NULL
                                                                                           : MISCOUNTED;
}

static const char *once_more(PGconn *conn) {
    sql_run(conn, "update join_member set check_at = check_at - interval '2 hours'");
    sql_run(conn, UPKEEP);
    return same(sql_text(conn, STATUS), "completed") && sql_number(conn, COUNTED) == 100 ? NULL : MISCOUNTED;
}

/* It comes again under its id, and counts then. BX-026, BX-042 */
static const char *span_purged(struct fixture *f) {
    PGconn *holder = sql_connect(f), *acker = sql_connect(f);
    purge_uncounted(holder, acker);
    sql_run(acker, UPKEEP); /* notices that the message is gone */
    enqueue_run(acker, 50, 50, "null::uuid");
    assert_int_equal(sql_number(acker, CLAIM_MANY, 1), 1);
    sql_run(acker, ACK("50"));
    return once_more(acker);
}

/* The same before anybody noticed that it was gone. */
static const char *span_replaced(struct fixture *f) {
    PGconn *holder = sql_connect(f), *acker = sql_connect(f);
    purge_uncounted(holder, acker);
    enqueue_run(acker, 50, 50, "null::uuid");
    assert_int_equal(sql_number(acker, CLAIM_MANY, 1), 1);
    sql_run(acker, ACK("50"));
    return once_more(acker);
}

/* Some were members before, some were there before, one comes twice. JOIN-022, BX-042 */
static const char *span_with_holes(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    sql_run(conn, "select join_start(2500)");
    enqueue_run(conn, 150, 151, "null::uuid");
    sql_run(conn, "select join_attach(" JOIN ", md5(i::text)::uuid) from unnest('{20,21,22,2400}'::int[]) i");
    sql_run(
        conn,
        "select count(*) from (select array_agg(md5(i::text)::uuid order by n) as ids, "
        "array_agg('t'::text) as t, array_agg(i::text order by n) as payloads, array_agg(" JOIN ") as joins "
        "from (select n, case n when 2501 then 700 else n end as i from generate_series(1, 2501) n) n) a, "
        "_enqueue(0::smallint, ids, t, payloads, null, null, null, null, null, null, null, false, joins)");
    assert_int_equal(sql_number(conn, "select count(*) from join_member"), 2500);
    assert_true(sql_number(conn, "select count(*) from join_member where in_span") > 2000);
    int64_t wrong = sql_number(conn, "select count(*) from join_member m where m.in_span::int <> ("
                                     "select count(*) from join_span s where s.join_id = m.join_id "
                                     "and m.work_id between s.first_id and s.last_id)");
    int64_t more = sql_number(conn, "select (select sum(last_id - first_id + 1) from join_span) - count(*) "
                                    "from join_member where in_span");
    if (wrong > 0 || more != 0)
        return INEXACT;
    assert_true(sql_number(conn, "select max(last_id - first_id) from join_span") < 1000);
    assert_int_equal(sql_number(conn, CLAIM_MANY, 2500), 2500);
    sql_run(conn, ACK_WHERE("mod(payload::int, 2) = 1"));
    assert_int_equal(sql_number(conn, COUNTED), 1250);
    sql_run(conn, ACK_WHERE("mod(payload::int, 2) = 0"));
    return same(sql_text(conn, STATUS), "completed") && sql_number(conn, COUNTED) == 2500 ? NULL : MISCOUNTED;
}

static int64_t wrong_spans(PGconn *conn) {
    return sql_number(conn, "select (select count(*) from join_member m where m.in_span::int <> ("
                            "select count(*) from join_span s where s.join_id = m.join_id "
                            "and m.work_id between s.first_id and s.last_id)) + abs("
                            "(select coalesce(sum(last_id - first_id + 1), 0) from join_span) "
                            "- (select count(*) from join_member where in_span))");
}

/* Messages with new ids, all into one join; then some with others between them. JOIN-022 */
static const char *spans_of_new_messages(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    sql_run(conn, "select join_start(2500)");
    sql_run(conn, "select count(*) from enqueue_many((select jsonb_agg(jsonb_build_object('topic', 't', "
                  "'payload', i::text, "
                  "'join_id', " JOIN ")) from generate_series(1, 1500) i))");
    assert_int_equal(sql_number(conn, "select count(*) from join_member where in_span"), 1500);
    if (sql_number(conn, "select count(*) from join_span") != 2)
        return INEXACT;
    sql_run(conn, "create temp table m as select * from enqueue_many((select "
                  "jsonb_agg(jsonb_build_object('topic', 't', "
                  "'payload', i::text)) from generate_series(1501, 1700) i))");
    sql_run(conn, "select _attach_fresh(" JOIN
                  ", array_agg(message_id order by work_id), array_agg(work_id order by work_id), "
                  "clock_timestamp()) from m where work_id not in (select work_id + 100 from m order by "
                  "work_id limit 1)");
    assert_int_equal(sql_number(conn, "select count(*) from join_member"), 1699);
    if (wrong_spans(conn) > 0)
        return INEXACT;
    assert_int_equal(sql_number(conn, CLAIM_MANY, 1700), 1700);
    sql_run(conn, ACK_WHERE("true"));
    if (sql_number(conn, COUNTED) != 1699)
        return MISCOUNTED;
    /* Only the first of two has a join. */
    sql_run(conn, "select _enqueue_messages(0::smallint, array[gen_random_uuid(), gen_random_uuid()], '{t, "
                  "t}', '{a, b}', null, "
                  "null, null, null, null, null, null, true, array[" JOIN "])");
    return sql_number(conn, "select count(*) from join_member") == 1700 ? NULL : INEXACT;
}

static const struct trap TRAPS[] = {
    {"spans_of_new_messages_cover_them_and_no_others",
     spans_of_new_messages,
     {{"the end of the last one", "_attach_fresh", "least(f + 999, p_work_ids[n])", "f + 999", INEXACT},
      {"neighbours", "_attach_fresh", " and p_work_ids[n] - p_work_ids[1] = n - 1", "", INEXACT},
      {"looking whether all have it", "_enqueue_messages", "and cardinality(joins) = cardinality(ids)", "",
       INEXACT}}},
    {"thousand_neighbours_are_one_span",
     few_spans,
     {{"counting from 0", "_attach_enqueued", "(r.n - 1) / 1000", "r.n / 1000",
       "neighbours have more spans than they need"}}},
    {"members_of_a_span_that_were_put_off_count_in_the_end",
     span_put_off,
     {{"whole runs", "_count_later", "s.first_id, s.last_id, p_outcome", "s.first_id, s.first_id, p_outcome",
       MISCOUNTED}}},
    {"member_of_a_span_that_was_put_off_counts_though_its_message_is_purged",
     span_put_off_and_purged,
     {{"counting later", "_count_later", "where s.join_id = any (p_joins)", "where false", MISCOUNTED}}},
    {"member_of_a_span_purged_uncounted_counts_when_it_comes_again",
     span_purged,
     {{"leaving the span", "_settle_joins", "else m.work_id is distinct from l.seen_id end", "else true end",
       MISCOUNTED}}},
    {"member_of_a_span_replaced_uncounted_counts",
     span_replaced,
     {{"leaving the span", "_settle_joins", "then m.work_id = l.work_id\n", "then true\n", MISCOUNTED}}},
    {"spans_cover_their_members_and_no_others",
     span_with_holes,
     {{"choosing", "_attach_enqueued", "from attached a where a.in_span", "from attached a", INEXACT},
      {"holes", "_attach_enqueued", "r.work_id - r.n, ", "", INEXACT}}},
};

const struct trap_group JOIN_SPAN_TRAPS = TRAP_GROUP(TRAPS);
