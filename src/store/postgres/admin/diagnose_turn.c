/* Whether a claim works now: the doctor makes a claim of its own and rolls it back. If its role may not
 * claim, it only looks for sessions that block claims. */
#include <time.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "diagnose.h"
#include "session.h"
#include "store/checkup.h"
#include "store/postgres/claim/blocker.h"
#include "store/postgres/connection/connection.h"
#include "store/postgres/connection/query.h"
#include "store/postgres/statement/params.h"
#include "store/postgres/statement/rows.h"

#define CHECK "claim"

static boxcar_status report_blocker(struct findings *findings, const struct pg_blocker *blocker,
                                    boxcar_str role, boxcar_error *err) {
    AUTO_BUF struct buf text = BUF_INIT;

    pg_describe_blocker(blocker, &text);
    buf_append_text(&text, ": no claimer gets new messages");
    pg_describe_query(&blocker->session, &text);
    if (text.failed)
        return error_no_memory(err);
    findings_add(findings, CHECK, BOXCAR_SEVERITY_PROBLEM, "%s", text.data);
    pg_remedy_session(findings, &blocker->session, role);
    return BOXCAR_OK;
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

static bool is_any_age_hidden(const PGresult *result) {
    for (int row = 0; row < PQntuples(result); row++)
        if (!pg_read_session(result, row).has_seconds)
            return true;
    return false;
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

static boxcar_status report_held(const PGresult *result, const PGresult *before, boxcar_str role, bool waited,
                                 struct findings *findings, bool *ret_locked, boxcar_error *err) {
    boxcar_status status = BOXCAR_OK;
    bool locked = false;
    int reported = 0;

    for (int row = 0; status == BOXCAR_OK && row < PQntuples(result); row++) {
        struct pg_blocker blocker = pg_read_blocker(result, row);

        locked = locked || blocker.relation.len || blocker.behind;
        if (!waited && !is_held(&blocker, before))
            continue;
        status = report_blocker(findings, &blocker, role, err);
        reported++;
    }
    if (status != BOXCAR_OK)
        return status;
    if (!reported)
        report_none(findings, waited);
    *ret_locked = locked;
    return BOXCAR_OK;
}

/* Others that have it for a moment are no trouble, but to a claim that has waited for it in vain. Where the
 * age of a transaction is not visible, a second look tells. */
static boxcar_status look_at_blockers(struct pg_store *pg, boxcar_box box, boxcar_str role, bool waited,
                                      struct findings *findings, bool *ret_locked, boxcar_error *err) {
    AUTO_RESULT PGresult *result = NULL;
    AUTO_RESULT PGresult *again = NULL;
    boxcar_status status = pg_find_blockers(pg, box, &result, err);

    if (status != BOXCAR_OK)
        return status;
    if (waited || !is_any_age_hidden(result))
        return report_held(result, NULL, role, waited, findings, ret_locked, err);
    nanosleep(&(struct timespec){.tv_sec = PG_HELD_SECONDS}, NULL);
    status = pg_find_blockers(pg, box, &again, err);
    return status == BOXCAR_OK ? report_held(again, result, role, waited, findings, ret_locked, err) : status;
}

static boxcar_status query_try(struct pg_store *pg, boxcar_box box, PGresult **ret_result,
                               boxcar_error *err) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;

    pg_params_int2(&params, box);
    return pg_query(pg, PG_TRY_CLAIM, &params, ret_result, err);
}

static boxcar_status try_claim(struct pg_store *pg, boxcar_box box, boxcar_str role,
                               struct findings *findings, bool *ret_locked, boxcar_error *err) {
    AUTO_RESULT PGresult *tried = NULL;
    boxcar_status status = query_try(pg, box, &tried, err);

    if (status != BOXCAR_OK)
        return status;
    *ret_locked = false;
    if (!PQgetisnull(tried, 0, 2)) {
        findings_add(findings, CHECK, BOXCAR_SEVERITY_PROBLEM, "a claim fails: %.*s",
                     FINDING_TEXT(pg_get_text(tried, 0, 2)));
        findings_remedy(findings, "look into the server's log; boxcar init restores missing parts");
        return BOXCAR_OK;
    }
    if (!pg_get_bool(tried, 0, 0))
        return look_at_blockers(pg, box, role, true, findings, ret_locked, err);
    findings_add(findings, CHECK, BOXCAR_SEVERITY_OK, "a claim that was tried had its turn after %s",
                 CHECKUP_AGE(pg_get_float8(tried, 0, 1)));
    return BOXCAR_OK;
}

boxcar_status pg_check_claim(struct pg_store *pg, boxcar_box box, boxcar_str role, bool may_claim,
                             struct findings *findings, bool *ret_locked, boxcar_error *err) {
    if (may_claim && !pg_is_joined(pg))
        return try_claim(pg, box, role, findings, ret_locked, err);
    return look_at_blockers(pg, box, role, false, findings, ret_locked, err);
}
