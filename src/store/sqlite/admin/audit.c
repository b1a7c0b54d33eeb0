/* The audit: a message behind the frontier, or set aside, that is in no other table has been
 * lost by a defect. Walks the log in pieces, so that writers get their turns. */
#include "maintain.h"
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

static boxcar_status next_piece(struct sqlite_store *store, struct auditing *auditing, int64_t *ret_first,
                                boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_LOG_BOUNDS);
    bool row = false;
    boxcar_status status;

    query_int(&query, auditing->first - 1);
    status = query_step(&query, &row, err);
    if (status != BOXCAR_OK)
        return status;
    auditing->at_end = !row || query_is_null(&query, 0);
    *ret_first = auditing->at_end ? 0 : query_get_int(&query, 0);
    return BOXCAR_OK;
}

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
    AUTO_QUERY struct query query = query_on(store, S_AUDIT);
    int64_t first;
    bool row = true;
    boxcar_status status = next_piece(store, auditing, &first, err);

    auditing->lost = 0;
    if (status != BOXCAR_OK || auditing->at_end)
        return status;
    query_int(&query, first);
    query_int(&query, first + PIECE - 1);
    while (status == BOXCAR_OK && (status = query_step(&query, &row, err)) == BOXCAR_OK && row) {
        auditing->lost++;
        if (auditing->repair)
            status = park_lost(store, &query, err);
    }
    if (status == BOXCAR_OK)
        auditing->first = first + PIECE;
    return status;
}

/* Whatever lost a message may have left the counters wrong too. */
static boxcar_status recount(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct query clear = query_on(store, S_TALLY_CLEAR), count = query_on(store, S_TALLY_RECOUNT);
    boxcar_status status = query_run(&clear, err);

    (void)context;
    return status == BOXCAR_OK ? query_run(&count, err) : status;
}

boxcar_status sqlite_audit(struct sqlite_store *store, bool repair, boxcar_audit *ret_audit,
                           boxcar_error *err) {
    struct auditing auditing = {.repair = repair, .first = 1};
    enum access access = repair ? ACCESS_WRITE : ACCESS_READ;
    boxcar_status status = BOXCAR_OK;

    while (status == BOXCAR_OK && !auditing.at_end) {
        status = sqlite_transaction(store, access, audit_piece, &auditing, err);
        auditing.total.lost += auditing.lost;
    }
    if (status == BOXCAR_OK && repair && auditing.total.lost > 0) {
        auditing.total.repaired = auditing.total.lost;
        status = sqlite_transaction(store, ACCESS_WRITE, recount, NULL, err);
    }
    if (status == BOXCAR_OK)
        *ret_audit = auditing.total;
    return status;
}
