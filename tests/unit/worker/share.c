/* Turns, places and suspects of the loops that share a worker. */
#include "unit.h"

#include <unistd.h>

#include "worker/share/share.h"

#define SEATS 4

struct table {
    struct share share;
    struct boxcar_worker workers[SEATS];
    struct seat seats[SEATS];
};

static void table_open(struct table *t, boxcar_selection selection, int places) {
    boxcar_fleet_options options = BOXCAR_FLEET_OPTIONS_INIT;

    *t = (struct table){.share = {.turn = NULL}};
    options.selection = selection;
    options.connections = places;
    share_init(&t->share, &options);
    for (int i = 0; i < SEATS; i++) {
        t->workers[i].wake_fd = -1;
        t->seats[i].worker = &t->workers[i];
        t->seats[i].candidate = (boxcar_candidate){.order = i + 1, .claimed = -1};
    }
}

static void sit(struct table *t, int count) {
    for (int i = 0; i < count; i++)
        assert_true(share_seat(&t->share, &t->seats[i]));
}

static bool ask(struct table *t, int i) {
    bool is_turn;

    return seat_ask(&t->seats[i], true, true, &is_turn);
}

/* Which seat claims next, when all want to. */
static int next_claim(struct table *t, int count, size_t brings) {
    for (int i = 0; i < count; i++)
        if (ask(t, i)) {
            seat_claimed(&t->seats[i], brings);
            return i;
        }
    return -1;
}

/* BX-100, OBX-068 */
static void turns_go_round(void **state) {
    struct table t;

    (void)state;
    table_open(&t, BOXCAR_SELECT_ROUND_ROBIN, SEATS);
    sit(&t, 3);
    for (int i = 0; i < 9; i++)
        assert_int_equal(next_claim(&t, 3, 5), i % 3);
    share_release(&t.share);
}

/* OBX-069 */
static void drain_first_moves_on_after_a_claim_in_vain(void **state) {
    struct table t;

    (void)state;
    table_open(&t, BOXCAR_SELECT_DRAIN_FIRST, SEATS);
    sit(&t, 3);
    for (int i = 0; i < 5; i++)
        assert_int_equal(next_claim(&t, 3, 5), 0);
    assert_int_equal(next_claim(&t, 3, 0), 0);
    assert_int_equal(next_claim(&t, 3, 5), 1);
    share_release(&t.share);
}

static size_t choose_last(void *context, const boxcar_candidate *const *given, size_t count) {
    (void)given;
    ++*(int *)context;
    return count - 1;
}

/* BX-100: replaceable. */
static void a_callback_chooses_instead(void **state) {
    struct table t;
    int calls = 0;

    (void)state;
    table_open(&t, BOXCAR_SELECT_ROUND_ROBIN, SEATS);
    t.share.select = choose_last;
    t.share.select_context = &calls;
    sit(&t, 3);
    assert_int_equal(next_claim(&t, 3, 5), 0); /* the only one when the turn was given */
    for (int i = 0; i < 4; i++)
        assert_int_equal(next_claim(&t, 3, 5), 2);
    assert_true(calls >= 5);
    share_release(&t.share);
}

static void a_store_without_room_keeps_its_turn(void **state) {
    struct table t;
    bool is_turn;

    (void)state;
    table_open(&t, BOXCAR_SELECT_ROUND_ROBIN, SEATS);
    sit(&t, 2);
    assert_false(seat_ask(&t.seats[0], true, false, &is_turn));
    assert_true(is_turn);
    assert_false(ask(&t, 1));
    assert_true(ask(&t, 0));
    share_release(&t.share);
}

static void a_store_that_wants_nothing_passes_its_turn_on(void **state) {
    struct table t;
    bool is_turn;

    (void)state;
    table_open(&t, BOXCAR_SELECT_ROUND_ROBIN, SEATS);
    sit(&t, 2);
    assert_false(seat_ask(&t.seats[0], false, true, &is_turn));
    assert_true(ask(&t, 1));
    share_release(&t.share);
}

/* BX-102: the one whose claim takes long is passed over, and claims out of turn until it is quick. */
static void a_slow_store_delays_no_other_for_long(void **state) {
    struct table t;

    (void)state;
    table_open(&t, BOXCAR_SELECT_ROUND_ROBIN, SEATS);
    sit(&t, 3);
    assert_true(ask(&t, 0)); /* and does not answer */
    assert_false(ask(&t, 1));
    t.seats[0].claiming_since_ms -= SHARE_PATIENCE_MS;
    assert_true(ask(&t, 1));
    seat_claimed(&t.seats[1], 5);
    assert_true(ask(&t, 2));
    seat_claimed(&t.seats[2], 5);
    assert_true(ask(&t, 1)); /* nobody waits for the slow one */
    seat_claimed(&t.seats[1], 5);
    seat_claimed(&t.seats[0], 5);
    assert_true(ask(&t, 0)); /* out of turn ... */
    seat_claimed(&t.seats[0], 5);
    assert_false(t.seats[0].is_slow); /* ... and quick */
    share_release(&t.share);
}

/* BX-102: many stores of a server that does not answer cost the others one wait, not one each. */
static void stores_that_are_being_opened_are_waited_for_together(void **state) {
    struct table t;

    (void)state;
    table_open(&t, BOXCAR_SELECT_ROUND_ROBIN, SEATS);
    sit(&t, 4);
    assert_false(ask(&t, 3));
    for (int i = 0; i < 3; i++)
        t.seats[i].wants_since_ms -= SHARE_PATIENCE_MS;
    assert_true(ask(&t, 3));
    seat_claimed(&t.seats[3], 5);
    assert_true(ask(&t, 3));
    share_release(&t.share);
}

/* BX-102: connections are bounded. */
static void there_are_no_more_places_than_allowed(void **state) {
    struct table t;

    (void)state;
    table_open(&t, BOXCAR_SELECT_ROUND_ROBIN, 2);
    sit(&t, 2);
    assert_false(share_seat(&t.share, &t.seats[2]));
    share_rise(&t.seats[0]);
    assert_true(share_seat(&t.share, &t.seats[2]));
    share_release(&t.share);
}

static void a_store_that_is_away_keeps_no_place_and_comes_back_first(void **state) {
    struct table t;

    (void)state;
    table_open(&t, BOXCAR_SELECT_ROUND_ROBIN, 1);
    sit(&t, 1);
    seat_leave_place(&t.seats[0]);
    assert_true(share_seat(&t.share, &t.seats[1]));
    assert_false(seat_take_place(&t.seats[0]));
    share_rise(&t.seats[1]);
    assert_false(share_seat(&t.share, &t.seats[2]));
    assert_true(seat_take_place(&t.seats[0]));
    share_release(&t.share);
}

/* Fair shares: after its batch a store makes room for those that wait. */
static void a_store_gives_its_place_up_after_a_batch_when_others_wait(void **state) {
    struct table t;

    (void)state;
    table_open(&t, BOXCAR_SELECT_ROUND_ROBIN, 1);
    sit(&t, 1);
    assert_true(ask(&t, 0));
    seat_claimed(&t.seats[0], 5);
    assert_false(seat_should_rise(&t.seats[0], true, 0));
    share_set_waiting(&t.share, 1);
    assert_false(ask(&t, 0));
    assert_true(seat_should_rise(&t.seats[0], true, 0));
    share_release(&t.share);
}

static void an_idle_store_gives_its_place_up_in_time(void **state) {
    struct table t;

    (void)state;
    table_open(&t, BOXCAR_SELECT_ROUND_ROBIN, 1);
    sit(&t, 1);
    assert_false(seat_should_rise(&t.seats[0], false, BOXCAR_FLEET_IDLE_MS_DEFAULT - 1));
    assert_true(seat_should_rise(&t.seats[0], false, BOXCAR_FLEET_IDLE_MS_DEFAULT));
    share_release(&t.share);
}

/* BX-102: a look at a store that was idle takes a moment, unless there is work. */
static void a_look_in_vain_ends_at_once(void **state) {
    struct table t;

    (void)state;
    table_open(&t, BOXCAR_SELECT_ROUND_ROBIN, 2);
    t.seats[0].is_look = t.seats[1].is_look = true;
    sit(&t, 2);
    assert_false(seat_should_rise(&t.seats[0], false, 0));
    assert_true(ask(&t, 0));
    seat_claimed(&t.seats[0], 0);
    assert_true(seat_should_rise(&t.seats[0], false, 0));
    assert_true(ask(&t, 1));
    seat_claimed(&t.seats[1], 1);
    assert_false(seat_should_rise(&t.seats[1], false, 0));
    share_release(&t.share);
}

static void a_store_that_is_closing_claims_no_more(void **state) {
    struct table t;

    (void)state;
    table_open(&t, BOXCAR_SELECT_ROUND_ROBIN, 2);
    sit(&t, 2);
    atomic_store(&t.seats[0].is_closing, true);
    assert_false(ask(&t, 0));
    assert_true(seat_should_rise(&t.seats[0], true, 0));
    assert_true(ask(&t, 1));
    share_release(&t.share);
}

/* BX-003: a crash charges no message of another store. */
static void one_suspect_at_a_time_in_all_stores(void **state) {
    struct table t;

    (void)state;
    table_open(&t, BOXCAR_SELECT_ROUND_ROBIN, 2);
    sit(&t, 2);
    assert_true(seat_may_take_suspects(&t.seats[0]));
    assert_false(seat_may_take_suspects(&t.seats[1]));
    seat_report(&t.seats[0], 1, true, false);
    assert_false(seat_may_take_suspects(&t.seats[1]));
    seat_report(&t.seats[0], 0, false, false);
    assert_true(seat_may_take_suspects(&t.seats[1]));
    share_release(&t.share);
}

/* BX-003: from its third crash on it runs with nothing else in flight. */
static void a_message_that_runs_alone_is_alone_in_all_stores(void **state) {
    struct table t;

    (void)state;
    table_open(&t, BOXCAR_SELECT_ROUND_ROBIN, 2);
    sit(&t, 2);
    seat_report(&t.seats[1], 3, false, false);
    assert_false(seat_report(&t.seats[0], 1, true, true)); /* the other one holds three */
    assert_false(ask(&t, 1));                              /* and gets no more */
    seat_report(&t.seats[1], 0, false, false);
    assert_true(seat_report(&t.seats[0], 1, true, true));
    assert_false(seat_report(&t.seats[0], 0, false, false));
    assert_true(ask(&t, 0) || ask(&t, 1));
    share_release(&t.share);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turns_go_round),
        cmocka_unit_test(drain_first_moves_on_after_a_claim_in_vain),
        cmocka_unit_test(a_callback_chooses_instead),
        cmocka_unit_test(a_store_without_room_keeps_its_turn),
        cmocka_unit_test(a_store_that_wants_nothing_passes_its_turn_on),
        cmocka_unit_test(a_slow_store_delays_no_other_for_long),
        cmocka_unit_test(stores_that_are_being_opened_are_waited_for_together),
        cmocka_unit_test(there_are_no_more_places_than_allowed),
        cmocka_unit_test(a_store_that_is_away_keeps_no_place_and_comes_back_first),
        cmocka_unit_test(a_store_gives_its_place_up_after_a_batch_when_others_wait),
        cmocka_unit_test(an_idle_store_gives_its_place_up_in_time),
        cmocka_unit_test(a_look_in_vain_ends_at_once),
        cmocka_unit_test(a_store_that_is_closing_claims_no_more),
        cmocka_unit_test(one_suspect_at_a_time_in_all_stores),
        cmocka_unit_test(a_message_that_runs_alone_is_alone_in_all_stores),
    };

    return cmocka_run_group_tests_name("share", tests, NULL, NULL);
}
