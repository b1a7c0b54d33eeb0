/* The log, for a subscription.
 *
 * A subscription meets every message of its box once, in the order of work ids, whatever its lane: lanes tell
 * what the main reader has done with it. What does not match the patterns is passed over and leaves no trace.
 * Of the rest, plain messages that are due are leased at once. All others get a row on the lot: due later,
 * expiring, not wanted by this claimer, and all messages of streams, whose order is kept there
 * (message/park.c). What has expired already is buried.
 *
 * A message may be known before it is met: it was cancelled, or waits for a replay of that. */
#include "base/utf8.h"
#include "claim.h"
#include "store/sqlite/admin/setting.h"
#include "store/sqlite/settle/release.h"
#include "store/sqlite/subscription/reader.h"

#define ROWS_MAX 20000     /* looked at in one transaction */
#define PARK_MAX 2000      /* parked or buried in one transaction */
#define STREAMED_AHEAD 256 /* messages of streams brought to the lot, beyond those the claim has room for */

struct walk {
    int looked_at, parked;
    size_t streamed;  /* of those parked */
    int64_t known_to; /* behind this one, no message is known */
};

/* ---- one message ---- */

static bool is_wait(const struct sqlite_store *store, boxcar_str topic) {
    return store->reader->box == BOXCAR_OUTBOX && str_equal(topic, store->settings.wait_topic);
}

boxcar_status sqlite_is_unread(struct sqlite_store *store, const struct query *row, int64_t known_to,
                               bool *ret_unread, boxcar_error *err) {
    boxcar_str topic = query_get_text(row, R_TOPIC);
    int64_t work_id = query_get_int(row, R_WORK_ID), known = 0;
    *ret_unread = query_get_int(row, R_BOX) == (int64_t)store->reader->box && !is_wait(store, topic) &&
                  sqlite_reader_wants(store->reader, topic);
    if (!*ret_unread || work_id > known_to)
        return BOXCAR_OK;
    TRY(query_find_int(store, S_READER_KNOWS, &known, err, Q_INT(store->reader->number), Q_INT(work_id)));
    *ret_unread = known == 0;
    return BOXCAR_OK;
}

static struct parked parked_row(const struct sqlite_store *store, const struct query *row) {
    boxcar_time due = query_get_time(row, R_DUE_AT), since = query_get_int(row, R_CREATED_AT);
    if (since > store->now) /* the clock was set back */
        since = store->now;
    return (struct parked){.work_id = query_get_int(row, R_WORK_ID),
                           .box = store->reader->number,
                           .topic = query_get_text(row, R_TOPIC),
                           .stream = query_get_text(row, R_STREAM),
                           .available_at = due != BOXCAR_TIME_NONE && due > since ? due : since,
                           .expires_at = query_get_time(row, R_EXPIRES_AT),
                           .met = true};
}

/* Straight from its row in the log. */
static boxcar_status lease(struct sqlite_store *store, struct claim *claim, struct walk *walk,
                           int64_t work_id, boxcar_error *err) {
    AUTO_QUERY struct query row = query_with(store, S_WINDOW, Q_INT(work_id - 1));
    bool found, taken;
    TRY(query_step(&row, &found, err));
    if (!found)
        return BOXCAR_OK;
    TRY(sqlite_claim_fresh(store, claim, &row, LEASE_PLAIN, &taken, err));
    walk->parked += !taken;
    return BOXCAR_OK;
}

static boxcar_status meet(struct sqlite_store *store, struct claim *claim, struct walk *walk,
                          const struct query *row, boxcar_error *err) {
    struct parked parked = parked_row(store, row);
    bool expires = parked.expires_at != BOXCAR_TIME_NONE, streamed = parked.stream.data != NULL;
    if (!expires && !streamed && parked.available_at <= store->now && sqlite_claim_wants(claim, parked.topic))
        return lease(store, claim, walk, parked.work_id, err);
    walk->parked++;
    if (expires && parked.expires_at <= store->now)
        return sqlite_bury_parked(store, &parked, BOXCAR_REASON_EXPIRED, "expired", err);
    walk->streamed += streamed;
    claim->parked_streamed = claim->parked_streamed || streamed;
    return sqlite_park(store, &parked, err);
}

/* ---- the walk ---- */

static bool has_seen_enough(const struct claim *claim, const struct walk *walk) {
    size_t size = sqlite_claim_size(claim);
    return sqlite_claim_is_full(claim, size) || walk->streamed >= size + STREAMED_AHEAD;
}

boxcar_status sqlite_claim_unread(struct sqlite_store *store, struct claim *claim, bool *ret_more,
                                  boxcar_error *err) {
    struct walk walk = {.known_to = 0};
    TRY(sqlite_settings_load(store, err));
    TRY(query_find_int(store, S_READER_KNOWN, &walk.known_to, err, Q_INT(claim->box)));
    AUTO_QUERY struct query query = query_with(store, S_READER_LOOK, Q_INT(claim->frontier.position));
    *ret_more = false;
    while (!has_seen_enough(claim, &walk)) {
        *ret_more = walk.looked_at >= ROWS_MAX || walk.parked >= PARK_MAX;
        if (*ret_more || !query_next(&query))
            break;
        bool unread;
        walk.looked_at++;
        TRY(sqlite_is_unread(store, &query, walk.known_to, &unread, err));
        if (unread)
            TRY(meet(store, claim, &walk, &query, err));
        claim->frontier.position = query_get_int(&query, R_WORK_ID);
    }
    *ret_more = *ret_more || walk.streamed >= sqlite_claim_size(claim) + STREAMED_AHEAD;
    return query_status(&query, err);
}
