/* Claiming by topic: exact names and prefixes, and what is left for others. */
#include "conformance.h"

static void assert_claims_only(struct fixture *f, const char *pattern, size_t count,
                               const boxcar_work_id *wanted) {
    boxcar_message_list *list = claim_topic(f, f->owner, 50, pattern);
    assert_int_equal(list->count, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(list->items[i]->work_id.value, wanted[i].value);
    boxcar_list_free(list);
}

/* OBX-010 */
static void topics_are_case_sensitive(void **state) {
    struct fixture *f = *state;
    boxcar_work_id upper = enqueue(f, "Order.Created", "p").work_id,
                   lower = enqueue(f, "order.created", "p").work_id;
    assert_claims_only(f, "ORDER.CREATED", 0, NULL);
    assert_claims_only(f, "order.created", 1, &lower);
    assert_claims_only(f, "Order.*", 1, &upper);
}

/* OBX-022, BX-020 */
static void claim_by_topic_takes_only_that_topic(void **state) {
    struct fixture *f = *state;
    enqueue(f, "a", "p");
    boxcar_work_id b = enqueue(f, "b", "p").work_id;
    enqueue(f, "bb", "p");
    assert_claims_only(f, "b", 1, &b);
    assert_claims_only(f, "b", 0, NULL);
    assert_claims_only(f, "c", 0, NULL);
}

/* BX-020 */
static void prefix_takes_every_topic_that_begins_with_it(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[3];
    ids[0] = enqueue(f, "mail.in", "p").work_id;
    enqueue(f, "mai", "p");
    ids[1] = enqueue(f, "mail.", "p").work_id;
    ids[2] = enqueue(f, "mail.out.late", "p").work_id;
    enqueue(f, "xmail.in", "p");
    assert_claims_only(f, "mail.*", 3, ids);
    assert_int_equal(stats_of(f).ready, 2);
}

/* BX-020 */
static void wildcards_of_sql_mean_nothing_in_a_prefix(void **state) {
    struct fixture *f = *state;
    enqueue(f, "axb1", "p");
    boxcar_work_id plain = enqueue(f, "a_b1", "p").work_id;
    enqueue(f, "100 percent", "p");
    boxcar_work_id percent = enqueue(f, "100% sure", "p").work_id;
    boxcar_work_id bracket = enqueue(f, "[ab]?", "p").work_id;
    enqueue(f, "ab", "p");
    assert_claims_only(f, "a_b*", 1, &plain);
    assert_claims_only(f, "100%*", 1, &percent);
    assert_claims_only(f, "[ab]?*", 1, &bracket);
}

/* BX-020 */
static void several_patterns_take_what_any_of_them_matches(void **state) {
    struct fixture *f = *state;
    enqueue(f, "a.1", "p");
    enqueue(f, "b", "p");
    enqueue(f, "c", "p");
    enqueue(f, "\xc3\xa4\xc3\xb6.2", "p");
    boxcar_str topics[3] = {BOXCAR_STR("a.*"), BOXCAR_STR("c"), BOXCAR_STR("\xc3\xa4*")};
    boxcar_claimer options = BOXCAR_CLAIMER_INIT;
    options.owner = f->owner;
    options.topics = topics;
    options.topic_count = 3;
    boxcar_message_list *list = NULL;
    ASSERT_OK(f, boxcar_claim(f->store, &options, &list, &f->err));
    assert_int_equal(list->count, 3);
    assert_int_equal(list->items[0]->work_id.value, 1);
    assert_int_equal(list->items[1]->work_id.value, 3);
    assert_int_equal(list->items[2]->work_id.value, 4);
    boxcar_list_free(list);
}

/* BX-020 */
static void a_lone_star_is_every_topic(void **state) {
    struct fixture *f = *state;
    boxcar_work_id ids[2] = {enqueue(f, "a", "p").work_id, enqueue(f, "b", "p").work_id};
    assert_claims_only(f, "*", 2, ids);
}

/* BX-001, BX-020 */
static void topics_passed_over_are_there_for_others_untouched(void **state) {
    struct fixture *f = *state;
    boxcar_work_id a[30], b[30];
    for (int i = 0; i < 30; i++) {
        a[i] = enqueue(f, "a", "p").work_id;
        b[i] = enqueue(f, "b", "p").work_id;
    }
    assert_claims_only(f, "b", 30, b);
    assert_claims_only(f, "nobody", 0, NULL);
    assert_int_equal(stats_of(f).ready, 30);
    assert_int_equal(retry_count_of(f, a[0]), 0);
    assert_claims_only(f, "a", 30, a);
    assert_int_equal(audit_lost(f), 0);
}

/* BX-020 */
static void wanted_message_behind_many_unwanted_ones_is_found(void **state) {
    struct fixture *f = *state;
    enqueue_many(f, "unwanted", 3000, NULL);
    boxcar_work_id wanted = enqueue(f, "wanted", "p").work_id;
    boxcar_message_list *list = NULL;
    for (int i = 0; i < 100; i++) { /* one claim sorts out only a bounded number */
        list = claim_topic(f, f->owner, 1, "wanted");
        if (list->count > 0)
            break;
        boxcar_list_free(list);
    }
    assert_int_equal(look(list)->work_id.value, wanted.value);
    boxcar_list_free(list);
    assert_int_equal(stats_of(f).ready, 3000);
}

static const struct CMUnitTest TESTS[] = {
    TEST(topics_are_case_sensitive),
    TEST(claim_by_topic_takes_only_that_topic),
    TEST(prefix_takes_every_topic_that_begins_with_it),
    TEST(wildcards_of_sql_mean_nothing_in_a_prefix),
    TEST(several_patterns_take_what_any_of_them_matches),
    TEST(a_lone_star_is_every_topic),
    TEST(topics_passed_over_are_there_for_others_untouched),
    TEST(wanted_message_behind_many_unwanted_ones_is_found),
};

const struct suite TOPIC_SUITE = SUITE(TESTS);
