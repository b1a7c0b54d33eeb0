/* What the inbox remembers: sightings, hashes, how messages ended, and for how long. */
#include <stdio.h>

#include "inboxes.h"
#include "log_capture.h"

/* BX-081 */
static void asking_leaves_a_sighting_and_refreshes_it(void **state) {
    struct fixture *f = *state;
    assert_unknown(f, "shop", "1");
    assert_false(is_processed(f, "shop", "1"));
    struct receipt first = receipt_of(f, "shop", "1");
    assert_int_equal(first.is.state, BOXCAR_INBOX_SEEN);
    assert_int_equal(first.is.seen_count, 1);
    assert_int_equal(first.is.work_id.value, 0);
    assert_int_equal(first.is.first_seen_at, first.is.last_seen_at);
    assert_int_equal(first.is.ended_at, BOXCAR_TIME_NONE);
    while (database_now(f) < first.is.last_seen_at + 1000000) /* it is kept to the second */
        pause_ms(1);
    assert_false(is_processed(f, "shop", "1"));
    struct receipt second = receipt_of(f, "shop", "1");
    assert_int_equal(second.is.seen_count, 2);
    assert_int_equal(second.is.first_seen_at, first.is.first_seen_at);
    assert_true(second.is.last_seen_at > first.is.last_seen_at);
    assert_inbox_empty(f);
    assert_int_equal(count_messages(f), 0);
}

/* BX-081: true once it is acked, and only then */
static void message_is_processed_when_it_is_acked(void **state) {
    struct fixture *f = *state;
    boxcar_work_id id = deliver(f, "shop", "1").work_id;
    assert_false(is_processed(f, "shop", "1"));
    struct taken taken = inbox_take(f, f->owner, id);
    assert_false(is_processed(f, "shop", "1"));
    assert_state(f, "shop", "1", BOXCAR_INBOX_PROCESSING);
    boxcar_time before = database_now(f);
    assert_true(inbox_ack(f, taken));
    assert_true(is_processed(f, "shop", "1"));
    struct receipt receipt = receipt_of(f, "shop", "1");
    assert_int_equal(receipt.is.state, BOXCAR_INBOX_DONE);
    boxcar_message_list *list = inbox_message(f, id);
    assert_true(receipt.is.ended_at >= before);
    assert_int_equal(receipt.is.ended_at, look(list)->processed_at);
    boxcar_list_free(list);
    assert_int_equal(receipt.is.work_id.value, id.value);
}

/* The neighbours of a run of acks are not done with it. */
static void acked_neighbours_do_not_count(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[3] = {deliver(f, "shop", "1").work_id, deliver(f, "shop", "2").work_id,
                             deliver(f, "shop", "3").work_id};
    struct taken taken[3];
    for (int i = 0; i < 3; i++)
        taken[i] = inbox_take(f, f->owner, ids[i]);
    assert_true(inbox_ack(f, taken[0]));
    assert_true(inbox_ack(f, taken[2]));
    assert_true(is_processed(f, "shop", "1"));
    assert_false(is_processed(f, "shop", "2"));
    assert_true(is_processed(f, "shop", "3"));
}

static void dead_message_is_not_processed(void **state) {
    struct fixture *f = *state;
    deliver_dead(f, "shop", "1");
    assert_false(is_processed(f, "shop", "1"));
    struct receipt receipt = receipt_of(f, "shop", "1");
    assert_int_equal(receipt.is.state, BOXCAR_INBOX_DEAD);
    assert_true(receipt.is.ended_at > 0);
}

/* BX-083 */
static void key_is_accepted_once(void **state) {
    struct fixture *f = *state;
    assert_true(accept_key(f, "shop", "1"));
    assert_false(accept_key(f, "shop", "1"));
    assert_true(is_processed(f, "shop", "1"));
    struct receipt receipt = receipt_of(f, "shop", "1");
    assert_int_equal(receipt.is.state, BOXCAR_INBOX_DONE);
    assert_int_equal(receipt.is.seen_count, 3);
    assert_true(receipt.is.ended_at > 0);
    assert_true(accept_key(f, "other shop", "1"));
}

/* BX-083 */
static void key_that_was_only_seen_is_accepted_and_a_message_is_not(void **state) {
    struct fixture *f = *state;
    assert_false(is_processed(f, "shop", "seen"));
    assert_true(accept_key(f, "shop", "seen"));
    assert_false(accept_key(f, "shop", "seen"));
    deliver(f, "shop", "ready");
    inbox_take(f, f->owner, deliver(f, "shop", "ready").work_id);
    assert_false(accept_key(f, "shop", "ready"));
    deliver_dead(f, "shop", "dead");
    deliver_done(f, "shop", "done");
    assert_false(accept_key(f, "shop", "dead"));
    assert_false(accept_key(f, "shop", "done"));
    assert_state(f, "shop", "ready", BOXCAR_INBOX_PROCESSING);
    assert_state(f, "shop", "dead", BOXCAR_INBOX_DEAD);
}

/* ---- hashes ---- */

static bool mismatch_of(struct fixture *f, bool accept, const char *hash) {
    bool answer, mismatch = true;
    ASSERT_OK(f, (accept ? boxcar_inbox_accept : boxcar_inbox_already_processed)(
                     f->store, key_of("shop", "1"), boxcar_str_of(hash), &answer, &mismatch, &f->err));
    return mismatch;
}

/* BX-080: reported, logged, never fatal; the first stays */
static void other_hash_is_reported_and_logged(void **state) {
    struct fixture *f = *state;
    struct log_capture *captured = log_capture_new();
    log_capture_reopen(captured, f);
    assert_false(deliver_hashed(f, "shop", "1", "abc").hash_mismatch);
    assert_false(deliver_hashed(f, "shop", "1", "abc").hash_mismatch);
    assert_false(deliver_hashed(f, "shop", "1", NULL).hash_mismatch);
    assert_false(deliver_hashed(f, "shop", "1", "").hash_mismatch);
    assert_false(mismatch_of(f, false, "abc"));
    assert_false(log_capture_has(captured, "hash_mismatch", NULL, NULL, NULL));
    boxcar_enqueued other = deliver_hashed(f, "shop", "1", "xyz");
    assert_true(other.duplicate && other.hash_mismatch);
    assert_true(log_capture_has(captured, "warn", "inbox_hash_mismatch", "source=shop", "external_id=1"));
    assert_true(mismatch_of(f, false, "xyz"));
    assert_true(mismatch_of(f, true, "xyz"));
    assert_string_equal(receipt_of(f, "shop", "1").hash, "abc");
    log_capture_free(captured);
}

static void first_hash_that_is_given_stays(void **state) {
    struct fixture *f = *state;
    assert_false(is_processed(f, "shop", "1"));
    assert_string_equal(receipt_of(f, "shop", "1").hash, "");
    assert_false(mismatch_of(f, false, "abc"));
    assert_string_equal(receipt_of(f, "shop", "1").hash, "abc");
    assert_true(deliver_hashed(f, "shop", "1", "xyz").hash_mismatch); /* and stored all the same */
    assert_int_equal(count_messages(f), 1);
    assert_string_equal(receipt_of(f, "shop", "1").hash, "abc");
}

static void hashes_of_one_call_are_compared_with_each_other(void **state) {
    struct fixture *f = *state;
    static const char *const HASHES[] = {NULL, "abc", "xyz", "abc"};
    boxcar_new_message messages[4];
    boxcar_enqueued results[4];
    for (int i = 0; i < 4; i++) {
        messages[i] = delivery("shop", "1", "p");
        messages[i].content_hash = boxcar_str_of(HASHES[i]);
    }
    ASSERT_OK(f, boxcar_enqueue_many(f->store, BOXCAR_INBOX, messages, 4, results, &f->err));
    for (int i = 0; i < 4; i++)
        assert_int_equal(results[i].hash_mismatch, i == 2);
    assert_string_equal(receipt_of(f, "shop", "1").hash, "abc");
}

/* ---- retention ---- */

static void purge_messages(struct fixture *f) {
    set_setting(f, "retention_done", "0");
    set_setting(f, "retention_dead", "0");
    boxcar_maintenance done = maintain_inbox(f);
    assert_int_equal(done.purged_keys, 0); /* 30 days, by default */
    assert_int_equal(count_messages(f), 0);
}

/* BX-082: the key outlives its message and knows how it ended */
static void purged_message_is_still_known(void **state) {
    struct fixture *f = *state;
    deliver_done(f, "shop", "done");
    deliver_dead(f, "shop", "dead");
    boxcar_time done_at = receipt_of(f, "shop", "done").is.ended_at;
    boxcar_time died_at = receipt_of(f, "shop", "dead").is.ended_at;
    purge_messages(f);
    struct receipt done = receipt_of(f, "shop", "done"), dead = receipt_of(f, "shop", "dead");
    assert_int_equal(done.is.state, BOXCAR_INBOX_DONE);
    assert_int_equal(dead.is.state, BOXCAR_INBOX_DEAD);
    assert_int_equal(done.is.ended_at, done_at);
    assert_int_equal(dead.is.ended_at, died_at);
    assert_int_equal(done.is.work_id.value + dead.is.work_id.value, 0);
    assert_true(is_processed(f, "shop", "done"));
    assert_false(is_processed(f, "shop", "dead"));
    assert_false(accept_key(f, "shop", "dead"));
    static const char *const IDS[] = {"done", "dead"};
    for (int i = 0; i < 2; i++) {
        boxcar_enqueued again = deliver(f, "shop", IDS[i]);
        assert_true(again.duplicate);
        assert_int_equal(again.work_id.value, 0);
    }
    assert_int_equal(count_messages(f), 0);
}

/* Also when dead letters are purged by hand, many at a time. */
static void dead_letters_that_are_purged_by_hand_are_still_known(void **state) {
    struct fixture *f = *state;
    deliver_dead(f, "shop", "2");
    deliver_dead(f, "shop", "1");
    boxcar_dead_filter all = BOXCAR_DEAD_FILTER_INIT;
    int64_t count = 0;
    all.box = BOXCAR_INBOX;
    all.all = true;
    ASSERT_OK(f, boxcar_dead_purge(f->store, &all, &count, &f->err));
    assert_int_equal(count, 2);
    assert_state(f, "shop", "1", BOXCAR_INBOX_DEAD);
    assert_state(f, "shop", "2", BOXCAR_INBOX_DEAD);
}

/* Runs of acks are purged whole: every key of a run is told. */
static void messages_that_were_acked_together_are_still_known(void **state) {
    struct fixture *f = *state;
    static const char *const IDS[] = {"c", "a", "d", "b"};
    boxcar_settlement settlements[4];
    size_t affected;
    for (int i = 0; i < 4; i++)
        deliver(f, "shop", IDS[i]);
    boxcar_claimer options = BOXCAR_CLAIMER_INIT;
    boxcar_message_list *list = NULL;
    options.box = BOXCAR_INBOX;
    options.owner = f->owner;
    ASSERT_OK(f, boxcar_claim(f->store, &options, &list, &f->err));
    assert_int_equal(list->count, 4);
    for (size_t i = 0; i < 4; i++) {
        const boxcar_message *m = list->items[i];
        assert_text(m->external_id, IDS[i]);
        settlements[i] = settlement_of((struct taken){m->work_id, m->epoch, 0, 0});
    }
    boxcar_list_free(list);
    ASSERT_OK(f, boxcar_settle(f->store, CLAIMER(BOXCAR_INBOX, f->owner), BOXCAR_ACK, settlements, 4, NULL,
                               &affected, &f->err));
    assert_int_equal(affected, 4);
    purge_messages(f);
    for (int i = 0; i < 4; i++)
        assert_true(is_processed(f, "shop", IDS[i]));
}

/* BX-029: a program of the version before removes messages meanwhile, dead letters first. In PostgreSQL it
 * calls functions of ours. */
static void program_that_knows_no_keys_leaves_the_end_in_them(void **state) {
    struct fixture *f = *state;
    if (!fixture_is_sqlite(f))
        skip();
    deliver_done(f, "shop", "done");
    deliver_dead(f, "shop", "dead");
    deliver(f, "shop", "ready");
    boxcar_time before = database_now(f);
    fixture_sql(
        f,
        "delete from boxcar_message where work_id = (select first_id from boxcar_finished); "
        "delete from boxcar_finished; create table dying as select work_id from boxcar_dead; "
        "delete from boxcar_dead; delete from boxcar_message where work_id in (select work_id from dying)",
        NULL);
    assert_state(f, "shop", "done", BOXCAR_INBOX_DONE);
    assert_state(f, "shop", "dead", BOXCAR_INBOX_DEAD);
    assert_true(receipt_of(f, "shop", "dead").is.ended_at >= before - 1000000); /* whole seconds */
    assert_state(f, "shop", "ready", BOXCAR_INBOX_SEEN);
    assert_true(deliver(f, "shop", "done").duplicate);
    assert_true(deliver(f, "shop", "dead").duplicate);
}

/* Retention: 30 days after it was last seen, and never before its message is gone. */
static void keys_go_after_their_retention_but_not_before_their_message(void **state) {
    struct fixture *f = *state;
    deliver_done(f, "shop", "done");
    deliver_dead(f, "shop", "dead");
    deliver(f, "shop", "ready");
    assert_false(is_processed(f, "shop", "seen"));
    assert_true(accept_key(f, "shop", "accepted"));
    set_setting(f, "retention_inbox", "0");
    assert_int_equal(maintain_inbox(f).purged_keys, 2);
    assert_unknown(f, "shop", "seen");
    assert_unknown(f, "shop", "accepted");
    assert_state(f, "shop", "done", BOXCAR_INBOX_DONE);
    set_setting(f, "retention_done", "0");
    assert_int_equal(maintain_inbox(f).purged_keys, 1);
    assert_unknown(f, "shop", "done");
    assert_state(f, "shop", "dead", BOXCAR_INBOX_DEAD);
    set_setting(f, "retention_dead", "0");
    assert_int_equal(maintain_inbox(f).purged_keys, 1);
    assert_unknown(f, "shop", "dead");
    assert_state(f, "shop", "ready", BOXCAR_INBOX_SEEN);
    assert_false(deliver(f, "shop", "done").duplicate); /* forgotten: new again */
}

static void age_keys(struct fixture *f, const char *sqlite_condition, const char *postgres_condition) {
    char sqlite_text[200], postgres_text[200];
    snprintf(sqlite_text, sizeof(sqlite_text),
             "update boxcar_inbox_key set last_seen_at = last_seen_at - 31 * 86400000000 where %s",
             sqlite_condition);
    snprintf(postgres_text, sizeof(postgres_text),
             "update inbox_key set last_seen_at = last_seen_at - interval '31 days' where %s",
             postgres_condition);
    fixture_sql(f, sqlite_text, postgres_text);
}

static void key_that_is_mentioned_again_stays_longer(void **state) {
    struct fixture *f = *state;
    assert_true(accept_key(f, "shop", "old"));
    assert_true(accept_key(f, "shop", "again"));
    assert_true(accept_key(f, "shop", "young"));
    age_keys(f, "external_id <> 'young'", "external_id <> 'young'");
    assert_false(accept_key(f, "shop", "again"));
    assert_int_equal(maintain_inbox(f).purged_keys, 1);
    assert_unknown(f, "shop", "old");
    assert_state(f, "shop", "again", BOXCAR_INBOX_DONE);
    assert_state(f, "shop", "young", BOXCAR_INBOX_DONE);
}

/* In small batches, however many. */
static void many_old_keys_go_in_one_round_of_upkeep(void **state) {
    struct fixture *f = *state;
    fixture_sql(
        f,
        "with recursive n(i) as (select 1 union all select i + 1 from n where i < 5000) "
        "insert into boxcar_inbox_key (source, external_id, state, seen_count, first_seen_at, last_seen_at) "
        "select 'shop', i, 2 * (i % 2), 1, 0, 0 from n",
        "insert into inbox_key (source, external_id, message_id, state, seen_count, first_seen_at, "
        "last_seen_at) "
        "select 'shop', i, gen_random_uuid(), 2 * (i % 2), 1, now() - interval '1 year', "
        "now() - interval '1 year' from generate_series(1, 5000) i");
    assert_int_equal(maintain_inbox(f).purged_keys, 5000);
    assert_int_equal(count_keys(f), 0);
}

static const struct CMUnitTest TESTS[] = {
    TEST(asking_leaves_a_sighting_and_refreshes_it),
    TEST(message_is_processed_when_it_is_acked),
    TEST(acked_neighbours_do_not_count),
    TEST(dead_message_is_not_processed),
    TEST(key_is_accepted_once),
    TEST(key_that_was_only_seen_is_accepted_and_a_message_is_not),
    TEST(other_hash_is_reported_and_logged),
    TEST(first_hash_that_is_given_stays),
    TEST(hashes_of_one_call_are_compared_with_each_other),
    TEST(purged_message_is_still_known),
    TEST(dead_letters_that_are_purged_by_hand_are_still_known),
    TEST(messages_that_were_acked_together_are_still_known),
    TEST(program_that_knows_no_keys_leaves_the_end_in_them),
    TEST(keys_go_after_their_retention_but_not_before_their_message),
    TEST(key_that_is_mentioned_again_stays_longer),
    TEST(many_old_keys_go_in_one_round_of_upkeep),
};

const struct suite INBOX_KEY_SUITE = SUITE(TESTS);
