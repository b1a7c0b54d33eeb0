/* Policies: their subscriptions, their names, and circles. */
#include "boxcar/fanout.h"

#include <string.h>

#include "subscriptions.h"

#define MOST 4

/* Of the outbox, from the end; the destinations end with NULL. */
struct given {
    const char *name, *pattern, *destinations[MOST], *then_topic;
};

static boxcar_status add(struct fixture *f, const struct given *given) {
    boxcar_new_fanout fanout = BOXCAR_NEW_FANOUT_INIT;
    boxcar_str pattern = boxcar_str_of(given->pattern), destinations[MOST];
    for (size_t i = 0; i < MOST && given->destinations[i] != NULL; i++)
        destinations[fanout.destination_count++] = boxcar_str_of(given->destinations[i]);
    fanout.name = boxcar_str_of(given->name);
    fanout.patterns = &pattern;
    fanout.pattern_count = 1;
    fanout.destinations = destinations;
    fanout.then_topic = boxcar_str_of(given->then_topic);
    return boxcar_fanout_add(f->store, &fanout, &f->err);
}

#define ADD(f, ...) ASSERT_OK(f, add(f, &(struct given){__VA_ARGS__}))
#define ADD_IN_CIRCLE(f, wanted, ...)                                                                        \
    do {                                                                                                     \
        ASSERT_FAILS(f, BOXCAR_E_CONFLICT, add(f, &(struct given){__VA_ARGS__}));                            \
        if (strstr((f)->err.message, (wanted)) == NULL)                                                      \
            fail_msg("%s", (f)->err.message);                                                                \
    } while (0)

static size_t count_subscriptions(struct fixture *f) {
    boxcar_subscription_list *list;
    ASSERT_OK(f, boxcar_subscription_read(f->store, BOXCAR_NO_STR, &list, &f->err));
    size_t count = list->count;
    boxcar_list_free(list);
    return count;
}

/* ---- subscriptions; BX-097 ---- */

static void each_destination_is_a_subscription(void **state) {
    struct fixture *f = *state;
    boxcar_fanout_list *list;
    ADD(f, "copies", "orders.*", {"audit.{topic}", "store:search/inbox"}, NULL);
    assert_int_equal(count_subscriptions(f), 2);
    ASSERT_OK(f, boxcar_fanout_read(f->store, BOXCAR_STR("copies"), &list, &f->err));
    assert_int_equal(list->count, 1);
    const boxcar_fanout *policy = list->items[0];
    assert_text(policy->name, "copies");
    assert_int_equal(policy->route_count, 2);
    assert_text(policy->routes[0]->name, "copies/audit.{topic}");
    assert_text(policy->routes[1]->name, "copies/store:search/inbox");
    assert_int_equal(policy->routes[1]->destination_count, 1);
    assert_text(policy->routes[1]->destinations[0], "store:search/inbox");
    assert_text(policy->routes[1]->patterns[0], "orders.*");
    assert_absent(policy->then_topic);
    boxcar_list_free(list);
    boxcar_box reader = subscription_of(f, "copies/audit.{topic}").reader;
    boxcar_work_id id = enqueue(f, "orders.paid", "p").work_id;
    finish_as(f, reader, &id, 1);
}

static void a_policy_with_a_join_is_one_subscription(void **state) {
    struct fixture *f = *state;
    boxcar_subscription_list *list;
    ADD(f, "copies", "orders.*", {"a", "b"}, "joined");
    assert_int_equal(count_subscriptions(f), 1);
    ASSERT_OK(f, boxcar_subscription_read(f->store, BOXCAR_STR("copies/all"), &list, &f->err));
    assert_int_equal(list->items[0]->destination_count, 2);
    assert_text(list->items[0]->destinations[1], "b");
    assert_text(list->items[0]->then_topic, "joined");
    assert_absent(list->items[0]->else_topic);
    boxcar_list_free(list);
}

static void other_subscriptions_have_no_destinations(void **state) {
    struct fixture *f = *state;
    boxcar_subscription_list *list;
    boxcar_fanout_list *policies;
    subscribe(f, "a", "t");
    ASSERT_OK(f, boxcar_subscription_read(f->store, BOXCAR_STR("a"), &list, &f->err));
    assert_int_equal(list->items[0]->destination_count, 0);
    assert_absent(list->items[0]->then_topic);
    boxcar_list_free(list);
    ASSERT_OK(f, boxcar_fanout_read(f->store, BOXCAR_NO_STR, &policies, &f->err));
    assert_int_equal(policies->count, 0);
    boxcar_list_free(policies);
    ASSERT_FAILS(f, BOXCAR_E_NOT_FOUND, boxcar_fanout_read(f->store, BOXCAR_STR("a"), &policies, &f->err));
    assert_string_equal(f->err.argument, "fanout");
}

/* A policy whose name begins with that of another is not meant. */
static void all_its_subscriptions_are_changed_together(void **state) {
    struct fixture *f = *state;
    boxcar_place beginning = BOXCAR_PLACE_INIT;
    int64_t count = 0;
    ADD(f, "p", "t", {"a", "b"}, NULL);
    ADD(f, "p2", "t", {"a"}, NULL);
    enqueue(f, "t", "x");
    ASSERT_OK(f, boxcar_fanout_pause(f->store, BOXCAR_STR("p"), &f->err));
    assert_true(subscription_of(f, "p/a").paused_at != BOXCAR_TIME_NONE);
    assert_true(subscription_of(f, "p/b").paused_at != BOXCAR_TIME_NONE);
    assert_true(subscription_of(f, "p2/a").paused_at == BOXCAR_TIME_NONE);
    ASSERT_OK(f, boxcar_fanout_resume(f->store, BOXCAR_STR("p"), &f->err));
    assert_true(subscription_of(f, "p/b").paused_at == BOXCAR_TIME_NONE);
    ASSERT_OK(f, boxcar_fanout_rewind(f->store, BOXCAR_STR("p"), &beginning, &count, &f->err));
    assert_int_equal(count, 2);
    assert_true(subscription_of(f, "p/a").rewound_at != BOXCAR_TIME_NONE);
    ASSERT_OK(f, boxcar_fanout_remove(f->store, BOXCAR_STR("p"), false, &f->err));
    assert_int_equal(count_subscriptions(f), 1);
    ASSERT_FAILS(f, BOXCAR_E_NOT_FOUND, boxcar_fanout_pause(f->store, BOXCAR_STR("p"), &f->err));
    ADD(f, "p", "t", {"a", "b"}, NULL);
}

static void a_lease_of_one_keeps_all_of_them(void **state) {
    struct fixture *f = *state;
    ADD(f, "p", "t", {"a", "b"}, NULL);
    boxcar_work_id id = enqueue(f, "t", "x").work_id;
    take_one_as(f, subscription_of(f, "p/b").reader, id);
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT, boxcar_fanout_remove(f->store, BOXCAR_STR("p"), false, &f->err));
    assert_int_equal(count_subscriptions(f), 2);
    ASSERT_OK(f, boxcar_fanout_remove(f->store, BOXCAR_STR("p"), true, &f->err));
    assert_int_equal(count_subscriptions(f), 0);
}

static void one_of_a_policy_is_not_removed_and_keeps_its_patterns(void **state) {
    struct fixture *f = *state;
    boxcar_subscription_changes changes = BOXCAR_SUBSCRIPTION_CHANGES_INIT;
    boxcar_str pattern = BOXCAR_STR("u"), name = BOXCAR_STR("p/a");
    ADD(f, "p", "t", {"a"}, NULL);
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT, boxcar_subscription_remove(f->store, name, true, &f->err));
    assert_non_null(strstr(f->err.message, "boxcar fanout rm p"));
    changes.max_lag_ms = 5000;
    ASSERT_OK(f, boxcar_subscription_change(f->store, name, &changes, &f->err));
    assert_int_equal(subscription_of(f, "p/a").max_lag_ms, 5000);
    changes.patterns = &pattern;
    changes.pattern_count = 1;
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT, boxcar_subscription_change(f->store, name, &changes, &f->err));
    assert_non_null(strstr(f->err.message, "policy \"p\""));
}

static void policies_and_subscriptions_share_their_names(void **state) {
    struct fixture *f = *state;
    boxcar_str pattern = BOXCAR_STR("t");
    boxcar_new_subscription same = new_subscription("p", &pattern);
    subscribe(f, "a", "t");
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT, add(f, &(struct given){"a", "t", {"x"}, NULL}));
    ADD(f, "p", "t", {"x"}, NULL);
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT, add(f, &(struct given){"p", "t", {"y"}, NULL}));
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT, boxcar_subscription_add(f->store, &same, NULL, &f->err));
    subscribe(f, "p2", "t");
    subscribe(f, "o", "t");
    assert_int_equal(count_subscriptions(f), 4);
}

/* What the main reader has not read would be nobody's if none of them read it. */
static void a_policy_may_take_its_topics_from_the_main_reader(void **state) {
    struct fixture *f = *state;
    boxcar_new_fanout fanout = BOXCAR_NEW_FANOUT_INIT;
    boxcar_str pattern = BOXCAR_STR("t"), destinations[] = {BOXCAR_STR("a"), BOXCAR_STR("b")};
    fanout.name = BOXCAR_STR("p");
    fanout.patterns = &pattern;
    fanout.pattern_count = 1;
    fanout.destinations = destinations;
    fanout.destination_count = 2;
    fanout.only = true;
    boxcar_work_id id = enqueue(f, "t", "x").work_id;
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT, boxcar_fanout_add(f->store, &fanout, &f->err));
    assert_int_equal(count_subscriptions(f), 0);
    fanout.start = BOXCAR_START_BEGINNING;
    ASSERT_OK(f, boxcar_fanout_add(f->store, &fanout, &f->err));
    assert_true(subscription_of(f, "p/b").only);
    assert_nothing_claimable(f);
    finish_as(f, subscription_of(f, "p/a").reader, &id, 1);
    finish_as(f, subscription_of(f, "p/b").reader, &id, 1);
}

/* ---- circles; BX-104 ---- */

static void a_copy_that_its_policy_matches_is_refused(void **state) {
    struct fixture *f = *state;
    ADD_IN_CIRCLE(f, "a copy would come back: p -> p", "p", "orders.*", {"orders.copy"}, NULL);
    ADD_IN_CIRCLE(f, "p -> p", "p", "orders.*", {"x", "{topic}.copy"}, NULL);
    ADD_IN_CIRCLE(f, "p -> p", "p", "*", {"audit.{topic}"}, NULL);
    ADD_IN_CIRCLE(f, "p -> p", "p", "orders", {"x"}, "orders");
    assert_int_equal(count_subscriptions(f), 0);
    ADD(f, "p", "orders.*", {"audit.{topic}", "store:x", "tenant:orders.x"}, NULL);
}

static void a_circle_over_other_policies_is_refused_and_named(void **state) {
    struct fixture *f = *state;
    ADD(f, "b", "b.*", {"x", "c.{topic}"}, NULL);
    ADD(f, "c", "c.*", {"d"}, NULL);
    ADD(f, "z", "z", {"a"}, NULL);
    ADD_IN_CIRCLE(f, "a -> b -> c -> a", "a", "d", {"b.1"}, NULL);
    ASSERT_OK(f, boxcar_fanout_remove(f->store, BOXCAR_STR("c"), false, &f->err));
    ADD(f, "a", "d", {"b.1"}, NULL);
}

/* Copies go to the outbox, and the policy reads the inbox. */
static void what_comes_from_the_inbox_does_not_come_back(void **state) {
    struct fixture *f = *state;
    boxcar_new_fanout fanout = BOXCAR_NEW_FANOUT_INIT;
    boxcar_str pattern = BOXCAR_STR("*"), destination = BOXCAR_STR("{topic}");
    fanout.name = BOXCAR_STR("in");
    fanout.box = BOXCAR_INBOX;
    fanout.patterns = &pattern;
    fanout.pattern_count = 1;
    fanout.destinations = &destination;
    fanout.destination_count = 1;
    ASSERT_OK(f, boxcar_fanout_add(f->store, &fanout, &f->err));
}

static const struct CMUnitTest TESTS[] = {
    TEST(each_destination_is_a_subscription),
    TEST(a_policy_with_a_join_is_one_subscription),
    TEST(other_subscriptions_have_no_destinations),
    TEST(all_its_subscriptions_are_changed_together),
    TEST(a_lease_of_one_keeps_all_of_them),
    TEST(one_of_a_policy_is_not_removed_and_keeps_its_patterns),
    TEST(policies_and_subscriptions_share_their_names),
    TEST(a_policy_may_take_its_topics_from_the_main_reader),
    TEST(a_copy_that_its_policy_matches_is_refused),
    TEST(a_circle_over_other_policies_is_refused_and_named),
    TEST(what_comes_from_the_inbox_does_not_come_back),
};
const struct suite FANOUT_POLICY_SUITE = SUITE(TESTS);
