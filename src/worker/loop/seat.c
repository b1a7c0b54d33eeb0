/* One store of many: what its loop asks of the others. A worker with one store has no seat. */
#include "base/clock.h"
#include "pump.h"

/* How soon a place is asked for again. */
#define PLACE_AGAIN_MS 50

/* ---- turns ---- */

/* Without room the loop waits for any handler to end, also one of another store. */
int pump_take_turn(struct pump *pump, bool wants, int size) {
    struct seat *seat = pump_seat(pump);
    bool is_turn = false;
    if (!seat)
        return size;
    bool may = seat_ask(seat, wants && pump_is_attached(pump), size > 0, &is_turn);
    pump->awaits_turn = wants && !may && !is_turn;
    desk_watch(pump->desk, is_turn && !may);
    if (!pump_is_attached(pump)) /* a try, to see whether claims work again */
        return size;
    return may ? size : 0;
}

void pump_end_turn(struct pump *pump, bool claims, size_t claimed) {
    pump->only_looks = pump->only_looks && claimed == 0;
    if (pump_seat(pump) && claims)
        seat_claimed(pump_seat(pump), claimed);
}

int64_t pump_next_turn_ms(const struct pump *pump) {
    return pump_seat(pump) && pump->awaits_turn ? seat_next_ask_ms(pump_seat(pump)) : INT64_MAX;
}

/* ---- suspects ---- */

/* The one that waits until it may run alone, or runs. */
static bool needs_to_be_alone(const struct pump *pump) {
    return pump->waiting || (pump->suspect && !pump->suspect->collected && pump_runs_alone(pump->suspect));
}

/* Begun or to be begun: all but finished messages whose verdicts are not stored yet. */
static size_t count_unfinished(const struct pump *pump) {
    return pump->view.queued + pump->view.behind + pump->view.running + (pump->waiting != NULL);
}

void pump_report(struct pump *pump) {
    if (pump_seat(pump))
        pump->is_alone = seat_report(
            pump_seat(pump), pump_is_attached(pump) ? pump->held_count : count_unfinished(pump),
            pump->waiting || (pump->suspect && !pump->suspect->collected), needs_to_be_alone(pump));
}

bool pump_may_take_suspects(const struct pump *pump) {
    return !pump_seat(pump) || seat_may_take_suspects(pump_seat(pump));
}

bool pump_others_are_idle(const struct pump *pump) { return !pump_seat(pump) || pump->is_alone; }

/* ---- places ---- */

void pump_leave_place(struct pump *pump) {
    if (pump_seat(pump))
        seat_leave_place(pump_seat(pump));
}

bool pump_take_place(struct pump *pump) {
    if (!pump_seat(pump) || seat_take_place(pump_seat(pump)))
        return true;
    pump->retry_at_ms = pump->now_ms + PLACE_AGAIN_MS;
    return false;
}

/* ---- the end ---- */

static bool has_due(struct pump *pump, int64_t horizon_ms, bool if_unknown) {
    bool drained = true;
    boxcar_error err = BOXCAR_ERROR_INIT;
    return pump_is_drained(pump, horizon_ms, &drained, &err) == BOXCAR_OK ? !drained : if_unknown;
}

/* What becomes due within the time in which nobody may look at this store is looked for soon. If nothing does
 * for much longer, and nobody has to look for what policies and schedules want, only a change of the store
 * matters. */
static void look_ahead(struct pump *pump) {
    struct seat *seat = pump_seat(pump);
    seat->has_soon = has_due(pump, atomic_load(&seat->share->soon_ms), false);
    seat->has_later = !seat->is_file || seat->has_soon || pump_may_forward(pump) ||
                      has_due(pump, atomic_load(&seat->share->later_ms), true);
}

void pump_sit_down(struct pump *pump) {
    struct seat *seat = pump_seat(pump);
    if (!seat)
        return;
    pump->only_looks = seat->is_look;
    pump->pace.known = seat->knows_pace;
    pump->pace.message_us = seat->message_us;
}

static void rise(struct pump *pump) {
    struct seat *seat = pump_seat(pump);
    seat->knows_pace = pump->pace.known;
    seat->message_us = pump->pace.message_us;
    seat->has_worked = pump->has_worked;
    seat->has_more = pump_has_found(pump);
    if (!pump_is_attached(pump))
        pump->end_error = pump->last_error;
    else if (!seat->has_more)
        look_ahead(pump);
    pump->done = true;
}

/* Verdicts that cannot be stored are kept as long as their leases may last. They are given up at once, and
 * their messages are delivered again, if this store is to go or the worker drains. */
static bool gives_up_verdicts(const struct pump *pump) {
    return !pump_is_attached(pump) && count_unfinished(pump) == 0 &&
           (atomic_load(&pump_seat(pump)->is_closing) || pump->worker->drain ||
            pump->now_ms - pump->detached_at_ms > pump_tuning(pump)->lease_ms);
}

/* A store that is away is tried again by the fleet, less and less often, unless something is held. */
void pump_rise_if_due(struct pump *pump) {
    struct seat *seat = pump_seat(pump);
    if (!seat || pump->stopping || (pump->held_count > 0 && !gives_up_verdicts(pump)))
        return;
    if (!pump_is_attached(pump) ||
        seat_should_rise(seat, pump_has_found(pump), clock_ms() - pump->found_at_ms))
        rise(pump);
}

bool pump_is_news(struct pump *pump, bool is_down) {
    struct seat *seat = pump_seat(pump);
    if (!seat)
        return is_down || pump->failures > 0;
    bool is_news = seat->is_down != is_down;
    seat->is_down = is_down;
    if (is_news && is_down)
        seat->down_since_ms = clock_ms();
    else if (is_news)
        pump->detached_at_ms = seat->down_since_ms;
    return is_news;
}
