/* Finds sessions whose open transactions hold up others: old rows cannot be removed, or streams cannot be
 * claimed. */
#include <time.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "diagnose.h"
#include "store/checkup.h"
#include "store/postgres/claim/claim.h"
#include "store/postgres/connection/query.h"

#define SNAPSHOT "held_snapshot"
#define SNAPSHOT_WARNING_SECONDS 300
#define SNAPSHOT_PROBLEM_SECONDS 3600
#define SNAPSHOT_WARNING_XIDS 1000000
#define SNAPSHOT_PROBLEM_XIDS 100000000
#define STREAMS "held_streams"
#define STREAMS_WARNING_SECONDS 60
#define SHOWN 5

void pg_remedy_session(struct findings *findings, const struct pg_session *session, boxcar_str role) {
    if (session->pid && session->has_seconds)
        findings_remedy(findings, "end that transaction: select pg_terminate_backend(%d);", session->pid);
    else if (session->pid)
        findings_remedy(
            findings,
            "end that transaction: select pg_terminate_backend(%d); to see its age and its query: "
            "grant pg_read_all_stats to %.*s;",
            session->pid, FINDING_TEXT(role));
    else if (session->gid.len)
        findings_remedy(findings, "unless it is about to be committed: rollback prepared %.*s;",
                        FINDING_TEXT(session->gid));
}

/* ---- snapshots ---- */

struct held {
    struct pg_session session; /* of a slot or a standby: its name and state */
    boxcar_str kind;
    int64_t xids;
};

static struct held read_held(const PGresult *result, int row) {
    return (struct held){.session = pg_read_session(result, row),
                         .kind = pg_get_text(result, row, PG_SESSION_COLUMNS),
                         .xids = pg_get_int8(result, row, PG_SESSION_COLUMNS + 1)};
}

static bool is_kind(const struct held *held, const char *kind) {
    return str_equal(held->kind, boxcar_str_of(kind));
}

static boxcar_severity severity_of(const struct held *held) {
    const struct pg_session *session = &held->session;
    bool idle_slot = is_kind(held, "slot") && str_equal(session->state, BOXCAR_STR("inactive"));

    if (session->seconds > SNAPSHOT_PROBLEM_SECONDS ||
        (!session->has_seconds && held->xids > SNAPSHOT_PROBLEM_XIDS))
        return BOXCAR_SEVERITY_PROBLEM;
    if (session->seconds > SNAPSHOT_WARNING_SECONDS ||
        (!session->has_seconds && held->xids > SNAPSHOT_WARNING_XIDS) || idle_slot)
        return BOXCAR_SEVERITY_WARNING;
    return BOXCAR_SEVERITY_OK;
}

/* Other roles' sessions, as far as their times are concerned. */
static bool is_hidden(const struct held *held) {
    return is_kind(held, "session") && !held->session.has_seconds;
}

static void report_transaction(struct findings *findings, const struct held *held, boxcar_severity severity,
                               boxcar_str role) {
    AUTO_BUF struct buf text = BUF_INIT;

    pg_describe_session(&held->session, &text);
    buf_append_text(&text, " keeps dead rows from being removed");
    pg_describe_age(&held->session, &text);
    pg_describe_query(&held->session, &text);
    findings_add_text(findings, SNAPSHOT, severity, &text);
    pg_remedy_session(findings, &held->session, role);
}

static void report_held(struct findings *findings, const struct held *held, boxcar_severity severity,
                        boxcar_str role) {
    const struct pg_session *session = &held->session;

    if (is_kind(held, "session") || is_kind(held, "prepared")) {
        report_transaction(findings, held, severity, role);
    } else if (is_kind(held, "slot")) {
        findings_add(findings, SNAPSHOT, severity,
                     "the replication slot %.*s (%.*s) keeps dead rows of the last %lld transactions",
                     FINDING_TEXT(session->name), FINDING_TEXT(session->state), (long long)held->xids);
        findings_remedy(findings, "if it is no longer needed: select pg_drop_replication_slot('%.*s');",
                        FINDING_TEXT(session->name));
    } else {
        findings_add(findings, SNAPSHOT, severity,
                     "the standby behind session %d (%.*s) keeps dead rows of the last %lld transactions",
                     session->pid, FINDING_TEXT(session->name), (long long)held->xids);
        findings_remedy(findings, "look for a long query on that standby (hot_standby_feedback is on)");
    }
}

static void report_hidden(struct findings *findings, const struct held *one, int count, boxcar_str role) {
    AUTO_BUF struct buf text = BUF_INIT;

    buf_append_text(&text, "other roles have transactions open: ");
    pg_describe_session(&one->session, &text);
    buf_append_format(&text, "%s; this role cannot see their age and queries",
                      count > 1 ? " and others" : "");
    findings_add_text(findings, SNAPSHOT, BOXCAR_SEVERITY_NOTE, &text);
    findings_remedy(findings, "grant pg_read_all_stats to %.*s;", FINDING_TEXT(role));
}

static void report_oldest(struct findings *findings, const struct held *oldest) {
    AUTO_BUF struct buf text = BUF_INIT;

    buf_append_format(&text, "the oldest open transaction is %s old", CHECKUP_AGE(oldest->session.seconds));
    if (oldest->session.seconds > PG_HELD_SECONDS) {
        buf_append_text(&text, ": ");
        pg_describe_session(&oldest->session, &text);
        pg_describe_query(&oldest->session, &text);
    }
    findings_add_text(findings, SNAPSHOT, BOXCAR_SEVERITY_OK, &text);
}

static void judge_snapshots(struct findings *findings, const PGresult *result, boxcar_str role) {
    struct held oldest = {.xids = 0}, hidden = {.xids = 0};
    int hidden_count = 0, reported = 0;

    for (int row = 0; row < PQntuples(result); row++) {
        struct held held = read_held(result, row);
        boxcar_severity severity = severity_of(&held);

        if (held.session.seconds > oldest.session.seconds)
            oldest = held;
        if (is_hidden(&held)) {
            hidden = hidden_count++ ? hidden : held;
        } else if (severity != BOXCAR_SEVERITY_OK) {
            report_held(findings, &held, severity, role);
            reported++;
        }
    }
    if (hidden_count)
        report_hidden(findings, &hidden, hidden_count, role);
    else if (!reported)
        report_oldest(findings, &oldest);
}

boxcar_status pg_check_snapshots(struct pg_store *pg, boxcar_str role, struct findings *findings,
                                 boxcar_error *err) {
    AUTO_RESULT PGresult *result = NULL;

    TRY(pg_ask(pg, PG_SNAPSHOT_HOLDERS, &result, err, P_INT4(SHOWN)));
    judge_snapshots(findings, result, role);
    return BOXCAR_OK;
}

/* ---- streams ---- */

static void report_holder(struct findings *findings, const PGresult *result, int row, boxcar_str role) {
    AUTO_BUF struct buf text = BUF_INIT;
    struct pg_session session = pg_read_session(result, row);
    int64_t count = pg_get_int8(result, row, PG_SESSION_COLUMNS);
    boxcar_str stream = pg_get_text(result, row, PG_SESSION_COLUMNS + 1);
    int waits_for = pg_get_int4(result, row, PG_SESSION_COLUMNS + 2);

    pg_describe_session(&session, &text);
    if (count == 1)
        buf_append_format(&text, " holds the stream %.*s", FINDING_TEXT(stream));
    else
        buf_append_format(&text, " holds %lld streams, such as %.*s", (long long)count, FINDING_TEXT(stream));
    if (waits_for)
        buf_append_format(&text, " (and waits for session %d itself)", waits_for);
    pg_describe_age(&session, &text);
    buf_append_format(&text, ": no other session gets %s messages", count == 1 ? "its" : "their");
    pg_describe_query(&session, &text);
    findings_add_text(
        findings, STREAMS,
        session.seconds > STREAMS_WARNING_SECONDS ? BOXCAR_SEVERITY_WARNING : BOXCAR_SEVERITY_NOTE, &text);
    pg_remedy_session(findings, &session, role);
}

static bool holds_in(const PGresult *result, const PGresult *other, int other_row) {
    struct pg_session session = pg_read_session(other, other_row);

    for (int row = 0; row < PQntuples(result); row++)
        if (pg_read_session(result, row).pid == session.pid &&
            str_equal(pg_get_text(result, row, PG_SESSION_COLUMNS + 1),
                      pg_get_text(other, other_row, PG_SESSION_COLUMNS + 1)))
            return true;
    return false;
}

/* A claim or an ack holds one for a moment. Where the age of a transaction is not visible, a second look
 * tells. */
boxcar_status pg_check_streams(struct pg_store *pg, boxcar_box box, boxcar_str role,
                               struct findings *findings, boxcar_error *err) {
    AUTO_RESULT PGresult *result = NULL;
    AUTO_RESULT PGresult *again = NULL;
    int reported = 0;

    TRY(pg_ask(pg, PG_STREAM_HOLDERS, &result, err, P_INT2(box)));
    if (pg_is_any_age_hidden(result)) {
        nanosleep(&(struct timespec){.tv_sec = PG_HELD_SECONDS}, NULL);
        TRY(pg_ask(pg, PG_STREAM_HOLDERS, &again, err, P_INT2(box)));
    }
    for (int row = 0; row < PQntuples(result) && reported < SHOWN; row++) {
        struct pg_session session = pg_read_session(result, row);

        if (session.has_seconds ? session.seconds <= PG_HELD_SECONDS : !holds_in(again, result, row))
            continue;
        report_holder(findings, result, row, role);
        reported++;
    }
    if (!reported)
        findings_add(findings, STREAMS, BOXCAR_SEVERITY_OK,
                     "no session holds a stream for more than a second");
    return BOXCAR_OK;
}
