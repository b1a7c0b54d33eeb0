/* Streams: in order and whole, whatever stands in the middle of one. */
#include "trap.h"

static const char OVERTOOK[] = "a later message of a stream came before an earlier one";
static const char TWO_AT_ONCE[] = "two have messages of one stream";
static const char WENT_ON[] = "a halted stream went on";
static const char FORGOTTEN[] = "nobody noticed that a stream was worked on out of order";

static const char NOT_FOUND[] = "a head is ready and due, and in no claim";

#define TAKE(size) CLAIM(WORKER, "'30 s'", size)
#define ID(payload) "(select work_id from message where payload = '" payload "')"

static void enqueue_run(PGconn *conn, int count)
{
    for (int i = 1; i <= count; i++)
        sql_run(conn, "select enqueue('t', '%d', stream => 's')", i);
}

/* What is not due ends a run; so does what somebody is cancelling right now. BX-006, BX-062 */
static const char *gap_in_a_run(struct fixture *f)
{
    PGconn *conn = sql_connect(f);
    sql_run(conn, "select enqueue('t', '1', stream => 's')");
    sql_run(conn, "select enqueue('t', '2', stream => 's', due_at => now() + interval '1 hour')");
    sql_run(conn, "select enqueue('t', '3', stream => 's')");
    return same(sql_text(conn, TAKE("10")), "1") ? NULL : OVERTOOK;
}

static const char *cancelled_in_a_run(struct fixture *f)
{
    PGconn *conn = sql_connect(f), *canceller = sql_connect(f);
    enqueue_run(conn, 3);
    sql_run(conn, SORT_STREAMS);
    sql_run(canceller, "begin; select from parked where work_id = " ID("2") " for update");
    bool is_right = same(sql_text(conn, TAKE("10")), "1");
    sql_run(canceller, "rollback");
    return is_right ? NULL : OVERTOOK;
}

/* The first of a run comes back while somebody still has the second: nobody gets it until that is settled. BX-006 */
static const char *half_settled_run(struct fixture *f)
{
    PGconn *conn = sql_connect(f);
    enqueue_run(conn, 6);
    assert_string_equal(sql_text(conn, TAKE("2")), "1,2");
    sql_run(conn, "select outbox_abandon(" WORKER ", array[" ID("1") "], delay => '0')");
    if (!same(sql_text(conn, TAKE("4")), ""))
        return TWO_AT_ONCE;
    sql_run(conn, "select outbox_defer(" WORKER ", array[" ID("2") "], null, '0')");
    assert_string_equal(sql_text(conn, TAKE("2")), "1,2");
    return NULL;
}

/* A stream that halted stays so, whatever is settled, comes in or is cancelled. BX-006 */
static const char *halted(struct fixture *f)
{
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
static const char *halted_unmet(struct fixture *f)
{
    PGconn *conn = sql_connect(f);
    sql_run(conn, "select stream_rule('s*', 'halt')");
    sql_run(conn, "select enqueue('t', '1', stream => 's', ttl => '1 millisecond')");
    sql_run(conn, "select enqueue('t', '2', stream => 's')");
    sql_run(conn, "select pg_sleep(0.01)");
    assert_int_equal(sql_number(conn, "select _expire_fresh(0::smallint, 1::smallint, 10)"), 1);
    return same(sql_text(conn, TAKE("4")), "") ? NULL : WENT_ON;
}

/* BX-061: evidence of somebody who does not keep the order. */
static const char *out_of_order(struct fixture *f)
{
    PGconn *conn = sql_connect(f);
    enqueue_run(conn, 4);
    assert_string_equal(sql_text(conn, TAKE("2")), "1,2");
    sql_run(conn, "select outbox_ack(" WORKER ", array[" ID("2") "])");
    if (sql_number(conn, "select count(*) from stream_violation") != 1)
        return FORGOTTEN;
    sql_run(conn, "select outbox_ack(" WORKER ", array[" ID("1") "])");
    assert_int_equal(sql_number(conn, "select count(*) from stream_violation"), 1);
    return NULL;
}

/* A message whose transaction commits late is no violation: nobody had it. BX-060 */
static const char *late_is_no_violation(struct fixture *f)
{
    PGconn *conn = sql_connect(f), *late = sql_connect(f);
    sql_run(late, "begin; select enqueue('t', 'late', stream => 's')");
    sql_run(conn, "select enqueue('t', '1', stream => 's')");
    assert_string_equal(sql_text(conn, TAKE("4")), "1");
    sql_run(late, "commit");
    sql_run(late, SORT_STREAMS);
    sql_run(conn, "select outbox_ack(" WORKER ", array[" ID("1") "])");
    if (sql_number(conn, "select count(*) from stream_violation") != 0)
        return "a late commit counts as out of order";
    return same(sql_text(conn, TAKE("4")), "late") ? NULL : "a late commit was forgotten";
}

/* A message sorted in before a head that is due much later, while somebody has the stream who then undoes what he did:
 * it is found all the same, once the claimers look at everything again. BX-006, BX-060 */
static const char *woken_later(struct fixture *f)
{
    PGconn *conn = sql_connect(f), *late = sql_connect(f), *canceller = sql_connect(f);
    sql_run(late, "begin; select enqueue('t', 'early', stream => 's')");
    sql_run(conn, "select enqueue('t', 'tomorrow', stream => 's', due_at => now() + interval '1 day')");
    assert_string_equal(sql_text(conn, TAKE("4")), "");
    sql_run(canceller, "begin; select outbox_cancel(" ID("tomorrow") ")");
    sql_run(late, "commit");
    assert_string_equal(sql_text(conn, TAKE("4")), "");
    sql_run(canceller, "rollback");
    sql_run(conn, "update frontier set look_at = '-infinity'");
    return same(sql_text(conn, TAKE("4")), "early") ? NULL : "a stream waits for a message that is not its head";
}

/* A dead letter is replayed while a claimer sorts in a later message of its stream and makes the row that the stream had
 * lost: the claimer does not see the one, the replay does not see the row. The replayed head is found at once. BX-004,
 * BX-006 */
static const char *replayed_unseen(struct fixture *f)
{
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
static const char *stalled(struct fixture *f)
{
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
    sql_run(conn, "update stream set available_at = null, halted_at = now(), halted_by = " ID("6") " where key = 's6'");
    if (sql_number(conn, "select lost from audit()") != 4)
        return "the audit does not find a head that no claimer finds";
    assert_int_equal(sql_number(conn, "select repaired from audit(true)"), 4);
    if (!same(sql_text(conn, "select string_agg(payload, ',' order by payload) "
                             "from _claim_by_topics(0::smallint, " WORKER ", '30 s', 5, '{t}', true)"), "1,2,3,4,5"))
        return NOT_FOUND;
    assert_int_equal(sql_number(conn, "select lost from audit()"), 0);
    return NULL;
}

enum { OTHERS = 5000, READ_MAX = 500 };

/* Streams of topics that a claimer does not want cost it nothing. BX-006, BX-024 */
static const char *unwanted_streams(struct fixture *f)
{
    static const char WANTED[] = "select string_agg(payload, ',') from _claim_by_topics(0::smallint, " WORKER ", '30 s', 1, '{mine}', true)";
    PGconn *conn = sql_connect(f);
    sql_run(conn, "insert into message (message_id, box, lane, created_at, topic, payload, stream) select "
                  "gen_random_uuid(), 0, 1, now(), 'other', 'p', 'o' || i from generate_series(1, %d) i", OTHERS);
    for (int i = 0; i < 4; i++)
        sql_run(conn, "select enqueue('mine', '%d', stream => 'm%d')", i, i);
    sql_run(conn, SORT_STREAMS);
    assert_string_equal(sql_text(conn, WANTED), "0");
    sql_run(conn, "begin");
    assert_string_equal(sql_text(conn, WANTED), "1");
    int64_t read = sql_number(conn, "select sum(pg_stat_get_xact_tuples_returned(i.indexrelid)) from pg_index i "
                                    "where i.indrelid = 'stream'::regclass");
    sql_run(conn, "commit");
    return read <= READ_MAX ? NULL : "a claim walks through streams it does not want";
}

static const struct trap TRAPS[] = {
    {"a_run_ends_before_what_is_not_due", gap_in_a_run,
     {{"ending there", "_head_runs", "bool_and(m.go) over (partition by m.key order by m.n)", "m.go", OVERTOOK}}},
    {"a_run_ends_before_what_somebody_holds", cancelled_in_a_run,
     {{"ending there", "_head_runs", "bool_and(m.go) over (partition by m.key order by m.n)", "m.go", OVERTOOK}}},
    {"a_run_that_is_half_settled_holds_its_stream", half_settled_run,
     {{"looking for leased ones", "_streams_go_on", "x.epoch is not null limit 1", "false limit 1", TWO_AT_ONCE}}},
    {"a_halted_stream_stands_still", halted,
     {{"halting", "_bury", "if p_reason <> 5 then", "if false then", WENT_ON},
      {"staying so", "_streams_go_on", "s.halted_at is null and", "", WENT_ON}}},
    {"a_stream_halts_for_a_message_nobody_had_met", halted_unmet,
     {{"its row", "_bury_fresh", "if p_lane = 1 and p_reason <> 5 then", "if false then", WENT_ON}}},
    {"work_out_of_order_is_noted_down", out_of_order,
     {{"the note", "_unpark", "and (e.epoch is not null or e.retry_count > 0)", "and false", FORGOTTEN}}},
    {"a_late_commit_is_not_out_of_order", late_is_no_violation,
     {{"knowing the difference", "_unpark", "and (e.epoch is not null or e.retry_count > 0)", "",
       "a late commit counts as out of order"}}},
    {"a_stream_that_was_held_when_its_head_came_is_woken_later", woken_later,
     {{"noting it", "_meet_streams", "if changed is not null then", "if false then",
       "a stream waits for a message that is not its head"},
      {"looking at the notes", "_claim_items", "if has_turn and full_look then", "if false then",
       "a stream waits for a message that is not its head"}}},
    {"a_head_that_is_replayed_while_its_stream_comes_back_is_found", replayed_unseen,
     {{"waking the stream", "_requeue_streams", "array(select k from unnest(keys) k where k <> all (known))", "'{}'",
       NOT_FOUND}}},
    {"the_audit_finds_and_wakes_streams_that_nobody_looks_at", stalled,
     {{"times", "_stalled_streams", "or s.available_at > greatest(h.available_at, ts)", "",
       "the audit does not find a head that no claimer finds"},
      {"rows that wait for nobody", "_stalled_streams", "s.available_at is null or", "",
       "the audit does not find a head that no claimer finds"},
      {"topics", "_stalled_streams", "or s.topic <> h.topic", "",
       "the audit does not find a head that no claimer finds"},
      {"repairing", "_requeue_streams", "perform :\"schema\"._streams_go_on(p_box, known, ts);", "", NOT_FOUND}}},
    {"streams_of_other_topics_are_passed_by", unwanted_streams,
     {{"their own index", "_ready_streams", "if is_picky and not p_suspect then", "if false then",
       "a claim walks through streams it does not want"}}},
};

const struct trap_group STREAM_TRAPS = TRAP_GROUP("stream", TRAPS);
