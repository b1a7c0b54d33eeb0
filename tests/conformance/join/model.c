/* Random lives of joins, compared with a model of the rules after every step. Random choices are the same in
 * every run; a failure names the walk and the step. */
#include <stdlib.h>
#include <string.h>

#include "boxes.h"
#include "joins.h"

enum { WALKS = 5, STEPS = 120, MESSAGES = 40, JOINS = 5, NO_MEMBER = -1 };

enum life { UNBORN, READY, DONE, DEAD, PURGED };

struct model_message {
    boxcar_message_id id;
    boxcar_work_id work_id;
    enum life life;
    bool fragile; /* one attempt only */
};

struct model_join {
    boxcar_join_id id;
    int64_t expected, completed, failed;
    boxcar_join_status status;
    int members[MESSAGES]; /* NO_MEMBER, or the status */
};

struct model {
    struct fixture *f;
    struct model_message messages[MESSAGES];
    struct model_join joins[JOINS];
    uint32_t chance;
    int walk, step;
};

/* 0 to limit - 1 */
static int draw(struct model *m, int limit) {
    m->chance = m->chance * 1664525 + 1013904223;
    return (int)((m->chance >> 8) % (uint32_t)limit);
}

/* ---- the rules ---- */

static void count_in(struct model_join *join, int message, boxcar_member_status outcome) {
    if (join->status != BOXCAR_JOIN_PENDING || join->members[message] != BOXCAR_MEMBER_PENDING)
        return;
    join->members[message] = outcome;
    *(outcome == BOXCAR_MEMBER_COMPLETED ? &join->completed : &join->failed) += 1;
    if (join->completed + join->failed == join->expected)
        join->status = join->failed > 0 ? BOXCAR_JOIN_FAILED : BOXCAR_JOIN_COMPLETED;
}

static void end_message(struct model *m, int message, enum life life) {
    m->messages[message].life = life;
    for (int k = 0; k < JOINS; k++)
        count_in(&m->joins[k], message, life == DONE ? BOXCAR_MEMBER_COMPLETED : BOXCAR_MEMBER_FAILED);
}

static boxcar_member_status outcome_of(enum life life) {
    return life == DONE   ? BOXCAR_MEMBER_COMPLETED
           : life == DEAD ? BOXCAR_MEMBER_FAILED
                          : BOXCAR_MEMBER_PENDING;
}

/* Counts what had ended before. With more of them than room, which ones is the store's choice: then the
 * model learns it from the store. */
static void settle_join(struct model *m, struct model_join *join) {
    int late = 0;
    for (int i = 0; i < MESSAGES; i++)
        late += join->members[i] == BOXCAR_MEMBER_PENDING && outcome_of(m->messages[i].life) != 0;
    bool learn = late > join->expected - join->completed - join->failed;
    for (int i = 0; i < MESSAGES && join->status == BOXCAR_JOIN_PENDING; i++) {
        boxcar_member_status outcome = outcome_of(m->messages[i].life);
        if (join->members[i] != BOXCAR_MEMBER_PENDING || outcome == BOXCAR_MEMBER_PENDING)
            continue;
        if (!learn || member_of(m->f, join->id, m->messages[i].id).status == outcome)
            count_in(join, i, outcome);
    }
}

/* ---- comparing ---- */

static int index_of(const struct model *m, boxcar_message_id id) {
    for (int i = 0; i < MESSAGES; i++)
        if (memcmp(m->messages[i].id.uuid.bytes, id.uuid.bytes, sizeof(id.uuid.bytes)) == 0)
            return i;
    return -1;
}

static void compare_members(struct model *m, const struct model_join *join) {
    boxcar_join_member_list *list = NULL;
    size_t wanted = 0;
    ASSERT_OK(m->f, boxcar_join_member_page(m->f->store, join->id, (boxcar_message_id){0}, MESSAGES + 1,
                                            &list, &m->f->err));
    for (int i = 0; i < MESSAGES; i++)
        wanted += join->members[i] != NO_MEMBER;
    for (size_t i = 0; i < list->count; i++) {
        const boxcar_join_member *member = list->items[i];
        int message = index_of(m, member->message_id);
        if (message < 0 || (int)member->status != join->members[message])
            fail_msg("walk %d, step %d: message %d is %s", m->walk, m->step, message,
                     boxcar_member_status_name(member->status));
    }
    if (list->count != wanted)
        fail_msg("walk %d, step %d: not %zu members", m->walk, m->step, wanted);
    boxcar_list_free(list);
}

static void compare(struct model *m) {
    for (int k = 0; k < JOINS; k++) {
        const struct model_join *join = &m->joins[k];
        boxcar_join found = join_of(m->f, join->id);
        if (found.status != join->status || found.completed_steps != join->completed ||
            found.failed_steps != join->failed)
            fail_msg("walk %d, step %d: join %d is %s with %d + %d of %d, not %s with %d + %d", m->walk,
                     m->step, k, boxcar_join_status_name(found.status), (int)found.completed_steps,
                     (int)found.failed_steps, (int)join->expected, boxcar_join_status_name(join->status),
                     (int)join->completed, (int)join->failed);
        compare_members(m, join);
    }
}

/* ---- the steps of a walk ---- */

static void start_one(struct model *m, int k) {
    struct model_join *join = &m->joins[k];
    join->expected = 1 + draw(m, 14);
    join->completed = join->failed = 0;
    join->status = BOXCAR_JOIN_PENDING;
    join->id = start_join(m->f, join->expected);
    for (int i = 0; i < MESSAGES; i++)
        join->members[i] = NO_MEMBER;
}

static void enqueue_some(struct model *m) {
    for (int i = 0, left = 1 + draw(m, 6); i < MESSAGES && left > 0; i++) {
        struct model_message *message = &m->messages[i];
        struct model_join *join = draw(m, 4) ? &m->joins[draw(m, JOINS)] : NULL;
        boxcar_new_message new = new_message(STEP, "p");
        boxcar_enqueued enqueued;
        if (message->life != UNBORN || (join && join->status && join->members[i] != NO_MEMBER))
            continue;
        new.message_id = message->id;
        new.max_attempts = message->fragile ? 1 : 0;
        if (join)
            new.join_id = join->id;
        left--;
        if (join && join->status != BOXCAR_JOIN_PENDING) {
            ASSERT_FAILS(m->f, BOXCAR_E_CONFLICT,
                         boxcar_enqueue(m->f->store, BOXCAR_OUTBOX, &new, &enqueued, &m->f->err));
            continue;
        }
        message->work_id = enqueue_message(m->f, &new).work_id;
        message->life = READY;
        if (join && join->members[i] == NO_MEMBER)
            join->members[i] = BOXCAR_MEMBER_PENDING;
    }
}

static void attach_some(struct model *m) {
    struct model_join *join = &m->joins[draw(m, JOINS)];
    boxcar_message_id ids[5];
    int chosen[5], count = 1 + draw(m, 5);
    bool is_news = false;
    for (int n = 0; n < count; n++) {
        chosen[n] = draw(m, MESSAGES);
        ids[n] = m->messages[chosen[n]].id;
        is_news = is_news || join->members[chosen[n]] == NO_MEMBER;
    }
    if (is_news && join->status != BOXCAR_JOIN_PENDING) {
        ASSERT_FAILS(m->f, BOXCAR_E_CONFLICT,
                     boxcar_join_attach(m->f->store, join->id, ids, (size_t)count, NULL, &m->f->err));
        return;
    }
    ASSERT_OK(m->f, boxcar_join_attach(m->f->store, join->id, ids, (size_t)count, NULL, &m->f->err));
    for (int n = 0; n < count; n++)
        if (join->members[chosen[n]] == NO_MEMBER)
            join->members[chosen[n]] = BOXCAR_MEMBER_PENDING;
}

static int by_work_id(const void *a, const void *b) {
    const struct model_message *left = *(struct model_message *const *)a,
                               *right = *(struct model_message *const *)b;
    return (left->work_id.value > right->work_id.value) - (left->work_id.value < right->work_id.value);
}

/* Leases some and settles them in one batch, in every way; what is left over is ready again. */
static void settle_some(struct model *m) {
    static const boxcar_settle_kind ORDER[] = {BOXCAR_ACK, BOXCAR_ABANDON, BOXCAR_DEFER, BOXCAR_FAIL};
    boxcar_settlement settlements[4][12];
    struct model_message *settled[4][12];
    size_t counts[4] = {0};
    struct batch batch = batch_for(m->f->owner);
    boxcar_message_list *list = claim_topic(m->f, m->f->owner, 1 + draw(m, 12), STEP);
    int mostly = draw(m, 8); /* often all alike, so that runs of neighbours end together */
    for (size_t i = 0; i < list->count; i++) {
        const boxcar_message *message = list->items[i];
        int how = mostly < 4 ? mostly : draw(m, 4);
        settlements[how][counts[how]] = settlement_of((struct taken){message->work_id, message->epoch, 0, 0});
        settlements[how][counts[how]].delay_ms = 0;
        settled[how][counts[how]++] = &m->messages[index_of(m, message->message_id)];
    }
    boxcar_list_free(list);
    for (int how = 0; how < 4; how++)
        batch.parts[BOXCAR_OUTBOX].settle[ORDER[how]] =
            (boxcar_settlement_list){settlements[how], counts[how]};
    boxcar_result_free(send_batch(m->f, &batch));
    for (int how = 0; how < 4; how++) {
        qsort(settled[how], counts[how], sizeof(settled[how][0]), by_work_id);
        for (size_t i = 0; i < counts[how]; i++)
            if (how == 0 || how == 3 || (how == 1 && settled[how][i]->fragile))
                end_message(m, (int)(settled[how][i] - m->messages), how == 0 ? DONE : DEAD);
    }
}

static void report_one(struct model *m) {
    struct model_join *join = &m->joins[draw(m, JOINS)];
    int message = draw(m, MESSAGES);
    boxcar_member_status outcome = draw(m, 2) ? BOXCAR_MEMBER_COMPLETED : BOXCAR_MEMBER_FAILED;
    bool counted = true, pending = join->members[message] == BOXCAR_MEMBER_PENDING;
    boxcar_status status =
        boxcar_join_report(m->f->store, join->id, m->messages[message].id, outcome, &counted, &m->f->err);
    if (join->members[message] == NO_MEMBER)
        assert_int_equal(status, BOXCAR_E_NOT_FOUND);
    else if (pending && join->status != BOXCAR_JOIN_PENDING)
        assert_int_equal(status, BOXCAR_E_CONFLICT);
    else
        assert_true(status == BOXCAR_OK && counted == pending);
    count_in(join, message, outcome);
}

/* Cancels what is ready; replays or purges what is dead. */
static void act_on_one(struct model *m) {
    int i = draw(m, MESSAGES);
    struct model_message *message = &m->messages[i];
    boxcar_message_ref ref = {.work_id = message->work_id};
    boxcar_dead_filter only = BOXCAR_DEAD_FILTER_INIT;
    only.refs = &ref;
    only.ref_count = 1;
    if (message->life == READY) {
        ASSERT_OK(m->f, cancel_message(m->f, message->work_id));
        end_message(m, i, DEAD);
    } else if (message->life == DEAD && draw(m, 3)) {
        ASSERT_OK(m->f, boxcar_dead_replay(m->f->store, &only, BOXCAR_NO_STR, NULL, &m->f->err));
        message->life = READY;
    } else if (message->life == DEAD) {
        ASSERT_OK(m->f, boxcar_dead_purge(m->f->store, &only, NULL, &m->f->err));
        end_message(m, i, PURGED);
    }
}

static void take_a_step(struct model *m) {
    int k = draw(m, JOINS);
    switch (draw(m, 16)) {
    case 0:
        if (m->joins[k].status != BOXCAR_JOIN_PENDING)
            start_one(m, k);
        break;
    case 1:
        if (draw(m, 3) == 0 && m->joins[k].status == BOXCAR_JOIN_PENDING) {
            ASSERT_OK(m->f, boxcar_join_cancel(m->f->store, m->joins[k].id, &m->f->err));
            m->joins[k].status = BOXCAR_JOIN_CANCELLED;
        }
        break;
    case 2:
        maintain_joins(m->f);
        for (int i = 0; i < JOINS; i++)
            settle_join(m, &m->joins[i]);
        break;
    case 3:
        enqueue_wait(m->f, m->joins[k].id);
        settle_join(m, &m->joins[k]);
        break;
    case 4:
    case 5:
        report_one(m);
        break;
    case 6:
    case 7:
        act_on_one(m);
        break;
    case 8:
    case 9:
        attach_some(m);
        break;
    case 10:
    case 11:
    case 12:
        enqueue_some(m);
        break;
    default:
        settle_some(m);
    }
}

/* What is left of a walk is out of the way of the next. */
static void clear_away(struct fixture *f) {
    struct taken taken[MESSAGES];
    boxcar_message_list *list = claim_topic(f, f->owner, MESSAGES, STEP);
    size_t count = list->count;
    for (size_t i = 0; i < count; i++) {
        const boxcar_message *message = list->items[i];
        taken[i] = (struct taken){message->work_id, message->epoch, 0, 0};
    }
    boxcar_list_free(list);
    if (count > 0)
        settle_all(f, BOXCAR_ACK, taken, count);
}

/* BX-007, BX-040, BX-041, BX-042, BX-043, JOIN-042 */
static void joins_follow_the_rules_wherever_chance_leads(void **state) {
    struct model *m = calloc(1, sizeof(*m));
    assert_non_null(m);
    m->f = *state;
    for (m->walk = 0; m->walk < WALKS; m->walk++) {
        m->chance = 4711u * (unsigned)(m->walk + 1);
        for (int i = 0; i < MESSAGES; i++)
            m->messages[i] = (struct model_message){.id = (boxcar_message_id){boxcar_uuid_new()},
                                                    .fragile = draw(m, 3) == 0};
        for (int k = 0; k < JOINS; k++)
            start_one(m, k);
        for (m->step = 0; m->step < STEPS; m->step++) {
            take_a_step(m);
            compare(m);
        }
        clear_away(m->f);
    }
    assert_int_equal(audit_lost(m->f), 0);
    free(m);
}

static const struct CMUnitTest TESTS[] = {
    TEST(joins_follow_the_rules_wherever_chance_leads),
};

const struct suite JOIN_MODEL_SUITE = SUITE(TESTS);
