/* Outcomes of members. Neighbours that end together share a row, so that counting does not rewrite a thousand
 * members where one row says the same. A member that is reported by hand may have no message and no
 * neighbours, so it is marked in its own row. Programs of schema version 3 mark all members so. A trigger
 * prevents two outcomes for one member. */
#include "join.h"

/* Looks from this work id on. If it has its outcome already, those up to known_to have theirs as well. */
static boxcar_status look_ahead(struct sqlite_store *store, struct outcome_walk *walk, int64_t work_id,
                                boxcar_error *err) {
    AUTO_QUERY struct query query =
        query_with(store, S_OUTCOME_GAP, Q_ID(walk->join_id.uuid.bytes), Q_INT(work_id));
    if (!query_next(&query))
        return query_status(&query, err);
    walk->known_to = query_get_int(&query, 0);
    walk->known_from = query_is_null(&query, 1) ? INT64_MAX : query_get_int(&query, 1);
    return BOXCAR_OK;
}

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/* Almost always the walk is one look ahead, and the run one row. Only a member that was reported by hand, or
 * that died and was replayed, already has an outcome when its message ends. */
boxcar_status sqlite_join_outcome_add(struct sqlite_store *store, struct outcome_walk *walk,
                                      const struct member_run *run, int64_t room, int64_t *ret_counted,
                                      boxcar_error *err) {
    struct member_run part = *run;
    int64_t counted = 0;
    while (part.first <= run->last && counted < room) {
        if (part.first >= walk->known_from)
            TRY(look_ahead(store, walk, part.first, err));
        if (part.first <= walk->known_to) {
            part.first = walk->known_to + 1;
            continue;
        }
        part.last = smaller(smaller(run->last, walk->known_from - 1), part.first + (room - counted) - 1);
        TRY(query_do(store, S_OUTCOME_INSERT, err, Q_ID(walk->join_id.uuid.bytes), Q_INT(part.first),
                     Q_INT(part.last), Q_INT(part.outcome)));
        counted += part.last - part.first + 1;
        part.first = part.last + 1;
    }
    *ret_counted = counted;
    return BOXCAR_OK;
}

/* The row of its own says it as well; a trigger writes the other one, or refuses. */
boxcar_status sqlite_join_outcome_report(struct sqlite_store *store, boxcar_join_id join_id,
                                         boxcar_message_id message_id, boxcar_member_status outcome,
                                         bool *ret_counted, boxcar_error *err) {
    TRY(query_do(store, S_MEMBER_COUNT, err, Q_ID(join_id.uuid.bytes), Q_ID(message_id.uuid.bytes),
                 Q_INT(outcome)));
    *ret_counted = sqlite3_changes(store->db) > 0;
    return BOXCAR_OK;
}
