/* The audit: a message behind the frontier, or set aside, that is in no other table has been
 * lost by a defect. Walks the log in pieces, so that writers get their turns. */
#include "admin.h"
#include "store/sqlite/connection/transaction.h"
#include "store/sqlite/message/park.h"
#include "store/sqlite/subscription/reader.h"

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

/* The row on the lot stays: it has the attempts. */
static boxcar_status free_stuck(struct sqlite_store *store, struct query *row, boxcar_error *err) {
    struct parked parked;
    bool found;
    TRY(sqlite_parked_read(store, query_get_int(row, 0), &parked, &found, err));
    if (!found)
        return BOXCAR_OK;
    parked.available_at = store->now;
    return sqlite_park(store, &parked, err);
}

/* For the reader that was entered. */
static boxcar_status audit_range(struct sqlite_store *store, struct auditing *auditing, int64_t first,
                                 int64_t last, boxcar_error *err) {
    AUTO_QUERY struct query query = query_with(store, S_AUDIT, Q_INT(first), Q_INT(last));
    for (; query_next(&query); auditing->lost++) {
        if (auditing->repair)
            TRY(store->reader != NULL ? free_stuck(store, &query, err) : park_lost(store, &query, err));
    }
    return query_status(&query, err);
}

static boxcar_status audit_piece(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct auditing *auditing = context;
    int64_t first = 0;
    auditing->lost = 0;
    TRY(query_find_int(store, S_LOG_NEXT, &first, err, Q_INT(auditing->first - 1)));
    auditing->at_end = first == 0;
    if (auditing->at_end)
        return BOXCAR_OK;
    TRY(audit_range(store, auditing, first, first + PIECE - 1, err));
    bool found = true;
    for (int number = 0; found;) {
        TRY(sqlite_reader_next(store, &number, &found, err));
        if (found)
            TRY(audit_range(store, auditing, first, first + PIECE - 1, err));
    }
    auditing->first = first + PIECE;
    return BOXCAR_OK;
}

/* Whatever lost a message may have left the counters wrong too. */
static boxcar_status recount(struct sqlite_store *store, void *context, boxcar_error *err) {
    (void)context;
    bool found = true;
    for (int number = 0; found;) {
        TRY(query_do(store, S_TALLY_CLEAR, err));
        TRY(query_do(store, S_TALLY_RECOUNT, err));
        TRY(sqlite_reader_next(store, &number, &found, err));
    }
    return BOXCAR_OK;
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
