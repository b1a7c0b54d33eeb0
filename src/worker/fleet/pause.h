/* How long to wait before a store is looked at again: arithmetic only.
 *
 * A store that is down is tried less and less often. A store that is idle is looked at less and less often;
 * how seldom at most depends on how many there are, so that few are looked at soon and many cost little. */
#ifndef BOXCAR_WORKER_FLEET_PAUSE_H
#define BOXCAR_WORKER_FLEET_PAUSE_H

#include <stddef.h>
#include <stdint.h>

#define PAUSE_DOWN_FIRST_MS 500
#define PAUSE_DOWN_LONGEST_MS 60000
/* The time from a look at one idle store to a look at the next one. Most of a look at a server
 * is the proof of the password, which costs milliseconds. */
#define PAUSE_BETWEEN_LOOKS_MS 300

/* After so many failures in a row. `chance` in [0, 1) keeps stores of one server apart. */
int64_t pause_down_ms(int64_t failures, double chance);
/* The longest pause of an idle store, with so many stores. */
int64_t pause_idle_longest_ms(size_t stores, int64_t look_ms);
/* The pause of an idle store whose changes show in its file, if nothing in it becomes due. */
int64_t pause_file_ms(int64_t look_ms);
/* The next pause of an idle store, after one of before_ms (0 = there was none). */
int64_t pause_idle_ms(int64_t before_ms, int64_t poll_ms, int64_t longest_ms);

#endif
