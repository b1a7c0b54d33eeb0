/* Asking the server: sending a statement, preparing those that come again, repeating what may be repeated. */
#include "query.h"

#include <stdio.h>

#include "base/error.h"
#include "connection.h"
#include "error.h"
#include "wait.h"

#define TRIES_AFTER_DEADLOCK 20
#define REQUEST_BYTES_MAX ((size_t)1020 << 20)

/* As libpq wants them. The protocol has no room for more than a gibibyte in one message. */
static boxcar_status lay_out(const struct pg_params *params, const char **ret_values, int *ret_lengths,
                             int *ret_formats, boxcar_error *err) {
    size_t total = 0;

    for (int i = 0; i < params->count; i++) {
        const struct buf *array = &params->arrays[i];
        boxcar_str value = array->data ? (boxcar_str){array->data, array->len} : params->values[i];

        if (array->failed)
            return error_no_memory(err);
        ret_values[i] = value.data;
        ret_lengths[i] = (int)value.len;
        ret_formats[i] = 1;
        total += value.len;
    }
    if (total > REQUEST_BYTES_MAX)
        return error_invalid(err, "messages",
                             "the request is larger than PostgreSQL takes (1 GiB): send less at once");
    return BOXCAR_OK;
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
    int lengths[PG_PARAMS_MAX], formats[PG_PARAMS_MAX];
    char name[32];
    int sent;

    TRY(lay_out(params, values, lengths, formats, err));
    if (pg->keeps_statements && pg->uses[statement] >= 2)
        sent = PQsendQueryPrepared(pg->conn, name_of(pg, statement, name), params->count, values, lengths,
                                   formats, 1);
    else
        sent = PQsendQueryParams(pg->conn, pg->sql[statement], params->count, params->types, values, lengths,
                                 formats, 1);
    return sent ? BOXCAR_OK : pg_error_from_connection(pg, err);
}

boxcar_status pg_query_once(struct pg_store *pg, enum pg_statement statement, const struct pg_params *params,
                            PGresult **ret_result, boxcar_error *err) {
    bool before = pg_talk_begin(pg);
    enum pg_pace pace_before = pg->pace;
    PGresult *result = NULL;
    boxcar_status status;

    if (PG_STATEMENT_TABLE[statement].manner & PG_SLOW)
        pg->pace = PG_LONG;
    pg_prepare(pg, statement);
    status = pg_send(pg, statement, params, err);
    if (status == BOXCAR_OK) {
        result = pg_receive(pg);
        status = pg_is_success(result) ? pg_check_answer(pg, statement, result, err)
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

boxcar_status pg_query(struct pg_store *pg, enum pg_statement statement, const struct pg_params *params,
                       PGresult **ret_result, boxcar_error *err) {
    boxcar_error why = BOXCAR_ERROR_INIT;
    boxcar_status status = pg_ready(pg, &why);
    bool lost = false;

    for (int round = 0; status == BOXCAR_OK; round++) {
        status = pg_query_once(pg, statement, params, ret_result, &why);
        if (status == BOXCAR_OK || pg_in_transaction(pg))
            break;
        if (pg_error_is(&why, PG_SHUTDOWN) && !pg->borrowed)
            pg_disconnect(pg);
        if (!pg_is_connected(pg) && !lost) {
            lost = true;
            if (!(PG_STATEMENT_TABLE[statement].manner & PG_ONCE))
                status = pg_reconnect(pg, status, &why);
        } else if (pg_error_is(&why, PG_STALE_STATEMENT) && pg->keeps_statements) {
            pg->keeps_statements = false;
            status = BOXCAR_OK;
        } else if (pg_error_is(&why, PG_TRANSIENT) && round < TRIES_AFTER_DEADLOCK) {
            pg_pause(round);
            status = BOXCAR_OK;
        }
    }
    pg->repeated = why.outcome_unknown = lost;
    return pg_error_pass(status, &why, err);
}

boxcar_status pg_ask_values(struct pg_store *pg, enum pg_statement statement, PGresult **ret_result,
                            boxcar_error *err, const struct pg_value *values, size_t count) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;

    pg_params_append(&params, values, count);
    return pg_query(pg, statement, &params, ret_result, err);
}

boxcar_status pg_do_values(struct pg_store *pg, enum pg_statement statement, boxcar_error *err,
                           const struct pg_value *values, size_t count) {
    AUTO_RESULT PGresult *result = NULL;

    return pg_ask_values(pg, statement, &result, err, values, count);
}

boxcar_status pg_ask_list_values(struct pg_store *pg, enum pg_statement statement, struct pg_list_kind kind,
                                 void *ret_list, boxcar_error *err, const struct pg_value *values,
                                 size_t count) {
    PGresult *result;

    TRY(pg_ask_values(pg, statement, &result, err, values, count));
    return pg_rows_into_list(result, kind, ret_list, err);
}
