#include "pace.h"

/* Held work should take no more than this share of a lease. */
#define LEASE_SHARE 4
/* One slow message tells more than one fast one: better to fetch once too often than to hoard. */
#define WEIGHT_SLOWER 0.3
#define WEIGHT_FASTER 0.05
#define DEAF_LONGEST_MS 15
#define RETRY_FIRST_MS 50
#define RETRY_LONGEST_MS 2000

void pace_learn(struct pace *pace, int64_t microseconds, size_t count) {
    double sample = (double)microseconds;

    if (!pace->known) {
        pace->known = true;
        pace->message_us = sample;
        return;
    }
    for (size_t i = 0; i < count && i < 100; i++)
        pace->message_us +=
            (sample - pace->message_us) * (sample > pace->message_us ? WEIGHT_SLOWER : WEIGHT_FASTER);
}

/* How many may wait in the queue. */
static size_t queue_room(const struct pace *pace, const struct pace_view *view) {
    double budget_us = (double)view->lease_ms * 1000 / LEASE_SHARE * (double)view->concurrency;
    double message_us = pace->message_us;
    double fits;

    if (!pace->known)
        return 0;
    if (view->running >= view->concurrency && (double)view->elapsed_ms * 1000 > message_us)
        message_us = (double)view->elapsed_ms * 1000;
    if (message_us < 1)
        message_us = 1;
    fits = budget_us / message_us;
    if (fits < (double)view->concurrency)
        return 0;
    return fits < (double)view->batch_size ? (size_t)fits : view->batch_size;
}

size_t pace_claim_size(const struct pace *pace, const struct pace_view *view) {
    size_t room = queue_room(pace, view);
    size_t held = view->queued + view->running;
    size_t most = view->concurrency + room;
    size_t size;

    if (held >= most)
        return 0;
    /* Half a queue is no reason to ask yet, unless a thread has nothing to do. */
    if (held >= view->concurrency && view->queued > room / 2)
        return 0;
    size = most - held;
    return size < view->batch_size ? size : view->batch_size;
}

int64_t pace_pause(struct pace *pace, int64_t poll_ms) {
    int64_t pause = pace->pause_ms < PACE_PAUSE_FIRST_MS ? PACE_PAUSE_FIRST_MS : pace->pause_ms;

    if (pause > poll_ms)
        pause = poll_ms;
    pace->pause_ms = pause * 2;
    if (!pace->woken)
        pace->deaf_ms = 0;
    else if (pace->deaf_ms < DEAF_LONGEST_MS)
        pace->deaf_ms = pace->deaf_ms * 2 + 1;
    pace->woken = false;
    return pause;
}

void pace_found(struct pace *pace) {
    pace->pause_ms = PACE_PAUSE_FIRST_MS;
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
