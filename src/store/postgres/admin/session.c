#include "session.h"

#include "store/checkup.h"
#include "store/finding.h"
#include "store/postgres/statement/rows.h"

struct pg_session pg_read_session(const PGresult *result, int row) {
    return (struct pg_session){.pid = pg_get_int4(result, row, 0),
                               .gid = pg_get_text(result, row, 1),
                               .name = pg_get_text(result, row, 2),
                               .role = pg_get_text(result, row, 3),
                               .state = pg_get_text(result, row, 4),
                               .has_seconds = !PQgetisnull(result, row, 5),
                               .seconds = pg_get_float8(result, row, 5),
                               .query = pg_get_text(result, row, 6)};
}

bool pg_is_any_age_hidden(const PGresult *result) {
    for (int row = 0; row < PQntuples(result); row++)
        if (!pg_read_session(result, row).has_seconds)
            return true;
    return false;
}

static const char *or_else(boxcar_str text, const char *instead) { return text.len ? text.data : instead; }

void pg_describe_session(const struct pg_session *session, struct buf *text) {
    if (session->pid)
        buf_append_format(text, "session %d (%s, role %s, %s)", session->pid,
                          or_else(session->name, "no name"), or_else(session->role, "unknown"),
                          or_else(session->state, "state unknown"));
    else
        buf_append_format(text, "the prepared transaction %s (role %s)",
                          or_else(session->gid, "without a name"), or_else(session->role, "unknown"));
}

void pg_describe_age(const struct pg_session *session, struct buf *text) {
    if (!session->has_seconds)
        buf_append_text(text, ", in a transaction whose age and query this role cannot see");
    else if (session->pid)
        buf_append_format(text, ", in a transaction of %s", CHECKUP_AGE(session->seconds));
    else
        buf_append_format(text, ", prepared %s ago", CHECKUP_AGE(session->seconds));
}

void pg_describe_query(const struct pg_session *session, struct buf *text) {
    if (session->query.len)
        buf_append_format(text, "; query: %.*s", FINDING_TEXT(session->query));
}
