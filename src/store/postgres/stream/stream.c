/* Streams and their rules. */
#include "stream.h"

#include <string.h>

#include "base/error.h"
#include "core/names.h"
#include "store/postgres/admin/dead.h"
#include "store/postgres/connection/query.h"
#include "store/postgres/message/inspect.h"
#include "store/postgres/statement/params.h"
#include "store/postgres/statement/rows.h"

/* ---- streams ---- */

static void read_stream(const PGresult *r, int row, void *item) {
    boxcar_stream *stream = item;

    memset(stream, 0, sizeof(*stream));
    stream->stream = pg_get_text(r, row, 0);
    stream_state_parse(pg_get_text(r, row, 1), &stream->state);
    stream->partition = PQgetisnull(r, row, 2) ? -1 : pg_get_int4(r, row, 2);
    stream->pending = pg_get_int8(r, row, 3);
    stream->head.value = pg_get_int8(r, row, 4);
    stream->topic = pg_get_text(r, row, 5);
    stream->available_at = pg_get_time(r, row, 6);
    stream->retry_count = pg_get_int4(r, row, 7);
    pg_get_uuid(r, row, 8, stream->owner.uuid.bytes);
    stream->halted_at = pg_get_time(r, row, 9);
    stream->halted_by.value = pg_get_int8(r, row, 10);
}

boxcar_status pg_stream_page(struct boxcar_store *store, const boxcar_stream_filter *filter,
                             boxcar_str stream, struct stream_rows **ret_list, boxcar_error *err) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;
    PGresult *result = NULL;
    boxcar_status status;

    pg_params_int2(&params, filter->box);
    pg_params_text(&params, stream);
    pg_params_bool(&params, filter->halted);
    pg_params_text(&params, filter->prefix.data ? filter->prefix : BOXCAR_STR(""));
    pg_params_text(&params, filter->after.data ? filter->after : BOXCAR_STR(""));
    pg_params_int4(&params, filter->limit);
    status = pg_query(pg_store_of(store), PG_STREAM_PAGE, &params, &result, err);
    if (status == BOXCAR_OK)
        status = PG_INTO_LIST(result, read_stream, ret_list, err);
    for (size_t i = 0; status == BOXCAR_OK && i < (*ret_list)->count; i++)
        (*ret_list)->items[i].box = filter->box;
    return status;
}

/* ---- resume and skip ---- */

/* Whatever changes a stream names the message it is about, so that a second try, when the answer to the first
 * was lost, does not decide about the next. */
static boxcar_status ask_which(struct pg_store *pg, enum pg_statement statement, boxcar_box box,
                               boxcar_str stream, boxcar_work_id *ret_work_id, boxcar_error *err) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;
    AUTO_RESULT PGresult *result = NULL;
    boxcar_status status;

    pg_params_int2(&params, box);
    pg_params_text(&params, stream);
    status = pg_query(pg, statement, &params, &result, err);
    if (status == BOXCAR_OK)
        ret_work_id->value = pg_get_int8(result, 0, 0);
    return status;
}

/* The dead letter that had halted the stream is not any more. */
static bool is_replayed(struct boxcar_store *store, boxcar_box box, boxcar_work_id killer) {
    struct message_rows *list;
    bool replayed;

    if (pg_find(store, box, (boxcar_message_ref){.work_id = killer}, &list, NULL) != BOXCAR_OK)
        return false;
    replayed = list->items[0].status != BOXCAR_FAILED;
    list_free(list);
    return replayed;
}

static boxcar_status resume_halt(struct boxcar_store *store, boxcar_box box, boxcar_str stream,
                                 boxcar_work_id killer, bool replay, boxcar_error *err) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;
    AUTO_RESULT PGresult *result = NULL;
    boxcar_error why = BOXCAR_ERROR_INIT;
    boxcar_status status;

    pg_params_int2(&params, box);
    pg_params_text(&params, stream);
    if (killer.value > 0)
        pg_params_int8(&params, killer.value);
    else
        pg_params_null(&params, PG_INT8);
    pg_params_bool(&params, replay);
    status = pg_query(pg_store_of(store), PG_RESUME_HALT, &params, &result, &why);
    /* A second try may find that the first has resumed it. */
    if (why.outcome_unknown && killer.value > 0 &&
        (status == BOXCAR_E_CONFLICT || status == BOXCAR_E_NOT_FOUND) &&
        (!replay || is_replayed(store, box, killer)))
        return BOXCAR_OK;
    if (status != BOXCAR_OK && err)
        *err = why;
    return status;
}

/* A skip gives up the message that halted the stream, or else its head. */
boxcar_status pg_stream_change(struct boxcar_store *store, boxcar_box box, boxcar_str stream,
                               enum stream_action action, boxcar_work_id *ret_work_id, boxcar_error *err) {
    boxcar_message_ref ref = {.work_id = {0}};
    boxcar_status status = ask_which(pg_store_of(store), PG_HALTED_BY, box, stream, &ref.work_id, err);

    if (status == BOXCAR_OK && (action != STREAM_SKIP || ref.work_id.value > 0)) {
        status = resume_halt(store, box, stream, ref.work_id, action == STREAM_REPLAY, err);
    } else if (status == BOXCAR_OK) {
        status = ask_which(pg_store_of(store), PG_STREAM_HEAD, box, stream, &ref.work_id, err);
        if (status == BOXCAR_OK)
            status = pg_cancel(store, box, ref, err);
    }
    if (status == BOXCAR_OK)
        *ret_work_id = ref.work_id;
    return status;
}

/* ---- rules ---- */

/* A second try, when the answer to the first was lost, may find that the first has removed it. */
static boxcar_status remove_rule(struct boxcar_store *store, boxcar_str pattern, boxcar_error *err) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;
    AUTO_RESULT PGresult *result = NULL;
    bool repeated = false;
    boxcar_status status;

    pg_params_text(&params, pattern);
    pg_params_null(&params, PG_BOOL);
    status = pg_query_telling(pg_store_of(store), PG_STREAM_RULE, &params, &result, &repeated, err);
    if (status == BOXCAR_OK && !pg_get_bool(result, 0, 0) && !repeated)
        status = error_set(err, BOXCAR_E_NOT_FOUND, "there is no rule for \"%.*s\"", (int)pattern.len,
                           pattern.data);
    return status;
}

boxcar_status pg_stream_rule_write(struct boxcar_store *store, boxcar_str pattern,
                                   boxcar_stream_policy policy, boxcar_error *err) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;
    AUTO_RESULT PGresult *result = NULL;

    if (policy == BOXCAR_STREAM_DEFAULT)
        return remove_rule(store, pattern, err);
    pg_params_text(&params, pattern);
    pg_params_bool(&params, policy == BOXCAR_STREAM_HALT);
    return pg_query(pg_store_of(store), PG_STREAM_RULE, &params, &result, err);
}

static void read_rule(const PGresult *r, int row, void *item) {
    boxcar_stream_rule *rule = item;

    rule->pattern = pg_get_text(r, row, 0);
    rule->policy = pg_get_bool(r, row, 1) ? BOXCAR_STREAM_HALT : BOXCAR_STREAM_CONTINUE;
}

boxcar_status pg_stream_rules(struct boxcar_store *store, struct stream_rule_rows **ret_list,
                              boxcar_error *err) {
    struct pg_params none = PG_PARAMS_INIT;
    PGresult *result = NULL;
    boxcar_status status = pg_query(pg_store_of(store), PG_STREAM_RULES, &none, &result, err);

    return status == BOXCAR_OK ? PG_INTO_LIST(result, read_rule, ret_list, err) : status;
}
