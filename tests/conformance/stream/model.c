/* Random lives of a few streams, compared with a model of their order after every step. Random choices are
 * the same in every run; a failure names the walk and the step. */
#include <stdio.h>
#include <string.h>

#include "streams.h"

enum { WALKS = 6, STEPS = 150, STREAMS = 4, MESSAGES = 200, MAX_ATTEMPTS = 3 };

enum life { READY, LEASED, DONE, DEAD };

struct model_message {
    boxcar_work_id id;
    int stream;
    enum life life;
    bool later, suspect;
    int retry_count, owner;
    struct taken taken;
    int taken_in; /* the step */
};

struct model_stream {
    bool halting;
    int64_t halted_by; /* 0 = it is not */
};

struct model {
    struct fixture *f;
    struct model_message messages[MESSAGES]; /* in the order of their ids */
    int count;
    struct model_stream streams[STREAMS];
    boxcar_owner owners[2];
    uint32_t chance;
    int walk, step;
};

/* 0 to limit - 1 */
static int draw(struct model *m, int limit) {
    m->chance = m->chance * 1664525 + 1013904223;
    return (int)((m->chance >> 8) % (uint32_t)limit);
}

static const char *key_of(int stream) {
    static const char *const KEYS[STREAMS] = {"calm-1", "calm-2", "strict-1", "strict-2"};
    return KEYS[stream];
}

#define WRONG(m, ...)                                                                                        \
    do {                                                                                                     \
        char text_[200];                                                                                     \
        snprintf(text_, sizeof(text_), __VA_ARGS__);                                                         \
        fail_msg("walk %d, step %d: %s", (m)->walk, (m)->step, text_);                                       \
    } while (0)

/* ---- the rules ---- */

static struct model_message *head_of(struct model *m, int stream) {
    for (int i = 0; i < m->count; i++)
        if (m->messages[i].stream == stream && m->messages[i].life <= LEASED)
            return &m->messages[i];
    return NULL;
}

static struct model_message *behind(struct model *m, const struct model_message *message) {
    for (int i = (int)(message - m->messages) + 1; i < m->count; i++)
        if (m->messages[i].stream == message->stream && m->messages[i].life <= LEASED)
            return &m->messages[i];
    return NULL;
}

static bool has_leased(const struct model *m, int stream) {
    for (int i = 0; i < m->count; i++)
        if (m->messages[i].stream == stream && m->messages[i].life == LEASED)
            return true;
    return false;
}

/* The message that a claim may begin with; NULL = none of this stream. */
static struct model_message *claimable(struct model *m, int stream) {
    struct model_message *head = head_of(m, stream);
    bool can = head && !m->streams[stream].halted_by && !has_leased(m, stream) && !head->later;
    return can ? head : NULL;
}

static void die(struct model *m, struct model_message *message, bool cancelled) {
    struct model_stream *stream = &m->streams[message->stream];
    message->life = DEAD;
    if (!cancelled && stream->halting && !stream->halted_by)
        stream->halted_by = message->id.value;
}

static void spend(struct model *m, struct model_message *message) {
    message->life = READY;
    if (++message->retry_count >= MAX_ATTEMPTS)
        die(m, message, false);
}

/* ---- comparing ---- */

static int pending_of(const struct model *m, int stream) {
    int count = 0;
    for (int i = 0; i < m->count; i++)
        count += m->messages[i].stream == stream && m->messages[i].life <= LEASED;
    return count;
}

static boxcar_stream_state state_of(struct model *m, int stream) {
    if (m->streams[stream].halted_by)
        return BOXCAR_STREAM_HALTED;
    if (has_leased(m, stream))
        return BOXCAR_STREAM_IN_PROGRESS;
    return head_of(m, stream)->later ? BOXCAR_STREAM_WAITING : BOXCAR_STREAM_READY;
}

static void compare_stream(struct model *m, int stream) {
    const struct model_message *head = head_of(m, stream);
    if (!head && !m->streams[stream].halted_by) {
        assert_no_stream(m->f, key_of(stream));
        return;
    }
    boxcar_stream found = stream_of(m->f, key_of(stream));
    if (found.state != state_of(m, stream))
        WRONG(m, "%s is %s, not %s", key_of(stream), boxcar_stream_state_name(found.state),
              boxcar_stream_state_name(state_of(m, stream)));
    if (found.pending != pending_of(m, stream))
        WRONG(m, "%s has %d pending, not %d", key_of(stream), (int)found.pending, pending_of(m, stream));
    if (found.head.value != (head ? head->id.value : 0))
        WRONG(m, "the head of %s is %d", key_of(stream), (int)found.head.value);
    if (found.halted_by.value != m->streams[stream].halted_by)
        WRONG(m, "%s is halted by %d", key_of(stream), (int)found.halted_by.value);
}

/* Pages of two, one behind the other: each stream once, in order, and none that is done. */
static void compare_pages(struct model *m) {
    boxcar_stream_filter filter = BOXCAR_STREAM_FILTER_INIT;
    char listed[100] = "", wanted[100] = "", after[20];
    size_t count;
    filter.limit = 2;
    do {
        boxcar_stream_list *list = NULL;
        ASSERT_OK(m->f, boxcar_stream_page(m->f->store, &filter, &list, &m->f->err));
        count = list->count;
        for (size_t i = 0; i < count; i++) {
            boxcar_str key = list->items[i]->stream;
            snprintf(after, sizeof(after), "%.*s", (int)key.len, key.data);
            strcat(strcat(listed, after), " ");
        }
        filter.after = boxcar_str_of(after);
        boxcar_list_free(list);
    } while (count > 0 && strlen(listed) < sizeof(listed) / 2);
    for (int s = 0; s < STREAMS; s++)
        if (head_of(m, s) || m->streams[s].halted_by)
            strcat(strcat(wanted, key_of(s)), " ");
    if (strcmp(listed, wanted) != 0)
        WRONG(m, "the pages have %s, not %s", listed, wanted);
}

/* PostgreSQL finds those that no claimer has met in two ways, one of them in two manners. */
static void compare_ways(struct model *m) {
    static const char WAYS[] =
        "with f as materialized (select x as f, _unmet_from(x) as low from _newest_frontier(0::smallint, "
        "1::smallint) x), "
        "found as materialized (select _unmet_by_arrival(f, '', '', 'z', 100, null) as by_arrival, "
        "_unmet_by_key(f, low, '', '', 'z', 100, 100) as by_key, _unmet_by_key(f, low, '', '', 'z', 100, "
        "null) as passing from f) "
        "select count(*) from found where by_arrival = by_key and by_arrival = passing";
    if (fixture_sql_number(m->f, "select 1", WAYS) != 1)
        WRONG(m, "streams that nobody has met are found in one way and not in another");
}

/* ---- steps ---- */

static void step_enqueue(struct model *m) {
    if (m->count == MESSAGES)
        return;
    struct model_message *message = &m->messages[m->count++];
    *message = (struct model_message){.stream = draw(m, STREAMS)};
    message->id = enqueue_fragile(m->f, key_of(message->stream), MAX_ATTEMPTS);
}

/* One whose time is over when it is first looked at. */
static void step_expire(struct model *m) {
    if (m->count == MESSAGES)
        return;
    struct model_message *message = &m->messages[m->count++];
    boxcar_new_message brief = new_message("t", "p");
    boxcar_maintenance done = BOXCAR_MAINTENANCE_INIT;
    *message = (struct model_message){.stream = draw(m, STREAMS)};
    brief.stream = boxcar_str_of(key_of(message->stream));
    brief.ttl_ms = 1;
    message->id = enqueue_message(m->f, &brief).work_id;
    wait_out(m->f, 2);
    boxcar_message_list *list = claim_topic(m->f, m->owners[0], 1, "nobody's");
    assert_int_equal(list->count, 0);
    boxcar_list_free(list);
    ASSERT_OK(m->f, boxcar_maintenance_run(m->f->store, &done, &m->f->err));
    assert_dead(m->f, message->id, BOXCAR_REASON_EXPIRED);
    die(m, message, false);
}

static struct model_message *find_message(struct model *m, boxcar_work_id id) {
    for (int i = 0; i < m->count; i++)
        if (m->messages[i].id.value == id.value)
            return &m->messages[i];
    WRONG(m, "claimed %d, which nobody enqueued", (int)id.value);
    return NULL;
}

static void check_claimed(struct model *m, const struct batch_taken *batch, size_t i, int owner,
                          struct model_message *expected[STREAMS]) {
    struct model_message *message = find_message(m, batch->items[i].work_id);
    struct model_message *wanted = expected[message->stream];
    if (message != wanted)
        WRONG(m, "claimed %d of %s, not %d", (int)message->id.value, key_of(message->stream),
              wanted ? (int)wanted->id.value : 0);
    if (message->suspect && batch->count > 1)
        WRONG(m, "the suspect %d came with others", (int)message->id.value);
    if (batch->items[i].retry_count != message->retry_count)
        WRONG(m, "%d had %d attempts", (int)message->id.value, batch->items[i].retry_count);
    wanted = behind(m, message);
    expected[message->stream] = wanted && !wanted->later && !wanted->suspect ? wanted : NULL;
    message->life = LEASED;
    message->owner = owner;
    message->taken = batch->items[i];
    message->taken_in = m->step;
}

/* What came are the beginnings of streams. Returns whether something that could have come was left out while
 * there was room. */
static bool check_claim(struct model *m, const struct batch_taken *batch, int owner, int size) {
    struct model_message *expected[STREAMS];
    bool touched[STREAMS] = {false}, left_out = false, suspect = false;
    for (int s = 0; s < STREAMS; s++) {
        expected[s] = claimable(m, s);
        suspect |= expected[s] && expected[s]->suspect;
    }
    for (size_t i = 0; i < batch->count; i++) {
        touched[find_message(m, batch->items[i].work_id)->stream] = true;
        check_claimed(m, batch, i, owner, expected);
    }
    bool was_suspect = batch->count == 1 && find_message(m, batch->items[0].work_id)->suspect;
    for (int s = 0; s < STREAMS; s++)
        left_out |= !was_suspect && batch->count < (size_t)size && !touched[s] && expected[s] &&
                    !expected[s]->suspect;
    return left_out || (batch->count == 0 && suspect);
}

/* A claim that takes as long as this seems to PostgreSQL to be one of a longer transaction, which looks at
 * new messages when it ends: then the next claim brings the rest. */
#define SLOW_MS 50

static size_t claim_some(struct model *m, int owner, int size, int64_t lease_ms) {
    boxcar_time began = database_now(m->f);
    struct batch_taken batch = claim_batch_for(m->f, m->owners[owner], size, lease_ms);
    size_t count = batch.count;
    bool left_out = check_claim(m, &batch, owner, size);
    if (left_out && !fixture_is_sqlite(m->f) && database_now(m->f) - began >= SLOW_MS * 1000) {
        batch = claim_batch_for(m->f, m->owners[owner], size - (int)count, lease_ms);
        left_out = check_claim(m, &batch, owner, size - (int)count);
        count += batch.count;
    }
    if (left_out)
        WRONG(m, "%s was claimed, though there was room for more", count == 0 ? "nothing" : "a part");
    return count;
}

static void step_claim(struct model *m) { claim_some(m, draw(m, 2), 1 + draw(m, 8), 30000); }

static struct model_message *any_of(struct model *m, enum life life) {
    int start = m->count > 0 ? draw(m, m->count) : 0;
    for (int i = 0; i < m->count; i++) {
        struct model_message *message = &m->messages[(start + i) % m->count];
        if (message->life == life)
            return message;
    }
    return NULL;
}

/* A well-behaved worker acks from the front. */
static void step_ack(struct model *m) {
    struct model_message *any = any_of(m, LEASED);
    if (!any)
        return;
    struct model_message *first = head_of(m, any->stream);
    if (first->life != LEASED)
        return;
    assert_true(ack(m->f, m->owners[first->owner], first->taken));
    first->life = DONE;
}

static void step_abandon(struct model *m) {
    struct model_message *message = any_of(m, LEASED);
    if (!message)
        return;
    bool later = draw(m, 3) == 0;
    assert_true(abandon(m->f, m->owners[message->owner], message->taken, later ? HOUR : 0));
    message->later = later;
    spend(m, message);
}

static void step_defer(struct model *m) {
    struct model_message *message = any_of(m, LEASED);
    if (!message)
        return;
    bool later = draw(m, 4) == 0;
    assert_true(defer(m->f, m->owners[message->owner], message->taken, later ? HOUR : 0));
    message->later = later;
    message->life = READY;
}

static void step_fail(struct model *m) {
    struct model_message *message = any_of(m, LEASED);
    if (!message)
        return;
    assert_true(bury(m->f, m->owners[message->owner], message->taken, "no"));
    die(m, message, false);
}

/* A worker takes something and dies. */
static void step_crash(struct model *m) {
    struct model_message *mine[RUN_MAX];
    size_t count = 0, claimed = claim_some(m, 0, 1 + draw(m, 4), BOXCAR_LEASE_MS_MIN);
    for (int i = 0; i < m->count; i++)
        if (m->messages[i].life == LEASED && m->messages[i].taken_in == m->step)
            mine[count++] = &m->messages[i];
    assert_int_equal(count, claimed);
    reap_wait(m->f, (int64_t)count);
    for (size_t i = 0; i < count; i++) {
        mine[i]->suspect = true;
        spend(m, mine[i]);
    }
}

static void step_cancel(struct model *m) {
    struct model_message *message = any_of(m, READY);
    if (!message)
        return;
    boxcar_message_ref ref = {.work_id = message->id};
    ASSERT_OK(m->f, boxcar_message_cancel(m->f->store, BOXCAR_OUTBOX, ref, &m->f->err));
    die(m, message, true);
}

static void revive(struct model *m, struct model_message *message) {
    struct model_stream *stream = &m->streams[message->stream];
    message->life = READY;
    message->retry_count = 0;
    message->later = message->suspect = false;
    if (stream->halted_by == message->id.value)
        stream->halted_by = 0;
}

static void step_replay(struct model *m) {
    struct model_message *message = any_of(m, DEAD);
    if (!message)
        return;
    boxcar_dead_filter filter = BOXCAR_DEAD_FILTER_INIT;
    boxcar_message_ref ref = {.work_id = message->id};
    int64_t count = 0;
    filter.refs = &ref;
    filter.ref_count = 1;
    ASSERT_OK(m->f, boxcar_dead_replay(m->f->store, &filter, BOXCAR_NO_STR, &count, &m->f->err));
    assert_int_equal(count, 1);
    revive(m, message);
}

static void step_resume(struct model *m) {
    int stream = draw(m, STREAMS);
    bool replay = draw(m, 2) == 0;
    boxcar_status wanted = m->streams[stream].halted_by ? BOXCAR_OK
                           : head_of(m, stream)         ? BOXCAR_E_CONFLICT
                                                        : BOXCAR_E_NOT_FOUND;
    boxcar_status status =
        boxcar_stream_resume(m->f->store, BOXCAR_OUTBOX, boxcar_str_of(key_of(stream)), replay, &m->f->err);
    if (status != wanted)
        WRONG(m, "resuming %s: %s", key_of(stream), boxcar_status_name(status));
    if (status != BOXCAR_OK)
        return;
    if (replay)
        revive(m, find_message(m, (boxcar_work_id){m->streams[stream].halted_by}));
    m->streams[stream].halted_by = 0;
}

static void step_skip(struct model *m) {
    int stream = draw(m, STREAMS);
    struct model_message *head = head_of(m, stream);
    boxcar_work_id skipped = {0};
    boxcar_status wanted = m->streams[stream].halted_by ? BOXCAR_OK
                           : !head                      ? BOXCAR_E_NOT_FOUND
                           : has_leased(m, stream)      ? BOXCAR_E_CONFLICT
                                                        : BOXCAR_OK;
    boxcar_status status =
        boxcar_stream_skip(m->f->store, BOXCAR_OUTBOX, boxcar_str_of(key_of(stream)), &skipped, &m->f->err);
    if (status != wanted)
        WRONG(m, "skipping in %s: %s", key_of(stream), boxcar_status_name(status));
    if (status != BOXCAR_OK)
        return;
    assert_int_equal(skipped.value,
                     m->streams[stream].halted_by ? m->streams[stream].halted_by : head->id.value);
    if (!m->streams[stream].halted_by)
        die(m, head, true);
    m->streams[stream].halted_by = 0;
}

typedef void step_fn(struct model *m);

static const struct {
    step_fn *run;
    int weight;
} MOVES[] = {
    {step_enqueue, 24}, {step_claim, 22}, {step_ack, 26},   {step_abandon, 8},
    {step_defer, 8},    {step_fail, 5},   {step_cancel, 3}, {step_replay, 4},
    {step_resume, 6},   {step_skip, 4},   {step_expire, 2}, {step_crash, 2},
};
enum { MOVE_COUNT = sizeof(MOVES) / sizeof(MOVES[0]) };

static step_fn *next_move(struct model *m) {
    int total = 0, drawn;
    for (int i = 0; i < MOVE_COUNT; i++)
        total += MOVES[i].weight;
    drawn = draw(m, total);
    for (int i = 0; i < MOVE_COUNT; i++) {
        if (drawn < MOVES[i].weight)
            return MOVES[i].run;
        drawn -= MOVES[i].weight;
    }
    return step_claim;
}

/* BX-005, BX-006, BX-060, BX-062 */
static void random_lives_of_streams_follow_the_model(void **state) {
    static struct model m;
    struct fixture *f = *state;
    m = (struct model){.f = f, .owners = {f->owner, f->other}};
    set_rule(f, "strict-*", BOXCAR_STREAM_HALT);
    for (m.walk = 0; m.walk < WALKS; m.walk++) {
        m.chance = (uint32_t)m.walk * 7919 + 17;
        m.count = 0;
        memset(m.streams, 0, sizeof(m.streams));
        m.streams[2].halting = m.streams[3].halting = true;
        for (m.step = 0; m.step < STEPS; m.step++) {
            next_move (&m)(&m);
            for (int s = 0; s < STREAMS; s++)
                compare_stream(&m, s);
            compare_pages(&m);
            compare_ways(&m);
        }
        assert_int_equal(audit_lost(f), 0);
        /* The next walk begins with nothing of this one. */
        for (int i = 0; i < m.count; i++) {
            boxcar_message_ref ref = {.work_id = m.messages[i].id};
            if (m.messages[i].life == LEASED)
                assert_true(bury(f, m.owners[m.messages[i].owner], m.messages[i].taken, "over"));
            else if (m.messages[i].life == READY)
                ASSERT_OK(f, boxcar_message_cancel(f->store, BOXCAR_OUTBOX, ref, &f->err));
        }
        for (int s = 0; s < STREAMS; s++)
            boxcar_stream_resume(f->store, BOXCAR_OUTBOX, boxcar_str_of(key_of(s)), false, &f->err);
    }
}

static const struct CMUnitTest TESTS[] = {
    TEST(random_lives_of_streams_follow_the_model),
};

const struct suite STREAM_MODEL_SUITE = SUITE(TESTS);
