/* Messages that a request knows already come back with it: what it stores itself, and what its owner holds.
 * As process_work_batch() does (seed 004), on every store. */
#include <stdlib.h>

#include "borrow.h"
#include "boxes.h"
#include "inboxes.h"

/* A request for one part of each box. */
struct asking {
    boxcar_request_part parts[BOXES];
    boxcar_request request;
};

static void begin_asking(struct fixture *f, struct asking *asking) {
    *asking = (struct asking){.parts = {BOXCAR_REQUEST_PART_INIT, BOXCAR_REQUEST_PART_INIT},
                              .request = BOXCAR_REQUEST_INIT};
    asking->request.owner = f->owner;
    for (int box = 0; box < BOXES; box++)
        asking->request.parts[box] = &asking->parts[box];
}

/* Stores these messages, and claims up to claim_size messages, these first. */
static void ask_stored(struct fixture *f, struct asking *asking, boxcar_box box,
                       const boxcar_new_message *messages, size_t count, int claim_size) {
    begin_asking(f, asking);
    asking->request.messages[box] = (boxcar_new_message_list){messages, count};
    asking->parts[box].claim_size = claim_size;
    asking->parts[box].claim_stored = true;
}

static boxcar_result *ask(struct fixture *f, const struct asking *asking) {
    boxcar_result *result = NULL;
    ASSERT_OK(f, boxcar_process(f->store, &asking->request, &result, &f->err));
    return result;
}

static void assert_payloads(const boxcar_message_list *list, const char *wanted) {
    char payloads[64] = "";
    assert_in_range(list->count, 0, sizeof(payloads) - 1);
    for (size_t i = 0; i < list->count; i++)
        payloads[i] = list->items[i]->payload.data[0];
    assert_string_equal(payloads, wanted);
}

/* The same messages, for anybody. */
static void assert_claimable(struct fixture *f, boxcar_box box, boxcar_owner owner, const char *wanted) {
    struct asking asking;
    begin_asking(f, &asking);
    asking.request.owner = owner;
    asking.parts[box].claim_size = 50;
    boxcar_result *result = ask(f, &asking);
    assert_payloads(result->claimed[box], wanted);
    boxcar_result_free(result);
}

static void ack_claimed(struct fixture *f, boxcar_box box, const boxcar_message_list *list) {
    for (size_t i = 0; i < list->count; i++) {
        boxcar_settlement done = BOXCAR_SETTLEMENT_INIT;
        done.work_id = list->items[i]->work_id;
        done.epoch = list->items[i]->epoch;
        assert_true(settle_in_box(f, box, BOXCAR_ACK, f->owner, &done));
    }
}

/* ---- what it stores ---- */

/* Messages that are due, wanted and of no stream. The others are left for later claims. */
static void request_claims_first_what_it_stores(void **state) {
    struct fixture *f = *state;
    boxcar_str topics[2] = {BOXCAR_STR("t"), BOXCAR_STR("older")};
    boxcar_new_message messages[6] = {new_message("t", "a"), new_message("other", "b"),
                                      new_message("t", "c"), new_message("t", "d"),
                                      new_message("t", "e"), new_message("t", "f")};
    struct asking asking;
    enqueue(f, "older", "o");
    messages[2].delay_ms = 3600000;
    messages[3].stream = BOXCAR_STR("s");
    messages[4].ttl_ms = 3600000;
    messages[5].headers = BOXCAR_STR("{\"h\": \"v\"}");
    ask_stored(f, &asking, BOXCAR_OUTBOX, messages, 6, 3);
    asking.parts[BOXCAR_OUTBOX].topics = topics;
    asking.parts[BOXCAR_OUTBOX].topic_count = 2;
    boxcar_result *result = ask(f, &asking);
    const boxcar_message_list *claimed = result->claimed[BOXCAR_OUTBOX];
    assert_payloads(claimed, "aef");
    assert_same_owner(claimed->items[0]->owner, f->owner);
    assert_true(claimed->items[0]->epoch.value > 0);
    assert_int_equal(claimed->items[0]->status, BOXCAR_IN_PROGRESS);
    assert_text(claimed->items[2]->headers, "{\"h\": \"v\"}");
    assert_int_equal(claimed->items[1]->work_id.value,
                     result->enqueued[BOXCAR_OUTBOX].items[4]->work_id.value);
    assert_int_equal(stats_of(f).in_progress, 3);
    assert_claimable(f, BOXCAR_OUTBOX, f->other, "obd");
    ack_claimed(f, BOXCAR_OUTBOX, claimed);
    assert_int_equal(stats_of(f).done, 3);
    assert_int_equal(audit_lost(f), 0);
    boxcar_result_free(result);
}

/* Places that its own messages leave are filled by others, oldest first. */
static void request_claims_others_too(void **state) {
    struct fixture *f = *state;
    boxcar_new_message messages[2] = {new_message("t", "m"), new_message("t", "n")};
    struct asking asking;
    for (const char *payload = "abc"; *payload; payload++)
        enqueue(f, "t", payload);
    ask_stored(f, &asking, BOXCAR_OUTBOX, messages, 2, 4);
    boxcar_result *result = ask(f, &asking);
    assert_payloads(result->claimed[BOXCAR_OUTBOX], "abmn");
    ack_claimed(f, BOXCAR_OUTBOX, result->claimed[BOXCAR_OUTBOX]);
    boxcar_result_free(result);
    messages[0] = new_message("t", "x");
    messages[1] = new_message("t", "y");
    messages[0].stream = messages[1].stream =
        BOXCAR_STR("s"); /* of its own only the head can be had, by the claim: there is room for one more */
    ask_stored(f, &asking, BOXCAR_OUTBOX, messages, 2, 2);
    result = ask(f, &asking);
    assert_payloads(result->claimed[BOXCAR_OUTBOX], "cx");
    boxcar_result_free(result);
    assert_int_equal(audit_lost(f), 0);
}

/* BX-065, seed 004: work comes back for a message that was not known, and for no other. */
static void duplicates_bring_no_work(void **state) {
    struct fixture *f = *state;
    boxcar_new_message in[2] = {delivery("bank", "1", "p"), delivery("bank", "2", "q")};
    boxcar_new_message out = new_message("t", "o");
    struct asking asking;
    out.key = BOXCAR_STR("k");
    ask_stored(f, &asking, BOXCAR_INBOX, in, 1, 1);
    boxcar_result *result = ask(f, &asking);
    assert_payloads(result->claimed[BOXCAR_INBOX], "p");
    assert_text(result->claimed[BOXCAR_INBOX]->items[0]->source, "bank");
    boxcar_result_free(result);
    ask_stored(f, &asking, BOXCAR_INBOX, in, 2, 2);
    result = ask(f, &asking);
    assert_true(result->enqueued[BOXCAR_INBOX].items[0]->duplicate);
    assert_payloads(result->claimed[BOXCAR_INBOX], "q");
    boxcar_result_free(result);
    ask_stored(f, &asking, BOXCAR_OUTBOX, &out, 1, 1);
    for (int i = 0; i < 2; i++) {
        result = ask(f, &asking);
        assert_int_equal(result->enqueued[BOXCAR_OUTBOX].items[0]->duplicate, i);
        assert_payloads(result->claimed[BOXCAR_OUTBOX], i ? "" : "o");
        boxcar_result_free(result);
    }
    enqueue(f, "t", "older");
    out.key = BOXCAR_STR("ready");
    assert_false(enqueue_message(f, &out).duplicate);
    result = ask(f, &asking); /* it is as good as any other then, and the older one comes first */
    assert_true(result->enqueued[BOXCAR_OUTBOX].items[0]->duplicate);
    assert_payloads(result->claimed[BOXCAR_OUTBOX], "o");
    assert_true(result->claimed[BOXCAR_OUTBOX]->items[0]->work_id.value <
                result->enqueued[BOXCAR_OUTBOX].items[0]->work_id.value);
    boxcar_result_free(result);
    assert_claimable(f, BOXCAR_OUTBOX, f->owner, "o");
    out.unique = true;
    out.key = BOXCAR_STR("u");
    for (int i = 0; i < 2; i++) {
        result = ask(f, &asking);
        assert_payloads(result->claimed[BOXCAR_OUTBOX], i ? "" : "o");
        boxcar_result_free(result);
    }
}

/* The limits of a claim hold: messages, and bytes. */
static void own_messages_are_claimed_within_the_limits(void **state) {
    enum { COUNT = 5, SIZE = 600 };
    struct fixture *f = *state;
    char *text = calloc(1, SIZE);
    boxcar_new_message messages[COUNT];
    struct asking asking;
    for (int i = 0; i < SIZE; i++)
        text[i] = 'x';
    enqueue(f, "t", "older");
    for (int i = 0; i < COUNT; i++) {
        messages[i] = new_message("t", "");
        messages[i].payload = (boxcar_str){text, SIZE};
    }
    ask_stored(f, &asking, BOXCAR_OUTBOX, messages, COUNT, 3);
    boxcar_result *result = ask(f, &asking);
    assert_payloads(result->claimed[BOXCAR_OUTBOX], "xxx");
    ack_claimed(f, BOXCAR_OUTBOX, result->claimed[BOXCAR_OUTBOX]);
    boxcar_result_free(result);
    ask_stored(f, &asking, BOXCAR_OUTBOX, messages, COUNT, 50);
    asking.parts[BOXCAR_OUTBOX].claim_bytes = 2 * SIZE;
    result = ask(f, &asking);
    assert_payloads(result->claimed[BOXCAR_OUTBOX], "xx");
    boxcar_result_free(result);
    assert_claimable(f, BOXCAR_OUTBOX, f->other, "oxxxxx");
    free(text);
}

/* BX-003: as good a lease as any. */
static void lease_of_an_own_message_expires_and_is_renewed(void **state) {
    struct fixture *f = *state;
    boxcar_new_message messages[3] = {new_message("t", "a"), new_message("t", "b"), new_message("t", "c")};
    struct asking asking;
    struct taken taken[3];
    ask_stored(f, &asking, BOXCAR_OUTBOX, messages, 3, 3);
    asking.parts[BOXCAR_OUTBOX].lease_ms = 100;
    boxcar_result *result = ask(f, &asking);
    const boxcar_message_list *list = result->claimed[BOXCAR_OUTBOX];
    assert_int_equal(list->count, 3);
    for (int i = 0; i < 3; i++)
        taken[i] = (struct taken){list->items[i]->work_id, list->items[i]->epoch, 0, 0};
    boxcar_result_free(result);
    assert_true(renew(f, f->owner, taken[1], 60000));
    assert_true(defer(f, f->owner, taken[2], 0));
    reap_wait(f, 1);
    assert_int_equal(retry_count_of(f, taken[0].work_id), 1);
    assert_int_equal(retry_count_of(f, taken[2].work_id), 0);
    assert_status(f, taken[1].work_id, BOXCAR_IN_PROGRESS);
    assert_int_equal(audit_lost(f), 0);
}

/* BX-003: a message that killed its worker comes alone. */
static void suspects_do_not_come_with_own_messages(void **state) {
    struct fixture *f = *state;
    boxcar_new_message message = new_message("t", "m");
    struct asking asking;
    take_for(f, f->other, enqueue(f, "t", "s").work_id, 100);
    reap_wait(f, 1);
    ask_stored(f, &asking, BOXCAR_OUTBOX, &message, 1, 5);
    boxcar_result *result = ask(f, &asking);
    assert_payloads(result->claimed[BOXCAR_OUTBOX], "m");
    boxcar_result_free(result);
    message.delay_ms = 3600000; /* cannot be had now */
    result = ask(f, &asking);
    assert_payloads(result->claimed[BOXCAR_OUTBOX], "s");
    boxcar_result_free(result);
}

/* Both boxes at once, and in the caller's transaction. */
static void own_messages_go_with_the_callers_transaction(void **state) {
    struct fixture *f = *state;
    boxcar_new_message out = new_message("t", "o"), in = delivery("bank", "1", "i");
    struct asking asking;
    struct borrowed b = borrow(f);
    ask_stored(f, &asking, BOXCAR_OUTBOX, &out, 1, 2);
    asking.request.messages[BOXCAR_INBOX] = (boxcar_new_message_list){&in, 1};
    asking.parts[BOXCAR_INBOX] = asking.parts[BOXCAR_OUTBOX];
    for (int commit = 0; commit < 2; commit++) {
        boxcar_result *result = NULL;
        borrowed_exec(&b, "begin");
        ASSERT_OK(f, boxcar_process(b.store, &asking.request, &result, &f->err));
        assert_payloads(result->claimed[BOXCAR_OUTBOX], "o");
        assert_payloads(result->claimed[BOXCAR_INBOX], "i");
        borrowed_exec(&b, commit ? "commit" : "rollback");
        assert_int_equal(stats_of(f).in_progress, commit);
        if (commit) {
            ack_claimed(f, BOXCAR_OUTBOX, result->claimed[BOXCAR_OUTBOX]);
            ack_claimed(f, BOXCAR_INBOX, result->claimed[BOXCAR_INBOX]);
        }
        boxcar_result_free(result);
    }
    borrowed_close(&b);
    assert_claimable(f, BOXCAR_OUTBOX, f->other, "");
    assert_int_equal(audit_lost(f), 0);
}

/* ---- what its owner holds ---- */

static boxcar_settlement_list just(const boxcar_settlement *settlement) {
    return (boxcar_settlement_list){settlement, 1};
}

/* Those that are still the owner's, as they are now. */
static void renewed_messages_come_back(void **state) {
    struct fixture *f = *state;
    struct asking asking;
    boxcar_settlement renews[3];
    struct taken taken = take(f, f->owner, enqueue(f, "t", "a").work_id),
                 other = take(f, f->other, enqueue(f, "t", "b").work_id),
                 again = take(f, f->owner, enqueue(f, "t", "c").work_id);
    begin_asking(f, &asking);
    renews[0] = settlement_of(taken);
    renews[1] = settlement_of(other);
    renews[2] = settlement_of(again);
    renews[2].epoch.value++; /* it is the owner's, but this lease is not */
    asking.parts[BOXCAR_OUTBOX].settle[BOXCAR_RENEW] = (boxcar_settlement_list){renews, 3};
    asking.parts[BOXCAR_OUTBOX].renew_lease_ms = 3600000;
    asking.parts[BOXCAR_OUTBOX].returns = BOXCAR_RETURN_RENEWED;
    boxcar_result *result = ask(f, &asking);
    const boxcar_message_list *returned = result->returned[BOXCAR_OUTBOX];
    assert_payloads(returned, "a");
    assert_int_equal(returned->items[0]->epoch.value, taken.epoch.value);
    assert_true(returned->items[0]->locked_until > database_now(f) + INT64_C(3000) * 1000000);
    assert_int_equal(result->returned[BOXCAR_INBOX]->count, 0);
    assert_int_equal(result->claimed[BOXCAR_OUTBOX]->count, 0);
    boxcar_result_free(result);
}

/* What a worker needs that starts again under its old name. Each message once: claimed, or returned. */
static void owned_messages_come_back(void **state) {
    struct fixture *f = *state;
    boxcar_new_message in = delivery("bank", "1", "i"), new = new_message("t", "n");
    struct asking asking;
    struct taken retried = take(f, f->owner, enqueue(f, "t", "a").work_id);
    boxcar_settlement done;
    assert_true(abandon(f, f->owner, retried, 0));
    retried = take_wait(f, f->owner, retried.work_id, 30000);
    take(f, f->owner, enqueue_streamed(f, "s", "b").work_id);
    take(f, f->other, enqueue(f, "t", "c").work_id);
    done = settlement_of(take(f, f->owner, enqueue(f, "t", "d").work_id));
    enqueue(f, "t", "e");
    inbox_take(f, f->owner, deliver_message(f, &in).work_id);
    ask_stored(f, &asking, BOXCAR_OUTBOX, &new, 1, 5);
    asking.parts[BOXCAR_OUTBOX].settle[BOXCAR_ACK] = just(&done);
    asking.parts[BOXCAR_OUTBOX].returns = asking.parts[BOXCAR_INBOX].returns = BOXCAR_RETURN_OWNED;
    boxcar_result *result = ask(f, &asking);
    const boxcar_message_list *returned = result->returned[BOXCAR_OUTBOX];
    assert_payloads(result->claimed[BOXCAR_OUTBOX], "en");
    assert_payloads(returned, "ab");
    assert_payloads(result->returned[BOXCAR_INBOX], "i");
    assert_int_equal(returned->items[0]->epoch.value, retried.epoch.value);
    assert_int_equal(returned->items[0]->retry_count, 1);
    assert_int_equal(returned->items[0]->status, BOXCAR_IN_PROGRESS);
    assert_same_owner(returned->items[0]->owner, f->owner);
    assert_text(returned->items[1]->stream, "s");
    assert_text(result->returned[BOXCAR_INBOX]->items[0]->external_id, "1");
    ack_claimed(f, BOXCAR_OUTBOX, returned);
    boxcar_result_free(result);
    asking.request.messages[BOXCAR_OUTBOX].count = 0;
    asking.parts[BOXCAR_OUTBOX].settle[BOXCAR_ACK].count = 0;
    asking.parts[BOXCAR_OUTBOX].claim_size = 0;
    result = ask(f, &asking);
    assert_payloads(result->returned[BOXCAR_OUTBOX], "en");
    boxcar_result_free(result);
}

/* A key of the inbox that a request names twice is one message. */
static void key_named_twice_is_leased_once(void **state) {
    struct fixture *f = *state;
    boxcar_new_message messages[3] = {delivery("bank", "1", "a"), delivery("bank", "1", "a"),
                                      delivery("bank", "2", "b")};
    struct asking asking;
    ask_stored(f, &asking, BOXCAR_INBOX, messages, 3, 2);
    boxcar_result *result = ask(f, &asking);
    assert_payloads(result->claimed[BOXCAR_INBOX], "ab");
    ack_claimed(f, BOXCAR_INBOX, result->claimed[BOXCAR_INBOX]);
    boxcar_result_free(result);
    assert_int_equal(audit_lost(f), 0);
}

/* What is over may be somebody else's by the time the answer comes: the claim of this request releases it.
 * BX-002 */
static void lease_that_is_over_does_not_come_back(void **state) {
    struct fixture *f = *state;
    struct asking asking;
    take(f, f->owner, enqueue(f, "t", "b").work_id);
    enqueue(f, "t", "a");
    boxcar_message_list *claimed = claim_for(f, f->owner, 1, 100);
    assert_payloads(claimed, "a");
    wait_out(f, 100);
    begin_asking(f, &asking);
    asking.parts[BOXCAR_OUTBOX].returns = BOXCAR_RETURN_OWNED;
    asking.parts[BOXCAR_OUTBOX].claim_size = 5;
    boxcar_result *result = ask(f, &asking);
    assert_payloads(result->returned[BOXCAR_OUTBOX], "b");
    assert_payloads(result->claimed[BOXCAR_OUTBOX], "a");
    boxcar_result_free(result);
    boxcar_list_free(claimed);
}

/* BX-011 */
static void bad_questions_are_refused(void **state) {
    struct fixture *f = *state;
    struct asking asking;
    boxcar_result *result = NULL;
    begin_asking(f, &asking);
    asking.parts[BOXCAR_INBOX].returns = (boxcar_return)3;
    ASSERT_INVALID(f, "inbox.returns", boxcar_process(f->store, &asking.request, &result, &f->err));
    asking.parts[BOXCAR_INBOX].returns = BOXCAR_RETURN_OWNED;
    asking.request.owner = (boxcar_owner){0};
    ASSERT_INVALID(f, "owner", boxcar_process(f->store, &asking.request, &result, &f->err));
}

static const struct CMUnitTest TESTS[] = {
    TEST(request_claims_first_what_it_stores),
    TEST(request_claims_others_too),
    TEST(duplicates_bring_no_work),
    TEST(own_messages_are_claimed_within_the_limits),
    TEST(lease_of_an_own_message_expires_and_is_renewed),
    TEST(suspects_do_not_come_with_own_messages),
    TEST(own_messages_go_with_the_callers_transaction),
    TEST(renewed_messages_come_back),
    TEST(owned_messages_come_back),
    TEST(lease_that_is_over_does_not_come_back),
    TEST(key_named_twice_is_leased_once),
    TEST(bad_questions_are_refused),
};

const struct suite OWN_WORK_SUITE = SUITE(TESTS);
