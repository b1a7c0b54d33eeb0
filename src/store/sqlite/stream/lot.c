/* How a stream gets from the log to the lot.
 *
 * As long as nothing goes wrong, the messages of a stream are leased straight from the log, and there is no
 * parked row. When one of them has to be parked, the lot must know all that comes before it: so those in
 * hands get a row each, too, and so do those in the log that no claim has met, where they come first. */
#include "boxcar/instance.h"
#include "store/sqlite/admin/setting.h"
#include "store/sqlite/message/park.h"
#include "store/sqlite/message/tally.h"
#include "store/sqlite/settle/lease.h"
#include "stream.h"

static boxcar_status read_id(struct query *query, int64_t *ret_work_id, boxcar_error *err) {
    bool found = false;
    boxcar_status status = query_step(query, &found, err);

    if (status == BOXCAR_OK)
        *ret_work_id = found ? query_get_int(query, 0) : 0;
    return status;
}

boxcar_status sqlite_stream_first_straight(struct sqlite_store *store, struct stream_key key, int64_t before,
                                           int64_t *ret_work_id, boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_STREAM_STRAIGHT);

    query_int(&query, key.box);
    query_text(&query, key.text);
    query_int(&query, before);
    return read_id(&query, ret_work_id, err);
}

boxcar_status sqlite_stream_first_fresh(struct sqlite_store *store, struct stream_key key,
                                        int64_t *ret_work_id, boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_STREAM_FRESH_FIRST);

    query_int(&query, key.box);
    query_text(&query, key.text);
    return read_id(&query, ret_work_id, err);
}

/* ---- in hands ---- */

static boxcar_status enter_leased(struct sqlite_store *store, struct stream_key key, boxcar_error *err) {
    struct query park = query_on(store, S_STREAM_ENTER), mark = query_on(store, S_LEASES_ENTER);
    int64_t first = 0;
    boxcar_status status = sqlite_stream_first_straight(store, key, INT64_MAX, &first, err);

    if (status == BOXCAR_OK && first != 0)
        status = sqlite_settings_load(store, err);
    if (status != BOXCAR_OK || first == 0)
        return status;
    query_int(&park, key.box);
    query_text(&park, key.text);
    query_int(&park, boxcar_stream_partition(key.text, store->settings.partition_count));
    status = query_run(&park, err);
    query_int(&mark, key.box);
    query_text(&mark, key.text);
    return status == BOXCAR_OK ? query_run(&mark, err) : status;
}

/* ---- in the log ---- */

/* Taken out of the lane of streams first, so that no claim meets it there. */
static boxcar_status set_aside(struct sqlite_store *store, const struct parked *row, boxcar_error *err) {
    struct query query = query_on(store, S_MESSAGE_SET_ASIDE);
    boxcar_status status;

    query_int(&query, row->work_id);
    status = query_run(&query, err);
    sqlite_tally_add(store, row->box, row->topic, TALLY_FRESH, -1);
    return status == BOXCAR_OK ? sqlite_park(store, row, err) : status;
}

static boxcar_status find_fresh(struct sqlite_store *store, struct stream_key key, int64_t before,
                                struct parked *row, bool *ret_found, boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_STREAM_FRESH);
    boxcar_status status;

    query_int(&query, key.box);
    query_text(&query, key.text);
    query_int(&query, before);
    status = query_step(&query, ret_found, err);
    if (status != BOXCAR_OK || !*ret_found)
        return status;
    *row = (struct parked){.work_id = query_get_int(&query, 0),
                           .box = key.box,
                           .stream = key.text,
                           .available_at = query_get_int(&query, 2),
                           .expires_at = BOXCAR_TIME_NONE,
                           .met = true};
    return query_copy_text(&query, 1, &store->scratch, &row->topic, err);
}

/* One after the other: each leaves the index that is looked at. */
static boxcar_status enter_fresh(struct sqlite_store *store, struct stream_key key, int64_t before,
                                 boxcar_error *err) {
    struct parked row;
    bool found = true;
    boxcar_status status = BOXCAR_OK;

    while (status == BOXCAR_OK && (status = find_fresh(store, key, before, &row, &found, err)) == BOXCAR_OK &&
           found)
        status = set_aside(store, &row, err);
    return status;
}

boxcar_status sqlite_stream_enter_lot(struct sqlite_store *store, struct stream_key key, int64_t before,
                                      boxcar_error *err) {
    boxcar_status status = enter_leased(store, key, err);

    return status == BOXCAR_OK && before > 0 ? enter_fresh(store, key, before, err) : status;
}

boxcar_status sqlite_lease_enter_lot(struct sqlite_store *store, struct lease *lease, boxcar_error *err) {
    struct stream_key key = {lease->box, lease->stream};
    boxcar_status status;

    if (key.text.data == NULL)
        return BOXCAR_OK;
    status = sqlite_stream_enter_lot(store, key, 0, err);
    lease->parked = true;
    lease->stream = BOXCAR_NO_STR;
    return status;
}
