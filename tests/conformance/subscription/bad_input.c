/* What subscriptions refuse. BX-011 */
#include <string.h>

#include "subscriptions.h"

static boxcar_status add(struct fixture *f, boxcar_str name, boxcar_str pattern) {
    boxcar_new_subscription subscription = new_subscription("a", &pattern);
    subscription.name = name;
    return boxcar_subscription_add(f->store, &subscription, NULL, &f->err);
}

/* BX-011, BX-090 */
static void names_are_checked(void **state) {
    struct fixture *f = *state;
    char long_name[257];
    memset(long_name, 'x', sizeof(long_name));
    static const char *const BAD[] = {"", "a/b", "outbox", "inbox", "a\nb", "a\x7f", "a\xff"};
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++)
        ASSERT_INVALID(f, "name", add(f, boxcar_str_of(BAD[i]), BOXCAR_STR("t")));
    ASSERT_INVALID(f, "name", add(f, (boxcar_str){long_name, 256}, BOXCAR_STR("t")));
    ASSERT_INVALID(f, "name", add(f, BOXCAR_NO_STR, BOXCAR_STR("t")));
    assert_int_equal(add(f, (boxcar_str){long_name, 255}, BOXCAR_STR("t")), BOXCAR_OK);
}

/* BX-011, BX-092 */
static void patterns_are_checked(void **state) {
    struct fixture *f = *state;
    boxcar_str patterns[101];
    for (size_t i = 0; i < 101; i++)
        patterns[i] = BOXCAR_STR("t");
    boxcar_new_subscription subscription = new_subscription("a", patterns);
    subscription.pattern_count = 0;
    ASSERT_INVALID(f, "patterns", boxcar_subscription_add(f->store, &subscription, NULL, &f->err));
    subscription.pattern_count = 101;
    ASSERT_INVALID(f, "pattern_count", boxcar_subscription_add(f->store, &subscription, NULL, &f->err));
    ASSERT_FAILS(f, BOXCAR_E_INVALID, add(f, BOXCAR_STR("a"), BOXCAR_STR("")));
    ASSERT_FAILS(f, BOXCAR_E_INVALID, add(f, BOXCAR_STR("a"), BOXCAR_STR("t\xff")));
    subscription.pattern_count = 100;
    ASSERT_OK(f, boxcar_subscription_add(f->store, &subscription, NULL, &f->err));
}

static void a_taken_name_is_a_conflict(void **state) {
    struct fixture *f = *state;
    boxcar_box first = subscribe(f, "a", "t"), found = 0;
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT, add(f, BOXCAR_STR("a"), BOXCAR_STR("u")));
    ASSERT_OK(f, boxcar_subscription_find(f->store, BOXCAR_STR("a"), &found, &f->err));
    assert_int_equal(found, first);
}

static void an_unknown_name_is_not_found(void **state) {
    struct fixture *f = *state;
    boxcar_str name = BOXCAR_STR("nobody");
    boxcar_box reader;
    boxcar_subscription_list *list = NULL;
    boxcar_place place = BOXCAR_PLACE_INIT;
    boxcar_subscription_changes changes = BOXCAR_SUBSCRIPTION_CHANGES_INIT;
    changes.max_lag_count = 5;
    ASSERT_FAILS(f, BOXCAR_E_NOT_FOUND, boxcar_subscription_find(f->store, name, &reader, &f->err));
    ASSERT_FAILS(f, BOXCAR_E_NOT_FOUND, boxcar_subscription_read(f->store, name, &list, &f->err));
    ASSERT_FAILS(f, BOXCAR_E_NOT_FOUND, boxcar_subscription_pause(f->store, name, &f->err));
    ASSERT_FAILS(f, BOXCAR_E_NOT_FOUND, boxcar_subscription_resume(f->store, name, &f->err));
    ASSERT_FAILS(f, BOXCAR_E_NOT_FOUND, boxcar_subscription_change(f->store, name, &changes, &f->err));
    ASSERT_FAILS(f, BOXCAR_E_NOT_FOUND, boxcar_subscription_rewind(f->store, name, &place, NULL, &f->err));
    ASSERT_FAILS(f, BOXCAR_E_NOT_FOUND, boxcar_subscription_remove(f->store, name, true, &f->err));
}

static void assert_names_subscription(struct fixture *f, boxcar_status status) {
    assert_string_equal(boxcar_status_name(status), boxcar_status_name(BOXCAR_E_NOT_FOUND));
    assert_string_equal(f->err.argument, "subscription");
}

/* BX-090: wherever a reader's number can be given. */
static void an_unknown_number_is_not_found(void **state) {
    struct fixture *f = *state;
    boxcar_box unknown = subscribe(f, "a", "t") + 1;
    boxcar_work_id id = enqueue(f, "t", "p").work_id;
    boxcar_message_ref ref = {.work_id = id};
    boxcar_work_id none = {0};
    boxcar_message_list *list = NULL;
    boxcar_stats_list *stats = NULL;
    boxcar_attempt_list *attempts = NULL;
    boxcar_stream_list *streams = NULL;
    boxcar_dead_filter dead = BOXCAR_DEAD_FILTER_INIT;
    boxcar_message_filter messages = BOXCAR_MESSAGE_FILTER_INIT;
    boxcar_stream_filter filter = BOXCAR_STREAM_FILTER_INIT;
    dead.box = messages.box = filter.box = unknown;
    assert_names_subscription(f, boxcar_claim(f->store, CLAIMER(unknown, f->owner), &list, &f->err));
    assert_names_subscription(f, boxcar_reap(f->store, unknown, NULL, &f->err));
    assert_names_subscription(f, boxcar_message_find(f->store, unknown, ref, &list, &f->err));
    assert_names_subscription(f, boxcar_message_page(f->store, &messages, &list, &f->err));
    assert_names_subscription(f, boxcar_dead_page(f->store, &dead, 1, none, &list, &f->err));
    assert_names_subscription(f, boxcar_message_cancel(f->store, unknown, ref, &f->err));
    assert_names_subscription(f, boxcar_stats_read(f->store, unknown, false, &stats, &f->err));
    assert_names_subscription(f, boxcar_stream_page(f->store, &filter, &streams, &f->err));
    assert_names_subscription(f, boxcar_subscription_attempt_read(f->store, unknown, id, &attempts, &f->err));
}

/* BX-090: nothing is done of a request with such a part. */
static void a_request_with_an_unknown_number_changes_nothing(void **state) {
    struct fixture *f = *state;
    boxcar_new_message message = new_message("t", "q");
    boxcar_request request = BOXCAR_REQUEST_INIT;
    boxcar_request_part part = BOXCAR_REQUEST_PART_INIT;
    boxcar_result *result = NULL;
    request.owner = f->owner;
    request.messages[BOXCAR_OUTBOX] = (boxcar_new_message_list){&message, 1};
    part.reader = 77;
    part.claim_size = 1;
    request.parts[BOXCAR_OUTBOX] = &part;
    assert_names_subscription(f, boxcar_process(f->store, &request, &result, &f->err));
    assert_int_equal(stats_of(f).ready, 0);
}

/* BX-093 */
static void a_place_before_what_is_kept_is_refused(void **state) {
    struct fixture *f = *state;
    boxcar_box a = subscribe(f, "a", "t");
    boxcar_work_id first = enqueue(f, "t", "p").work_id;
    finish_as(f, a, &first, 1);
    finish_as(f, BOXCAR_OUTBOX, &first, 1);
    boxcar_time before = database_now(f);
    set_setting(f, "retention_done", "0");
    maintain_readers(f);
    assert_unknown_to(f, a, first);
    wait_out(f, 2);
    boxcar_work_id kept = enqueue(f, "t", "p").work_id;
    boxcar_place place = BOXCAR_PLACE_INIT;
    place.start = BOXCAR_START_WORK_ID;
    place.work_id = first;
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT,
                 boxcar_subscription_rewind(f->store, BOXCAR_STR("a"), &place, NULL, &f->err));
    assert_non_null(strstr(f->err.message, "beginning"));
    place.start = BOXCAR_START_TIME;
    place.time = before;
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT,
                 boxcar_subscription_rewind(f->store, BOXCAR_STR("a"), &place, NULL, &f->err));
    assert_true(subscription_of(f, "a").rewound_at == BOXCAR_TIME_NONE);
    finish_as(f, a, &kept, 1);
}

/* BX-093: also if nothing that was stored there is gone. */
static void a_place_before_the_first_message_is_refused(void **state) {
    struct fixture *f = *state;
    boxcar_box a = subscribe(f, "a", "t");
    boxcar_place place = BOXCAR_PLACE_INIT;
    place.start = BOXCAR_START_TIME;
    place.time = database_now(f);
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT,
                 boxcar_subscription_rewind(f->store, BOXCAR_STR("a"), &place, NULL, &f->err));
    assert_string_equal(f->err.message,
                        "the place lies before what is kept: no message is kept; give beginning");
    wait_out(f, 2);
    boxcar_work_id id = enqueue(f, "t", "p").work_id;
    ASSERT_FAILS(f, BOXCAR_E_CONFLICT,
                 boxcar_subscription_rewind(f->store, BOXCAR_STR("a"), &place, NULL, &f->err));
    assert_non_null(strstr(f->err.message, "the place lies before what is kept, which begins with message "));
    finish_as(f, a, &id, 1);
}

/* A time that is yet to come would skip what is stored until then. */
static void a_time_in_the_future_is_refused(void **state) {
    struct fixture *f = *state;
    boxcar_str pattern = BOXCAR_STR("t");
    boxcar_new_subscription late = new_subscription("late", &pattern);
    boxcar_box a = subscribe(f, "a", "t");
    boxcar_work_id id = enqueue(f, "t", "p").work_id;
    boxcar_place place = BOXCAR_PLACE_INIT;
    place.start = late.start = BOXCAR_START_TIME;
    place.time = late.start_time = database_now(f) + INT64_C(3600000000);
    ASSERT_FAILS(f, BOXCAR_E_INVALID,
                 boxcar_subscription_rewind(f->store, BOXCAR_STR("a"), &place, NULL, &f->err));
    assert_non_null(strstr(f->err.message, "lies in the future: give one that has been"));
    ASSERT_FAILS(f, BOXCAR_E_INVALID, boxcar_subscription_add(f->store, &late, NULL, &f->err));
    finish_as(f, a, &id, 1);
}

static const struct CMUnitTest TESTS[] = {
    TEST(names_are_checked),
    TEST(patterns_are_checked),
    TEST(a_taken_name_is_a_conflict),
    TEST(an_unknown_name_is_not_found),
    TEST(an_unknown_number_is_not_found),
    TEST(a_request_with_an_unknown_number_changes_nothing),
    TEST(a_place_before_what_is_kept_is_refused),
    TEST(a_place_before_the_first_message_is_refused),
    TEST(a_time_in_the_future_is_refused),
};
const struct suite SUBSCRIPTION_BAD_INPUT_SUITE = SUITE(TESTS);
