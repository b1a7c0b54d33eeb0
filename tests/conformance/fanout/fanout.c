/* Policies: each destination is a subscription of its own. */
#include "fanouts.h"

#include "boxes.h"

static const boxcar_str ORDERS = {"orders.*", 8};
static const boxcar_str TWO[] = {{"audit.{topic}", 13}, {"store:search/inbox", 18}};

static void add_copies(struct fixture *f) {
    const boxcar_new_fanout fanout = new_fanout("copies", &ORDERS, TWO, 2);
    add_fanout(f, &fanout);
}

/* BX-097 */
static void each_destination_gets_each_matching_message(void **state) {
    struct fixture *f = *state;
    add_copies(f);
    boxcar_box audit = route_of(f, "copies/audit.{topic}"), search = route_of(f, "copies/store:search/inbox");
    boxcar_work_id paid = enqueue(f, "orders.paid", "p").work_id, other = enqueue(f, "mail", "p").work_id;
    finish_as(f, audit, &paid, 1);
    finish_as(f, search, &paid, 1);
    assert_unknown_to(f, audit, other);
    boxcar_work_id both[] = {paid, other};
    finish_as(f, BOXCAR_OUTBOX, both, 2);
    assert_int_equal(audit_lost(f), 0);
}

/* BX-097 */
static void a_broken_destination_holds_back_no_other(void **state) {
    struct fixture *f = *state;
    add_copies(f);
    boxcar_box audit = route_of(f, "copies/audit.{topic}"), search = route_of(f, "copies/store:search/inbox");
    boxcar_work_id id = enqueue(f, "orders.paid", "p").work_id;
    assert_true(settle_as(f, search, BOXCAR_FAIL, take_one_as(f, search, id)));
    assert_status_as(f, search, id, BOXCAR_FAILED);
    finish_as(f, audit, &id, 1);
    boxcar_subscription broken = subscription_of(f, "copies/store:search/inbox");
    assert_int_equal(broken.failed, 1);
    assert_int_equal(subscription_of(f, "copies/audit.{topic}").failed, 0);
}

/* BX-097 */
static void a_policy_is_read_with_its_routes(void **state) {
    struct fixture *f = *state;
    add_copies(f);
    boxcar_fanout_list *list = fanout_of(f, "copies");
    const boxcar_fanout *policy = list->items[0];
    assert_text(policy->name, "copies");
    assert_int_equal(policy->box, BOXCAR_OUTBOX);
    assert_int_equal(policy->pattern_count, 1);
    assert_text(policy->patterns[0], "orders.*");
    assert_absent(policy->then_topic);
    assert_absent(policy->else_topic);
    assert_int_equal(policy->route_count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(policy->routes[i]->destination_count, 1);
        assert_text(policy->routes[i]->destinations[0], TWO[i].data);
    }
    assert_text(policy->routes[0]->name, "copies/audit.{topic}");
    assert_text(policy->routes[1]->name, "copies/store:search/inbox");
    boxcar_list_free(list);
}

/* BX-097 */
static void policies_are_listed_by_name(void **state) {
    struct fixture *f = *state;
    boxcar_fanout_list *list = NULL;
    ASSERT_OK(f, boxcar_fanout_read(f->store, BOXCAR_NO_STR, &list, &f->err));
    assert_int_equal(list->count, 0);
    boxcar_list_free(list);
    list = NULL;
    forward(f, "a-b", "x", "z1");
    add_copies(f);
    forward(f, "a", "x", "z2");
    subscribe(f, "aa", "x");
    ASSERT_OK(f, boxcar_fanout_read(f->store, BOXCAR_NO_STR, &list, &f->err));
    static const char *const names[] = {"a", "a-b", "copies"};
    assert_int_equal(list->count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_text(list->items[i]->name, names[i]);
    assert_int_equal(list->items[0]->route_count, 1);
    assert_text(list->items[0]->routes[0]->name, "a/z2");
    assert_int_equal(list->items[2]->route_count, 2);
    boxcar_list_free(list);
}

/* BX-097 */
static void subscriptions_show_where_they_forward_to(void **state) {
    struct fixture *f = *state;
    boxcar_subscription_list *list = NULL;
    add_copies(f);
    subscribe(f, "plain", "x");
    ASSERT_OK(f, boxcar_subscription_read(f->store, BOXCAR_NO_STR, &list, &f->err));
    assert_int_equal(list->count, 3);
    assert_text(list->items[0]->name, "copies/audit.{topic}");
    assert_int_equal(list->items[0]->destination_count, 1);
    assert_text(list->items[0]->destinations[0], "audit.{topic}");
    assert_text(list->items[2]->name, "plain");
    assert_int_equal(list->items[2]->destination_count, 0);
    assert_absent(list->items[2]->then_topic);
    boxcar_list_free(list);
}

/* BX-099 */
static void a_policy_that_gathers_has_one_route_for_all_destinations(void **state) {
    struct fixture *f = *state;
    static const boxcar_str places[] = {{"check.stock", 11}, {"check.credit", 12}};
    boxcar_new_fanout fanout = new_fanout("checks", &ORDERS, places, 2);
    fanout.then_topic = BOXCAR_STR("checked");
    fanout.else_topic = BOXCAR_STR("refused");
    add_fanout(f, &fanout);
    boxcar_fanout_list *list = fanout_of(f, "checks");
    const boxcar_fanout *policy = list->items[0];
    assert_text(policy->then_topic, "checked");
    assert_text(policy->else_topic, "refused");
    assert_int_equal(policy->route_count, 1);
    assert_text(policy->routes[0]->name, "checks/all");
    assert_int_equal(policy->routes[0]->destination_count, 2);
    assert_text(policy->routes[0]->destinations[0], "check.stock");
    assert_text(policy->routes[0]->destinations[1], "check.credit");
    boxcar_list_free(list);
    boxcar_work_id id = enqueue(f, "orders.new", "p").work_id;
    finish_as(f, route_of(f, "checks/all"), &id, 1);
}

/* BX-097 */
static void a_policy_can_read_the_inbox(void **state) {
    struct fixture *f = *state;
    boxcar_new_fanout fanout = new_fanout("in", &ORDERS, TWO, 2);
    fanout.box = BOXCAR_INBOX;
    add_fanout(f, &fanout);
    boxcar_fanout_list *list = fanout_of(f, "in");
    assert_int_equal(list->items[0]->box, BOXCAR_INBOX);
    assert_int_equal(list->items[0]->routes[1]->box, BOXCAR_INBOX);
    boxcar_list_free(list);
    boxcar_work_id id = put_into(f, BOXCAR_INBOX, "orders.paid", "p", NULL);
    enqueue(f, "orders.paid", "p");
    finish_as(f, route_of(f, "in/audit.{topic}"), &id, 1);
}

/* BX-093, BX-097 */
static void a_policy_may_start_at_the_beginning(void **state) {
    struct fixture *f = *state;
    boxcar_work_id before = enqueue(f, "orders.paid", "p").work_id;
    boxcar_new_fanout fanout = new_fanout("copies", &ORDERS, TWO, 2);
    fanout.start = BOXCAR_START_BEGINNING;
    add_fanout(f, &fanout);
    forward(f, "late", "orders.*", "later");
    assert_nothing_for(f, route_of(f, "late/later"));
    finish_as(f, route_of(f, "copies/audit.{topic}"), &before, 1);
    finish_as(f, route_of(f, "copies/store:search/inbox"), &before, 1);
}

/* BX-092, BX-097: what the main reader has not read would be nobody's if none of them read it. */
static void only_takes_the_messages_from_the_main_reader(void **state) {
    struct fixture *f = *state;
    boxcar_new_fanout fanout = new_fanout("copies", &ORDERS, TWO, 2);
    fanout.only = true;
    boxcar_work_id id = enqueue(f, "orders.paid", "p").work_id;
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT, boxcar_fanout_add(f->store, &fanout, &f->err));
    assert_no_fanout(f, "copies");
    fanout.start = BOXCAR_START_BEGINNING;
    add_fanout(f, &fanout);
    assert_true(subscription_of(f, "copies/store:search/inbox").only);
    assert_nothing_for(f, BOXCAR_OUTBOX);
    finish_as(f, route_of(f, "copies/audit.{topic}"), &id, 1);
    finish_as(f, route_of(f, "copies/store:search/inbox"), &id, 1);
    assert_int_equal(audit_lost(f), 0);
}

/* BX-097 */
static void policies_and_subscriptions_share_their_names(void **state) {
    struct fixture *f = *state;
    boxcar_str pattern = BOXCAR_STR("t");
    subscribe(f, "plain", "t");
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT, try_forward(f, "plain", "orders.*", "z"));
    assert_no_fanout(f, "plain");
    forward(f, "copies", "orders.*", "z");
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT, try_forward(f, "copies", "x", "y"));
    boxcar_new_subscription taken = new_subscription("copies", &pattern);
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT, boxcar_subscription_add(f->store, &taken, NULL, &f->err));
    ASSERT_OK(f, boxcar_fanout_remove(f->store, BOXCAR_STR("copies"), false, &f->err));
    subscribe(f, "copies", "t");
}

/* A policy called "cop" is not a part of "copies", and characters of patterns mean nothing in names. */
static void a_policy_is_found_by_its_whole_name(void **state) {
    struct fixture *f = *state;
    add_copies(f);
    assert_no_fanout(f, "cop");
    assert_no_fanout(f, "c%");
    assert_no_fanout(f, "copie_");
    forward(f, "c%", "t", "z");
    ASSERT_OK(f, boxcar_fanout_remove(f->store, BOXCAR_STR("c%"), false, &f->err));
    boxcar_list_free(fanout_of(f, "copies"));
}

static void assert_unknown_policy(struct fixture *f, boxcar_status status) {
    assert_string_equal(boxcar_status_name(status), boxcar_status_name(BOXCAR_E_NOT_FOUND));
    assert_string_equal(f->err.argument, "fanout");
}

static void an_unknown_policy_is_not_found(void **state) {
    struct fixture *f = *state;
    static const boxcar_str names[] = {{"nobody", 6}, {"plain", 5}};
    boxcar_place place = BOXCAR_PLACE_INIT;
    subscribe(f, "plain", "t");
    for (size_t i = 0; i < 2; i++) {
        assert_no_fanout(f, names[i].data);
        assert_unknown_policy(f, boxcar_fanout_pause(f->store, names[i], &f->err));
        assert_unknown_policy(f, boxcar_fanout_resume(f->store, names[i], &f->err));
        assert_unknown_policy(f, boxcar_fanout_rewind(f->store, names[i], &place, NULL, &f->err));
        assert_unknown_policy(f, boxcar_fanout_remove(f->store, names[i], true, &f->err));
    }
    assert_int_equal(subscription_of(f, "plain").paused_at, BOXCAR_TIME_NONE);
}

static const struct CMUnitTest TESTS[] = {
    TEST(each_destination_gets_each_matching_message),
    TEST(a_broken_destination_holds_back_no_other),
    TEST(a_policy_is_read_with_its_routes),
    TEST(policies_are_listed_by_name),
    TEST(subscriptions_show_where_they_forward_to),
    TEST(a_policy_that_gathers_has_one_route_for_all_destinations),
    TEST(a_policy_can_read_the_inbox),
    TEST(a_policy_may_start_at_the_beginning),
    TEST(only_takes_the_messages_from_the_main_reader),
    TEST(policies_and_subscriptions_share_their_names),
    TEST(a_policy_is_found_by_its_whole_name),
    TEST(an_unknown_policy_is_not_found),
};

const struct suite FANOUT_SUITE = SUITE(TESTS);
