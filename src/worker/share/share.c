#include "share.h"

#include "base/clock.h"
#include "base/thread.h"
#include "select.h"

/* How long a slow store claims out of turn, if it gets nothing. */
#define SLOW_MS_MAX 5000
/* More candidates than places do not fit in a selection at once; places are fewer. */
#define CANDIDATES_MAX BOXCAR_FLEET_CONNECTIONS_MAX

void share_init(struct share *share, const boxcar_fleet_options *options) {
    *share = (struct share){.selection = options->selection,
                            .select = options->select,
                            .select_context = options->select_context,
                            .places = (size_t)options->connections,
                            .idle_ms = options->idle_ms};
    pthread_mutex_init(&share->mutex, NULL);
}

void share_release(struct share *share) { pthread_mutex_destroy(&share->mutex); }

/* ---- whose turn it is (under the lock) ---- */

static size_t collect_candidates(struct share *share, int64_t now, struct seat *seats[CANDIDATES_MAX],
                                 const boxcar_candidate *candidates[CANDIDATES_MAX]) {
    size_t count = 0;
    for (struct seat *seat = share->seats; seat && count < CANDIDATES_MAX; seat = seat->next) {
        if (!seat->wants || seat->is_slow || seat->is_claiming)
            continue;
        seat->candidate.waited_ms = now - seat->wants_since_ms;
        seats[count] = seat;
        candidates[count++] = &seat->candidate;
    }
    return count;
}

static size_t choose(struct share *share, const boxcar_candidate *const *candidates, size_t count) {
    if (!share->select)
        return select_next(share->selection, candidates, count,
                           (struct select_last){share->last.order, share->last.claimed});
    size_t chosen = share->select(share->select_context, candidates, count);
    return chosen < count ? chosen : 0;
}

/* The turn is nobody's: gives it to the next one that wants it, and wakes its loop. */
static void pass_turn(struct share *share, int64_t now) {
    struct seat *seats[CANDIDATES_MAX];
    const boxcar_candidate *candidates[CANDIDATES_MAX];
    size_t count = collect_candidates(share, now, seats, candidates);
    share->turn = count > 0 ? seats[choose(share, candidates, count)] : NULL;
    share->turn_since_ms = now;
    if (share->turn)
        worker_wake(share->turn->worker);
}

/* Since when the loop whose turn it is has kept others waiting: a loop that waits for room does not. */
static int64_t late_since(const struct share *share) {
    const struct seat *seat = share->turn;
    if (seat->is_claiming)
        return seat->claiming_since_ms;
    if (seat->asked_at_ms == 0) /* its store is being opened: several are at once */
        return seat->wants_since_ms;
    return seat->asked_at_ms > share->turn_since_ms ? seat->asked_at_ms : share->turn_since_ms;
}

/* A loop that waits for room comes round every second. */
static int64_t patience_of(const struct share *share) {
    const struct seat *seat = share->turn;
    bool waits_for_room = !seat->is_claiming && seat->asked_at_ms >= share->turn_since_ms;
    return SHARE_PATIENCE_MS + (waits_for_room ? 2000 : 0);
}

static void pass_over_late(struct share *share, int64_t now) {
    while (share->turn && now - late_since(share) >= patience_of(share)) {
        if (share->turn->asked_at_ms == 0)
            share->turn->wants = false; /* its store is being opened: it asks when it is */
        else
            share->turn->is_slow = true;
        share->last = (struct select_turn){share->turn->candidate.order, 0};
        pass_turn(share, now);
    }
}

static void withdraw(struct seat *seat, int64_t now) {
    seat->wants = false;
    if (seat->share->turn != seat || seat->is_claiming)
        return;
    seat->share->turn = NULL;
    pass_turn(seat->share, now);
}

/* ---- seats ---- */

static struct seat **place_of(struct share *share, int64_t order) {
    struct seat **at = &share->seats;
    while (*at && (*at)->candidate.order < order)
        at = &(*at)->next;
    return at;
}

/* Loops whose store was away and that hold messages come first. */
static size_t count_returning(const struct share *share) {
    size_t count = 0;
    for (const struct seat *seat = share->seats; seat; seat = seat->next)
        count += seat->wants_place;
    return count;
}

bool share_seat(struct share *share, struct seat *seat) {
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&share->mutex);
    if (share->taken + count_returning(share) >= share->places)
        return false;
    int64_t now = clock_ms();
    struct seat **at = place_of(share, seat->candidate.order);
    share->taken++;
    seat->share = share;
    seat->sits = seat->has_place = true;
    seat->wants_place = seat->is_claiming = seat->has_claimed = false;
    seat->has_more = seat->has_soon = seat->has_later = seat->has_worked = seat->is_drained = false;
    seat->held = 0;
    seat->wants = true; /* it will, as soon as the store is open */
    seat->wants_since_ms = now;
    seat->asked_at_ms = 0;
    atomic_store(&seat->is_closing, false);
    seat->next = *at;
    *at = seat;
    if (!share->turn)
        pass_turn(share, now);
    return true;
}

static void give_up_place(struct seat *seat) {
    seat->share->taken -= seat->has_place;
    seat->has_place = false;
}

void share_rise(struct seat *seat) {
    struct share *share = seat->share;
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&share->mutex);
    struct seat **at = place_of(share, seat->candidate.order);
    *at = seat->next;
    seat->sits = seat->wants_place = seat->is_claiming = false;
    give_up_place(seat);
    if (share->suspect == seat)
        share->suspect = NULL;
    if (share->alone == seat)
        share->alone = NULL;
    withdraw(seat, clock_ms());
}

void share_set_waiting(struct share *share, size_t waiting) {
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&share->mutex);
    bool is_news = share->waiting == 0 && waiting > 0;
    share->waiting = waiting;
    for (struct seat *seat = share->seats; is_news && seat; seat = seat->next)
        worker_wake(seat->worker);
}

void share_set_horizon(struct share *share, int64_t soon_ms, int64_t later_ms) {
    atomic_store(&share->soon_ms, soon_ms);
    atomic_store(&share->later_ms, later_ms);
}

/* ---- claims ---- */

/* Under the lock. A store that waits for a place gets it after this one's batch, in the order of the list. */
static bool has_had_its_batch(const struct seat *seat) {
    const struct share *share = seat->share;
    bool drains_first = !share->select && share->selection == BOXCAR_SELECT_DRAIN_FIRST;
    return share->waiting > 0 && seat->has_claimed && !drains_first;
}

static bool begin_claim(struct seat *seat, int64_t now) {
    seat->is_claiming = true;
    seat->claiming_since_ms = now;
    return true;
}

bool seat_ask(struct seat *seat, bool wants, bool has_room, bool *ret_is_turn) {
    struct share *share = seat->share;
    int64_t now = clock_ms();
    *ret_is_turn = false;
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&share->mutex);
    if (!wants || atomic_load(&seat->is_closing) || has_had_its_batch(seat)) {
        withdraw(seat, now);
        return false;
    }
    if (!seat->wants)
        seat->wants_since_ms = now;
    seat->wants = true;
    seat->asked_at_ms = now;
    if (share->alone && share->alone != seat)
        return false;
    pass_over_late(share, now);
    if (seat->is_slow && now - seat->wants_since_ms > SLOW_MS_MAX)
        seat->is_slow = false; /* without a turn it would find room by luck only */
    if (seat->is_slow)
        return has_room && begin_claim(seat, now);
    if (!share->turn)
        pass_turn(share, now);
    *ret_is_turn = share->turn == seat;
    return *ret_is_turn && has_room && begin_claim(seat, now);
}

void seat_claimed(struct seat *seat, size_t count) {
    struct share *share = seat->share;
    int64_t now = clock_ms();
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&share->mutex);
    bool was_asked = seat->is_claiming;
    seat->is_claiming = false;
    seat->has_claimed = true;
    seat->held += count;
    seat->wants_since_ms = now;
    seat->candidate.claimed = (int64_t)count;
    seat->is_look = seat->is_look && count == 0;
    if (!was_asked)
        return;
    seat->is_slow = now - seat->claiming_since_ms >= SHARE_PATIENCE_MS;
    if (share->turn != seat)
        return;
    share->last = (struct select_turn){seat->candidate.order, (int64_t)count};
    seat->wants = count > 0;
    share->turn = NULL;
    pass_turn(share, now);
}

int64_t seat_next_ask_ms(struct seat *seat) {
    struct share *share = seat->share;
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&share->mutex);
    if (share->alone && share->alone != seat)
        return INT64_MAX;
    return share->turn && share->turn != seat ? late_since(share) + patience_of(share) : INT64_MAX;
}

/* ---- suspects ---- */

/* Under the lock. */
static bool others_hold_nothing(const struct share *share, const struct seat *self) {
    for (const struct seat *seat = share->seats; seat; seat = seat->next)
        if (seat != self && (seat->held > 0 || seat->is_claiming))
            return false;
    return true;
}

static void report_suspect(struct seat *seat, bool suspect) {
    if (suspect)
        seat->share->suspect = seat; /* two claims may have brought one each */
    else if (seat->share->suspect == seat)
        seat->share->suspect = NULL;
}

static void report_alone(struct seat *seat, bool alone) {
    struct share *share = seat->share;
    if (alone && !share->alone)
        share->alone = seat;
    if (alone || share->alone != seat)
        return;
    share->alone = NULL;
    for (struct seat *other = share->seats; other; other = other->next)
        worker_wake(other->worker);
}

bool seat_report(struct seat *seat, size_t count, bool suspect, bool alone) {
    struct share *share = seat->share;
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&share->mutex);
    bool is_news = seat->held > 0 && count == 0;
    seat->held = count;
    report_suspect(seat, suspect);
    report_alone(seat, alone);
    if (is_news && share->alone && share->alone != seat)
        worker_wake(share->alone->worker);
    return share->alone == seat && others_hold_nothing(share, seat);
}

bool seat_may_take_suspects(struct seat *seat) {
    struct share *share = seat->share;
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&share->mutex);
    if (!share->suspect)
        share->suspect = seat;
    return share->suspect == seat;
}

/* ---- places ---- */

void seat_leave_place(struct seat *seat) {
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&seat->share->mutex);
    give_up_place(seat);
    withdraw(seat, clock_ms());
}

bool seat_take_place(struct seat *seat) {
    struct share *share = seat->share;
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&share->mutex);
    if (seat->has_place)
        return true;
    seat->has_place = share->taken < share->places;
    seat->wants_place = !seat->has_place;
    share->taken += seat->has_place;
    return seat->has_place;
}

/* Under the lock. */
static bool is_crowded(const struct share *share) { return share->waiting > 0 || count_returning(share) > 0; }

bool seat_should_rise(struct seat *seat, bool found, int64_t idle_ms) {
    struct share *share = seat->share;
    if (atomic_load(&seat->is_closing))
        return true;
    AUTO_UNLOCK pthread_mutex_t *held = mutex_hold(&share->mutex);
    if (!found && (idle_ms >= share->idle_ms || (seat->is_look && seat->has_claimed)))
        return true;
    return seat->has_claimed && is_crowded(share) && (!found || has_had_its_batch(seat));
}
