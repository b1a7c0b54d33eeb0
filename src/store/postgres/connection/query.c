/* Asking the server: sending a statement, preparing those that come again, repeating what may be repeated. */
#include "query.h"

#include <stdio.h>

#include "base/error.h"
#include "connection.h"
#include "error.h"
#include "notice.h"
#include "store/postgres/statement/params.h"
#include "store/postgres/statement/shape.h"
#include "wait.h"

#define TRIES_AFTER_DEADLOCK 20
#define REQUEST_BYTES_MAX ((size_t)1020 << 20)

/* The protocol has no room for more than a gibibyte in one message. */
static boxcar_status check_size(const struct pg_params *params, boxcar_error *err) {
    size_t total = 0;

    for (int i = 0; i < params->count; i++)
        total += params->values[i].len + params->borrowed[i].len;
    if (total > REQUEST_BYTES_MAX)
        return error_invalid(err, "messages",
                             "the request is larger than PostgreSQL takes (1 GiB): send less at once");
    return BOXCAR_OK;
}

static void point_at_values(const struct pg_params *params, const char **values, int *lengths, int *formats) {
    for (int i = 0; i < params->count; i++) {
        const struct buf *value = &params->values[i];
        boxcar_str text = params->borrowed[i];

        values[i] = params->is_null[i] ? NULL : text.data ? text.data : value->data;
        lengths[i] = (int)(text.data ? text.len : value->len);
        formats[i] = 1;
    }
}

/* Of this session only: a name that a stranger prepared could stand for a stranger's statement. */
static const char *name_of(const struct pg_store *pg, enum pg_statement statement, char name[32]) {
    snprintf(name, 32, "boxcar_%08x_%d", pg->session, (int)statement);
    return name;
}

/* Preparing costs a round trip, so the first use does without; the server works out the types. */
void pg_prepare(struct pg_store *pg, enum pg_statement statement) {
    char name[32];
    PGresult *result;

    if (!pg->keeps_statements || ++pg->uses[statement] != 2)
        return;
    result = PQsendPrepare(pg->conn, name_of(pg, statement, name), pg->sql[statement], 0, NULL)
                 ? pg_receive(pg)
                 : NULL;
    pg->keeps_statements = PQresultStatus(result) == PGRES_COMMAND_OK;
    PQclear(result);
}

boxcar_status pg_send(struct pg_store *pg, enum pg_statement statement, const struct pg_params *params,
                      boxcar_error *err) {
    const char *values[PG_PARAMS_MAX];
    int lengths[PG_PARAMS_MAX];
    int formats[PG_PARAMS_MAX];
    char name[32];
    int sent;

    if (pg_params_failed(params))
        return error_no_memory(err);
    if (check_size(params, err) != BOXCAR_OK)
        return BOXCAR_E_INVALID;
    point_at_values(params, values, lengths, formats);
    if (pg->keeps_statements && pg->uses[statement] >= 2)
        sent = PQsendQueryPrepared(pg->conn, name_of(pg, statement, name), params->count, values, lengths,
                                   formats, 1);
    else
        sent = PQsendQueryParams(pg->conn, pg->sql[statement], params->count, params->types, values, lengths,
                                 formats, 1);
    return sent ? BOXCAR_OK : pg_error_from_connection(pg, err);
}

static bool is_success(const PGresult *result) {
    ExecStatusType status = PQresultStatus(result);

    return status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK;
}

boxcar_status pg_query_once(struct pg_store *pg, enum pg_statement statement, const struct pg_params *params,
                            PGresult **ret_result, boxcar_error *err) {
    bool before = pg_talk_begin(pg);
    enum pg_pace pace_before = pg->pace;
    PGresult *result = NULL;
    boxcar_status status;

    if (pg_statement_is_long(statement))
        pg->pace = PG_LONG;
    pg_prepare(pg, statement);
    status = pg_send(pg, statement, params, err);
    if (status == BOXCAR_OK) {
        result = pg_receive(pg);
        status = result && is_success(result) ? pg_check_answer(pg, statement, result, err)
                                              : pg_error_from_result(pg, result, err);
        pg_notice_tell(pg, status);
    }
    pg_talk_end(pg, before);
    pg->pace = pace_before;
    if (status == BOXCAR_OK)
        *ret_result = result;
    else
        PQclear(result);
    return status;
}

static boxcar_status query(struct pg_store *pg, enum pg_statement statement, const struct pg_params *params,
                           bool repeatable, PGresult **ret_result, bool *ret_lost, boxcar_error *err) {
    boxcar_error why = BOXCAR_ERROR_INIT;
    boxcar_status status = pg_ready(pg, &why);
    bool lost = false;

    for (int round = 0; status == BOXCAR_OK; round++) {
        status = pg_query_once(pg, statement, params, ret_result, &why);
        if (status == BOXCAR_OK || pg_in_transaction(pg))
            break;
        if (pg_error_is_shutdown(&why) && !pg->borrowed)
            pg_disconnect(pg);
        if (!pg_is_connected(pg) && !lost) {
            lost = true;
            if (repeatable)
                status = pg_reconnect(pg, status, &why);
            if (status != BOXCAR_OK)
                break;
        } else if (pg_error_is_stale_statement(&why) && pg->keeps_statements) {
            pg->keeps_statements = false;
            status = BOXCAR_OK;
        } else if (pg_error_is_transient(&why) && round < TRIES_AFTER_DEADLOCK) {
            pg_pause(round);
            status = BOXCAR_OK;
        } else {
            break;
        }
    }
    *ret_lost = why.outcome_unknown = lost;
    if (status != BOXCAR_OK && err)
        *err = why;
    return status;
}

boxcar_status pg_query(struct pg_store *pg, enum pg_statement statement, const struct pg_params *params,
                       PGresult **ret_result, boxcar_error *err) {
    bool lost;

    return query(pg, statement, params, true, ret_result, &lost, err);
}

boxcar_status pg_query_telling(struct pg_store *pg, enum pg_statement statement,
                               const struct pg_params *params, PGresult **ret_result, bool *ret_repeated,
                               boxcar_error *err) {
    return query(pg, statement, params, true, ret_result, ret_repeated, err);
}

boxcar_status pg_query_unrepeated(struct pg_store *pg, enum pg_statement statement,
                                  const struct pg_params *params, PGresult **ret_result, boxcar_error *err) {
    bool lost;

    return query(pg, statement, params, false, ret_result, &lost, err);
}
