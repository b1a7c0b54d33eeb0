/* Joins in a file that programs of several versions use, one after the other or side by side. */
#include <string.h>

#include "joins.h"

enum { STEPS = 10 };

static int64_t count_outcome_rows(struct fixture *f) {
    return fixture_sql_number(f, "select count(*) from boxcar_join_outcome", NULL);
}

static boxcar_message_id message_of(struct fixture *f, struct taken taken) {
    boxcar_message_list *list = find(f, taken.work_id);
    boxcar_message_id id = look(list)->message_id;
    boxcar_list_free(list);
    return id;
}

static void assert_step(struct fixture *f, boxcar_join_id id, struct taken taken,
                        boxcar_member_status wanted) {
    assert_member(f, id, message_of(f, taken), wanted);
}

/* BX-047 */
static void neighbours_that_end_together_share_a_row(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 3 * STEPS);
    struct taken taken[STEPS];
    take_steps(f, id, taken, STEPS);
    settle_all(f, BOXCAR_ACK, taken, STEPS);
    assert_int_equal(count_outcome_rows(f), 1);
    take_steps(f, id, taken, STEPS);
    settle_all(f, BOXCAR_ACK, &taken[0], 4);
    settle_all(f, BOXCAR_ACK, &taken[5], 5);
    assert_int_equal(count_outcome_rows(f), 3);
    assert_int_equal(fixture_sql_number(f, "select count(*) from boxcar_join_member where status <> 0", NULL),
                     0);
}

/* BX-026, BX-047: more than a step of upkeep removes, by themselves and not as the last thing of their join.
 */
static void outcomes_are_removed_with_their_join(void **state) {
    enum { CALLS = 25, MANY = 100 };
    struct fixture *f = *state;
    boxcar_join_id joins[2] = {start_join(f, CALLS * MANY / 2), start_join(f, CALLS * MANY)};
    for (int k = 0; k < CALLS; k++) {
        boxcar_new_message messages[MANY];
        struct taken taken[MANY];
        for (int i = 0; i < MANY; i++) {
            messages[i] = new_message(STEP, "p");
            messages[i].join_id = joins[i % 2];
        }
        ASSERT_OK(f, boxcar_enqueue_many(f->store, BOXCAR_OUTBOX, messages, MANY, NULL, &f->err));
        assert_int_equal(take_all(f, f->owner, 30000, taken, MANY), MANY);
        settle_all(f, BOXCAR_ACK, taken, MANY);
    }
    assert_int_equal(count_outcome_rows(f), CALLS * MANY);
    set_setting(f, "retention_joins", "0");
    fixture_sql(f, "drop trigger boxcar_join_on_delete", NULL);
    assert_int_equal(maintain_joins(f).purged_joins, 1);
    assert_no_join(f, joins[0]);
    assert_int_equal(count_outcome_rows(f), CALLS * MANY / 2);
    assert_int_equal(count_members(f, joins[1], BOXCAR_MEMBER_COMPLETED), CALLS * MANY / 2);
}

/* ---- together with version 3 ---- */

/* Counts a member as a program of version 3 does; true = it thinks it has. */
static bool count_as_version_3(struct fixture *f, boxcar_join_id id, boxcar_message_id message_id) {
    sqlite3 *db = fixture_open_sqlite(f);
    sqlite3_stmt *stmt = NULL;
    assert_int_equal(sqlite3_prepare_v2(db,
                                        "update boxcar_join_member set status = ?3 "
                                        "where join_id = ?1 and message_id = ?2 and status = 0",
                                        -1, &stmt, NULL),
                     SQLITE_OK);
    sqlite3_bind_blob(stmt, 1, id.uuid.bytes, sizeof(id.uuid.bytes), SQLITE_STATIC);
    sqlite3_bind_blob(stmt, 2, message_id.uuid.bytes, sizeof(message_id.uuid.bytes), SQLITE_STATIC);
    sqlite3_bind_int(stmt, 3, BOXCAR_MEMBER_COMPLETED);
    assert_int_equal(sqlite3_step(stmt), SQLITE_DONE);
    bool counted = sqlite3_changes(db) > 0;
    sqlite3_finalize(stmt);
    if (counted)
        assert_int_equal(sqlite3_exec(db, "update boxcar_join set completed_steps = completed_steps + 1",
                                      NULL, NULL, NULL),
                         SQLITE_OK);
    sqlite3_close(db);
    return counted;
}

/* BX-029, BX-007, JOIN-022 */
static void what_version_3_and_this_one_count_side_by_side_counts_once(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, STEPS);
    boxcar_message_id unknown = {boxcar_uuid_new()};
    struct taken taken[5];
    take_steps(f, id, taken, 5);
    attach(f, id, unknown);
    settle_all(f, BOXCAR_FAIL, taken, 2);
    assert_false(count_as_version_3(f, id, message_of(f, taken[0])));
    assert_false(count_as_version_3(f, id, message_of(f, taken[1])));
    assert_true(count_as_version_3(f, id, message_of(f, taken[3])));
    assert_false(count_as_version_3(f, id, message_of(f, taken[3])));
    assert_true(count_as_version_3(f, id, unknown));
    settle_all(f, BOXCAR_ACK, &taken[2], 3);
    assert_join(f, id, BOXCAR_JOIN_PENDING, 4, 2);
    assert_step(f, id, taken[0], BOXCAR_MEMBER_FAILED);
    assert_step(f, id, taken[3], BOXCAR_MEMBER_COMPLETED);
    assert_consistent(f, id);
    assert_false(report(f, id, unknown, BOXCAR_MEMBER_FAILED));
}

/* BX-029, BX-026 */
static void join_that_version_3_removes_leaves_nothing_behind(void **state) {
    struct fixture *f = *state;
    boxcar_join_id id = start_join(f, 2);
    struct taken taken[2];
    take_steps(f, id, taken, 2);
    assert_true(ack(f, f->owner, taken[0]));
    assert_true(ack(f, f->owner, taken[1]));
    assert_int_equal(count_outcome_rows(f), 2);
    fixture_sql(f, "delete from boxcar_join_member; delete from boxcar_join", NULL);
    assert_int_equal(count_outcome_rows(f), 0);
}

static const struct CMUnitTest TESTS[] = {
    TEST(neighbours_that_end_together_share_a_row),
    TEST(outcomes_are_removed_with_their_join),
    TEST(what_version_3_and_this_one_count_side_by_side_counts_once),
    TEST(join_that_version_3_removes_leaves_nothing_behind),
};

const struct suite JOIN_SQLITE_SUITE = SUITE(TESTS);
