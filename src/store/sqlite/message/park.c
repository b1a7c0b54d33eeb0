/* The parking lot and the streams in it.
 *
 * Streamed messages come here when something keeps them from being leased straight from the log, and stay
 * until they end (claim/window.c, stream/lot.c). Of each stream at most one row is open (its head, the
 * smallest number), and none while some are leased or the stream is halted; the others are behind, outside
 * the availability indexes, so a stream of a million messages costs a claim no more than those it takes. A
 * function that takes a row away or brings one in settles which one is the head. */
#include "park.h"

#include "boxcar/instance.h"
#include "store/sqlite/admin/setting.h"
#include "store/sqlite/stream/stream.h"
#include "tally.h"

enum tally_kind sqlite_parked_tally(enum parked_state state) {
    static const enum tally_kind kinds[] = {[PARKED_OPEN] = TALLY_PARKED,
                                            [PARKED_SUSPECT] = TALLY_PARKED,
                                            [PARKED_BEHIND] = TALLY_BEHIND,
                                            [PARKED_LEASED] = TALLY_LEASED};
    return kinds[state];
}

static enum parked_state open_state(int crash_count) {
    return crash_count > 0 ? PARKED_SUSPECT : PARKED_OPEN;
}

boxcar_status sqlite_stream_places(struct sqlite_store *store, struct stream_key stream,
                                   struct stream_places *ret_places, boxcar_error *err) {
    AUTO_QUERY struct query query =
        query_with(store, S_STREAM_PLACES, Q_INT(stream.box), Q_TEXT(stream.text));
    bool found;
    TRY(query_step(&query, &found, err));
    for (int state = PARKED_OPEN; state <= PARKED_LEASED; state++)
        ret_places->first[state] = query_get_int(&query, state);
    ret_places->halted = query_get_int(&query, PARKED_LEASED + 1) != 0;
    return BOXCAR_OK;
}

int64_t sqlite_stream_earliest(const struct stream_places *places) {
    int64_t earliest = 0;
    for (int state = PARKED_OPEN; state <= PARKED_LEASED; state++) {
        if (places->first[state] != 0 && (earliest == 0 || places->first[state] < earliest))
            earliest = places->first[state];
    }
    return earliest;
}

/* Of two that are open, which cannot be, the first. */
static enum parked_state head_state(const struct stream_places *places) {
    return places->first[PARKED_OPEN] != 0 ? PARKED_OPEN : PARKED_SUSPECT;
}

/* `to_open`: to the front, else to the back. */
static boxcar_status move(struct sqlite_store *store, int box, int64_t work_id, enum parked_state from,
                          bool to_open, boxcar_error *err) {
    AUTO_QUERY struct query query = query_with(store, S_PARKED_TOPIC, Q_INT(work_id));
    bool found;
    TRY(query_step(&query, &found, err));
    if (!found)
        return BOXCAR_OK;
    enum parked_state to = to_open ? open_state((int)query_get_int(&query, 1)) : PARKED_BEHIND;
    sqlite_tally_add(store, box, query_get_text(&query, 0), sqlite_parked_tally(from), -1);
    sqlite_tally_add(store, box, query_get_text(&query, 0), sqlite_parked_tally(to), 1);
    query_end(&query);
    return query_do(store, S_PARKED_STATE, err, Q_INT(work_id), Q_INT(to));
}

/* After a look at the places. */
static boxcar_status settle_head(struct sqlite_store *store, int box, const struct stream_places *places,
                                 boxcar_error *err) {
    enum parked_state state = head_state(places);
    int64_t head = places->first[state], next = places->first[PARKED_BEHIND];
    bool stands = places->halted;
    if (places->first[PARKED_LEASED] != 0 || (!stands && (next == 0 || (head != 0 && head < next))))
        return BOXCAR_OK;
    if (head != 0)
        TRY(move(store, box, head, state, false, err));
    return stands ? BOXCAR_OK : move(store, box, next, PARKED_BEHIND, true, err);
}

boxcar_status sqlite_stream_settle_head(struct sqlite_store *store, struct stream_key stream,
                                        boxcar_error *err) {
    struct stream_places places;
    TRY(sqlite_stream_places(store, stream, &places, err));
    return settle_head(store, stream.box, &places, err);
}

/* Where a message that has no row yet belongs. One that comes before the head takes its place. */
static boxcar_status choose_place(struct sqlite_store *store, const struct parked *row,
                                  enum parked_state *ret_state, boxcar_error *err) {
    struct stream_key key = {row->box, row->stream};
    struct stream_places places;
    TRY(sqlite_stream_enter_lot(store, key, row->met ? 0 : row->work_id, err));
    TRY(sqlite_stream_places(store, key, &places, err));
    *ret_state = PARKED_BEHIND;
    if (places.halted || places.first[PARKED_LEASED] != 0)
        return BOXCAR_OK;
    int64_t earliest = sqlite_stream_earliest(&places);
    if (earliest != 0 && earliest < row->work_id) /* it has no head yet if it was halted until now */
        return settle_head(store, row->box, &places, err);
    *ret_state = open_state(row->crash_count);
    enum parked_state state = head_state(&places);
    return places.first[state] == 0 ? BOXCAR_OK
                                    : move(store, row->box, places.first[state], state, false, err);
}

boxcar_status sqlite_fix_partitions(struct sqlite_store *store, boxcar_error *err) {
    TRY(sqlite_settings_load(store, err));
    if (store->settings.partitions_fixed)
        return BOXCAR_OK;
    store->settings.partitions_fixed = true;
    return query_do(store, S_SETTING_WRITE, err, Q_TEXT(BOXCAR_STR(SQLITE_PARTITIONS_IN_USE)),
                    Q_NUMBER(store->settings.partition_count), Q_TEXT(BOXCAR_NO_STR));
}

boxcar_status sqlite_park(struct sqlite_store *store, const struct parked *row, boxcar_error *err) {
    bool streamed = row->stream.data != NULL;
    enum parked_state state = streamed ? PARKED_BEHIND : open_state(row->crash_count);
    int64_t partition = BOXCAR_TIME_NONE; /* null */
    if (streamed && !row->placed) {
        TRY(sqlite_fix_partitions(store, err));
        partition = boxcar_stream_partition(row->stream, store->settings.partition_count);
        TRY(choose_place(store, row, &state, err));
    }
    TRY(query_do(store, S_PARKED_WRITE, err, Q_INT(row->work_id), Q_INT(row->box), Q_INT(state),
                 Q_TEXT(row->topic), Q_TEXT(row->stream), Q_INT(row->available_at), Q_TIME(row->expires_at),
                 Q_INT(row->retry_count), Q_INT(row->crash_count), Q_TEXT(row->last_error),
                 Q_TIME(partition)));
    sqlite_tally_add(store, row->box, row->topic, sqlite_parked_tally(state), 1);
    if (!streamed || !row->placed)
        return BOXCAR_OK;
    return sqlite_stream_settle_head(store, (struct stream_key){row->box, row->stream}, err);
}

boxcar_status sqlite_parked_read(struct sqlite_store *store, int64_t work_id, struct parked *ret_row,
                                 bool *ret_found, boxcar_error *err) {
    AUTO_QUERY struct query query = query_with(store, S_PARKED_READ, Q_INT(work_id));
    bool found;
    TRY(query_step(&query, &found, err));
    if (found) {
        struct parked row = {.work_id = work_id,
                             .box = (int)query_get_int(&query, 0),
                             .state = (enum parked_state)query_get_int(&query, 1),
                             .available_at = query_get_int(&query, 4),
                             .expires_at = query_get_time(&query, 5),
                             .retry_count = (int)query_get_int(&query, 6),
                             .crash_count = (int)query_get_int(&query, 7),
                             .placed = true};
        TRY(query_copy_text(&query, 2, &store->scratch, &row.topic, err));
        TRY(query_copy_text(&query, 3, &store->scratch, &row.stream, err));
        TRY(query_copy_text(&query, 8, &store->scratch, &row.last_error, err));
        *ret_row = row;
    }
    *ret_found = found;
    return BOXCAR_OK;
}

boxcar_status sqlite_unpark(struct sqlite_store *store, const struct parked *row, int64_t *ret_earliest,
                            boxcar_error *err) {
    struct stream_places places;
    if (ret_earliest != NULL)
        *ret_earliest = 0;
    TRY(query_do(store, S_PARKED_DELETE, err, Q_INT(row->work_id)));
    if (row->state != PARKED_LEASED) /* the lease counts that one */
        sqlite_tally_add(store, row->box, row->topic, sqlite_parked_tally(row->state), -1);
    if (row->stream.data == NULL)
        return BOXCAR_OK;
    TRY(sqlite_stream_places(store, (struct stream_key){row->box, row->stream}, &places, err));
    if (ret_earliest != NULL)
        *ret_earliest = sqlite_stream_earliest(&places);
    return settle_head(store, row->box, &places, err);
}
