/* Places in the log, and going back to one.
 *
 * What a subscription knows of the messages from there on is forgotten in one transaction: leases, whose
 * epochs never come back, the lot, dead letters, what is done. Then it meets these messages as if for the
 * first time. */
#include <inttypes.h>
#include <stdio.h>

#include "reader.h"
#include "store/sqlite/connection/transaction.h"
#include "store/sqlite/message/park.h"
#include "subscription.h"

#define COUNT_MAX 10000

/* ---- places ---- */

void sqlite_place_format(const boxcar_place *place, char ret_text[PLACE_TEXT_SIZE]) {
    switch (place->start) {
    case BOXCAR_START_END:
        snprintf(ret_text, PLACE_TEXT_SIZE, "end");
        break;
    case BOXCAR_START_BEGINNING:
        snprintf(ret_text, PLACE_TEXT_SIZE, "beginning");
        break;
    case BOXCAR_START_TIME:
        boxcar_time_format(place->time, ret_text);
        break;
    case BOXCAR_START_WORK_ID:
        snprintf(ret_text, PLACE_TEXT_SIZE, "work id %" PRId64, place->work_id.value);
        break;
    }
}

/* The oldest message that is kept of a box; work_id 0 = there is none. */
struct oldest {
    int64_t work_id;
    boxcar_time created_at;
};

static boxcar_status find_oldest(struct sqlite_store *store, boxcar_box box, struct oldest *ret_oldest,
                                 boxcar_error *err) {
    const struct survey *known = &store->survey;
    AUTO_QUERY struct query query =
        query_with(store, S_LOG_OLDEST, Q_INT(box), Q_INT(known->db == store->db ? known->without[box] : 0));
    bool found;
    TRY(query_step(&query, &found, err));
    *ret_oldest = (struct oldest){0};
    if (found)
        *ret_oldest =
            (struct oldest){.work_id = query_get_int(&query, 0), .created_at = query_get_int(&query, 1)};
    return BOXCAR_OK;
}

static boxcar_status error_not_kept(const struct oldest *oldest, boxcar_error *err) {
    char time[BOXCAR_TIME_TEXT_SIZE];
    if (oldest->work_id == 0)
        return error_set(err, BOXCAR_E_CONFLICT,
                         "the place lies before what is kept: no message is kept; give beginning");
    boxcar_time_format(oldest->created_at, time);
    return error_set(err, BOXCAR_E_CONFLICT,
                     "the place lies before what is kept, which begins with message %" PRId64
                     " of %s: give beginning",
                     oldest->work_id, time);
}

/* Whoever asks for messages that were never there cannot know that either. */
static boxcar_status check_kept(struct sqlite_store *store, boxcar_box box, const boxcar_place *place,
                                boxcar_error *err) {
    struct oldest oldest;
    TRY(find_oldest(store, box, &oldest, err));
    bool before =
        oldest.work_id == 0 || (place->start == BOXCAR_START_TIME ? place->time < oldest.created_at
                                                                  : place->work_id.value < oldest.work_id);
    return before ? error_not_kept(&oldest, err) : BOXCAR_OK;
}

/* ---- looking before the write lock is taken ---- */

struct surveying {
    const boxcar_place *place;
    bool back; /* to a place that must be kept */
};

static boxcar_status check_time(struct sqlite_store *store, boxcar_time time, boxcar_error *err) {
    return time > store->now ? error_invalid(err, "time", "time lies in the future: give one that has been")
                             : BOXCAR_OK;
}

/* Times follow the clock, which may have been set back, so only a look at each message tells. The first one
 * of any box will do: none of the others before it is as late. */
static boxcar_status find_since(struct sqlite_store *store, boxcar_time time, int64_t from,
                                int64_t *ret_position, boxcar_error *err) {
    int64_t first = 0;
    TRY(query_find_int(store, S_LOG_SINCE, &first, err, Q_INT(time), Q_INT(from)));
    if (first == 0)
        return query_find_int(store, S_LOG_END, ret_position, err);
    *ret_position = first - 1;
    return BOXCAR_OK;
}

static boxcar_status survey_box(struct sqlite_store *store, boxcar_box box, int64_t *ret_without,
                                boxcar_error *err) {
    struct oldest oldest;
    TRY(find_oldest(store, box, &oldest, err));
    if (oldest.work_id == 0)
        return query_find_int(store, S_LOG_END, ret_without, err);
    *ret_without = oldest.work_id - 1;
    return BOXCAR_OK;
}

static boxcar_status survey(struct sqlite_store *store, void *context, boxcar_error *err) {
    const struct surveying *surveying = context;
    const boxcar_place *place = surveying->place;
    struct survey found = {.db = store->db, .time = place->time};
    store->survey = (struct survey){0};
    if (place->start == BOXCAR_START_TIME) {
        TRY(check_time(store, place->time, err));
        TRY(find_since(store, place->time, 0, &found.position, err));
    }
    for (int box = BOXCAR_OUTBOX; surveying->back && box <= BOXCAR_INBOX; box++)
        TRY(survey_box(store, (boxcar_box)box, &found.without[box], err));
    store->survey = found;
    return BOXCAR_OK;
}

boxcar_status sqlite_place_survey(struct sqlite_store *store, const boxcar_place *place, bool back,
                                  boxcar_error *err) {
    struct surveying surveying = {.place = place, .back = back};
    if (place->start != BOXCAR_START_TIME && place->start != BOXCAR_START_WORK_ID)
        return BOXCAR_OK;
    return sqlite_transaction(store, ACCESS_READ, survey, &surveying, err);
}

/* ---- finding ---- */

static boxcar_status find_time(struct sqlite_store *store, boxcar_time time, int64_t *ret_position,
                               boxcar_error *err) {
    const struct survey *known = &store->survey;
    TRY(check_time(store, time, err));
    return find_since(store, time, known->db == store->db && known->time == time ? known->position : 0,
                      ret_position, err);
}

boxcar_status sqlite_place_find(struct sqlite_store *store, boxcar_box box, const boxcar_place *place,
                                bool given, int64_t *ret_position, boxcar_error *err) {
    *ret_position = 0;
    if (given && place->start != BOXCAR_START_BEGINNING)
        TRY(check_kept(store, box, place, err));
    switch (place->start) {
    case BOXCAR_START_END:
        return query_find_int(store, S_LOG_END, ret_position, err);
    case BOXCAR_START_BEGINNING:
        break;
    case BOXCAR_START_TIME:
        return find_time(store, place->time, ret_position, err);
    case BOXCAR_START_WORK_ID:
        *ret_position = place->work_id.value - 1;
        break;
    }
    return BOXCAR_OK;
}

/* ---- going back ---- */

static boxcar_status forget(struct sqlite_store *store, int64_t position, boxcar_error *err) {
    static const enum statement statements[] = {S_REWIND_LEASES,   S_REWIND_PARKED, S_REWIND_DEAD,
                                                S_REWIND_ATTEMPTS, S_REWIND_CUT,    S_REWIND_FINISHED,
                                                S_REWIND_HALTS,    S_REWIND_SKIPS,  S_REWIND_FRONTIER};
    for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]); i++)
        TRY(query_do(store, statements[i], err, Q_INT(store->reader->number), Q_INT(position)));
    TRY(query_do(store, S_TALLY_CLEAR, err));
    return query_do(store, S_TALLY_RECOUNT, err);
}

/* A message before the place may have waited for one behind it, which was leased or had halted the stream.
 * Read first: each head that is made moves a row. */
static boxcar_status settle_streams(struct sqlite_store *store, boxcar_error *err) {
    AUTO_QUERY struct query query = query_with(store, S_REWIND_STREAMS, Q_INT(store->reader->number));
    boxcar_str *streams = NULL;
    size_t count = 0, capacity = 0;
    while (query_next(&query)) {
        streams = arena_make_room(&store->scratch, streams, count, &capacity, sizeof(*streams));
        if (streams == NULL)
            return error_no_memory(err);
        TRY(query_copy_text(&query, 0, &store->scratch, &streams[count++], err));
    }
    TRY(query_status(&query, err));
    query_end(&query);
    for (size_t i = 0; i < count; i++)
        TRY(sqlite_stream_settle_head(store, (struct stream_key){store->reader->number, streams[i]}, err));
    return BOXCAR_OK;
}

static boxcar_status note(struct sqlite_store *store, const boxcar_place *place, int64_t position,
                          boxcar_error *err) {
    char target[PLACE_TEXT_SIZE];
    struct query_value number = Q_INT(store->reader->number);
    sqlite_place_format(place, target);
    TRY(query_do(store, S_REWIND_NOTE, err, number, Q_INT(store->now), Q_TEXT(boxcar_str_of(target)),
                 Q_INT(position)));
    return query_do(store, S_REWIND_TIME, err, number, Q_INT(store->now));
}

boxcar_status sqlite_rewind(struct sqlite_store *store, const boxcar_place *place, int64_t *ret_count,
                            boxcar_error *err) {
    int64_t position;
    TRY(sqlite_place_find(store, store->reader->box, place, true, &position, err));
    TRY(forget(store, position, err));
    TRY(settle_streams(store, err));
    TRY(note(store, place, position, err));
    return sqlite_unread_count(store, store->reader->number, ret_count, err);
}

boxcar_status sqlite_unread_count(struct sqlite_store *store, int number, int64_t *ret_count,
                                  boxcar_error *err) {
    int64_t count = 0, position = 0, end = 0;
    TRY(query_find_int(store, S_UNREAD_COUNT, &count, err, Q_INT(number), Q_INT(COUNT_MAX)));
    if (count == COUNT_MAX) {
        TRY(query_find_int(store, S_FRONTIER_READ, &position, err, Q_INT(number)));
        TRY(query_find_int(store, S_LOG_END, &end, err));
        count = end - position > COUNT_MAX ? end - position : COUNT_MAX;
    }
    *ret_count = count;
    return BOXCAR_OK;
}
