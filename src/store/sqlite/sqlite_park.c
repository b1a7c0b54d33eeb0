/* The parking lot and the streams in it.
 *
 * A streamed message is parked from the moment it is enqueued until it ends. Of each stream
 * at most one row is open (its head, the smallest number) or leased; the others are behind,
 * outside the availability indexes, so a stream of a million messages costs a claim no more
 * than one message. Whoever takes a row away or brings one in settles who is the head. */
#include "sqlite_store.h"

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

struct stream {
    int box;
    boxcar_str key;
};

struct stream_place {
    bool found;
    int64_t work_id;
    int crash_count;
    boxcar_str topic;
};

/* The first message of a stream in a state. */
static boxcar_status first_in_state(struct sqlite_store *store, struct stream stream, enum parked_state state,
                                    struct stream_place *ret_place, boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_STREAM_FIRST);
    struct stream_place place = {.found = false};
    boxcar_status status;

    query_int(&query, stream.box);
    query_text(&query, stream.key);
    query_int(&query, state);
    status = query_step(&query, &place.found, err);
    if (status == BOXCAR_OK && place.found) {
        place.work_id = query_get_int(&query, 0);
        place.crash_count = (int)query_get_int(&query, 2);
        status = query_copy_text(&query, 1, &store->scratch, &place.topic, err);
    }
    if (status == BOXCAR_OK)
        *ret_place = place;
    return status;
}

static boxcar_status move(struct sqlite_store *store, int box, const struct stream_place *place,
                          enum parked_state from, enum parked_state to, boxcar_error *err) {
    struct query query = query_on(store, S_PARKED_STATE);

    query_int(&query, place->work_id);
    query_int(&query, to);
    sqlite_tally_add(store, box, place->topic, sqlite_parked_tally(from), -1);
    sqlite_tally_add(store, box, place->topic, sqlite_parked_tally(to), 1);
    return query_run(&query, err);
}

static boxcar_status find_head(struct sqlite_store *store, struct stream stream,
                               struct stream_place *ret_head, enum parked_state *ret_state,
                               boxcar_error *err) {
    boxcar_status status = BOXCAR_OK;

    ret_head->found = false;
    for (int state = PARKED_OPEN; state <= PARKED_SUSPECT && status == BOXCAR_OK && !ret_head->found;
         state++) {
        *ret_state = (enum parked_state)state;
        status = first_in_state(store, stream, *ret_state, ret_head, err);
    }
    return status;
}

/* Makes the smallest number the open one, unless one is leased. */
static boxcar_status stream_settle_head(struct sqlite_store *store, struct stream stream, boxcar_error *err) {
    struct stream_place leased, head, next;
    enum parked_state head_state;
    boxcar_status status = first_in_state(store, stream, PARKED_LEASED, &leased, err);

    if (status != BOXCAR_OK || leased.found)
        return status;
    status = find_head(store, stream, &head, &head_state, err);
    if (status == BOXCAR_OK)
        status = first_in_state(store, stream, PARKED_BEHIND, &next, err);
    if (status != BOXCAR_OK || !next.found || (head.found && head.work_id < next.work_id))
        return status;
    if (head.found)
        status = move(store, stream.box, &head, head_state, PARKED_BEHIND, err);
    if (status == BOXCAR_OK)
        status = move(store, stream.box, &next, PARKED_BEHIND, open_state(next.crash_count), err);
    return status;
}

boxcar_status sqlite_park(struct sqlite_store *store, const struct parked *row, boxcar_error *err) {
    struct query query = query_on(store, S_PARKED_WRITE);
    bool streamed = row->stream.data != NULL;
    enum parked_state state = streamed ? PARKED_BEHIND : open_state(row->crash_count);
    boxcar_status status;

    query_int(&query, row->work_id);
    query_int(&query, row->box);
    query_int(&query, state);
    query_text(&query, row->topic);
    query_text(&query, row->stream);
    query_int(&query, row->available_at);
    query_time(&query, row->expires_at);
    query_int(&query, row->retry_count);
    query_int(&query, row->crash_count);
    query_text(&query, row->last_error);
    status = query_run(&query, err);
    if (status != BOXCAR_OK)
        return status;
    sqlite_tally_add(store, row->box, row->topic, sqlite_parked_tally(state), 1);
    if (streamed)
        status = stream_settle_head(store, (struct stream){row->box, row->stream}, err);
    return status;
}

static boxcar_status read_row(struct sqlite_store *store, struct query *query, struct parked *row,
                              boxcar_error *err) {
    boxcar_status status = query_copy_text(query, 2, &store->scratch, &row->topic, err);

    row->box = (int)query_get_int(query, 0);
    row->state = (enum parked_state)query_get_int(query, 1);
    row->available_at = query_get_int(query, 4);
    row->expires_at = query_get_time(query, 5);
    row->retry_count = (int)query_get_int(query, 6);
    row->crash_count = (int)query_get_int(query, 7);
    if (status == BOXCAR_OK)
        status = query_copy_text(query, 3, &store->scratch, &row->stream, err);
    if (status == BOXCAR_OK)
        status = query_copy_text(query, 8, &store->scratch, &row->last_error, err);
    return status;
}

boxcar_status sqlite_parked_read(struct sqlite_store *store, int64_t work_id, struct parked *ret_row,
                                 bool *ret_found, boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_PARKED_READ);
    struct parked row = {.work_id = work_id};
    bool found = false;
    boxcar_status status;

    query_int(&query, work_id);
    status = query_step(&query, &found, err);
    if (status == BOXCAR_OK && found)
        status = read_row(store, &query, &row, err);
    if (status != BOXCAR_OK)
        return status;
    *ret_row = row;
    *ret_found = found;
    return BOXCAR_OK;
}

boxcar_status sqlite_unpark(struct sqlite_store *store, const struct parked *row, boxcar_error *err) {
    struct query query = query_on(store, S_PARKED_DELETE);
    boxcar_status status;

    query_int(&query, row->work_id);
    status = query_run(&query, err);
    if (status != BOXCAR_OK)
        return status;
    if (row->state != PARKED_LEASED) /* the lease counts that one */
        sqlite_tally_add(store, row->box, row->topic, sqlite_parked_tally(row->state), -1);
    if (row->stream.data == NULL)
        return BOXCAR_OK;
    return stream_settle_head(store, (struct stream){row->box, row->stream}, err);
}
