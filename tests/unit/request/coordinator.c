/* Coordinators: when each strategy flushes, what a flush says, what is refused. BX-064, BX-065 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "coordinator_scene.h"
#include "request/coordinator/coordinator.h"

/* ---- strategies ---- */

/* BX-064 */
static void immediate_flushes_before_the_call_returns(void **state) {
    struct scene *s = scene_new(BOXCAR_STRATEGY_IMMEDIATE);

    (void)state;
    assert_int_equal(put(s, "a"), 1);
    assert_int_equal(s->memory.count, 1);
    assert_int_equal(s->results, 1);
    assert_int_equal(ack(s, 5), 2);
    assert_int_equal(s->memory.messages[4].settled, 1);
    assert_int_equal(s->last_ticket, 2);
    assert_int_equal(s->memory.call_count, 2);
    assert_int_equal(boxcar_coordinator_queued(s->coordinator), 0);
    scene_free(s);
}

/* BX-064 */
static void scoped_flushes_when_told_as_one_batch(void **state) {
    struct scene *s = scene_new(BOXCAR_STRATEGY_SCOPED);
    boxcar_flush *flushed;

    (void)state;
    put(s, "0");
    ack(s, 5);
    put(s, "1");
    assert_int_equal(s->memory.call_count, 0);
    assert_int_equal(boxcar_coordinator_queued(s->coordinator), 3);
    flushed = flush(s);
    assert_int_equal(s->memory.call_count, 1);
    assert_int_equal(s->memory.calls[0].messages, 2);
    assert_int_equal(s->memory.calls[0].settlements, 1);
    assert_int_equal(flushed->count, 3);
    assert_null(flushed->error);
    boxcar_flush_free(flushed);
    assert_in_order(s, 2);
    scene_free(s);
}

/* BX-064: closing flushes. */
static void closing_flushes(void **state) {
    struct scene *s = scene_new(BOXCAR_STRATEGY_SCOPED);

    (void)state;
    put(s, "a");
    assert_int_equal(boxcar_coordinator_close(s->coordinator, &s->err), BOXCAR_OK);
    assert_int_equal(s->memory.count, 1);
    assert_int_equal(s->results, 1);
    scene_free(s);
}

static void freeing_drops_what_is_queued(void **state) {
    struct scene *s = scene_new(BOXCAR_STRATEGY_INTERVAL);

    (void)state;
    s->memory.down = BOXCAR_E_UNAVAILABLE;
    put(s, "a");
    boxcar_coordinator_free(s->coordinator);
    scene_forget(s);
    assert_int_equal(s->memory.count, 0);
    scene_free(s);
    boxcar_coordinator_free(NULL);
}

/* BX-064 */
static void size_flushes_when_so_many_are_queued(void **state) {
    boxcar_coordinator_options options = BOXCAR_COORDINATOR_OPTIONS_INIT;
    boxcar_settlement three[3] = {a_settlement(1), a_settlement(2), a_settlement(3)};
    struct scene *s;

    (void)state;
    options.strategy = BOXCAR_STRATEGY_SIZE;
    options.size = 3;
    s = scene_new_with(options);
    put(s, "0");
    put(s, "1");
    assert_int_equal(s->memory.call_count, 0);
    put(s, "2");
    assert_int_equal(s->memory.call_count, 1);
    assert_int_equal(s->results, 3);
    put(s, "3");
    assert_int_equal(s->memory.call_count, 1);
    assert_int_equal(
        boxcar_coordinator_settle(s->coordinator, BOXCAR_OUTBOX, BOXCAR_ACK, three, 3, 0, NULL, &s->err),
        BOXCAR_OK);
    assert_int_equal(s->memory.call_count, 2);
    assert_in_order(s, 4);
    scene_free(s);
}

/* What the queue had too much of is tried again after as much more, not with every call. */
static void size_counts_anew_after_a_failure(void **state) {
    boxcar_coordinator_options options = BOXCAR_COORDINATOR_OPTIONS_INIT;
    struct scene *s;

    (void)state;
    options.strategy = BOXCAR_STRATEGY_SIZE;
    options.size = 3;
    s = scene_new_with(options);
    s->memory.down = BOXCAR_E_UNAVAILABLE;
    for (int i = 0; i < 5; i++)
        put_numbered(s, i);
    assert_int_equal(s->memory.call_count, 1);
    put_numbered(s, 5);
    assert_int_equal(s->memory.call_count, 2);
    assert_int_equal(s->failed_flushes, 2);
    s->memory.down = BOXCAR_OK;
    for (int i = 6; i < 9; i++)
        put_numbered(s, i);
    assert_in_order(s, 9);
    assert_int_equal(boxcar_coordinator_queued(s->coordinator), 0);
    scene_free(s);
}

/* BX-064 */
static void interval_flushes_by_itself(void **state) {
    struct scene *s = scene_new(BOXCAR_STRATEGY_INTERVAL);

    (void)state;
    put(s, "0");
    scene_await_results(s, 1);
    put(s, "1"); /* and again after it was idle */
    scene_await_results(s, 2);
    assert_in_order(s, 2);
    scene_free(s);
}

static void size_flushes_by_time_too_if_asked(void **state) {
    boxcar_coordinator_options options = BOXCAR_COORDINATOR_OPTIONS_INIT;
    struct scene *s;

    (void)state;
    options.strategy = BOXCAR_STRATEGY_SIZE;
    options.size = 1000;
    options.interval_ms = 1;
    s = scene_new_with(options);
    put(s, "0");
    scene_await_results(s, 1);
    scene_free(s);
}

/* The thread has an hour to wait, and does not. */
static void interval_thread_stops_at_once(void **state) {
    boxcar_coordinator_options options = BOXCAR_COORDINATOR_OPTIONS_INIT;
    struct scene *s;

    (void)state;
    options.strategy = BOXCAR_STRATEGY_INTERVAL;
    options.interval_ms = BOXCAR_INTERVAL_MS_MAX;
    s = scene_new_with(options);
    put(s, "0");
    assert_int_equal(s->memory.call_count, 0);
    scene_free(s); /* alarm() would end it */
}

static void nothing_queued_asks_the_store_nothing(void **state) {
    struct scene *s = scene_new(BOXCAR_STRATEGY_SCOPED);
    boxcar_flush *flushed = (boxcar_flush *)s;

    (void)state;
    assert_int_equal(boxcar_coordinator_flush(s->coordinator, NULL, &flushed, &s->err), BOXCAR_OK);
    assert_null(flushed);
    assert_int_equal(s->memory.call_count, 0);
    assert_int_equal(s->flushes, 0);
    assert_int_equal(
        boxcar_coordinator_settle(s->coordinator, BOXCAR_OUTBOX, BOXCAR_ACK, NULL, 0, 0, NULL, &s->err),
        BOXCAR_OK);
    assert_int_equal(boxcar_coordinator_queued(s->coordinator), 0);
    scene_free(s);
}

/* ---- results ---- */

/* BX-064, BX-065: results are told per ticket. */
static void flush_says_what_became_of_each_ticket(void **state) {
    struct scene *s = scene_new(BOXCAR_STRATEGY_SCOPED);
    boxcar_new_message again = a_message("again");
    boxcar_settlement two[2] = {a_settlement(7), a_settlement(MEMORY_IDS)};
    uint64_t first, twice, settled;
    boxcar_flush *flushed;
    const boxcar_flushed *result;

    (void)state;
    first = put(s, "new");
    again.message_id.uuid = boxcar_uuid_new();
    boxcar_coordinator_enqueue(s->coordinator, BOXCAR_OUTBOX, &again, 1, NULL, &s->err);
    boxcar_coordinator_enqueue(s->coordinator, BOXCAR_OUTBOX, &again, 1, &twice, &s->err);
    boxcar_coordinator_settle(s->coordinator, BOXCAR_INBOX, BOXCAR_ACK, two, 2, 0, &settled, &s->err);
    flushed = flush(s);
    assert_int_equal(flushed->count, 5);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(flushed->items[i]->ticket, first + i);
    result = boxcar_flush_find(flushed, first);
    assert_int_equal(result->enqueues, true);
    assert_int_equal(result->outcome, BOXCAR_OUTCOME_ENQUEUED);
    assert_int_equal(result->work_id.value, 1);
    assert_memory_equal(&result->message_id, &s->memory.messages[0].id, 16);
    result = boxcar_flush_find(flushed, twice);
    assert_int_equal(result->outcome, BOXCAR_OUTCOME_DUPLICATE);
    assert_int_equal(result->work_id.value, 2);
    assert_memory_equal(&result->message_id, &again.message_id, 16);
    result = boxcar_flush_find(flushed, settled);
    assert_int_equal(result->kind, BOXCAR_ACK);
    assert_int_equal(result->box, BOXCAR_INBOX);
    assert_int_equal(result->outcome, BOXCAR_OUTCOME_SETTLED);
    assert_int_equal(result->work_id.value, 7);
    result = boxcar_flush_find(flushed, settled + 1);
    assert_int_equal(result->outcome, BOXCAR_OUTCOME_LOST);
    assert_int_equal(result->work_id.value, MEMORY_IDS);
    assert_null(boxcar_flush_find(flushed, settled + 2));
    assert_null(boxcar_flush_find(flushed, 0));
    assert_null(flushed->items[5]);
    assert_int_equal(flushed->refused_count, 0);
    assert_int_equal(flushed->claimed[BOXCAR_OUTBOX]->count, 0);
    boxcar_flush_free(flushed);
    scene_free(s);
}

/* Lists come back in any order and with gaps. */
static void many_settlements_are_matched_by_id(void **state) {
    struct scene *s = scene_new(BOXCAR_STRATEGY_SCOPED);
    boxcar_flush *flushed;

    (void)state;
    for (int64_t i = 0; i < 1000; i++)
        ack(s, i % 3 == 0 ? MEMORY_IDS + i : 1000 - i);
    flushed = flush(s);
    for (uint64_t i = 0; i < 1000; i++)
        assert_int_equal(boxcar_flush_find(flushed, i + 1)->outcome,
                         i % 3 == 0 ? BOXCAR_OUTCOME_LOST : BOXCAR_OUTCOME_SETTLED);
    boxcar_flush_free(flushed);
    scene_free(s);
}

static void accessors_take_nothing_for_nothing(void **state) {
    (void)state;
    assert_null(boxcar_flush_find(NULL, 1));
    boxcar_flush_free(NULL);
    assert_int_equal(boxcar_coordinator_close(NULL, NULL), BOXCAR_OK);
    assert_int_equal(boxcar_coordinator_queued(NULL), 0);
    assert_string_equal(boxcar_strategy_name(BOXCAR_STRATEGY_SIZE), "size");
    assert_string_equal(boxcar_strategy_name((boxcar_strategy)9), "?");
    assert_string_equal(boxcar_settle_kind_name(BOXCAR_RENEW), "renew");
    assert_string_equal(boxcar_outcome_name(BOXCAR_OUTCOME_REFUSED), "refused");
}

/* ---- what is queued ---- */

static void everything_is_copied_when_it_is_queued(void **state) {
    struct scene *s = scene_new(BOXCAR_STRATEGY_SCOPED);
    char payload[] = "kept", error[] = "why";
    boxcar_new_message message = a_message(payload);
    boxcar_settlement settlement = a_settlement(3);

    (void)state;
    settlement.error = boxcar_str_of(error);
    settlement.delay_ms = 77;
    boxcar_coordinator_enqueue(s->coordinator, BOXCAR_OUTBOX, &message, 1, NULL, &s->err);
    boxcar_coordinator_settle(s->coordinator, BOXCAR_OUTBOX, BOXCAR_ABANDON, &settlement, 1, 0, NULL,
                              &s->err);
    memset(payload, 'x', sizeof(payload) - 1);
    memset(error, 'x', sizeof(error) - 1);
    memset(&message, 0, sizeof(message));
    memset(&settlement, 0, sizeof(settlement));
    flush_ok(s);
    assert_string_equal(s->memory.messages[0].text, "kept");
    assert_string_equal(s->memory.messages[2].error, "why");
    assert_int_equal(s->memory.messages[2].delay_ms, 77);
    scene_free(s);
}

static void settlements_are_brought_into_the_form_of_the_single_calls(void **state) {
    struct scene *s = scene_new(BOXCAR_STRATEGY_SCOPED);
    boxcar_settlement item = a_settlement(1);

    (void)state;
    boxcar_coordinator_settle(s->coordinator, BOXCAR_OUTBOX, BOXCAR_DEFER, &item, 1, 0, NULL, &s->err);
    item = a_settlement(2);
    boxcar_coordinator_settle(s->coordinator, BOXCAR_OUTBOX, BOXCAR_ABANDON, &item, 1, 0, NULL, &s->err);
    item = a_settlement(3);
    boxcar_coordinator_settle(s->coordinator, BOXCAR_OUTBOX, BOXCAR_FAIL, &item, 1, 0, NULL, &s->err);
    flush_ok(s);
    assert_int_equal(s->memory.messages[0].delay_ms, 0);
    assert_int_equal(s->memory.messages[1].delay_ms, BOXCAR_BACKOFF);
    assert_int_equal(s->memory.messages[2].kind, BOXCAR_FAIL);
    scene_free(s);
}

/* The outcome is that of the order in which they were queued, not of the batch's own. */
static void operations_on_one_message_keep_their_order(void **state) {
    struct scene *s = scene_new(BOXCAR_STRATEGY_SCOPED);
    boxcar_settlement one = a_settlement(1), two = a_settlement(2);
    boxcar_flush *flushed;

    (void)state;
    boxcar_coordinator_settle(s->coordinator, BOXCAR_OUTBOX, BOXCAR_RENEW, &one, 1, 30000, NULL, &s->err);
    ack(s, 1);
    boxcar_coordinator_settle(s->coordinator, BOXCAR_OUTBOX, BOXCAR_FAIL, &two, 1, 0, NULL, &s->err);
    ack(s, 2);
    flushed = flush(s);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(flushed->items[i]->outcome, BOXCAR_OUTCOME_SETTLED);
    assert_int_equal(flushed->items[3]->outcome, BOXCAR_OUTCOME_LOST);
    boxcar_flush_free(flushed);
    assert_int_equal(s->memory.messages[0].renewed, 1);
    assert_int_equal(s->memory.messages[0].kind, BOXCAR_ACK);
    assert_int_equal(s->memory.messages[1].kind, BOXCAR_FAIL);
    assert_int_equal(s->memory.call_count, 3);
    scene_free(s);
}

/* ---- message ids ---- */

/* Three messages of the outbox with the ids 1 to 3. */
static void fill_with_ids(struct scene *s) {
    for (uint8_t i = 0; i < 3; i++)
        s->memory.messages[i].id.uuid.bytes[15] = (uint8_t)(i + 1);
    s->memory.count = 3;
}

static boxcar_settlement by_message_id(uint8_t id) {
    boxcar_settlement settlement = BOXCAR_SETTLEMENT_INIT;

    settlement.message_id.uuid.bytes[15] = id;
    return settlement;
}

/* BX-064: a result says which message it is about. */
static void messages_are_settled_by_their_ids(void **state) {
    struct scene *s = scene_new(BOXCAR_STRATEGY_SCOPED);
    boxcar_settlement acks[2] = {by_message_id(2), by_message_id(9)}, fail = by_message_id(1);
    boxcar_flush *flushed;

    (void)state;
    fill_with_ids(s);
    boxcar_coordinator_settle(s->coordinator, BOXCAR_OUTBOX, BOXCAR_ACK, acks, 2, 0, NULL, &s->err);
    boxcar_coordinator_settle(s->coordinator, BOXCAR_OUTBOX, BOXCAR_FAIL, &fail, 1, 0, NULL, &s->err);
    flushed = flush(s);
    assert_int_equal(flushed->items[0]->outcome, BOXCAR_OUTCOME_SETTLED);
    assert_int_equal(flushed->items[0]->work_id.value, 2);
    assert_memory_equal(&flushed->items[0]->message_id, &acks[0].message_id, 16);
    assert_int_equal(flushed->items[1]->outcome, BOXCAR_OUTCOME_LOST);
    assert_int_equal(flushed->items[1]->work_id.value, 0);
    assert_int_equal(flushed->items[2]->outcome, BOXCAR_OUTCOME_SETTLED);
    boxcar_flush_free(flushed);
    assert_int_equal(s->memory.messages[0].kind, BOXCAR_FAIL);
    assert_int_equal(s->memory.call_count, 1);
    assert_int_equal(s->memory.id_looks, 1);
    scene_free(s);
}

/* The same message, and which one is not known when they are queued. */
static void order_is_kept_however_messages_are_named(void **state) {
    struct scene *s = scene_new(BOXCAR_STRATEGY_SCOPED);
    boxcar_settlement one = by_message_id(1), same = a_settlement(1), in = a_settlement(3);

    (void)state;
    fill_with_ids(s);
    boxcar_coordinator_settle(s->coordinator, BOXCAR_OUTBOX, BOXCAR_FAIL, &one, 1, 0, NULL, &s->err);
    boxcar_coordinator_settle(s->coordinator, BOXCAR_INBOX, BOXCAR_ACK, &in, 1, 0, NULL, &s->err);
    boxcar_coordinator_settle(s->coordinator, BOXCAR_OUTBOX, BOXCAR_ACK, &same, 1, 0, NULL, &s->err);
    boxcar_coordinator_settle(s->coordinator, BOXCAR_OUTBOX, BOXCAR_RENEW, &one, 1, 30000, NULL, &s->err);
    boxcar_coordinator_settle(s->coordinator, BOXCAR_OUTBOX, BOXCAR_ACK, &one, 1, 0, NULL, &s->err);
    flush_ok(s);
    assert_int_equal(s->memory.messages[0].kind, BOXCAR_FAIL);
    assert_int_equal(s->memory.call_count, 4);
    assert_int_equal(s->memory.calls[0].settlements, 2);
    scene_free(s);
}

/* BX-064: asking for the work ids is part of the flush. */
static void settlements_stay_queued_while_nobody_knows_the_work_id(void **state) {
    struct scene *s = scene_new(BOXCAR_STRATEGY_SCOPED);
    boxcar_settlement one = by_message_id(1);

    (void)state;
    fill_with_ids(s);
    boxcar_coordinator_settle(s->coordinator, BOXCAR_OUTBOX, BOXCAR_ACK, &one, 1, 0, NULL, &s->err);
    s->memory.down = BOXCAR_E_UNAVAILABLE;
    assert_int_equal(boxcar_coordinator_flush(s->coordinator, NULL, NULL, &s->err), BOXCAR_E_UNAVAILABLE);
    assert_int_equal(boxcar_coordinator_queued(s->coordinator), 1);
    s->memory.down = BOXCAR_OK;
    flush_ok(s);
    assert_int_equal(s->memory.messages[0].kind, BOXCAR_ACK);
    assert_int_equal(s->memory.messages[0].settled, 1);
    scene_free(s);
}

static void boxes_do_not_mix_up_their_messages(void **state) {
    struct scene *s = scene_new(BOXCAR_STRATEGY_SCOPED);
    boxcar_settlement one = a_settlement(1);

    (void)state;
    boxcar_coordinator_settle(s->coordinator, BOXCAR_OUTBOX, BOXCAR_ACK, &one, 1, 0, NULL, &s->err);
    boxcar_coordinator_settle(s->coordinator, BOXCAR_INBOX, BOXCAR_FAIL, &one, 1, 0, NULL, &s->err);
    flush_ok(s);
    assert_int_equal(s->memory.call_count, 1);
    scene_free(s);
}

/* A part of a batch has one length for all its renewals. */
static void renewals_of_different_length_go_apart(void **state) {
    struct scene *s = scene_new(BOXCAR_STRATEGY_SCOPED);
    boxcar_settlement items[3] = {a_settlement(1), a_settlement(2), a_settlement(3)};

    (void)state;
    boxcar_coordinator_settle(s->coordinator, BOXCAR_OUTBOX, BOXCAR_RENEW, &items[0], 1, 30000, NULL,
                              &s->err);
    boxcar_coordinator_settle(s->coordinator, BOXCAR_INBOX, BOXCAR_RENEW, &items[1], 1, 60000, NULL, &s->err);
    boxcar_coordinator_settle(s->coordinator, BOXCAR_OUTBOX, BOXCAR_RENEW, &items[2], 1, 60000, NULL,
                              &s->err);
    flush_ok(s);
    assert_int_equal(s->memory.call_count, 2);
    assert_int_equal(s->memory.calls[0].renewals, 2);
    assert_int_equal(s->results, 3);
    scene_free(s);
}

static boxcar_settlement a_record(int64_t work_id, int stages) {
    boxcar_settlement record = a_settlement(work_id);

    record.stages = stages;
    return record;
}

/* BX-063: stages go with the settlement of their message, before it. */
static void stages_are_recorded_in_their_order(void **state) {
    struct scene *s = scene_new(BOXCAR_STRATEGY_SCOPED);
    boxcar_settlement one = a_record(1, 1), two = a_record(1, 4),
                      many[3] = {a_record(2, 1), a_record(3, 2), a_record(4, 8)};
    boxcar_flush *flushed;

    (void)state;
    boxcar_coordinator_settle(s->coordinator, BOXCAR_OUTBOX, BOXCAR_RECORD, &one, 1, 0, NULL, &s->err);
    boxcar_coordinator_settle(s->coordinator, BOXCAR_OUTBOX, BOXCAR_RECORD, many, 3, 0, NULL, &s->err);
    ack(s, 3);
    boxcar_coordinator_settle(s->coordinator, BOXCAR_OUTBOX, BOXCAR_RECORD, &two, 1, 0, NULL,
                              &s->err); /* the next batch */
    ack(s, 1);
    boxcar_coordinator_settle(s->coordinator, BOXCAR_OUTBOX, BOXCAR_RECORD, &one, 1, 0, NULL,
                              &s->err); /* too late */
    flushed = flush(s);
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(flushed->items[i]->outcome, BOXCAR_OUTCOME_SETTLED);
    assert_int_equal(flushed->items[0]->kind, BOXCAR_RECORD);
    assert_int_equal(flushed->items[7]->outcome, BOXCAR_OUTCOME_LOST);
    boxcar_flush_free(flushed);
    assert_int_equal(s->memory.call_count, 3);
    assert_int_equal(s->memory.messages[0].stages, 5);
    for (int i = 0; i < 3; i++)
        assert_int_equal(s->memory.messages[2 + i - 1].stages, many[i].stages);
    scene_free(s);
}

/* ---- claims ---- */

static void add_claimable(struct scene *s, boxcar_box box, int count) {
    s->memory.ignore_topics = true;
    for (int i = 0; i < count; i++) {
        memory_add(&s->memory, "t", 0);
        s->memory.messages[s->memory.count - 1].box = box;
    }
}

static void claims_come_back_with_the_results(void **state) {
    struct scene *s = scene_new(BOXCAR_STRATEGY_SCOPED);
    boxcar_claimer claim = BOXCAR_CLAIMER_INIT;
    boxcar_flush_options options = BOXCAR_FLUSH_OPTIONS_INIT;
    boxcar_flush *flushed;
    const boxcar_message_list *list;

    (void)state;
    add_claimable(s, BOXCAR_INBOX, 3);
    claim.batch_size = 2;
    options.claims[BOXCAR_INBOX] = &claim;
    put(s, "a");
    assert_int_equal(boxcar_coordinator_flush(s->coordinator, &options, &flushed, &s->err), BOXCAR_OK);
    assert_int_equal(s->memory.call_count, 1);
    assert_int_equal(s->memory.calls[0].claim_of[BOXCAR_OUTBOX], 0);
    assert_int_equal(s->memory.calls[0].claim_of[BOXCAR_INBOX], 2);
    assert_int_equal(flushed->count, 1);
    list = flushed->claimed[BOXCAR_INBOX];
    assert_int_equal(list->count, 2);
    assert_memory_equal(&list->items[1]->owner, &s->coordinator->owner, 16);
    assert_int_equal(flushed->claimed[BOXCAR_OUTBOX]->count, 0);
    boxcar_flush_free(flushed);
    scene_free(s);
}

static void claims_need_no_results(void **state) {
    struct scene *s = scene_new(BOXCAR_STRATEGY_SCOPED);
    boxcar_claimer claim = BOXCAR_CLAIMER_INIT;
    boxcar_flush_options options = BOXCAR_FLUSH_OPTIONS_INIT;
    boxcar_flush *flushed;

    (void)state;
    add_claimable(s, BOXCAR_OUTBOX, 100);
    add_claimable(s, BOXCAR_INBOX, 100);
    claim.owner = boxcar_coordinator_owner(s->coordinator);
    options.claims[BOXCAR_OUTBOX] = options.claims[BOXCAR_INBOX] = &claim;
    assert_int_equal(boxcar_coordinator_flush(s->coordinator, &options, &flushed, &s->err), BOXCAR_OK);
    assert_int_equal(s->memory.call_count, 1);
    for (int box = 0; box < BOXES; box++)
        assert_int_equal(flushed->claimed[(boxcar_box)box]->count, BOXCAR_BATCH_SIZE_DEFAULT);
    boxcar_flush_free(flushed);
    scene_free(s);
}

/* The last of several batches brings the work: what it may depend on is through by then. */
static void claims_are_made_once_and_last(void **state) {
    struct scene *s = scene_new(BOXCAR_STRATEGY_SCOPED);
    boxcar_claimer claim = BOXCAR_CLAIMER_INIT;
    boxcar_flush_options options = BOXCAR_FLUSH_OPTIONS_INIT;

    (void)state;
    options.claims[BOXCAR_OUTBOX] = &claim;
    ack(s, 1);
    ack(s, 1);
    put(s, "bad");
    s->memory.refuse = "bad";
    s->memory.refusal = BOXCAR_E_NOT_FOUND;
    assert_int_equal(boxcar_coordinator_flush(s->coordinator, &options, NULL, &s->err), BOXCAR_OK);
    for (size_t i = 0; i + 1 < s->memory.call_count; i++)
        assert_true(s->memory.calls[i].claim_of[0] == 0 || s->memory.calls[i].answer != BOXCAR_OK);
    assert_int_equal(s->memory.calls[s->memory.call_count - 1].claim_of[0], BOXCAR_BATCH_SIZE_DEFAULT);
    assert_int_equal(s->memory.calls[s->memory.call_count - 1].answer, BOXCAR_OK);
    assert_int_equal(s->refused, 1);
    scene_free(s);
}

/* ---- bad input ---- */

#define ASSERT_INVALID(wanted, call)                                                                         \
    do {                                                                                                     \
        uint64_t ticket = 99;                                                                                \
        s->err = BOXCAR_ERROR_INIT;                                                                          \
        assert_int_equal(call, BOXCAR_E_INVALID);                                                            \
        assert_string_equal(s->err.argument, wanted);                                                        \
        assert_true(s->err.message[0] != '\0');                                                              \
        assert_int_equal(ticket, 0);                                                                         \
    } while (0)

/* BX-011: what is wrong is refused at once, by the rules of the single calls, and queues nothing. */
static void bad_operations_are_refused_at_once_and_queue_nothing(void **state) {
    struct scene *s = scene_new(BOXCAR_STRATEGY_SCOPED);
    boxcar_coordinator *c = s->coordinator;
    boxcar_new_message bad = a_message("p"), messages[2] = {a_message("p"), a_message("p")};
    boxcar_settlement items[2] = {a_settlement(1), a_settlement(0)}, good = a_settlement(1);
    boxcar_settlement records[3] = {a_record(1, 32), a_record(1, 1), a_record(0, 1)};

    (void)state;
    bad.topic = BOXCAR_STR("");
    messages[1].payload = BOXCAR_STR("\xff");
    ASSERT_INVALID("messages[0].topic",
                   boxcar_coordinator_enqueue(c, BOXCAR_OUTBOX, &bad, 1, &ticket, &s->err));
    ASSERT_INVALID("messages", boxcar_coordinator_enqueue(c, BOXCAR_OUTBOX, NULL, 1, &ticket, &s->err));
    ASSERT_INVALID("coordinator", boxcar_coordinator_enqueue(NULL, BOXCAR_OUTBOX, &bad, 1, &ticket, &s->err));
    ASSERT_INVALID("messages[1].payload",
                   boxcar_coordinator_enqueue(c, BOXCAR_OUTBOX, messages, 2, &ticket, &s->err));
    ASSERT_INVALID("messages", boxcar_coordinator_enqueue(c, BOXCAR_OUTBOX, NULL, 2, &ticket, &s->err));
    ASSERT_INVALID("settlements[1].work_id",
                   boxcar_coordinator_settle(c, BOXCAR_OUTBOX, BOXCAR_ACK, items, 2, 0, &ticket, &s->err));
    ASSERT_INVALID("settlements",
                   boxcar_coordinator_settle(c, BOXCAR_OUTBOX, BOXCAR_FAIL, NULL, 1, 0, &ticket, &s->err));
    ASSERT_INVALID("box",
                   boxcar_coordinator_settle(c, (boxcar_box)2, BOXCAR_DEFER, &good, 1, 0, &ticket, &s->err));
    ASSERT_INVALID("lease_ms",
                   boxcar_coordinator_settle(c, BOXCAR_INBOX, BOXCAR_RENEW, &good, 1, 1, &ticket, &s->err));
    ASSERT_INVALID("settlements[0].stages", boxcar_coordinator_settle(c, BOXCAR_INBOX, BOXCAR_RECORD,
                                                                      &records[0], 1, 0, &ticket, &s->err));
    ASSERT_INVALID("settlements[1].work_id", boxcar_coordinator_settle(c, BOXCAR_INBOX, BOXCAR_RECORD,
                                                                       &records[1], 2, 0, &ticket, &s->err));
    ASSERT_INVALID("settlements",
                   boxcar_coordinator_settle(c, BOXCAR_INBOX, BOXCAR_RECORD, NULL, 1, 0, &ticket, &s->err));
    good.delay_ms = -2;
    ASSERT_INVALID("settlements[0].delay_ms",
                   boxcar_coordinator_settle(c, BOXCAR_INBOX, BOXCAR_ABANDON, &good, 1, 0, &ticket, &s->err));
    assert_int_equal(boxcar_coordinator_queued(c), 0);
    assert_int_equal(s->memory.call_count, 0);
    assert_int_equal(put(s, "first"), 1); /* no ticket was used */
    scene_free(s);
}

static void bad_claims_are_refused_before_anything_is_flushed(void **state) {
    struct scene *s = scene_new(BOXCAR_STRATEGY_SCOPED);
    boxcar_claimer claim = BOXCAR_CLAIMER_INIT;
    boxcar_flush_options options = BOXCAR_FLUSH_OPTIONS_INIT;

    (void)state;
    put(s, "a");
    options.claims[BOXCAR_OUTBOX] = &claim;
    claim.owner.uuid.bytes[5] = 5;
    assert_int_equal(boxcar_coordinator_flush(s->coordinator, &options, NULL, &s->err), BOXCAR_E_INVALID);
    assert_string_equal(s->err.argument, "claims[0].owner");
    claim.owner = (boxcar_owner){0};
    claim.batch_size = 0;
    options.claims[BOXCAR_OUTBOX] = NULL;
    options.claims[BOXCAR_INBOX] = &claim;
    assert_int_equal(boxcar_coordinator_flush(s->coordinator, &options, NULL, &s->err), BOXCAR_E_INVALID);
    assert_string_equal(s->err.argument, "claims[1].batch_size");
    options.struct_size = 0;
    assert_int_equal(boxcar_coordinator_flush(s->coordinator, &options, NULL, &s->err), BOXCAR_E_INVALID);
    assert_int_equal(boxcar_coordinator_flush(NULL, NULL, NULL, &s->err), BOXCAR_E_INVALID);
    assert_int_equal(s->memory.call_count, 0);
    scene_free(s);
}

static void assert_bad_option(boxcar_coordinator_options options, const char *argument) {
    boxcar_coordinator *coordinator = NULL;
    boxcar_error err = BOXCAR_ERROR_INIT;

    assert_int_equal(boxcar_coordinator_new(&options, &coordinator, &err), BOXCAR_E_INVALID);
    assert_string_equal(err.argument, argument);
    assert_null(coordinator);
}

static void bad_options_are_refused(void **state) {
    boxcar_store_options store = BOXCAR_STORE_OPTIONS_INIT;
    boxcar_coordinator_options options = BOXCAR_COORDINATOR_OPTIONS_INIT, bad;

    (void)state;
    assert_bad_option(options, "store");
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_coordinator *coordinator = NULL;
    boxcar_coordinator_new(&options, &coordinator, &err);
    assert_non_null(strstr(err.message, "lent")); /* the other way to give one */
    options.store = &store;
    bad = options;
    bad.strategy = (boxcar_strategy)4;
    assert_bad_option(bad, "strategy");
    bad = options;
    bad.interval_ms = -1;
    assert_bad_option(bad, "interval_ms");
    bad.interval_ms = BOXCAR_INTERVAL_MS_MAX + 1;
    assert_bad_option(bad, "interval_ms");
    bad = options;
    bad.queue_max = BOXCAR_QUEUE_MAX_MAX + 1;
    assert_bad_option(bad, "queue_max");
    bad.queue_max = 5;
    bad.size = 6;
    assert_bad_option(bad, "size");
    bad = options;
    bad.struct_size = 0;
    assert_bad_option(bad, "options");
    bad = options;
    bad.lent = (boxcar_store *)&store; /* never looked into */
    assert_bad_option(bad, "lent");
    bad.store = NULL;
    bad.strategy = BOXCAR_STRATEGY_INTERVAL;
    assert_bad_option(bad, "lent");
    store.url = BOXCAR_STR("nonsense");
    assert_bad_option(options, "url");
    assert_int_equal(boxcar_coordinator_new(&options, NULL, NULL), BOXCAR_E_INVALID);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(immediate_flushes_before_the_call_returns),
        cmocka_unit_test(scoped_flushes_when_told_as_one_batch),
        cmocka_unit_test(closing_flushes),
        cmocka_unit_test(freeing_drops_what_is_queued),
        cmocka_unit_test(size_flushes_when_so_many_are_queued),
        cmocka_unit_test(size_counts_anew_after_a_failure),
        cmocka_unit_test(interval_flushes_by_itself),
        cmocka_unit_test(size_flushes_by_time_too_if_asked),
        cmocka_unit_test(interval_thread_stops_at_once),
        cmocka_unit_test(nothing_queued_asks_the_store_nothing),
        cmocka_unit_test(flush_says_what_became_of_each_ticket),
        cmocka_unit_test(many_settlements_are_matched_by_id),
        cmocka_unit_test(accessors_take_nothing_for_nothing),
        cmocka_unit_test(everything_is_copied_when_it_is_queued),
        cmocka_unit_test(settlements_are_brought_into_the_form_of_the_single_calls),
        cmocka_unit_test(operations_on_one_message_keep_their_order),
        cmocka_unit_test(boxes_do_not_mix_up_their_messages),
        cmocka_unit_test(messages_are_settled_by_their_ids),
        cmocka_unit_test(order_is_kept_however_messages_are_named),
        cmocka_unit_test(settlements_stay_queued_while_nobody_knows_the_work_id),
        cmocka_unit_test(renewals_of_different_length_go_apart),
        cmocka_unit_test(stages_are_recorded_in_their_order),
        cmocka_unit_test(claims_come_back_with_the_results),
        cmocka_unit_test(claims_need_no_results),
        cmocka_unit_test(claims_are_made_once_and_last),
        cmocka_unit_test(bad_operations_are_refused_at_once_and_queue_nothing),
        cmocka_unit_test(bad_claims_are_refused_before_anything_is_flushed),
        cmocka_unit_test(bad_options_are_refused),
    };

    return cmocka_run_group_tests_name("coordinator", tests, NULL, NULL);
}
