/* Events in the caller's own transaction, and in a handler's: they are there if and only if it commits,
 * together with whatever else happened in it (BX-066). */
#include <string.h>

#include "borrow.h"
#include "events.h"
#include "seam.h"

#define ANY BOXCAR_ANY_VERSION

/* Everything below goes through the borrowed store between these two; what others see, through the own. */
static boxcar_store *use_borrowed(struct fixture *f, struct borrowed *b) {
    boxcar_store *own = f->store;
    f->store = b->store;
    borrowed_exec(b, "begin");
    return own;
}

static void end_borrowed(struct fixture *f, struct borrowed *b, boxcar_store *own, bool commit) {
    assert_true(borrowed_in_transaction(b));
    borrowed_exec(b, commit ? "commit" : "rollback");
    f->store = own;
}

/* BX-066, BX-001 */
static void events_messages_and_own_rows_commit_together(void **state) {
    struct fixture *f = *state;
    struct borrowed b = borrow(f);
    append(f, "s", 0, "before");
    for (int commit = 0; commit < 2; commit++) {
        boxcar_store *own = use_borrowed(f, &b);
        boxcar_new_event event = new_event("T", "p");
        event.topic = BOXCAR_STR("t");
        assert_int_equal(append_this(f, "s", 1, &event).version, 2);
        assert_int_equal(append(f, "s", 2, "p"), 3);
        assert_int_equal(count_stream(f, "s"), 3); /* the caller sees its own */
        borrowed_enqueue(f, &b, "p");
        borrowed_write_effect(f, &b);
        f->store = own;
        assert_int_equal(count_stream(f, "s"), 1); /* and nobody else */
        assert_int_equal(last_position(f), 1);
        f->store = b.store;
        end_borrowed(f, &b, own, commit);
        assert_int_equal(count_stream(f, "s"), commit ? 3 : 1);
        assert_int_equal(stats_of(f).ready + stats_of(f).waiting, commit ? 2 : 0);
        assert_int_equal(count_effects(f), commit);
    }
    assert_sequence(f, 3);
    borrowed_close(&b);
}

/* BX-066: an uncommitted event has no position, not even for its writer. */
static void own_events_get_positions_when_they_are_committed(void **state) {
    struct fixture *f = *state;
    struct borrowed b = borrow(f);
    if (fixture_is_sqlite(f)) { /* there the row is the position, and nobody else can write meanwhile */
        borrowed_close(&b);
        return;
    }
    boxcar_store *own = use_borrowed(f, &b);
    append(f, "mine", ANY, "p");
    f->store = own;
    append(f, "other", ANY, "p");
    f->store = b.store;
    boxcar_event_list *list = read_all(f, 0, 10);
    assert_int_equal(list->count, 1);
    assert_text(list->items[0]->stream, "other");
    boxcar_list_free(list);
    list = read_stream(f, "mine", 1, 10);
    assert_int_equal(list->items[0]->position, 0);
    boxcar_list_free(list);
    append(f, "mine", ANY, "p"); /* also behind its own reading */
    end_borrowed(f, &b, own, true);
    assert_sequence(f, 3);
    list = read_stream(f, "mine", 1, 10);
    assert_int_equal(list->items[0]->position, 2);
    assert_int_equal(list->items[1]->position, 3);
    boxcar_list_free(list);
    borrowed_close(&b);
}

/* BX-066: positions that were given out in a transaction go with it. */
static void rolled_back_reader_has_given_out_nothing(void **state) {
    struct fixture *f = *state;
    struct borrowed b = borrow(f);
    append_many(f, "s", 3);
    for (int commit = 0; commit < 2; commit++) {
        boxcar_store *own = use_borrowed(f, &b);
        assert_int_equal(last_position(f), 3);
        end_borrowed(f, &b, own, commit);
    }
    append(f, "s", 3, "p");
    assert_sequence(f, 4);
    borrowed_close(&b);
}

/* BX-066 */
static void conflict_stores_nothing_of_the_callers_transaction_either_way(void **state) {
    struct fixture *f = *state;
    struct borrowed b = borrow(f);
    append_many(f, "s", 2);
    boxcar_store *own = use_borrowed(f, &b);
    append(f, "t", 0, "p");
    assert_append_conflicts(f, "s", 1);
    bool must_roll_back = f->err.must_roll_back;
    assert_int_equal(must_roll_back,
                     !fixture_is_sqlite(f)); /* PostgreSQL has aborted it, SQLite only the call */
    borrowed_exec(&b, must_roll_back ? "rollback" : "commit");
    f->store = own;
    assert_int_equal(count_stream(f, "s"), 2);
    assert_int_equal(count_stream(f, "t"), must_roll_back ? 0 : 1);
    borrowed_close(&b);
}

/* BX-066, BX-008: a handler that records what it did. */
static void handlers_events_and_its_ack_happen_together(void **state) {
    struct fixture *f = *state;
    boxcar_store *hand = fixture_open(f), *own = f->store;
    struct taken taken = take(f, f->owner, enqueue(f, "t", "p").work_id);
    for (int commit = 0; commit < 2; commit++) {
        ASSERT_OK(f, seam_begin(hand, &f->err));
        f->store = hand;
        append(f, "done", 0, "p");
        assert_true(ack(f, f->owner, taken));
        f->store = own;
        assert_int_equal(count_stream(f, "done"), 0);
        if (commit)
            ASSERT_OK(f, seam_commit(hand, &f->err));
        else
            seam_roll_back(hand);
        assert_int_equal(count_stream(f, "done"), commit);
        assert_status(f, taken.work_id, commit ? BOXCAR_DONE : BOXCAR_IN_PROGRESS);
    }
    boxcar_store_close(hand);
    assert_sequence(f, 1);
}

/* BX-066: the usual way to keep a projection exact. */
static void projection_keeps_its_position_in_the_same_transaction(void **state) {
    struct fixture *f = *state;
    struct borrowed b = borrow(f);
    int64_t position = 0, seen = 0;
    for (int round = 0; round < 20; round++) {
        append_many(f, round % 2 ? "a" : "b", 3);
        bool commit = round % 3 != 1;
        boxcar_store *own = use_borrowed(f, &b);
        borrowed_write_effect(f, &b);
        boxcar_event_list *list = read_all(f, position, 1000);
        for (size_t i = 0; i < list->count; i++)
            assert_int_equal(list->items[i]->position, position + (int64_t)i + 1);
        if (commit) {
            seen += (int64_t)list->count;
            position = list->position;
        }
        boxcar_list_free(list);
        end_borrowed(f, &b, own, commit);
    }
    assert_int_equal(position, seen);
    assert_sequence(f, 60);
    borrowed_close(&b);
}

static const struct CMUnitTest TESTS[] = {
    TEST(events_messages_and_own_rows_commit_together),
    TEST(own_events_get_positions_when_they_are_committed),
    TEST(rolled_back_reader_has_given_out_nothing),
    TEST(conflict_stores_nothing_of_the_callers_transaction_either_way),
    TEST(handlers_events_and_its_ack_happen_together),
    TEST(projection_keeps_its_position_in_the_same_transaction),
};

const struct suite EVENT_TRANSACTION_SUITE = SUITE(TESTS);
