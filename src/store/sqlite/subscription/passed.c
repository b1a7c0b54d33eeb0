/* What the main reader passes over, since a subscription has taken the topic from it (`only`). Such a message
 * is in none of the main reader's tables; boxcar_passed tells it from one that was lost. */
#include "keep.h"
#include "reader.h"
#include "store/sqlite/message/park.h"
#include "store/sqlite/message/tally.h"

#define ROWS_MAX 10000 /* looked at in one transaction */

/* The last run that begins at or before the message may end just before it. */
boxcar_status sqlite_pass(struct sqlite_store *store, int64_t work_id, boxcar_error *err) {
    AUTO_QUERY struct query query = query_with(store, S_PASSED_LAST, Q_INT(work_id));
    bool found;
    TRY(query_step(&query, &found, err));
    bool is_next = found && query_get_int(&query, 1) == work_id - 1;
    int64_t first = is_next ? query_get_int(&query, 0) : work_id;
    query_end(&query);
    return query_do(store, S_PASSED_WRITE, err, Q_INT(first), Q_INT(work_id));
}

/* ---- upkeep: where nobody claims for the main reader ---- */

struct passing {
    boxcar_box box;
    int64_t position;
};

/* *ret_end: the row is the main reader's. */
static boxcar_status look_at(struct sqlite_store *store, struct passing *passing, const struct query *row,
                             int64_t *passed, bool *ret_end, boxcar_error *err) {
    boxcar_str topic = query_get_text(row, L_TOPIC);
    bool mine =
             query_get_int(row, L_BOX) == (int64_t)passing->box && query_get_int(row, L_LANE) != LANE_ASIDE,
         taken = false;
    if (mine)
        TRY(sqlite_reader_takes(store, passing->box, topic, &taken, err));
    *ret_end = mine && !taken;
    if (*ret_end)
        return BOXCAR_OK;
    passing->position = query_get_int(row, L_WORK_ID);
    if (!taken)
        return BOXCAR_OK;
    *passed += 1;
    sqlite_tally_add(store, (int)passing->box, topic, TALLY_FRESH, -1);
    return sqlite_pass(store, passing->position, err);
}

static boxcar_status walk(struct sqlite_store *store, struct passing *passing, int64_t *passed,
                          boxcar_error *err) {
    AUTO_QUERY struct query query = query_with(store, S_WINDOW_LOOK, Q_INT(passing->position));
    bool end = false;
    for (int rows = 0; !end && rows < ROWS_MAX && query_next(&query); rows++)
        TRY(look_at(store, passing, &query, passed, &end, err));
    return query_status(&query, err);
}

/* As far as the first message that the main reader has to meet. */
static boxcar_status pass_in(struct sqlite_store *store, boxcar_box box, int64_t *passed, boxcar_error *err) {
    struct passing passing = {.box = box};
    int64_t before = 0, takes = 0;
    TRY(query_find_int(store, S_FRONTIER_READ, &before, err, Q_INT(box)));
    TRY(query_find_int(store, S_TAKES_ANY, &takes, err, Q_INT(box)));
    if (takes == 0)
        return BOXCAR_OK;
    passing.position = before;
    TRY(walk(store, &passing, passed, err));
    return passing.position > before
               ? query_do(store, S_FRONTIER_MOVE, err, Q_INT(box), Q_INT(passing.position))
               : BOXCAR_OK;
}

boxcar_status sqlite_pass_step(struct sqlite_store *store, struct join_upkeep *done, boxcar_error *err) {
    int64_t passed = 0;
    for (int box = 0; box < BOXES; box++)
        TRY(pass_in(store, (boxcar_box)box, &passed, err));
    *done = (struct join_upkeep){.count = passed, .more = passed >= ROWS_MAX / 2};
    return BOXCAR_OK;
}
