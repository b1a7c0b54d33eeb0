/* Leases in parts, and messages that nobody knows of. */
#include <stdlib.h>

#include "trap.h"

#include "actions.h"
#include "mutate.h"

static const char OUT_OF_ORDER[] = "the history of a message is out of order";
static const char LOWER_EPOCH[] = "a later lease has a lower epoch";
static const char STILL_HELD[] = "a message or its stream is still held when its lease has ended";

static void claim_many(PGconn *conn, int count, const char *lease) {
    sql_run(conn, "select enqueue('t', 'p') from generate_series(1, %d)", count);
    assert_int_equal(sql_number(conn,
                                "select count(*) from _claim_by_topics(0::smallint, " WORKER
                                ", '%s', %d, null, true)",
                                lease, count),
                     count);
}

/* Every `step`-th of the messages from `first` on; how many it affected. */
static int64_t finish(PGconn *conn, int first, int step, int last) {
    return sql_number(
        conn, "select count(*) from outbox_ack(" WORKER ", array(select generate_series(%d, %d, %d)))", first,
        last, step);
}

static int64_t count_status(PGconn *conn, const char *status) {
    return sql_number(conn, "select count(*) from outbox where status = '%s'", status);
}

enum { BIG = 1000 };

/* BX-002, BX-004 */
static const char *partial_acks(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    claim_many(conn, BIG, "30 s");
    if (finish(conn, 1, 2, BIG) != BIG / 2)
        return "a partial ack did not take";
    if (count_status(conn, "done") != BIG / 2 || count_status(conn, "in_progress") != BIG / 2)
        return "a message is in two places";
    if (finish(conn, 1, 2, BIG) != 0)
        return "a message was finished twice";
    for (int i = 2; i <= 20; i += 2)
        if (finish(conn, i, 1, i) != 1)
            return "a partial ack did not take";
    if (finish(conn, 1, 1, BIG) != BIG / 2 - 10)
        return "a message was finished twice";
    if (count_status(conn, "done") != BIG || sql_number(conn, "select count(*) from lease") != 0)
        return "an emptied lease stays";
    return sql_number(conn, "select sum(last_id - first_id + 1) from finished") == BIG
               ? NULL
               : "a message was finished twice";
}

/* The same with epochs, which goes another way through the store. BX-002, BX-004 */
static const char *partial_acks_by_epoch(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    claim_many(conn, 10, "30 s");
    static const char ACK[] = "select coalesce(string_agg(i::text, ','), '') from lease l, outbox_ack(" WORKER
                              ", '{2,4,6}', array[l.epoch, l.epoch, l.epoch]) i";
    if (!same(sql_text(conn, "%s", ACK), "2,4,6"))
        return "a partial ack did not take";
    sql_send(conn, "%s", ACK); /* an error is as bad as success */
    if (!same(sql_answer(conn), ""))
        return "a message was finished twice";
    return count_status(conn, "in_progress") == 7 && count_status(conn, "done") == 3
               ? NULL
               : "a message is in two places";
}

static void let_expire(PGconn *conn) {
    while (sql_number(conn, "select count(*) from lease where until > clock_timestamp()") > 0)
        pause_ms(10);
}

/* BX-002, BX-003 */
static const char *half_acked(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    claim_many(conn, 10, "100 ms");
    assert_int_equal(finish(conn, 1, 1, 5), 5);
    let_expire(conn);
    if (finish(conn, 6, 1, 6) != 1)
        return "a late ack that harms nobody was refused";
    if (sql_number(conn, "select outbox_reap()") != 4)
        return "an expired lease released what was done";
    if (finish(conn, 7, 1, 10) != 0)
        return "a lease that is gone still settles";
    if (sql_number(conn, "select count(*) from outbox where retry_count = 1 and status = 'ready'") != 4)
        return "an expired lease did not count";
    return count_status(conn, "done") == 6 ? NULL : "a message is in two places";
}

/* BX-023: renewing a part splits it off; the rest expires alone. BX-003 */
static const char *half_renewed(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    claim_many(conn, 10, "100 ms");
    assert_int_equal(
        sql_number(conn, "select count(*) from outbox_renew(" WORKER ", '{1,3,5}', lease => '30 s')"), 3);
    while (sql_number(conn, "select count(*) from lease where until > clock_timestamp()") > 1)
        pause_ms(10);
    if (sql_number(conn, "select outbox_reap()") != 7)
        return "a renewed part expired, or the rest did not";
    return finish(conn, 1, 1, 10) == 3 ? NULL : "a message is in two places";
}

static const char SEEMS_LOST[] = "a message that is held seems lost";
#define RENEW                                                                                                \
    "select coalesce(string_agg(i::text, ',' order by i), '') from outbox_renew(" WORKER ", '{%s}') i"

/* `second`, of the same owner, wants to renew `wanted` while `first` renews `ids` in a transaction, which
 * ends when `second` waits for it. */
static const char *renew_beside(struct fixture *f, const char *ids, const char *wanted) {
    PGconn *first = sql_connect(f), *second = sql_connect(f), *observer = sql_connect(f);
    sql_run(first, "begin");
    sql_run(first, "select outbox_renew(" WORKER ", '{%s}')", ids);
    sql_send(second, RENEW, wanted);
    sql_wait_blocked(observer, second);
    sql_run(first, "commit");
    const char *got = sql_answer(second);
    if (same(got, "(23505)"))
        return "a renewal fails because of another";
    return same(got, wanted) ? NULL : SEEMS_LOST;
}

/* All of a lease, of which a part is being split off; another part than that; parts of what is in two parts
 * already. BX-002, BX-023 */
static const char *renewed_twice(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    claim_many(conn, 10, "30 s");
    const char *verdict = renew_beside(f, "2", "2,3,4");
    if (!verdict)
        verdict = renew_beside(f, "5", "6");
    if (!verdict)
        verdict = renew_beside(f, "3", "7");
    if (verdict)
        return verdict;
    if (!same(sql_text(conn, RENEW, "1,2,3,4,5,6,7,8,9,10,11"), "1,2,3,4,5,6,7,8,9,10"))
        return SEEMS_LOST;
    assert_int_equal(sql_number(conn, "select sum(upper(r) - lower(r)) from lease, unnest(items) r"), 10);
    return finish(conn, 1, 1, 10) == 10 ? NULL : "a message is in two places";
}

static const char *audit(PGconn *conn, bool repair) {
    return sql_text(conn, "select lost || ' ' || repaired from audit(%s)", repair ? "true" : "false");
}

/* BX-001: a lease row that somebody deleted by hand leaves messages without a trace. */
static const char *without_trace(struct fixture *f) {
    PGconn *conn = sql_connect(f), *writer = sql_connect(f);
    sql_enqueue(conn, "plain");
    sql_enqueue_streamed(conn, "s", "streamed");
    assert_string_equal(sql_claim(conn, 10), "plain,streamed");
    sql_run(conn, "delete from lease");
    sql_run(conn, "delete from parked");
    sql_run(conn, "delete from stream");
    sql_enqueue(conn, "fresh");
    sql_run(writer, "begin");
    sql_enqueue(writer, "unfinished");
    if (!same(audit(conn, false), "2 0"))
        return "the audit does not see what is lost";
    if (!same(sql_claim(conn, 10), "fresh"))
        return "looking changed something";
    if (!same(audit(conn, true), "2 2") || !same(audit(conn, false), "0 0"))
        return "the audit does not repair what is lost";
    sql_run(writer, "commit");
    if (!same(audit(conn, false), "0 0"))
        return "the audit takes fresh messages for lost ones";
    return same(sql_claim(conn, 10), "plain,streamed,unfinished") ? NULL : "what was repaired is not claimed";
}

static const char ALL_STOP[] = "every claim fails because of one message";

/* 'bad' cannot become a dead letter, whatever the reason. */
#define NO_DEATH "alter table dead add constraint no_death check (topic <> 'bad') not valid"
#define DEAD(topic) "select count(*) from outbox where topic = '" topic "' and status = 'failed'"

/* BX-003, BX-020 */
static const char *unburied_lease(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    sql_run(conn, NO_DEATH);
    sql_run(conn,
            "select enqueue(topic, 'p', max_attempts => 1) from unnest('{good,bad,good}'::text[]) topic");
    assert_int_equal(sql_number(conn, "select count(*) from _claim_by_topics(0::smallint, " WORKER
                                      ", '30 s', 3, null, true)"),
                     3);
    sql_run(conn, "update lease set until = clock_timestamp()");
    sql_run(conn, "update frontier set lease_from = '-infinity'");
    for (int i = 0; i < 2; i++)
        if (!same(sql_state(conn,
                            "select _claim_by_topics(0::smallint, " OTHER_WORKER ", '30 s', 3, null, true)"),
                  ""))
            return ALL_STOP;
    if (sql_number(conn, DEAD("good")) != 2)
        return "the messages next to it were not released";
    sql_run(conn, "alter table dead drop constraint no_death");
    sql_run(conn, "update lease set until = clock_timestamp()");
    sql_run(conn, "select _maintain(0::smallint)");
    return sql_number(conn, DEAD("bad")) == 1 ? NULL : "it is not released when that is possible again";
}

/* BX-020 */
static const char *unburied_expired(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    sql_run(conn, NO_DEATH);
    sql_run(conn, "select enqueue(topic, 'p', ttl => '1 hour') from unnest('{bad,good}'::text[]) topic");
    sql_run(conn,
            "select _claim_by_topics(0::smallint, " WORKER ", '30 s', 1, '{none}', true)"); /* parks them */
    assert_int_equal(sql_number(conn, "select count(*) from parked"), 2);
    sql_run(conn, "update parked set expires_at = clock_timestamp()");
    sql_run(conn, "update frontier set expiring_from = '-infinity'");
    for (int i = 0; i < 2; i++)
        if (!same(sql_state(conn,
                            "select _claim_by_topics(0::smallint, " OTHER_WORKER ", '30 s', 3, null, true)"),
                  ""))
            return ALL_STOP;
    if (sql_number(conn, "select count(*) from lease") > 0)
        return "a message was handed out that has expired";
    if (sql_number(conn, DEAD("good")) != 1)
        return "the messages next to it were not buried";
    sql_run(conn, "alter table dead drop constraint no_death");
    sql_run(conn, "update parked set expires_at = clock_timestamp()");
    sql_run(conn, "select _maintain(0::smallint)");
    return sql_number(conn, DEAD("bad")) == 1 ? NULL : "it is not buried when that is possible again";
}

#define OTHERS(action) "when others then\n" action
#define NOBODY(action) "when division_by_zero then\n" action
#define ALL_TOGETHER "            null;   -- each by itself"
#define ONE_BY_ONE "                perform"
#define REST "set items = h.items - wanted"
#define ALL "set items = h.items"

/* A claim is held up after it has drawn its epoch; meanwhile another one takes the message, with a later
 * epoch, and rolls back. The last claimer has the highest epoch. BX-002, BX-030 */
static const char *claimed_and_given_back(struct fixture *f, void (*prepare)(PGconn *, const char *)) {
    PGconn *slow = sql_connect(f), *inside = sql_connect(f), *gate = sql_connect(f);
    mutate(f,
           &(const struct mutation){.function = "_claim_side",
                                    .piece = "    share := wanted;",
                                    .instead = "    if current_setting('boxcar.is_slow', true) = 'yes' then "
                                               "perform pg_advisory_xact_lock(1); end if; share := wanted;"});
    prepare(slow, "a");
    sql_run(slow, "set boxcar.is_slow = yes");
    sql_run(gate, "select pg_advisory_lock(1)");
    sql_send(slow, "select coalesce(max(epoch), 0) from _claim_by_topics(0::smallint, " WORKER
                   ", '30 s', 1, null, true)");
    sql_wait_blocked(gate, slow);
    sql_run(inside, "begin");
    const char *given_back =
        sql_text(inside, "select coalesce(max(epoch), 0) from outbox_claim(" OTHER_WORKER ", '30 s', 1)");
    assert_string_not_equal(given_back, "0");
    sql_run(inside, "rollback");
    sql_run(gate, "select pg_advisory_unlock(1)");
    const char *epoch = sql_answer(slow);
    assert_string_not_equal(epoch, "0");
    if (strtoll(epoch, NULL, 10) <= strtoll(given_back, NULL, 10))
        return LOWER_EPOCH;
    if (sql_number(gate, "select count(*) from outbox_ack(" WORKER ", '{1}', '{%s}')", epoch) != 1)
        return "a message did not end with its lease";
    return sql_number(gate, "select (select count(*) from parked) + (select count(*) from stream where "
                            "available_at is null)") == 0
               ? NULL
               : STILL_HELD;
}

static const char *parked_given_back(struct fixture *f) { return claimed_and_given_back(f, sql_park); }

static void sort_streamed(PGconn *conn, const char *payload) {
    sql_enqueue_streamed(conn, "s", payload);
    sql_run(conn, SORT_STREAMS);
}

static const char *streamed_given_back(struct fixture *f) { return claimed_and_given_back(f, sort_streamed); }

#define WITHOUT_STAMPING                                                                                     \
    {                                                                                                        \
        "drawing again", "_claim_items",                                                                     \
            "elsif pg_sequence_last_value(':\"schema\".epoch_count') = drawn.counted then",                  \
            "elsif true then", LOWER_EPOCH                                                                   \
    }

/* The cancellation of a parked message waits for a claimer, whose attempt fails meanwhile. The history is
 * read by time. BX-004, BX-028 */
static const char *cancelled_after_an_attempt(struct fixture *f) {
    PGconn *claimer = sql_connect(f), *canceller = sql_connect(f), *observer = sql_connect(f);
    sql_park(claimer, "p");
    sql_run(claimer, "begin");
    sql_run(claimer, "select from outbox_claim(" WORKER ", '30 s', 1)");
    sql_send(canceller, "select outbox_cancel(1)");
    sql_wait_blocked(observer, canceller);
    sql_run(claimer, "select outbox_abandon(" WORKER ", array[1], null, 'again', '0 s')");
    sql_run(claimer, "commit");
    assert_string_equal(sql_answer(canceller), "1");
    return same(sql_text(observer, "select string_agg(outcome, ',' order by at) from attempt"),
                "abandoned,abandoned,cancelled")
               ? NULL
               : OUT_OF_ORDER;
}

static const struct trap TRAPS[] = {
    {"a_cancellation_comes_after_the_attempt_that_it_waited_for",
     cancelled_after_an_attempt,
     {{"the time when the message was ours", "_cancel", "ts := clock_timestamp();   --", "--",
       OUT_OF_ORDER}}},
    {"parts_of_a_big_lease_are_acked_once_each",
     partial_acks,
     {{"taking out what was acked", "_take", REST, ALL, "a message is in two places"},
      {"removing an emptied lease", "_take", "and h.items <@ wanted", "and false",
       "an emptied lease stays"}}},
    {"parts_of_a_lease_are_acked_once_each_by_epoch",
     partial_acks_by_epoch,
     {{"taking out what was acked", "_take_epoch", REST, ALL, "a message was finished twice"}}},
    {"an_expired_lease_gives_back_only_what_was_not_acked",
     half_acked,
     {{"taking out what was acked", "_take", REST, ALL, "an expired lease released what was done"},
      {"counting the attempt", "_release", "retry_count = p.retry_count + counted,",
       "retry_count = p.retry_count,", "an expired lease did not count"}}},
    {"renewing_a_part_of_a_lease_keeps_only_that_part",
     half_renewed,
     {{"the split", "_renew", "set items = p.items - p.hit", "set items = p.items",
       "a renewed part expired, or the rest did not"}}},
    {"a_lease_is_renewed_by_two_at_once",
     renewed_twice,
     {{"looking again", "_renew", "exit when coalesce(got.wanted <@ renewed, true);", "exit;", SEEMS_LOST},
      {"another number for a part", "_renew", "on conflict do nothing ", "",
       "a renewal fails because of another"}}},
    {"message_that_cannot_be_released_stops_no_claim",
     unburied_lease,
     {{"catching", "_try_expire_leases", OTHERS(ALL_TOGETHER), NOBODY(ALL_TOGETHER), ALL_STOP},
      {"one by one", "_try_expire_leases", OTHERS(ONE_BY_ONE), NOBODY(ONE_BY_ONE), ALL_STOP}}},
    {"message_that_has_expired_and_cannot_be_buried_stops_no_claim",
     unburied_expired,
     {{"catching", "_try_bury_expired", OTHERS(ALL_TOGETHER), NOBODY(ALL_TOGETHER), ALL_STOP},
      {"one by one", "_try_bury_expired", OTHERS(ONE_BY_ONE), NOBODY(ONE_BY_ONE), ALL_STOP},
      {"keeping it back", "_try_bury_expired", "set available_at = ts + interval '1 minute', expires_at",
       "set expires_at", "a message was handed out that has expired"}}},
    {"a_message_without_a_trace_is_found_and_repaired",
     without_trace,
     {{"plain messages", "_lost_ids", "when 0 then :\"schema\"._is_behind(plain, m.xid, m.work_id)",
       "when 0 then false", "the audit does not see what is lost"},
      {"streamed messages", "_lost_ids", "when 1 then :\"schema\"._is_behind(streamed, m.xid, m.work_id)",
       "when 1 then false", "the audit does not see what is lost"},
      {"the repair", "audit", "perform :\"schema\"._unbury(box, ids, true, clock_timestamp());", "null;",
       "the audit does not repair what is lost"}}},
    {"a_parked_message_that_was_given_back_gets_a_higher_epoch", parked_given_back, {WITHOUT_STAMPING}},
    {"a_streamed_message_that_was_given_back_gets_a_higher_epoch",
     streamed_given_back,
     {WITHOUT_STAMPING,
      {"stamping the stream", "_claim_items", "and s.epoch = drawn.epoch", "and false", STILL_HELD}}},
};

const struct trap_group LEASE_TRAPS = TRAP_GROUP(TRAPS);
