/* Finds the sessions that block claims: for the doctor, and for the log of a store whose claims are blocked.
 * Workers often wait for each other's turn for a moment. So only a transaction is reported that is older than
 * a second, or that also blocked the last time. */
#include "claim.h"

#include "base/clock.h"
#include "base/memory.h"
#include "store/postgres/connection/connection.h"
#include "store/postgres/connection/query.h"

#define PAUSE_MS (INT64_C(60) * 1000)
#define AGAIN_MS (10 * PAUSE_MS)

boxcar_status pg_find_blockers(struct pg_store *pg, boxcar_box box, PGresult **ret_result,
                               boxcar_error *err) {
    return pg_ask(pg, PG_CLAIM_BLOCKERS, ret_result, err, P_INT2(box));
}

struct pg_blocker pg_read_blocker(const PGresult *result, int row) {
    int at = PG_SESSION_COLUMNS;

    return (struct pg_blocker){.session = pg_read_session(result, row),
                               .has_turn = pg_get_bool(result, row, at),
                               .relation = pg_get_text(result, row, at + 1),
                               .mode = pg_get_text(result, row, at + 2),
                               .behind = pg_get_int4(result, row, at + 3),
                               .transaction = pg_get_text(result, row, at + 4)};
}

/* ---- in words ---- */

void pg_describe_blocker(const struct pg_blocker *blocker, struct buf *text) {
    pg_describe_session(&blocker->session, text);
    if (blocker->has_turn)
        buf_append_text(text, " has the claimers' turn");
    else if (blocker->relation.len)
        buf_append_format(text, " has a lock on %s (%s)", blocker->relation.data,
                          blocker->mode.len ? blocker->mode.data : "of some kind");
    else if (blocker->behind)
        buf_append_format(text, " keeps session %d waiting, and that one the claims", blocker->behind);
    else
        buf_append_text(text, " is in the way");
    pg_describe_age(&blocker->session, text);
}

/* ---- in the log ---- */

/* A number that tells sessions apart; never 0. */
static uint64_t identify(const struct pg_session *session) {
    uint64_t hash = 1469598103934665603u; /* FNV-1a */

    if (session->pid)
        return (uint64_t)session->pid;
    for (size_t i = 0; i < session->gid.len; i++)
        hash = (hash ^ (unsigned char)session->gid.data[i]) * 1099511628211u;
    return hash | (uint64_t)1 << 63;
}

/* A session whose age cannot be seen is reported if it was also there the last time. */
bool pg_held_up_is_news(struct pg_held_up *held_up, uint64_t id, double seconds, int64_t now_ms) {
    bool was_there = held_up->seen == id;
    int64_t pause_ms = held_up->told == id ? AGAIN_MS : PAUSE_MS;

    held_up->seen = id;
    if ((seconds < 0 && !was_there) || (seconds >= 0 && seconds < PG_HELD_SECONDS) ||
        (held_up->told && now_ms - held_up->told_at_ms < pause_ms))
        return false;
    held_up->told = id;
    held_up->told_at_ms = now_ms;
    return true;
}

static void tell(struct pg_store *pg, boxcar_box box, const struct pg_blocker *blocker) {
    AUTO_BUF struct buf text = BUF_INIT;

    pg_describe_blocker(blocker, &text);
    pg_describe_query(&blocker->session, &text);
    if (text.failed)
        return;
    store_log(&pg->base, BOXCAR_LOG_WARN, "held_up", NULL, 0,
              "claims from the %s are blocked: %s; boxcar doctor says how to end that",
              box == BOXCAR_INBOX ? "inbox" : "outbox", text.data);
}

/* The claim does not fail if the role may not look, or if the server is gone by now. */
void pg_tell_blocker(struct pg_store *pg, boxcar_box box) {
    AUTO_RESULT PGresult *result = NULL;
    struct pg_blocker blocker;

    if (pg_is_joined(pg) || !pg_is_connected(pg) || pg_find_blockers(pg, box, &result, NULL) != BOXCAR_OK)
        return;
    if (PQntuples(result) == 0) {
        pg->held_up[box].seen = 0;
        return;
    }
    blocker = pg_read_blocker(result, 0);
    if (pg_held_up_is_news(&pg->held_up[box], identify(&blocker.session),
                           blocker.session.has_seconds ? blocker.session.seconds : -1, clock_ms()))
        tell(pg, box, &blocker);
}
