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
#include "store/sqlite/subscription/reader.h"
#include "stream.h"

boxcar_status sqlite_stream_first_straight(struct sqlite_store *store, struct stream_key key, int64_t before,
                                           int64_t *ret_work_id, boxcar_error *err) {
    *ret_work_id = 0;
    if (store->reader != NULL)
        return BOXCAR_OK;
    return query_find_int(store, S_STREAM_STRAIGHT, ret_work_id, err, Q_INT(key.box), Q_TEXT(key.text),
                          Q_INT(before));
}

boxcar_status sqlite_stream_first_fresh(struct sqlite_store *store, struct stream_key key,
                                        int64_t *ret_work_id, boxcar_error *err) {
    return query_find_int(store, S_STREAM_FRESH_FIRST, ret_work_id, err, Q_INT(key.box), Q_TEXT(key.text));
}

/* ---- in hands ---- */

static boxcar_status enter_leased(struct sqlite_store *store, struct stream_key key, boxcar_error *err) {
    int64_t first;
    TRY(sqlite_stream_first_straight(store, key, INT64_MAX, &first, err));
    if (first == 0)
        return BOXCAR_OK;
    TRY(sqlite_settings_load(store, err));
    TRY(query_do(store, S_STREAM_ENTER, err, Q_INT(key.box), Q_TEXT(key.text),
                 Q_INT(boxcar_stream_partition(key.text, store->settings.partition_count))));
    return query_do(store, S_LEASES_ENTER, err, Q_INT(key.box), Q_TEXT(key.text));
}

/* ---- in the log ---- */

static boxcar_status find_fresh(struct sqlite_store *store, struct stream_key key, int64_t before,
                                struct parked *row, bool *ret_found, boxcar_error *err) {
    AUTO_QUERY struct query query =
        query_with(store, S_STREAM_FRESH, Q_INT(key.box), Q_TEXT(key.text), Q_INT(before));
    TRY(query_step(&query, ret_found, err));
    if (!*ret_found)
        return BOXCAR_OK;
    *row = (struct parked){.work_id = query_get_int(&query, 0),
                           .box = key.box,
                           .stream = key.text,
                           .available_at = query_get_int(&query, 2),
                           .expires_at = BOXCAR_TIME_NONE,
                           .met = true};
    return query_copy_text(&query, 1, &store->scratch, &row->topic, err);
}

/* One after the other: each leaves the index that is looked at. It is taken out of the lane of streams first,
 * so that no claim meets it there. */
static boxcar_status enter_fresh(struct sqlite_store *store, struct stream_key key, int64_t before,
                                 boxcar_error *err) {
    struct parked row;
    bool found, taken;
    for (;;) {
        TRY(find_fresh(store, key, before, &row, &found, err));
        if (!found)
            return BOXCAR_OK;
        TRY(query_do(store, S_MESSAGE_SET_ASIDE, err, Q_INT(row.work_id)));
        sqlite_tally_add(store, row.box, row.topic, TALLY_FRESH, -1);
        TRY(sqlite_reader_takes(store, (boxcar_box)row.box, row.topic, &taken, err));
        TRY(taken ? sqlite_pass(store, row.work_id, err) : sqlite_park(store, &row, err));
    }
}

boxcar_status sqlite_stream_enter_lot(struct sqlite_store *store, struct stream_key key, int64_t before,
                                      boxcar_error *err) {
    if (store->reader != NULL) /* its streams are on the lot from the start */
        return BOXCAR_OK;
    TRY(enter_leased(store, key, err));
    return before > 0 ? enter_fresh(store, key, before, err) : BOXCAR_OK;
}

boxcar_status sqlite_lease_enter_lot(struct sqlite_store *store, struct lease *lease, boxcar_error *err) {
    if (lease->stream.data == NULL)
        return BOXCAR_OK;
    TRY(sqlite_stream_enter_lot(store, (struct stream_key){lease->box, lease->stream}, 0, err));
    lease->parked = true;
    lease->stream = BOXCAR_NO_STR;
    return BOXCAR_OK;
}
