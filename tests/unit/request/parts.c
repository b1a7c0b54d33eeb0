/* The parts that a coordinator and a worker share: gathering, matching, and the search for what is refused.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "request/gather.h"
#include "request/prepare.h"
#include "request/refusal.h"

/* ---- the search ---- */

/* Sends a row of things of which some are refused; returns how many were found, in how many tries. */
static size_t search(const bool *bad, size_t count, size_t *ret_tries) {
    struct refusal_search s = {.end = count};
    size_t found = 0, n;

    *ret_tries = 0;
    while ((n = refusal_next(&s)) > 0) {
        bool refused = false;

        assert_true(s.from + n <= count);
        for (size_t i = 0; i < n; i++)
            refused = refused || bad[s.from + i];
        ++*ret_tries;
        if (!refused)
            refusal_taken(&s, n);
        else if (refusal_refused(&s, n)) {
            assert_true(bad[s.from - 1]);
            found++;
        }
    }
    assert_int_equal(s.from, count);
    return found;
}

static void search_finds_every_one_in_a_few_tries(void **state) {
    bool bad[64] = {false};
    size_t tries;

    (void)state;
    assert_int_equal(search(bad, 64, &tries), 0);
    assert_int_equal(tries, 1);
    for (size_t i = 0; i < 64; i++) {
        bad[i] = true;
        assert_int_equal(search(bad, 64, &tries), 1);
        assert_true(tries <= 1 + 6 + 1 + 1);
        bad[i] = false;
    }
    for (int seed = 0; seed < 200; seed++) {
        size_t wanted = 0;

        srand((unsigned)seed);
        for (size_t i = 0; i < 64; i++)
            wanted += bad[i] = rand() % 8 == 0;
        assert_int_equal(search(bad, 64, &tries), wanted);
    }
    for (size_t i = 0; i < 64; i++)
        bad[i] = true;
    assert_int_equal(search(bad, 64, &tries), 64);
}

/* What was refused only together with others gets through after all. */
static void search_survives_a_refusal_that_does_not_come_again(void **state) {
    struct refusal_search s = {.end = 8};
    size_t n, taken = 0;

    (void)state;
    assert_false(refusal_refused(&s, refusal_next(&s)));
    while ((n = refusal_next(&s)) > 0) {
        refusal_taken(&s, n);
        taken += n;
    }
    assert_int_equal(taken, 8);
}

static void rewound_search_tries_the_same_one_alone(void **state) {
    struct refusal_search s = {.end = 8};

    (void)state;
    s.from = 5;
    refusal_rewind(&s, 3);
    assert_int_equal(s.from, 3);
    assert_int_equal(refusal_next(&s), 1);
    refusal_taken(&s, 1);
    assert_int_equal(refusal_next(&s), 4);
}

static void outages_are_no_refusals(void **state) {
    (void)state;
    assert_int_equal(refusal_of(BOXCAR_E_UNAVAILABLE), REFUSAL_NONE);
    assert_int_equal(refusal_of(BOXCAR_E_READ_ONLY), REFUSAL_NONE);
    assert_int_equal(refusal_of(BOXCAR_E_FULL), REFUSAL_NONE);
    assert_int_equal(refusal_of(BOXCAR_E_NO_MEMORY), REFUSAL_NONE);
    assert_int_equal(refusal_of(BOXCAR_E_DENIED), REFUSAL_NONE);
    assert_int_equal(refusal_of(BOXCAR_E_NOT_FOUND), REFUSAL_CERTAIN);
    assert_int_equal(refusal_of(BOXCAR_E_STORE), REFUSAL_MAYBE);
}

/* ---- gathering ---- */

/* Which settlements with tags in [low, high) are affected. */
static void assert_matched(const struct gather_list *list, uint64_t low, uint64_t high,
                           struct work_id_list *affected, const char *expected) {
    struct stretch some = gather_between(list, low, high);
    char text[64] = "";

    gather_sort(affected);
    for (size_t i = 0; i < some.count; i++) {
        const boxcar_settlement *settlement = &list->items[some.from + i];

        assert_int_equal(list->tags[some.from + i].number, settlement->work_id.value * 10);
        text[i] = gather_affected(affected, settlement) ? '+' : '-';
    }
    assert_string_equal(text, expected);
}

static void answers_are_matched_to_tags(void **state) {
    struct gather_list list = {0};
    boxcar_work_id ids[] = {{5}, {1}, {4}};
    struct work_id_list affected = {ids, 3}, none = {NULL, 0};

    (void)state;
    for (int64_t i = 1; i <= 6; i++)
        assert_true(gather_add(&list, &(boxcar_settlement){.work_id = {i}},
                               (union gather_tag){.number = (uint64_t)i * 10}));
    assert_matched(&list, 0, UINT64_MAX, &affected, "+--++-");
    assert_matched(&list, 40, 60, &affected, "++");
    assert_matched(&list, 20, 31, &none, "--");
    assert_matched(&list, 20, 31, &affected, "--"); /* an answer also names what others asked for */
    assert_int_equal(gather_between(&list, 61, 99).count, 0);
    list.count = 0;
    assert_int_equal(gather_between(&list, 0, 99).count, 0);
    gather_release(&list);
}

static void tags_may_be_pointers(void **state) {
    struct gather_list list = {0};
    int job = 0;

    (void)state;
    for (int i = 0; i < 1000; i++)
        assert_true(
            gather_add(&list, &(boxcar_settlement){.work_id = {i + 1}}, (union gather_tag){.pointer = &job}));
    assert_int_equal(list.count, 1000);
    assert_ptr_equal(list.tags[999].pointer, &job);
    gather_release(&list);
}

static void ids_are_given_only_to_those_without(void **state) {
    static boxcar_new_message messages[600];
    boxcar_message_id own = {{{9}}};
    boxcar_error err = BOXCAR_ERROR_INIT;

    (void)state;
    messages[0].message_id = messages[300].message_id = own;
    assert_int_equal(prepare_ids(messages, 600, &err), BOXCAR_OK);
    assert_memory_equal(&messages[300].message_id, &own, 16);
    for (size_t i = 1; i < 600; i++) {
        assert_false(boxcar_uuid_is_none(messages[i].message_id.uuid));
        for (size_t k = 1; k < i; k++)
            if (i != 300 && k != 300)
                assert_memory_not_equal(&messages[i].message_id, &messages[k].message_id, 16);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(search_finds_every_one_in_a_few_tries),
        cmocka_unit_test(search_survives_a_refusal_that_does_not_come_again),
        cmocka_unit_test(rewound_search_tries_the_same_one_alone),
        cmocka_unit_test(outages_are_no_refusals),
        cmocka_unit_test(answers_are_matched_to_tags),
        cmocka_unit_test(tags_may_be_pointers),
        cmocka_unit_test(ids_are_given_only_to_those_without),
    };

    return cmocka_run_group_tests_name("flow", tests, NULL, NULL);
}
