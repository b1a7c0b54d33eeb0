#include "pace.h"

/* Held work should take no more than this share of a lease. */
#define LEASE_SHARE 4
/* The part of a batch beyond batch_size should not take longer than this: other workers could have had it. */
#define GROWN_MS 100
/* One slow message tells more than one fast one: better to fetch once too often than to hoard. */
#define WEIGHT_SLOWER 0.3
#define WEIGHT_FASTER 0.05
#define DEAF_LONGEST_MS 15
#define RETRY_FIRST_MS 50
#define RETRY_LONGEST_MS 2000

void pace_learn(struct pace *pace, int64_t microseconds) {
    double surplus = (double)microseconds - pace->message_us;
    if (pace->known)
        pace->message_us += surplus * (surplus > 0 ? WEIGHT_SLOWER : WEIGHT_FASTER);
    else
        pace->message_us = (double)microseconds;
    pace->known = true;
}

/* The time of a message, by messages that have finished and by those that have been running for longer. */
static double message_time(const struct pace *pace, const struct pace_view *view) {
    double message_us = pace->message_us;
    if (view->running >= view->concurrency && (double)view->elapsed_ms * 1000 > message_us)
        message_us = (double)view->elapsed_ms * 1000;
    return message_us < 1 ? 1 : message_us;
}

/* How many messages all threads together finish in that time. */
static double finished_in(int64_t ms, const struct pace *pace, const struct pace_view *view) {
    return (double)ms * 1000 * (double)view->concurrency / message_time(pace, view);
}

/* The size of a whole batch by now. */
static size_t batch_size(const struct pace *pace, const struct pace_view *view) {
    size_t grown = pace->grown < view->batch_limit ? pace->grown : view->batch_limit;
    double quick = pace->known ? finished_in(GROWN_MS, pace, view) : 0;
    if ((double)grown > quick)
        grown = (size_t)quick;
    return grown > view->batch_size ? grown : view->batch_size;
}

void pace_grow(struct pace *pace, const struct pace_view *view, const int asked[2], const size_t brought[2]) {
    size_t size = batch_size(pace, view);
    bool full = false, large = false;
    for (int box = 0; box < 2; box++)
        if (asked[box] > 0 && brought[box] >= (size_t)asked[box]) {
            full = true;
            large = large || (size_t)asked[box] > size / 4;
        }
    if (!full)
        pace->grown = brought[0] + brought[1];
    else if (large)
        pace->grown = size * 2;
}

/* How many may wait in the queue. */
static size_t queue_room(const struct pace *pace, const struct pace_view *view) {
    if (!pace->known)
        return 0;
    size_t size = batch_size(pace, view);
    double fits = finished_in(view->lease_ms, pace, view) / LEASE_SHARE;
    if (fits < (double)view->concurrency)
        return 0;
    return fits < (double)size ? (size_t)fits : size;
}

static size_t at_most(size_t size, size_t most) { return size < most ? size : most; }

size_t pace_claim_size(const struct pace *pace, const struct pace_view *view) {
    size_t room = queue_room(pace, view);
    size_t active = view->queued + view->running;
    size_t held = active + view->behind;
    size_t most = view->concurrency + room;
    /* Half a queue is no reason to ask yet, unless a thread has nothing to do. */
    if (active >= view->concurrency && (held >= most || view->queued > room / 2))
        return 0;
    /* Messages that are held back in streams keep no thread busy. */
    if (held >= most)
        return at_most(view->concurrency - active, batch_size(pace, view));
    return at_most(most - held, batch_size(pace, view));
}

void pace_share(size_t size, const bool asked[2], unsigned turn, int ret_sizes[2]) {
    size_t first = turn & 1;
    ret_sizes[0] = asked[0] ? (int)size : 0;
    ret_sizes[1] = asked[1] ? (int)size : 0;
    if (!asked[0] || !asked[1])
        return;
    ret_sizes[first] = (int)(size - size / 2);
    ret_sizes[1 - first] = (int)(size / 2);
}

int64_t pace_pause(int64_t *pause_ms, int64_t poll_ms) {
    int64_t pause = *pause_ms < PACE_PAUSE_FIRST_MS ? PACE_PAUSE_FIRST_MS : *pause_ms;
    if (pause > poll_ms)
        pause = poll_ms;
    *pause_ms = pause * 2;
    return pause;
}

void pace_in_vain(struct pace *pace) {
    if (!pace->woken)
        pace->deaf_ms = 0;
    else if (pace->deaf_ms < DEAF_LONGEST_MS)
        pace->deaf_ms = pace->deaf_ms * 2 + 1;
    pace->woken = false;
}

void pace_found(struct pace *pace) {
    pace->deaf_ms = 0;
    pace->woken = false;
}

void pace_wake(struct pace *pace) { pace->woken = true; }

int64_t pace_retry_ms(int failures, double chance) {
    int64_t longest = RETRY_FIRST_MS;
    for (int i = 1; i < failures && longest < RETRY_LONGEST_MS; i++)
        longest *= 2;
    if (longest > RETRY_LONGEST_MS)
        longest = RETRY_LONGEST_MS;
    return longest / 2 + (int64_t)((double)(longest / 2) * chance);
}
