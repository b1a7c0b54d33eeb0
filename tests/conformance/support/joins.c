#include "joins.h"

#include <string.h>

#include "store/store.h"

enum { MANY = 100 };

boxcar_new_join new_join(int64_t expected_steps) {
    boxcar_new_join join = BOXCAR_NEW_JOIN_INIT;
    join.expected_steps = expected_steps;
    return join;
}

boxcar_join_id start_this(struct fixture *f, const boxcar_new_join *join) {
    boxcar_join_id join_id = {0};
    ASSERT_OK(f, boxcar_join_start(f->store, join, &join_id, &f->err));
    assert_false(boxcar_uuid_is_none(join_id.uuid));
    return join_id;
}

boxcar_join_id start_join(struct fixture *f, int64_t expected_steps) {
    boxcar_new_join join = new_join(expected_steps);
    return start_this(f, &join);
}

boxcar_join_id unknown_join(void) {
    boxcar_message_id chance = {boxcar_uuid_new()};
    boxcar_join_id join_id;
    memcpy(join_id.uuid.bytes, chance.uuid.bytes, sizeof(join_id.uuid.bytes));
    return join_id;
}

boxcar_attached attach(struct fixture *f, boxcar_join_id join_id, boxcar_message_id message_id) {
    boxcar_attached attached = BOXCAR_ATTACHED_INIT;
    ASSERT_OK(f, boxcar_join_attach(f->store, join_id, &message_id, 1, &attached, &f->err));
    return attached;
}

boxcar_enqueued enqueue_step(struct fixture *f, boxcar_join_id join_id) {
    boxcar_new_message message = new_message(STEP, "p");
    message.join_id = join_id;
    return enqueue_message(f, &message);
}

struct taken take_step(struct fixture *f, boxcar_join_id join_id) {
    return take_topic(f, f->owner, STEP, enqueue_step(f, join_id).work_id);
}

void take_steps(struct fixture *f, boxcar_join_id join_id, struct taken *ret_taken, size_t count) {
    boxcar_new_message messages[MANY];
    assert_in_range(count, 1, MANY);
    for (size_t i = 0; i < count; i++) {
        messages[i] = new_message(STEP, "p");
        messages[i].join_id = join_id;
    }
    ASSERT_OK(f, boxcar_enqueue_many(f->store, BOXCAR_OUTBOX, messages, count, NULL, &f->err));
    boxcar_message_list *list = claim_topic(f, f->owner, (int)count, STEP);
    assert_int_equal(list->count, count);
    for (size_t i = 0; i < count; i++) {
        const boxcar_message *m = list->items[i];
        ret_taken[i] = (struct taken){m->work_id, m->epoch, 0, 0};
    }
    boxcar_list_free(list);
}

struct taken take_topic(struct fixture *f, boxcar_owner owner, const char *topic, boxcar_work_id wanted) {
    boxcar_message_list *list = claim_topic(f, owner, 1, topic);
    const boxcar_message *m = look(list);
    struct taken taken = {m->work_id, m->epoch, m->retry_count, m->crash_count};
    boxcar_list_free(list);
    assert_int_equal(taken.work_id.value, wanted.value);
    return taken;
}

boxcar_enqueued enqueue_ended(struct fixture *f, bool failed) {
    boxcar_enqueued enqueued = enqueue(f, "ended", "p");
    struct taken taken = take_topic(f, f->owner, "ended", enqueued.work_id);
    assert_true(failed ? bury(f, f->owner, taken, "no") : ack(f, f->owner, taken));
    return enqueued;
}

void settle_all(struct fixture *f, boxcar_settle_kind how, const struct taken *taken, size_t count) {
    boxcar_settlement settlements[MANY];
    size_t affected = 0;
    assert_in_range(count, 1, MANY);
    for (size_t i = 0; i < count; i++)
        settlements[i] = settlement_of(taken[i]);
    ASSERT_OK(f, boxcar_settle(f->store, CLAIMER(BOXCAR_OUTBOX, f->owner), how, settlements, count, NULL,
                               &affected, &f->err));
    assert_int_equal(affected, count);
}

boxcar_status cancel_message(struct fixture *f, boxcar_work_id work_id) {
    boxcar_message_ref ref = {.work_id = work_id};
    return boxcar_message_cancel(f->store, BOXCAR_OUTBOX, ref, &f->err);
}

bool report(struct fixture *f, boxcar_join_id join_id, boxcar_message_id message_id,
            boxcar_member_status outcome) {
    bool counted = false;
    ASSERT_OK(f, boxcar_join_report(f->store, join_id, message_id, outcome, &counted, &f->err));
    return counted;
}

boxcar_new_wait new_wait(boxcar_join_id join_id) {
    boxcar_new_wait wait = BOXCAR_NEW_WAIT_INIT;
    wait.join_id = join_id;
    wait.on_complete_topic = BOXCAR_STR("completed");
    wait.on_complete_payload = BOXCAR_STR("yes");
    wait.on_fail_topic = BOXCAR_STR("failed");
    wait.on_fail_payload = BOXCAR_STR("no");
    return wait;
}

boxcar_enqueued enqueue_this_wait(struct fixture *f, const boxcar_new_wait *wait) {
    boxcar_enqueued enqueued;
    ASSERT_OK(f, boxcar_join_wait(f->store, wait, &enqueued, &f->err));
    return enqueued;
}

boxcar_enqueued enqueue_wait(struct fixture *f, boxcar_join_id join_id) {
    boxcar_new_wait wait = new_wait(join_id);
    return enqueue_this_wait(f, &wait);
}

enum wait_outcome resolve_in(struct fixture *f, boxcar_store *store, struct taken taken) {
    struct arena arena = ARENA_INIT;
    struct result result = {.arena = ARENA_INIT};
    struct request batch = {.base.owner = f->owner};
    boxcar_settlement settlement = settlement_of(taken);
    boxcar_message_list *list = find(f, taken.work_id);
    struct wait wait = {.correlation_id = look(list)->correlation_id,
                        .continuation_id = boxcar_join_continuation_id(look(list)->message_id)};

    ASSERT_OK(f, wait_parse(look(list)->payload, &arena, &wait, &f->err));
    batch.parts[BOXCAR_OUTBOX].settle[BOXCAR_RESOLVE] = (boxcar_settlement_list){&settlement, 1};
    batch.own[BOXCAR_OUTBOX].waits = &wait;
    ASSERT_OK(f, store->ops->process(store, &batch, &result, &f->err));
    enum wait_outcome outcome = result.parts[BOXCAR_OUTBOX].waits[0];
    result_release(&result);
    arena_release(&arena);
    boxcar_list_free(list);
    return outcome;
}

enum wait_outcome resolve(struct fixture *f, struct taken taken) { return resolve_in(f, f->store, taken); }

/* What the end of the join has made of a wait. */
static enum wait_outcome outcome_of(struct fixture *f, boxcar_enqueued wait) {
    boxcar_message_ref ref = {.message_id = boxcar_join_continuation_id(wait.message_id)};
    boxcar_message_list *list = NULL;
    if (boxcar_message_find(f->store, BOXCAR_OUTBOX, ref, &list, &f->err) != BOXCAR_OK)
        return WAIT_SILENT;
    bool failed = strcmp(look(list)->topic.data, "failed") == 0;
    boxcar_list_free(list);
    return failed ? WAIT_FAILED : WAIT_COMPLETED;
}

enum wait_outcome evaluate(struct fixture *f, boxcar_enqueued wait) {
    boxcar_message_list *list = find(f, wait.work_id);
    boxcar_message_status status = look(list)->status;
    boxcar_list_free(list);
    return status == BOXCAR_DONE ? outcome_of(f, wait)
                                 : resolve(f, take_topic(f, f->owner, WAIT, wait.work_id));
}

boxcar_join join_of(struct fixture *f, boxcar_join_id join_id) {
    boxcar_join_list *list = NULL;
    ASSERT_OK(f, boxcar_join_find(f->store, join_id, &list, &f->err));
    assert_int_equal(list->count, 1);
    boxcar_join join = *list->items[0];
    boxcar_list_free(list);
    assert_memory_equal(join.join_id.uuid.bytes, join_id.uuid.bytes, sizeof(join_id.uuid.bytes));
    join.grouping_key = join.metadata = BOXCAR_NO_STR;
    return join;
}

void assert_join(struct fixture *f, boxcar_join_id join_id, boxcar_join_status status, int64_t completed,
                 int64_t failed) {
    boxcar_join join = join_of(f, join_id);
    assert_string_equal(boxcar_join_status_name(join.status), boxcar_join_status_name(status));
    assert_int_equal(join.completed_steps, completed);
    assert_int_equal(join.failed_steps, failed);
    assert_string_equal(boxcar_join_reason_name(join.reason), "none");
    assert_consistent(f, join_id);
}

void assert_timed_out(struct fixture *f, boxcar_join_id join_id, int64_t completed, int64_t failed) {
    boxcar_join join = join_of(f, join_id);
    assert_string_equal(boxcar_join_status_name(join.status), "failed");
    assert_string_equal(boxcar_join_reason_name(join.reason), "timed_out");
    assert_int_equal(join.completed_steps, completed);
    assert_int_equal(join.failed_steps, failed);
    assert_consistent(f, join_id);
}

void assert_no_join(struct fixture *f, boxcar_join_id join_id) {
    boxcar_join_list *list = NULL;
    ASSERT_FAILS(f, BOXCAR_E_NOT_FOUND, boxcar_join_find(f->store, join_id, &list, &f->err));
    assert_null(list);
}

static boxcar_join_member_list *all_members(struct fixture *f, boxcar_join_id join_id) {
    boxcar_join_member_list *list = NULL;
    ASSERT_OK(f, boxcar_join_member_page(f->store, join_id, (boxcar_message_id){0}, BOXCAR_LIST_LIMIT_MAX,
                                         &list, &f->err));
    return list;
}

boxcar_join_member member_of(struct fixture *f, boxcar_join_id join_id, boxcar_message_id message_id) {
    boxcar_join_member_list *list = all_members(f, join_id);
    boxcar_join_member member = {.work_id = {-1}};
    size_t found = 0;
    for (size_t i = 0; i < list->count; i++) {
        const boxcar_join_member *m = list->items[i];
        if (memcmp(m->message_id.uuid.bytes, message_id.uuid.bytes, sizeof(message_id.uuid.bytes)) != 0)
            continue;
        member = *m;
        found++;
    }
    boxcar_list_free(list);
    assert_int_equal(found, 1);
    return member;
}

void assert_member(struct fixture *f, boxcar_join_id join_id, boxcar_message_id message_id,
                   boxcar_member_status wanted) {
    assert_string_equal(boxcar_member_status_name(member_of(f, join_id, message_id).status),
                        boxcar_member_status_name(wanted));
}

size_t count_members(struct fixture *f, boxcar_join_id join_id, boxcar_member_status status) {
    boxcar_join_member_list *list = all_members(f, join_id);
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++)
        count += list->items[i]->status == status;
    boxcar_list_free(list);
    return count;
}

void assert_consistent(struct fixture *f, boxcar_join_id join_id) {
    boxcar_join join = join_of(f, join_id);
    int64_t counted = join.completed_steps + join.failed_steps;
    assert_true(counted <= join.expected_steps);
    assert_int_equal(join.completed_steps, count_members(f, join_id, BOXCAR_MEMBER_COMPLETED));
    assert_int_equal(join.failed_steps, count_members(f, join_id, BOXCAR_MEMBER_FAILED));
    assert_true(join.last_updated_at >= join.created_at);
    if (counted == join.expected_steps)
        assert_int_equal(join.status, join.failed_steps > 0 ? BOXCAR_JOIN_FAILED : BOXCAR_JOIN_COMPLETED);
    else if (join.status == BOXCAR_JOIN_FAILED)
        assert_int_equal(join.reason, BOXCAR_JOIN_REASON_TIMED_OUT);
    else
        assert_int_not_equal(join.status, BOXCAR_JOIN_COMPLETED);
}

boxcar_time available_at_of(struct fixture *f, boxcar_work_id work_id) {
    boxcar_message_list *list = find(f, work_id);
    boxcar_time available_at = look(list)->available_at;
    boxcar_list_free(list);
    return available_at;
}

bool is_enqueued(struct fixture *f, boxcar_message_id message_id) {
    boxcar_message_ref ref = {.message_id = message_id};
    boxcar_message_list *list = NULL;
    boxcar_status status = boxcar_message_find(f->store, BOXCAR_OUTBOX, ref, &list, &f->err);
    boxcar_list_free(list);
    assert_true(status == BOXCAR_OK || status == BOXCAR_E_NOT_FOUND);
    return status == BOXCAR_OK;
}

void assert_continuation(struct fixture *f, boxcar_enqueued wait, const char *topic, const char *payload) {
    boxcar_message_ref ref = {.message_id = boxcar_join_continuation_id(wait.message_id)};
    boxcar_message_list *list = NULL;
    ASSERT_OK(f, boxcar_message_find(f->store, BOXCAR_OUTBOX, ref, &list, &f->err));
    assert_text(look(list)->topic, topic);
    assert_text(look(list)->payload, payload);
    boxcar_list_free(list);
}

void assert_no_continuation(struct fixture *f, boxcar_enqueued wait) {
    assert_false(is_enqueued(f, boxcar_join_continuation_id(wait.message_id)));
}

boxcar_maintenance maintain_joins(struct fixture *f) {
    boxcar_maintenance sum = BOXCAR_MAINTENANCE_INIT,
                       round = {.struct_size = sizeof(boxcar_maintenance), .more = true};
    while (round.more) {
        ASSERT_OK(f, boxcar_maintenance_run(f->store, &round, &f->err));
        sum.reaped += round.reaped;
        sum.expired += round.expired;
        sum.purged_done += round.purged_done;
        sum.purged_dead += round.purged_dead;
        sum.settled += round.settled;
        sum.timed_out += round.timed_out;
        sum.purged_joins += round.purged_joins;
    }
    return sum;
}

void make_overdue(struct fixture *f) {
    fixture_sql(f, "update boxcar_join set deadline = created_at where deadline is not null",
                "update join_row set deadline = created_at where deadline is not null");
}

void make_due_soon(struct fixture *f) {
    fixture_sql(
        f,
        "update boxcar_join set deadline = cast((julianday('now') - 2440587.5) * 86400000000 as integer) + "
        "abs(random()) % 100000 where deadline is not null and status = 0",
        "update join_row set deadline = clock_timestamp() + random() * interval '100 ms' "
        "where deadline is not null and status = 0");
}
