/* The parking lot, and the heads of the streams in it. */
#ifndef BOXCAR_STORE_SQLITE_MESSAGE_PARK_H
#define BOXCAR_STORE_SQLITE_MESSAGE_PARK_H

#include "store/sqlite/state.h"

/* Where in the log a message belongs, see sql/sqlite/migrations/0001_message.sql: on the straight path, set
 * aside, or in a stream and in its order. */
enum lane { LANE_PLAIN, LANE_ASIDE, LANE_STREAMED };

enum parked_state { PARKED_OPEN, PARKED_SUSPECT, PARKED_BEHIND, PARKED_LEASED };

struct parked {
    int64_t work_id;
    int box;
    enum parked_state state;
    boxcar_str topic, stream;
    boxcar_time available_at, expires_at;
    int retry_count, crash_count;
    boxcar_str last_error;
    bool placed; /* it has a row already, which knows its partition */
    bool met;    /* a claim came to it in the log: what is before it in its stream was met, too */
};

/* Parks a message, or puts a leased one back; decides its state and its stream's head. */
boxcar_status sqlite_park(struct sqlite_store *store, const struct parked *row, boxcar_error *err);
/* Text is copied into the scratch arena. */
boxcar_status sqlite_parked_read(struct sqlite_store *store, int64_t work_id, struct parked *ret_row,
                                 bool *ret_found, boxcar_error *err);
/* Takes a message off the lot for good and lets its stream go on. *ret_earliest (may be NULL): the first
 * message of the stream that is left, 0 = none. */
boxcar_status sqlite_unpark(struct sqlite_store *store, const struct parked *row, int64_t *ret_earliest,
                            boxcar_error *err);
enum tally_kind sqlite_parked_tally(enum parked_state state);

/* ---- streams ---- */
struct stream_key {
    int box;
    boxcar_str text;
};

/* The first message of a stream in each state (0 = none), and whether it is halted. */
struct stream_places {
    int64_t first[PARKED_LEASED + 1];
    bool halted;
};

boxcar_status sqlite_stream_places(struct sqlite_store *store, struct stream_key key,
                                   struct stream_places *ret_places, boxcar_error *err);
/* The first unfinished message of all; 0 = none. */
int64_t sqlite_stream_earliest(const struct stream_places *places);
/* Makes the smallest number the open one; none while one is leased or the stream is halted. */
boxcar_status sqlite_stream_settle_head(struct sqlite_store *store, struct stream_key key, boxcar_error *err);
/* The first streamed message fixes how many partitions there are (message/park.c). */
boxcar_status sqlite_fix_partitions(struct sqlite_store *store, boxcar_error *err);

#endif
