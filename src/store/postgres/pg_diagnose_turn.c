/* Whether a claim works just now: the doctor makes one of its own and takes it back. Who may not claim only looks who has
 * the claimers' turn. */
#include "pg_diagnose.h"

#include "store/checkup.h"

#define CHECK "claim"
#define TURN_WARNING_SECONDS 2 /* as long as claims wait for it */

static const char *name_of(boxcar_str text, const char *instead) { return text.len ? text.data : instead; }

/* A session, or a prepared transaction, which has no process. */
static void report_holder(struct findings *findings, const PGresult *result, int row) {
    bool is_session = !PQgetisnull(result, row, 0);
    int pid = is_session ? pg_get_int4(result, row, 0) : 0;
    boxcar_str name = pg_get_text(result, row, 1), role = pg_get_text(result, row, 2);
    boxcar_str state = pg_get_text(result, row, 3);
    bool is_visible = !PQgetisnull(result, row, 4);
    const char *age = is_visible ? CHECKUP_AGE(pg_get_float8(result, row, 4)) : "a time that this role cannot see";

    findings_add(findings, CHECK, BOXCAR_SEVERITY_PROBLEM,
                 "%s %d (%s, role %s, %s) has the claimers' turn, in a transaction of %s: nobody else gets new messages",
                 is_session ? "session" : "prepared transaction", pid, name_of(name, "no name"),
                 name_of(role, "unknown"), name_of(state, "state unknown"), age);
    if (is_session)
        findings_remedy(findings, "end that transaction: select pg_terminate_backend(%d);", pid);
    else
        findings_remedy(findings, "commit prepared or rollback prepared it");
}

static boxcar_status query_box(struct pg_store *pg, enum pg_statement statement, boxcar_box box,
                               PGresult **ret_result, boxcar_error *err) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;

    pg_params_int2(&params, box);
    return pg_query(pg, statement, &params, ret_result, err);
}

/* Others that have it for a moment are no trouble, but to a claim that has waited for it in vain. */
static boxcar_status look_at_holders(struct pg_store *pg, boxcar_box box, bool waited, struct findings *findings,
                                     boxcar_error *err) {
    AUTO_RESULT PGresult *holders = NULL;
    boxcar_status status = query_box(pg, PG_TURN_HOLDERS, box, &holders, err);
    int reported = 0;

    if (status != BOXCAR_OK)
        return status;
    for (int row = 0; row < PQntuples(holders); row++) {
        bool is_long = !PQgetisnull(holders, row, 4) && pg_get_float8(holders, row, 4) > TURN_WARNING_SECONDS;

        if (waited || is_long) {
            report_holder(findings, holders, row);
            reported++;
        }
    }
    if (reported)
        return BOXCAR_OK;
    if (waited) {
        findings_add(findings, CHECK, BOXCAR_SEVERITY_WARNING,
                     "a claim waited for its turn in vain; now nobody has it for long");
        findings_remedy(findings, "boxcar doctor, once more");
    } else {
        findings_add(findings, CHECK, BOXCAR_SEVERITY_OK, "nobody keeps the claimers' turn");
    }
    return BOXCAR_OK;
}

static boxcar_status try_claim(struct pg_store *pg, boxcar_box box, struct findings *findings, boxcar_error *err) {
    AUTO_RESULT PGresult *tried = NULL;
    boxcar_status status = query_box(pg, PG_TRY_CLAIM, box, &tried, err);

    if (status != BOXCAR_OK)
        return status;
    if (!PQgetisnull(tried, 0, 2)) {
        findings_add(findings, CHECK, BOXCAR_SEVERITY_PROBLEM, "a claim fails: %.*s",
                     FINDING_TEXT(pg_get_text(tried, 0, 2)));
        findings_remedy(findings, "look into the server's log; boxcar init brings back what is missing");
        return BOXCAR_OK;
    }
    if (!pg_get_bool(tried, 0, 0))
        return look_at_holders(pg, box, true, findings, err);
    findings_add(findings, CHECK, BOXCAR_SEVERITY_OK, "a claim that was tried had its turn after %s",
                 CHECKUP_AGE(pg_get_float8(tried, 0, 1)));
    return BOXCAR_OK;
}

boxcar_status pg_check_claim(struct pg_store *pg, boxcar_box box, bool may_claim, struct findings *findings,
                             boxcar_error *err) {
    if (may_claim && !pg_is_joined(pg))
        return try_claim(pg, box, findings, err);
    return look_at_holders(pg, box, false, findings, err);
}
