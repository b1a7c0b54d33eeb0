/* Streams: in order and whole, whatever stands in the middle of one. */
#include "trap.h"

static const char OVERTOOK[] = "a later message of a stream came before an earlier one";
static const char TWO_AT_ONCE[] = "two have messages of one stream";
static const char WENT_ON[] = "a halted stream went on";
static const char FORGOTTEN[] = "nobody noticed that a stream was worked on out of order";

static const char LATE[] = "a late commit was forgotten";
static const char AGAIN[] = "a finished message came again, or another not at all";
static const char NOT_FOUND[] = "a head is ready and due, and in no claim";

enum { OTHERS = 5000, READ_MAX = 500 };

#define TAKE(size) CLAIM(WORKER, "'30 s'", size)
#define ID(payload) "(select work_id from message where payload = '" payload "')"

static void enqueue_run(PGconn *conn, int count) {
    for (int i = 1; i <= count; i++)
        sql_run(conn, "select enqueue('t', '%d', stream => 's')", i);
}

/* What is not due ends a run; so does what somebody is cancelling right now. BX-006, BX-062 */
static const char *gap_in_a_run(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    sql_run(conn, "select enqueue('t', '1', stream => 's')");
    sql_run(conn, "select enqueue('t', '2', stream => 's', due_at => now() + interval '1 hour')");
    sql_run(conn, "select enqueue('t', '3', stream => 's')");
    return same(sql_text(conn, TAKE("10")), "1") ? NULL : OVERTOOK;
}

/* The same where the first one had to wait for its time: a closer look is taken then. */
static const char *gap_behind_one_that_was_due(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    sql_run(conn, "select enqueue('t', '1', stream => 's', due_at => now())");
    sql_run(conn, "select enqueue('t', '2', stream => 's', due_at => now() + interval '1 hour')");
    sql_run(conn, "select enqueue('t', '3', stream => 's')");
    return same(sql_text(conn, TAKE("10")), "1") ? NULL : OVERTOOK;
}

static const char *cancelled_in_a_run(struct fixture *f) {
    PGconn *conn = sql_connect(f), *canceller = sql_connect(f);
    enqueue_run(conn, 3);
    assert_string_equal(sql_text(conn, TAKE("3")), "1,2,3");
    sql_run(conn, "select outbox_defer(" WORKER ", array(select work_id from message), null, '0')");
    sql_run(canceller, "begin; select from parked where work_id = " ID("2") " for update");
    bool is_right = same(sql_text(conn, TAKE("10")), "1");
    sql_run(canceller, "rollback");
    return is_right ? NULL : OVERTOOK;
}

/* The first of a run comes back while somebody still has the second: nobody gets it until that is settled.
 * The same once both are parked. BX-006 */
static const char *half_settled_run(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    enqueue_run(conn, 6);
    assert_string_equal(sql_text(conn, TAKE("2")), "1,2");
    sql_run(conn, "select outbox_abandon(" WORKER ", array[" ID("1") "], delay => '0')");
    if (!same(sql_text(conn, TAKE("4")), ""))
        return TWO_AT_ONCE;
    sql_run(conn, "select outbox_defer(" WORKER ", array[" ID("2") "], null, '0')");
    assert_string_equal(sql_text(conn, TAKE("2")), "1,2");
    sql_run(conn, "select outbox_abandon(" WORKER ", array[" ID("1") "], delay => '0')");
    return same(sql_text(conn, TAKE("4")), "") ? NULL : TWO_AT_ONCE;
}

/* The same where the claim took two runs of a stream, since it had room left after a look at others. */
static const char *half_settled_runs(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    sql_run(conn, "select enqueue('t', 'other', stream => 'o', due_at => now())");
    sql_run(conn, "select enqueue('t', '1', stream => 's', due_at => now())");
    sql_run(conn, "select enqueue('t', i::text, stream => 's') from generate_series(2, 4) i");
    assert_string_equal(sql_text(conn, TAKE("4")), "1,2,3,other"); /* as text */
    sql_run(conn, "select outbox_ack(" WORKER ", array[" ID("3") "])");
    return same(sql_text(conn, TAKE("4")), "") ? NULL : TWO_AT_ONCE;
}

/* A stream that halted stays so, whatever is settled, comes in or is cancelled. BX-006 */
static const char *halted(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    sql_run(conn, "select stream_rule('s*', 'halt')");
    enqueue_run(conn, 4);
    assert_string_equal(sql_text(conn, TAKE("2")), "1,2");
    sql_run(conn, "select outbox_fail(" WORKER ", array[" ID("1") "], null, 'no')");
    sql_run(conn, "select outbox_defer(" WORKER ", array[" ID("2") "], null, '0')");
    if (!same(sql_text(conn, TAKE("4")), ""))
        return WENT_ON;
    sql_run(conn, "select enqueue('t', '5', stream => 's')");
    sql_run(conn, "select outbox_cancel(" ID("3") ")");
    if (!same(sql_text(conn, TAKE("4")), ""))
        return WENT_ON;
    sql_run(conn, "select stream_resume('s')");
    assert_string_equal(sql_text(conn, TAKE("1")), "2");
    return NULL;
}

/* One that dies before any claimer met it halts its stream all the same. BX-005, BX-006 */
static const char *halted_unmet(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    sql_run(conn, "select stream_rule('s*', 'halt')");
    sql_run(conn, "select enqueue('t', '1', stream => 's', ttl => '1 millisecond')");
    sql_run(conn, "select enqueue('t', '2', stream => 's')");
    sql_run(conn, "select pg_sleep(0.01)");
    assert_int_equal(sql_number(conn, "select _expire_fresh(0::smallint, 1::smallint, 10)"), 1);
    return same(sql_text(conn, TAKE("4")), "") ? NULL : WENT_ON;
}

/* BX-061: evidence of a claimer that does not keep the order. */
static const char *out_of_order(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    enqueue_run(conn, 4);
    assert_string_equal(sql_text(conn, TAKE("2")), "1,2");
    sql_run(conn, "select outbox_ack(" WORKER ", array[" ID("2") "])");
    if (sql_number(conn, "select count(*) from stream_violation") != 1)
        return FORGOTTEN;
    sql_run(conn, "select outbox_ack(" WORKER ", array[" ID("1") "])");
    assert_int_equal(sql_number(conn, "select count(*) from stream_violation"), 1);
    assert_string_equal(sql_text(conn, TAKE("2")), "3,4");
    sql_run(conn, "select outbox_defer(" WORKER ", array[" ID("3") ", " ID("4") "], null, '0')");
    assert_string_equal(sql_text(conn, TAKE("2")), "3,4"); /* parked now */
    sql_run(conn, "select outbox_ack(" WORKER ", array[" ID("4") "])");
    return sql_number(conn, "select count(*) from stream_violation") == 2 ? NULL : FORGOTTEN;
}

/* A message whose transaction commits late is no violation: nobody had it. BX-060 */
static const char *late_is_no_violation(struct fixture *f) {
    PGconn *conn = sql_connect(f), *late = sql_connect(f);
    sql_run(late, "begin; select enqueue('t', 'late', stream => 's')");
    sql_run(conn, "select enqueue('t', '1', stream => 's')");
    assert_string_equal(sql_text(conn, TAKE("4")), "1");
    sql_run(late, "commit");
    sql_run(late, SORT_STREAMS);
    sql_run(conn, "select outbox_ack(" WORKER ", array[" ID("1") "])");
    if (sql_number(conn, "select count(*) from stream_violation") != 0)
        return "a late commit counts as out of order";
    return same(sql_text(conn, TAKE("4")), "late") ? NULL : LATE;
}

/* The head of a stream is of another topic than the one that was known when a message before it was not there
 * yet. BX-024, BX-060 */
static const char *late_of_another_topic(struct fixture *f) {
    static const char OTHER[] = "select string_agg(payload, ',') from _claim_by_topics(0::smallint, " WORKER
                                ", '30 s', 4, '{other}', true)";
    PGconn *conn = sql_connect(f), *late = sql_connect(f);
    sql_run(late, "begin; select enqueue('other', 'late', stream => 's')");
    sql_run(conn, "select enqueue('t', '1', stream => 's')");
    assert_string_equal(sql_text(conn, OTHER), "");
    sql_run(late, "commit");
    return same(sql_text(conn, OTHER), "late") ? NULL : LATE;
}

/* The row of a stream comes while a message of it is being cancelled. BX-001, BX-028 */
static const char *cancelled_while_met(struct fixture *f) {
    PGconn *conn = sql_connect(f), *canceller = sql_connect(f), *holder = sql_connect(f);
    enqueue_run(conn, 1);
    sql_run(holder, "begin; lock table message in share mode"); /* stops the canceller half-way */
    sql_run(canceller, "begin");
    sql_send(canceller, "select outbox_cancel(" ID("1") ")");
    sql_wait_blocked(conn, canceller);
    sql_run(conn, SORT_STREAMS);
    sql_run(holder, "commit");
    const char *cancelled = sql_answer(canceller), *taken = sql_text(conn, TAKE("1"));
    sql_run(canceller, "commit");
    return same(taken, "") || cancelled[0] == '(' ? NULL : "a message was cancelled and handed out";
}

/* A message commits when a later one of its stream is finished and the stream's row is gone: it comes, and
 * the other not again. BX-001, BX-060 */
static const char *late_in_an_ended_stream(struct fixture *f) {
    PGconn *conn = sql_connect(f), *late = sql_connect(f);
    sql_run(late, "begin; select enqueue('t', 'late', stream => 's')");
    sql_run(conn, "select enqueue('t', '1', stream => 's')");
    assert_string_equal(sql_text(conn, TAKE("4")), "1");
    sql_run(conn, "select outbox_ack(" WORKER ", array[" ID("1") "])");
    assert_string_equal(sql_text(conn, TAKE("4")), "");
    assert_int_equal(sql_number(conn, "select count(*) from stream"), 0);
    sql_run(late, "commit");
    return same(sql_text(conn, TAKE("4")), "late") ? NULL : AGAIN;
}

/* A stream of which all was finished begins anew. BX-001 */
static const char *ended_stream_again(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    enqueue_run(conn, 1);
    assert_string_equal(sql_text(conn, TAKE("4")), "1");
    sql_run(conn, "select outbox_ack(" WORKER ", array[" ID("1") "])");
    assert_string_equal(sql_text(conn, TAKE("4")), "");
    assert_int_equal(sql_number(conn, "select count(*) from stream"), 0);
    sql_run(conn, "select enqueue('t', '2', stream => 's')");
    return same(sql_text(conn, TAKE("4")), "2") ? NULL : AGAIN;
}

/* A claimer puts a stream off that has no message, while a window is met in part. A new message wakes it.
 * BX-006 */
static const char *put_off(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    enqueue_run(conn, 1);
    assert_string_equal(sql_text(conn, TAKE("4")), "1");
    assert_string_equal(sql_text(conn, TAKE("4")), "");
    sql_run(conn, "select outbox_ack(" WORKER ", array[" ID("1") "])");
    sql_run(conn, "update stream set available_at = now() + interval '1 hour'");
    sql_run(conn, "select enqueue('t', '2', stream => 's')");
    return same(sql_text(conn, TAKE("4")), "2") ? NULL : NOT_FOUND;
}

/* All of a stream is taken before claimers have met all of it. Its row tells so, until they have. BX-060 */
static const char *taken_before_it_was_met(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    enqueue_run(conn, 1);
    assert_string_equal(sql_text(conn, TAKE("4")), "1");
    sql_run(conn, "select outbox_ack(" WORKER ", array[" ID("1") "])");
    sql_run(
        conn,
        "select enqueue_many((select jsonb_agg(jsonb_build_object('topic', 't', 'payload', 'p' || i, "
        "'stream', "
        "case when i in (1, %d) then 'long' else 's' || i end) order by i) from generate_series(1, %d) i))",
        OTHERS, OTHERS);
    assert_int_equal(sql_number(conn,
                                "select count(*) filter (where payload in ('p1', 'p%d')) from "
                                "_claim_by_topics(0::smallint, " WORKER ", '30 s', 1000, null, true)",
                                OTHERS),
                     2);
    assert_int_equal(
        sql_number(
            conn,
            "select (not whole)::int from frontier where box = 0 and lane = 1 order by seq desc limit 1"),
        1);
    sql_run(conn, "select outbox_ack(" WORKER ", array(select _ids(items) from lease))");
    for (int i = 0; i < 10; i++)
        if (sql_number(conn,
                       "select count(*) filter (where payload in ('p1', 'p%d')) from "
                       "_claim_by_topics(0::smallint, " WORKER ", '30 s', 1000, null, true)",
                       OTHERS) > 0)
            return AGAIN;
    return sql_number(conn, "select lost from audit()") == 0 ? NULL : AGAIN;
}

/* Many streams come at once: those that claimers have met are handed out before all are. What commits late
 * comes next all the same, and nothing comes twice. BX-001, BX-060 */
static const char *half_a_window(struct fixture *f) {
    PGconn *conn = sql_connect(f), *late = sql_connect(f);
    sql_run(conn, "select enqueue('t', 'first', stream => 's1')");
    sql_run(late, "begin; select enqueue('t', 'late', stream => 's1')");
    sql_run(conn, "select enqueue('t', 'second', stream => 's1')");
    assert_string_equal(sql_text(conn, TAKE("10")), "first,second");
    sql_run(conn, "select outbox_ack(" WORKER ", array[" ID("first") ", " ID("second") "])");
    sql_run(conn,
            "select enqueue_many((select jsonb_agg(jsonb_build_object('topic', 't', 'payload', 'p' || i, "
            "'stream', 's' || i)) "
            "from generate_series(1, %d) i))",
            OTHERS);
    sql_run(late, "commit");
    const char *got = sql_text(conn, TAKE("1"));
    if (same(got, "") || sql_number(conn, "select count(*) from stream") >= OTHERS)
        return "a claim meets all streams before it hands one out";
    if (!same(got, "late"))
        return LATE;
    sql_run(conn, "select outbox_ack(" WORKER ", array[" ID("late") "])");
    for (int i = 0; i < OTHERS &&
                    sql_number(conn, "select count(*) from _claim_by_topics(0::smallint, " WORKER ", '30 s', "
                                     "1000, '{t}', true) c cross join lateral outbox_ack(" WORKER
                                     ", array[c.work_id])") > 0;
         i++)
        ;
    return sql_number(conn, "select count(*) - 3 from finished") == OTHERS &&
                   sql_number(conn, "select lost from audit()") == 0
               ? NULL
               : AGAIN;
}

/* Somebody claims inside a transaction while an earlier message of the stream commits and claimers come past
 * it. BX-001, BX-030 */
static const char *late_behind_a_claim_inside(struct fixture *f) {
    PGconn *conn = sql_connect(f), *late = sql_connect(f), *inside = sql_connect(f);
    sql_run(conn, "select enqueue('t', '1', stream => 's')");
    sql_run(late, "begin; select enqueue('t', 'late', stream => 's')");
    sql_run(conn, "select enqueue('t', '3', stream => 's')");
    sql_run(conn, SORT_STREAMS);
    sql_run(inside, "begin; select 1");
    assert_string_equal(
        sql_text(inside, "select string_agg(payload, ',') from outbox_claim(" WORKER ", '30 s', 4)"), "1,3");
    sql_run(late, "commit");
    assert_string_equal(sql_text(conn, TAKE("4")), "");
    sql_run(inside, "select outbox_ack(" WORKER ", array[" ID("1") ", " ID("3") "])");
    sql_run(inside, "commit");
    return same(sql_text(conn, TAKE("4")), "late") ? NULL : LATE;
}

/* A dead letter of a stream whose row is gone is replayed. BX-001, BX-025 */
static const char *replayed_in_an_ended_stream(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    enqueue_run(conn, 2);
    assert_string_equal(sql_text(conn, TAKE("4")), "1,2");
    sql_run(conn, "select outbox_fail(" WORKER ", array[" ID("1") "], null, 'no')");
    sql_run(conn, "select outbox_ack(" WORKER ", array[" ID("2") "])");
    assert_string_equal(sql_text(conn, TAKE("4")), "");
    sql_run(conn, "select dead_replay(array[" ID("1") "])");
    return same(sql_text(conn, TAKE("4")), "1") ? NULL : AGAIN;
}

/* A message is sorted in before a head that is due much later, while another transaction has the stream and
 * then rolls back: the message is still found, once the claimers look at everything again. BX-006, BX-060 */
static const char *woken_later(struct fixture *f) {
    PGconn *conn = sql_connect(f), *late = sql_connect(f), *canceller = sql_connect(f);
    sql_run(late, "begin; select enqueue('t', 'early', stream => 's')");
    sql_run(conn, "select enqueue('t', 'tomorrow', stream => 's', due_at => now() + interval '1 day')");
    assert_string_equal(sql_text(conn, TAKE("4")), "");
    sql_run(canceller, "begin; select outbox_cancel(" ID("tomorrow") ")");
    sql_run(late, "commit");
    assert_string_equal(sql_text(conn, TAKE("4")), "");
    sql_run(canceller, "rollback");
    sql_run(conn, "update frontier set look_at = '-infinity'");
    return same(sql_text(conn, TAKE("4")), "early") ? NULL
                                                    : "a stream waits for a message that is not its head";
}

/* A dead letter is replayed while a claimer sorts in a later message of its stream and makes the row that the
 * stream had lost: the claimer does not see the one, the replay does not see the row. The replayed head is
 * found at once. BX-004, BX-006 */
static const char *replayed_unseen(struct fixture *f) {
    PGconn *conn = sql_connect(f), *claimer = sql_connect(f), *replayer = sql_connect(f);
    sql_run(conn, "select enqueue('t', 'head', stream => 's')");
    assert_string_equal(sql_text(conn, TAKE("4")), "head");
    sql_run(conn, "select outbox_fail(" WORKER ", array[" ID("head") "], null, 'no')");
    assert_string_equal(sql_text(conn, TAKE("4")), "");
    assert_int_equal(sql_number(conn, "select count(*) from stream"), 0);
    sql_run(conn, "select enqueue('t', 'tomorrow', stream => 's', due_at => now() + interval '1 day')");
    sql_run(claimer, "begin");
    assert_string_equal(sql_text(claimer, TAKE("4")), "");
    sql_send(replayer, "select dead_replay(array[" ID("head") "])");
    sql_wait_blocked(conn, replayer);
    sql_run(claimer, "commit");
    assert_string_equal(sql_answer(replayer), "1");
    bool is_audited = sql_number(conn, "select lost from audit()") == 0;
    bool is_found = same(sql_text(conn, TAKE("4")), "head");
    if (!is_found && is_audited)
        return "a replayed head is in no claim, and the audit does not know";
    return is_found ? NULL : NOT_FOUND;
}

/* Whatever is wrong with the row of a stream, the audit finds its head, and makes claimers find it. */
static const char *stalled(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    for (int i = 1; i <= 6; i++)
        sql_run(conn, "select enqueue('t', '%d', stream => 's%d')", i, i);
    sql_run(conn, "select enqueue('t', 'behind', stream => 's1')");
    sql_run(conn, "select stream_rule('s6', 'halt')");
    sql_run(conn, SORT_STREAMS);
    assert_int_equal(sql_number(conn, "select lost from audit()"), 0);
    sql_run(conn, "update stream set available_at = now() + interval '1 day' where key = 's1'");
    sql_run(conn, "update stream set available_at = null where key = 's2'");
    sql_run(conn, "update stream set topic = 'other' where key = 's3'");
    sql_run(conn, "delete from stream where key = 's4'");
    sql_run(conn, "update stream set available_at = null, halted_at = now(), halted_by = " ID(
                      "6") " where key = 's6'");
    if (sql_number(conn, "select lost from audit()") != 4)
        return "the audit does not find a head that no claimer finds";
    assert_int_equal(sql_number(conn, "select repaired from audit(true)"), 4);
    if (!same(sql_text(conn, "select string_agg(payload, ',' order by payload) "
                             "from _claim_by_topics(0::smallint, " WORKER ", '30 s', 5, '{t}', true)"),
              "1,2,3,4,5"))
        return NOT_FOUND;
    assert_int_equal(sql_number(conn, "select lost from audit()"), 0);
    return NULL;
}

static const char WALKS[] = "a claim walks through streams it does not want";

/* Streams of topics that a claimer does not want cost it nothing. BX-006, BX-024 */
static const char *unwanted_streams(struct fixture *f) {
    static const char WANTED[] = "select string_agg(payload, ',') from _claim_by_topics(0::smallint, " WORKER
                                 ", '30 s', 1, '{mine}', true)";
    PGconn *conn = sql_connect(f);
    sql_run(conn,
            "insert into message (message_id, box, lane, created_at, topic, payload, stream) select "
            "gen_random_uuid(), 0, 1, now(), 'other', 'p', 'o' || i from generate_series(1, %d) i",
            OTHERS);
    for (int i = 0; i < 4; i++)
        sql_run(conn, "select enqueue('mine', '%d', stream => 'm%d')", i, i);
    sql_run(conn, SORT_STREAMS);
    if (!same(sql_text(conn, WANTED), "0"))
        return WALKS;
    sql_run(conn, "begin");
    assert_string_equal(sql_text(conn, WANTED), "1");
    int64_t read =
        sql_number(conn, "select sum(pg_stat_get_xact_tuples_returned(i.indexrelid)) from pg_index i "
                         "where i.indrelid = 'stream'::regclass");
    sql_run(conn, "commit");
    return read <= READ_MAX ? NULL : WALKS;
}

static const struct trap TRAPS[] = {
    {"a_run_ends_before_what_is_not_due",
     gap_in_a_run,
     {{"ending there", "_take_runs", "coalesce(h.stop - 1, cardinality(h.ids))", "cardinality(h.ids)",
       OVERTOOK}}},
    {"a_run_behind_one_that_was_due_ends_before_what_is_not",
     gap_behind_one_that_was_due,
     {{"ending there", "_log_runs", "over (partition by m.place order by m.n rows",
       "over (partition by m.place, m.n rows", OVERTOOK}}},
    {"a_run_ends_before_what_somebody_holds",
     cancelled_in_a_run,
     {{"ending there", "_head_runs", "bool_and(m.go) over (partition by m.key order by m.n)", "m.go",
       OVERTOOK}}},
    {"a_run_that_is_half_settled_holds_its_stream",
     half_settled_run,
     {{"looking for leased ones", "_is_stream_leased", "x.epoch is not null limit 1", "false limit 1",
       TWO_AT_ONCE},
      {"looking for those from the log", "_is_stream_leased", "s.epoch is not null and", "false and",
       TWO_AT_ONCE}}},
    {"two_runs_that_are_half_settled_hold_their_stream",
     half_settled_runs,
     {{"knowing where the first began", "_claim_mixed_heads",
       "case when s.epoch = p_epoch then s.taken_from else s.position end", "s.position", TWO_AT_ONCE}}},
    {"a_halted_stream_stands_still",
     halted,
     {{"halting", "_bury", "if p_reason <> 5 then", "if false then", WENT_ON},
      {"staying so", "_advance_streams", "s.halted_at is null as is_going", "true as is_going", WENT_ON}}},
    {"a_stream_halts_for_a_message_nobody_had_met",
     halted_unmet,
     {{"its row", "_bury_fresh", "if p_lane = 1 and p_reason <> 5 then", "if false then", WENT_ON}}},
    {"work_out_of_order_is_noted_down",
     out_of_order,
     {{"the note", "_unpark", "p.epoch is not null or p.retry_count > 0 as", "false as", FORGOTTEN},
      {"looking at the log", "_unpark", "and m.work_id < k.last_id and", "and false and", FORGOTTEN}}},
    {"a_late_commit_is_not_out_of_order",
     late_is_no_violation,
     {{"knowing the difference", "_unpark", "p.epoch is not null or p.retry_count > 0 as", "true as",
       "a late commit counts as out of order"},
      {"comparing it with the position", "_register_streams", "and i.id <= s.position", "and false", LATE}}},
    {"a_late_commit_of_another_topic_is_found",
     late_of_another_topic,
     {{"looking at the stream again", "_register_streams", "m.known_topic is not null or", "", LATE}}},
    {"a_message_that_claimers_meet_while_it_is_cancelled_is_not_handed_out",
     cancelled_while_met,
     {{"knowing which streams it has", "_bury_fresh", "and s.key = any (held)", "",
       "a message was cancelled and handed out"}}},
    {"a_late_commit_brings_no_finished_message_back",
     late_in_an_ended_stream,
     {{"looking for those behind it", "_register_streams", "case when m.low < f.base_top then",
       "case when false then", AGAIN}}},
    {"a_stream_that_had_ended_begins_anew",
     ended_stream_again,
     {{"a bound for new ones", "_register_streams", "greatest(m.low, case", "greatest(0, case", AGAIN}}},
    {"a_stream_that_was_put_off_is_woken",
     put_off,
     {{"handing it on", "_come_past_streams", "or s.available_at > ts and x.id > s.position", "", NOT_FOUND},
      {"waking it", "_register_streams", "m.available_at > ts and m.last_id > m.position or", "",
       NOT_FOUND}}},
    {"what_is_taken_before_it_is_met_does_not_come_again",
     taken_before_it_was_met,
     {{"the stream's row", "_forget_streams", "if (:\"schema\"._frontier(p_box, 1::smallint)).whole then",
       "if true then", AGAIN}}},
    {"many_new_streams_are_handed_out_before_all_are_met",
     half_a_window,
     {{"handing them out", "_is_open", "or coalesce(f.position_xid >= f.base_fence, false)", "",
       "a claim meets all streams before it hands one out"}}},
    {"a_claim_inside_a_transaction_moves_no_position",
     late_behind_a_claim_inside,
     {{"leaving it", "_heads_inside", "set available_at = null",
       "set available_at = null, position = 3, taken_from = 3", LATE}}},
    {"a_replay_brings_no_finished_message_back",
     replayed_in_an_ended_stream,
     {{"a position behind all", "_requeue_streams", "::int), p, p", "::int), 0, 0", AGAIN}}},
    {"a_stream_that_was_held_when_its_head_came_is_woken_later",
     woken_later,
     {{"noting it", "_register_streams", "if changed is not null then", "if false then",
       "a stream waits for a message that is not its head"},
      {"looking at the notes", "_claim_items", "if has_turn and full_look then", "if false then",
       "a stream waits for a message that is not its head"}}},
    {"a_head_that_is_replayed_while_its_stream_comes_back_is_found",
     replayed_unseen,
     {{"waking the stream", "_requeue_streams", "array(select k from unnest(keys) k where k <> all (known))",
       "'{}'", NOT_FOUND}}},
    {"the_audit_finds_and_wakes_streams_that_nobody_looks_at",
     stalled,
     {{"times", "_stalled_streams", "or s.available_at > greatest(h.available_at, ts)", "",
       "the audit does not find a head that no claimer finds"},
      {"rows that wait for nobody", "_stalled_streams", "s.available_at is null or", "",
       "the audit does not find a head that no claimer finds"},
      {"topics", "_stalled_streams", "or s.topic <> h.topic", "",
       "the audit does not find a head that no claimer finds"},
      {"repairing", "_requeue_streams", "perform :\"schema\"._advance_streams(p_box, known, ts);", "",
       NOT_FOUND}}},
    {"streams_of_other_topics_are_passed_by",
     unwanted_streams,
     {{"their own index", "_ready_streams", "if is_picky and not p_suspect then", "if false then", WALKS}}},
};

const struct trap_group STREAM_TRAPS = TRAP_GROUP(TRAPS);
