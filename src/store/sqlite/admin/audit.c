/* The audit: a message behind the frontier, or set aside, that is in no other table has been
 * lost by a defect. Walks the log in pieces, so that writers get their turns. */
#include "admin.h"
#include "store/sqlite/connection/transaction.h"
#include "store/sqlite/message/park.h"

#define PIECE 10000 /* work ids a transaction */

struct auditing {
    bool repair;
    int64_t first; /* of the next piece */
    bool at_end;
    int64_t lost; /* in this piece */
    boxcar_audit total;
};

static boxcar_status park_lost(struct sqlite_store *store, struct query *row, boxcar_error *err) {
    boxcar_time due = query_get_time(row, 5);
    struct parked parked = {.work_id = query_get_int(row, 0),
                            .box = (int)query_get_int(row, 1),
                            .topic = query_get_text(row, 2),
                            .stream = query_get_text(row, 3),
                            .available_at = due > store->now ? due : store->now,
                            .expires_at = query_get_time(row, 6)};
    return sqlite_park(store, &parked, err);
}

static boxcar_status audit_piece(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct auditing *auditing = context;
    int64_t first = 0;
    auditing->lost = 0;
    TRY(query_find_int(store, S_LOG_NEXT, &first, err, Q_INT(auditing->first - 1)));
    auditing->at_end = first == 0;
    if (auditing->at_end)
        return BOXCAR_OK;
    AUTO_QUERY struct query query = query_with(store, S_AUDIT, Q_INT(first), Q_INT(first + PIECE - 1));
    for (; query_next(&query); auditing->lost++) {
        if (auditing->repair)
            TRY(park_lost(store, &query, err));
    }
    TRY(query_status(&query, err));
    auditing->first = first + PIECE;
    return BOXCAR_OK;
}

/* Whatever lost a message may have left the counters wrong too. */
static boxcar_status recount(struct sqlite_store *store, void *context, boxcar_error *err) {
    (void)context;
    TRY(query_do(store, S_TALLY_CLEAR, err));
    return query_do(store, S_TALLY_RECOUNT, err);
}

boxcar_status sqlite_audit(struct sqlite_store *store, bool repair, boxcar_audit *ret_audit,
                           boxcar_error *err) {
    struct auditing auditing = {.repair = repair, .first = 1};
    while (!auditing.at_end) {
        TRY(sqlite_transaction(store, repair ? ACCESS_WRITE : ACCESS_READ, audit_piece, &auditing, err));
        auditing.total.lost += auditing.lost;
    }
    if (repair && auditing.total.lost > 0) {
        auditing.total.repaired = auditing.total.lost;
        TRY(sqlite_transaction(store, ACCESS_WRITE, recount, NULL, err));
    }
    *ret_audit = auditing.total;
    return BOXCAR_OK;
}
