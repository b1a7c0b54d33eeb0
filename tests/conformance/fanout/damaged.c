/* Rows of policies and schedules that Boxcar did not write: an error says so, and the row can be removed.
 * SQLite's tables take any type in any column. */
#include "boxcar/fanout.h"
#include "boxcar/schedule.h"

#include <string.h>

#include "subscriptions.h"

#define TOPIC BOXCAR_STR("reindex")
#define KEY BOXCAR_STR("products")

/* In every row of the table, or those of policies. */
static void damage(struct fixture *f, const char *table, const char *column, const char *value) {
    char sql[300];
    bool of_policies = strcmp(table, "boxcar_reader") == 0;
    snprintf(sql, sizeof(sql), "update %s set %s = %s%s", table, column, value,
             of_policies ? " where destinations is not null" : "");
    fixture_sql(f, sql, NULL);
}

static void assert_damage_is_told(struct fixture *f) {
    assert_int_equal(f->err.status, BOXCAR_E_STORE);
    assert_non_null(strstr(f->err.message, "damaged"));
}

/* ---- policies ---- */

static boxcar_status add_policy(struct fixture *f, const char *name) {
    boxcar_new_fanout fanout = BOXCAR_NEW_FANOUT_INIT;
    boxcar_str pattern = BOXCAR_STR("orders.*"), destination = BOXCAR_STR("audit.{topic}");
    fanout.name = boxcar_str_of(name);
    fanout.patterns = &pattern;
    fanout.pattern_count = 1;
    fanout.destinations = &destination;
    fanout.destination_count = 1;
    return boxcar_fanout_add(f->store, &fanout, &f->err);
}

static void damaged_destinations_are_told_and_the_policy_can_be_removed(void **state) {
    static const char *const values[] = {"x'00ff'",  "'no json'", "7",       "'[]'",
                                         "'[1, 2]'", "'{}'",      "x'5b5d'", "cast(x'5b22ff225d' as text)"};
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        boxcar_fanout_list *list;
        ASSERT_OK(f, add_policy(f, "p"));
        damage(f, "boxcar_reader", "destinations", values[i]);
        ASSERT_FAILS(f, BOXCAR_E_STORE, boxcar_fanout_read(f->store, BOXCAR_NO_STR, &list, &f->err));
        assert_damage_is_told(f);
        ASSERT_FAILS(f, BOXCAR_E_STORE, add_policy(f, "q")); /* it cannot be seen where that one leads */
        assert_damage_is_told(f);
        boxcar_work_id id = enqueue(f, "t", "x").work_id;
        assert_true(ack(f, f->owner, take(f, f->owner, id)));
        ASSERT_OK(f, boxcar_fanout_remove(f->store, BOXCAR_STR("p"), false, &f->err));
    }
}

/* ---- schedules ---- */

static void add_schedule(struct fixture *f) {
    boxcar_new_schedule schedule = BOXCAR_NEW_SCHEDULE_INIT;
    schedule.topic = TOPIC;
    schedule.work_key = KEY;
    schedule.every_ms = 60000;
    ASSERT_OK(f, boxcar_schedule_add(f->store, &schedule, &f->err));
}

static boxcar_status plan(struct fixture *f) {
    boxcar_plan given = BOXCAR_PLAN_INIT;
    boxcar_planned planned = BOXCAR_PLANNED_INIT;
    given.owner = f->owner;
    return boxcar_schedule_plan(f->store, &given, &planned, &f->err);
}

/* Not its topic and its work key, by which it is found. */
static void a_damaged_schedule_is_told_and_can_be_removed(void **state) {
    static const char *const columns[] = {"every_ms", "jitter_ms", "shards", "created_at"};
    static const char *const values[] = {"x'00ff'", "'text'", "-1", "1.5"};
    struct fixture *f = *state;
    for (size_t i = 0; i < 16; i++) {
        boxcar_schedule_list *list;
        add_schedule(f);
        damage(f, "boxcar_schedule_row", columns[i / 4], values[i % 4]);
        ASSERT_FAILS(f, BOXCAR_E_STORE, boxcar_schedule_read(f->store, TOPIC, KEY, &list, &f->err));
        assert_damage_is_told(f);
        assert_non_null(strstr(f->err.message, columns[i / 4]));
        ASSERT_FAILS(f, BOXCAR_E_STORE, plan(f));
        assert_damage_is_told(f);
        ASSERT_OK(f, boxcar_schedule_remove(f->store, TOPIC, KEY, &f->err));
        ASSERT_OK(f, plan(f));
    }
}

static void damaged_texts_of_a_schedule_are_told(void **state) {
    static const char *const columns[] = {"topic", "work_key", "then_topic", "else_topic"};
    static const char *const values[] = {"x'00ff'", "cast(x'ff41' as text)", "''"};
    struct fixture *f = *state;
    for (size_t i = 0; i < 12; i++) {
        boxcar_schedule_list *list;
        add_schedule(f);
        damage(f, "boxcar_schedule_row", columns[i / 3], values[i % 3]);
        ASSERT_FAILS(f, BOXCAR_E_STORE,
                     boxcar_schedule_read(f->store, BOXCAR_NO_STR, BOXCAR_NO_STR, &list, &f->err));
        assert_damage_is_told(f);
        ASSERT_FAILS(f, BOXCAR_E_STORE, plan(f));
        assert_damage_is_told(f);
        fixture_sql(f, "delete from boxcar_schedule_row; delete from boxcar_schedule_shard", NULL);
    }
}

static void a_damaged_slice_is_told(void **state) {
    static const char *const columns[] = {"slice", "tries", "message_id", "enqueued_at", "completed_at"};
    static const char *const values[] = {"x'00ff'", "'text'"};
    struct fixture *f = *state;
    for (size_t i = 0; i < 10; i++) {
        boxcar_slice_list *list;
        add_schedule(f);
        ASSERT_OK(f, plan(f));
        damage(f, "boxcar_schedule_shard", columns[i / 2], values[i % 2]);
        ASSERT_FAILS(f, BOXCAR_E_STORE, boxcar_schedule_slice_read(f->store, TOPIC, KEY, &list, &f->err));
        assert_damage_is_told(f);
        ASSERT_OK(f, boxcar_schedule_remove(f->store, TOPIC, KEY, &f->err));
    }
}

static void a_damaged_lease_is_told(void **state) {
    static const char *const columns[] = {"owner", "until", "fence"};
    struct fixture *f = *state;
    for (size_t i = 0; i < 3; i++) {
        damage(f, "boxcar_schedule_planner", columns[i], "'text'");
        ASSERT_FAILS(f, BOXCAR_E_STORE, plan(f));
        assert_damage_is_told(f);
        fixture_sql(f, "update boxcar_schedule_planner set owner = null, until = 0, fence = 0", NULL);
    }
    fixture_sql(f, "delete from boxcar_schedule_planner", NULL);
    ASSERT_FAILS(f, BOXCAR_E_STORE, plan(f));
    assert_non_null(strstr(f->err.message, "boxcar_schedule_planner"));
}

static const struct CMUnitTest TESTS[] = {
    TEST(damaged_destinations_are_told_and_the_policy_can_be_removed),
    TEST(a_damaged_schedule_is_told_and_can_be_removed),
    TEST(damaged_texts_of_a_schedule_are_told),
    TEST(a_damaged_slice_is_told),
    TEST(a_damaged_lease_is_told),
};
const struct suite FANOUT_DAMAGED_SUITE = SUITE(TESTS);
