/* Who keeps claims from going on: for the doctor, and for the log of a store whose claims wait in vain.
 *
 * Workers come and go while they wait for each other's turn. Only a transaction that is older than the wait, or that was in
 * the way last time, too, is worth a word; and the same one not more often than every ten minutes. */
#include "pg_blocker.h"

#include "base/clock.h"
#include "base/memory.h"
#include "store/checkup.h"

#define AGAIN_MS (INT64_C(10) * 60 * 1000)

boxcar_status pg_find_blockers(struct pg_store *pg, boxcar_box box, PGresult **ret_result, boxcar_error *err) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;

    pg_params_int2(&params, box);
    return pg_query(pg, PG_CLAIM_BLOCKERS, &params, ret_result, err);
}

static int get_pid(const PGresult *result, int row, int column) {
    return PQgetisnull(result, row, column) ? 0 : pg_get_int4(result, row, column);
}

struct pg_blocker pg_read_blocker(const PGresult *result, int row) {
    return (struct pg_blocker){.pid = get_pid(result, row, 0),
                               .gid = pg_get_text(result, row, 1),
                               .name = pg_get_text(result, row, 2),
                               .role = pg_get_text(result, row, 3),
                               .state = pg_get_text(result, row, 4),
                               .has_seconds = !PQgetisnull(result, row, 5),
                               .seconds = pg_get_float8(result, row, 5),
                               .command = pg_get_text(result, row, 6),
                               .has_turn = pg_get_bool(result, row, 7),
                               .relation = pg_get_text(result, row, 8),
                               .mode = pg_get_text(result, row, 9),
                               .behind = get_pid(result, row, 10)};
}

/* ---- in words ---- */

static const char *or_else(boxcar_str text, const char *instead) { return text.len ? text.data : instead; }

static void describe_who(const struct pg_blocker *blocker, struct buf *text) {
    if (!blocker->pid) {
        buf_append_format(text, "the prepared transaction %s (role %s)", or_else(blocker->gid, "without a name"),
                          or_else(blocker->role, "unknown"));
        return;
    }
    buf_append_format(text, "session %d (%s, role %s, %s", blocker->pid, or_else(blocker->name, "no name"),
                      or_else(blocker->role, "unknown"), or_else(blocker->state, "state unknown"));
    if (blocker->command.len)
        buf_append_format(text, ", last command %s", blocker->command.data);
    buf_append_text(text, ")");
}

static void describe_what(const struct pg_blocker *blocker, struct buf *text) {
    if (blocker->has_turn)
        buf_append_text(text, " has the claimers' turn");
    else if (blocker->relation.len)
        buf_append_format(text, " has a lock on %s (%s)", blocker->relation.data, or_else(blocker->mode, "of some kind"));
    else if (blocker->behind)
        buf_append_format(text, " keeps session %d waiting, and that one the claims", blocker->behind);
    else
        buf_append_text(text, " is in the way");
}

void pg_describe_blocker(const struct pg_blocker *blocker, struct buf *text) {
    describe_who(blocker, text);
    describe_what(blocker, text);
    if (!blocker->has_seconds)
        buf_append_text(text, ", in a transaction of a time that this role cannot see");
    else if (blocker->pid)
        buf_append_format(text, ", in a transaction of %s", CHECKUP_AGE(blocker->seconds));
    else
        buf_append_format(text, ", prepared %s ago", CHECKUP_AGE(blocker->seconds));
}

/* ---- in the log ---- */

/* Tells one from another; never 0. */
static uint64_t identify(const struct pg_blocker *blocker) {
    uint64_t hash = 1469598103934665603u; /* FNV-1a */

    if (blocker->pid)
        return (uint64_t)blocker->pid;
    for (size_t i = 0; i < blocker->gid.len; i++)
        hash = (hash ^ (unsigned char)blocker->gid.data[i]) * 1099511628211u;
    return hash | (uint64_t)1 << 63;
}

static bool is_news(struct pg_held_up *held_up, const struct pg_blocker *blocker) {
    uint64_t id = identify(blocker);
    bool was_there = held_up->seen == id;
    bool was_told = held_up->told == id && clock_ms() - held_up->told_at_ms < AGAIN_MS;

    held_up->seen = id;
    return !was_told && (blocker->has_seconds ? blocker->seconds >= PG_BLOCKER_SECONDS : was_there);
}

static void tell(struct pg_store *pg, boxcar_box box, const struct pg_blocker *blocker) {
    AUTO_BUF struct buf text = BUF_INIT;

    pg_describe_blocker(blocker, &text);
    if (text.failed)
        return; /* said next time */
    store_log(&pg->base, BOXCAR_LOG_WARN, "held_up", NULL, 0,
              "claims from the %s wait in vain: %s; boxcar doctor says how to end that",
              box == BOXCAR_INBOX ? "inbox" : "outbox", text.data);
    pg->held_up[box].told = identify(blocker);
    pg->held_up[box].told_at_ms = clock_ms();
}

/* What the role may not see, or a server that is gone meanwhile, is no error of the claim. */
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
    if (is_news(&pg->held_up[box], &blocker))
        tell(pg, box, &blocker);
}
