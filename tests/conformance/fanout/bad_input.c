/* What policies refuse. BX-011 */
#include <stdio.h>
#include <string.h>

#include "fanouts.h"

static const boxcar_str PATTERN = {"t", 1};
static const boxcar_str PLACE = {"z", 1};

static boxcar_status add(struct fixture *f, const boxcar_new_fanout *fanout) {
    return boxcar_fanout_add(f->store, fanout, &f->err);
}

/* BX-011, BX-097 */
static void names_are_checked(void **state) {
    struct fixture *f = *state;
    static const char *const BAD[] = {"", "a/b", "outbox", "inbox", "a\nb", "a\x7f", "a\xff"};
    char text[300];
    memset(text, 'x', sizeof(text));
    boxcar_new_fanout fanout = new_fanout("a", &PATTERN, &PLACE, 1);
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        fanout.name = boxcar_str_of(BAD[i]);
        ASSERT_INVALID(f, "name", add(f, &fanout));
    }
    fanout.name = BOXCAR_NO_STR;
    ASSERT_INVALID(f, "name", add(f, &fanout));
    fanout.name = (boxcar_str){text, 254};
    ASSERT_INVALID(f, "name", add(f, &fanout));
    fanout.name.len = 253; /* with / and the destination 255 */
    ASSERT_OK(f, add(f, &fanout));
}

/* BX-011, BX-097 */
static void a_name_and_a_destination_fit_into_the_name_of_a_subscription(void **state) {
    struct fixture *f = *state;
    char text[256];
    memset(text, 'x', sizeof(text));
    const boxcar_str place = {text, 254};
    boxcar_new_fanout fanout = new_fanout("p", &PATTERN, &place, 1);
    ASSERT_INVALID(f, "destinations[0]", add(f, &fanout));
    const boxcar_str shorter = {text, 253};
    fanout.destinations = &shorter;
    ASSERT_OK(f, add(f, &fanout));
    fanout.name = BOXCAR_STR("gathers"); /* its subscription is gathers/all */
    fanout.destinations = &place;
    fanout.then_topic = BOXCAR_STR("then");
    ASSERT_OK(f, add(f, &fanout));
}

/* BX-011, BX-097 */
static void destinations_are_checked(void **state) {
    struct fixture *f = *state;
    static const char *const BAD[] = {"",          "store:", "store:/t",   "store:a/",   "store:a/inbox/",
                                      "tenant:",   "a*",     "store:a/b*", "{other}",    "{}",
                                      "a.{Topic}", "a\nb",   "a\xff",      "store:a/{x}"};
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        const boxcar_str places[] = {PLACE, boxcar_str_of(BAD[i])};
        const boxcar_new_fanout fanout = new_fanout("p", &PATTERN, places, 2);
        ASSERT_INVALID(f, "destinations[1]", add(f, &fanout));
    }
    assert_no_fanout(f, "p");
}

/* BX-011, BX-097 */
static void destinations_are_some_and_each_is_there_once(void **state) {
    struct fixture *f = *state;
    boxcar_str places[101];
    char names[101][8];
    for (int i = 0; i < 101; i++) {
        snprintf(names[i], sizeof(names[i]), "z%d", i);
        places[i] = boxcar_str_of(names[i]);
    }
    boxcar_new_fanout fanout = new_fanout("p", &PATTERN, places, 0);
    ASSERT_INVALID(f, "destinations", add(f, &fanout));
    fanout.destination_count = 101;
    ASSERT_INVALID(f, "destination_count", add(f, &fanout));
    places[3] = places[1];
    fanout.destination_count = 4;
    ASSERT_INVALID(f, "destinations[3]", add(f, &fanout));
    fanout.destination_count = 3;
    ASSERT_OK(f, add(f, &fanout));
}

/* BX-011, BX-092 */
static void patterns_and_places_are_checked(void **state) {
    struct fixture *f = *state;
    const boxcar_str bad = BOXCAR_STR("a*b");
    boxcar_new_fanout fanout = new_fanout("p", &bad, &PLACE, 1);
    ASSERT_INVALID(f, "patterns[0]", add(f, &fanout));
    fanout.pattern_count = 0;
    ASSERT_INVALID(f, "patterns", add(f, &fanout));
    fanout = new_fanout("p", &PATTERN, &PLACE, 1);
    fanout.box = 2;
    ASSERT_INVALID(f, "box", add(f, &fanout));
    fanout.box = BOXCAR_OUTBOX;
    fanout.start = BOXCAR_START_WORK_ID;
    ASSERT_INVALID(f, "start", add(f, &fanout));
    fanout.start = BOXCAR_START_TIME;
    ASSERT_INVALID(f, "start_time", add(f, &fanout));
    fanout.start_time = database_now(f);
    ASSERT_OK(f, add(f, &fanout));
}

/* BX-099, BX-104: a join spans no stores. */
static void a_join_is_of_topics_of_this_store(void **state) {
    struct fixture *f = *state;
    static const boxcar_str far[] = {{"z", 1}, {"store:far", 9}}, tenants[] = {{"tenant:x", 8}};
    boxcar_new_fanout fanout = new_fanout("p", &PATTERN, far, 2);
    fanout.then_topic = BOXCAR_STR("done");
    ASSERT_INVALID(f, "destinations[1]", add(f, &fanout));
    fanout.destinations = tenants;
    fanout.destination_count = 1;
    ASSERT_INVALID(f, "destinations[0]", add(f, &fanout));
    fanout.destinations = far;
    fanout.then_topic = BOXCAR_STR("");
    ASSERT_INVALID(f, "then_topic", add(f, &fanout));
    fanout.then_topic = BOXCAR_NO_STR;
    fanout.else_topic = BOXCAR_STR("failed");
    ASSERT_INVALID(f, "else_topic", add(f, &fanout));
    fanout.then_topic = BOXCAR_STR("done");
    ASSERT_OK(f, add(f, &fanout));
}

/* BX-011 */
static void names_of_policies_to_change_are_checked(void **state) {
    struct fixture *f = *state;
    boxcar_place place = BOXCAR_PLACE_INIT;
    boxcar_fanout_list *list = NULL;
    static const boxcar_str BAD[] = {{"", 0}, {"a/b", 3}, {"outbox", 6}};
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        ASSERT_INVALID(f, "name", boxcar_fanout_read(f->store, BAD[i], &list, &f->err));
        ASSERT_INVALID(f, "name", boxcar_fanout_pause(f->store, BAD[i], &f->err));
        ASSERT_INVALID(f, "name", boxcar_fanout_resume(f->store, BAD[i], &f->err));
        ASSERT_INVALID(f, "name", boxcar_fanout_rewind(f->store, BAD[i], &place, NULL, &f->err));
        ASSERT_INVALID(f, "name", boxcar_fanout_remove(f->store, BAD[i], false, &f->err));
    }
}

/* BX-095, BX-099: its join would wait for a step that nobody can enqueue. */
static void a_destination_that_is_taken_cannot_be_a_step(void **state) {
    struct fixture *f = *state;
    const boxcar_str topic = BOXCAR_STR("taken.*");
    const boxcar_str places[] = {PLACE, BOXCAR_STR("taken.a")};
    boxcar_new_subscription only = new_subscription("a", &topic);
    boxcar_new_fanout fanout = new_fanout("p", &PATTERN, places, 2);
    only.only = true;
    subscribe_this(f, &only);
    fanout.then_topic = BOXCAR_STR("done");
    ASSERT_INVALID(f, "destinations[1]", add(f, &fanout));
    assert_no_fanout(f, "p");
    fanout.then_topic = BOXCAR_NO_STR;
    ASSERT_OK(f, add(f, &fanout));
}

static const struct CMUnitTest TESTS[] = {
    TEST(names_are_checked),
    TEST(a_name_and_a_destination_fit_into_the_name_of_a_subscription),
    TEST(destinations_are_checked),
    TEST(destinations_are_some_and_each_is_there_once),
    TEST(patterns_and_places_are_checked),
    TEST(a_join_is_of_topics_of_this_store),
    TEST(names_of_policies_to_change_are_checked),
    TEST(a_destination_that_is_taken_cannot_be_a_step),
};

const struct suite FANOUT_BAD_INPUT_SUITE = SUITE(TESTS);
