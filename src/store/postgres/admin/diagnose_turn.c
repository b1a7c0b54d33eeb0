/* Whether a claim works now: the doctor makes a claim of its own and rolls it back. If its role may not
 * claim, it only looks for sessions that block claims. */
#include <time.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "diagnose.h"
#include "store/checkup.h"
#include "store/postgres/claim/claim.h"
#include "store/postgres/connection/connection.h"
#include "store/postgres/connection/query.h"

#define CHECK "claim"

static void report_blocker(struct findings *findings, const struct pg_blocker *blocker, boxcar_str role) {
    AUTO_BUF struct buf text = BUF_INIT;

    pg_describe_blocker(blocker, &text);
    buf_append_text(&text, ": no claimer gets new messages");
    pg_describe_query(&blocker->session, &text);
    findings_add_text(findings, CHECK, BOXCAR_SEVERITY_PROBLEM, &text);
    pg_remedy_session(findings, &blocker->session, role);
}

static void report_none(struct findings *findings, bool waited) {
    if (!waited) {
        findings_add(findings, CHECK, BOXCAR_SEVERITY_OK, "no session keeps the claimers' turn");
        return;
    }
    findings_add(findings, CHECK, BOXCAR_SEVERITY_WARNING,
                 "a claim did not get the turn in time; now no session keeps the turn for long");
    findings_remedy(findings, "run boxcar doctor again");
}

static bool is_among(const struct pg_blocker *blocker, const PGresult *others) {
    for (int row = 0; row < PQntuples(others); row++) {
        struct pg_blocker other = pg_read_blocker(others, row);

        if (other.session.pid == blocker->session.pid && str_equal(other.transaction, blocker->transaction))
            return true;
    }
    return false;
}

/* before: the blockers a second ago, or NULL. */
static bool is_held(const struct pg_blocker *blocker, const PGresult *before) {
    if (blocker->session.has_seconds)
        return blocker->session.seconds > PG_HELD_SECONDS;
    return before != NULL && is_among(blocker, before);
}

/* *ret_locked: one of them has locked a table. */
static void report_held(const PGresult *result, const PGresult *before, boxcar_str role, bool waited,
                        struct findings *findings, bool *ret_locked) {
    int reported = 0;

    *ret_locked = false;
    for (int row = 0; row < PQntuples(result); row++) {
        struct pg_blocker blocker = pg_read_blocker(result, row);

        *ret_locked = *ret_locked || blocker.relation.len || blocker.behind;
        if (!waited && !is_held(&blocker, before))
            continue;
        report_blocker(findings, &blocker, role);
        reported++;
    }
    if (!reported)
        report_none(findings, waited);
}

/* Others that have it for a moment are no trouble, but to a claim that has waited for it in vain. Where the
 * age of a transaction is not visible, a second look tells. */
static boxcar_status look_at_blockers(struct pg_store *pg, boxcar_box box, boxcar_str role, bool waited,
                                      struct findings *findings, bool *ret_locked, boxcar_error *err) {
    AUTO_RESULT PGresult *result = NULL;
    AUTO_RESULT PGresult *again = NULL;

    TRY(pg_find_blockers(pg, box, &result, err));
    if (waited || !pg_is_any_age_hidden(result)) {
        report_held(result, NULL, role, waited, findings, ret_locked);
        return BOXCAR_OK;
    }
    nanosleep(&(struct timespec){.tv_sec = PG_HELD_SECONDS}, NULL);
    TRY(pg_find_blockers(pg, box, &again, err));
    report_held(again, result, role, waited, findings, ret_locked);
    return BOXCAR_OK;
}

boxcar_status pg_check_claim(struct pg_store *pg, boxcar_box box, boxcar_str role, bool may_claim,
                             struct findings *findings, bool *ret_locked, boxcar_error *err) {
    AUTO_RESULT PGresult *tried = NULL;

    if (!may_claim || pg_is_joined(pg))
        return look_at_blockers(pg, box, role, false, findings, ret_locked, err);
    TRY(pg_ask(pg, PG_TRY_CLAIM, &tried, err, P_INT2(box)));
    boxcar_str failure = pg_get_text(tried, 0, 2);
    if (!failure.data && !pg_get_bool(tried, 0, 0))
        return look_at_blockers(pg, box, role, true, findings, ret_locked, err);
    *ret_locked = false;
    if (failure.data) {
        findings_add(findings, CHECK, BOXCAR_SEVERITY_PROBLEM, "a claim fails: %.*s", FINDING_TEXT(failure));
        findings_remedy(findings, "look into the server's log; boxcar init restores missing parts");
    } else {
        findings_add(findings, CHECK, BOXCAR_SEVERITY_OK, "a claim that was tried had its turn after %s",
                     CHECKUP_AGE(pg_get_float8(tried, 0, 1)));
    }
    return BOXCAR_OK;
}
