/* Streams and their rules. */
#include "stream.h"

#include "base/error.h"
#include "core/names.h"
#include "store/postgres/admin/admin.h"
#include "store/postgres/connection/error.h"
#include "store/postgres/connection/query.h"
#include "store/postgres/message/inspect.h"

/* ---- streams ---- */

static void read_stream(const PGresult *r, int row, void *item) {
    boxcar_stream *stream = item;

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
    TRY(pg_ask_list(pg_store_of(store), PG_STREAM_PAGE, read_stream, ret_list, err, P_INT2(filter->box),
                    P_TEXT(stream), P_BOOL(filter->halted),
                    P_TEXT(filter->prefix.data ? filter->prefix : BOXCAR_STR("")),
                    P_TEXT(filter->after.data ? filter->after : BOXCAR_STR("")), P_INT4(filter->limit)));
    for (size_t i = 0; i < (*ret_list)->count; i++)
        (*ret_list)->items[i].box = filter->box;
    return BOXCAR_OK;
}

/* ---- resume and skip ---- */

/* Whatever changes a stream names the message it is about, so that a second try, when the answer to the first
 * was lost, does not decide about the next. */
static boxcar_status ask_which(struct pg_store *pg, enum pg_statement statement, boxcar_box box,
                               boxcar_str stream, boxcar_work_id *ret_work_id, boxcar_error *err) {
    AUTO_RESULT PGresult *result = NULL;

    TRY(pg_ask(pg, statement, &result, err, P_INT2(box), P_TEXT(stream)));
    ret_work_id->value = pg_get_int8(result, 0, 0);
    return BOXCAR_OK;
}

/* The dead letter that had halted the stream is not any more. */
static bool is_replayed(struct boxcar_store *store, boxcar_box box, boxcar_work_id killer) {
    boxcar_message message;

    return pg_glance(store, box, (boxcar_message_ref){.work_id = killer}, &message) &&
           message.status != BOXCAR_FAILED;
}

static boxcar_status resume_halt(struct boxcar_store *store, boxcar_box box, boxcar_str stream,
                                 boxcar_work_id killer, bool replay, boxcar_error *err) {
    boxcar_error why = BOXCAR_ERROR_INIT;
    boxcar_status status = pg_do(pg_store_of(store), PG_RESUME_HALT, &why, P_INT2(box), P_TEXT(stream),
                                 P_INT8_OR_NULL(killer.value), P_BOOL(replay));

    /* A second try may find that the first has resumed it. */
    if (why.outcome_unknown && killer.value > 0 &&
        (status == BOXCAR_E_CONFLICT || status == BOXCAR_E_NOT_FOUND) &&
        (!replay || is_replayed(store, box, killer)))
        return BOXCAR_OK;
    return pg_error_pass(status, &why, err);
}

/* A skip gives up the message that halted the stream, or else its head. */
boxcar_status pg_stream_change(struct boxcar_store *store, boxcar_box box, boxcar_str stream,
                               enum stream_action action, boxcar_work_id *ret_work_id, boxcar_error *err) {
    boxcar_message_ref ref = {.work_id = {0}};

    TRY(ask_which(pg_store_of(store), PG_HALTED_BY, box, stream, &ref.work_id, err));
    if (action != STREAM_SKIP || ref.work_id.value > 0) {
        TRY(resume_halt(store, box, stream, ref.work_id, action == STREAM_REPLAY, err));
    } else {
        TRY(ask_which(pg_store_of(store), PG_STREAM_HEAD, box, stream, &ref.work_id, err));
        TRY(pg_cancel(store, box, ref, err));
    }
    *ret_work_id = ref.work_id;
    return BOXCAR_OK;
}

/* ---- rules ---- */

/* A second try, when the answer to the first was lost, may find that the first has removed the rule. */
boxcar_status pg_stream_rule_write(struct boxcar_store *store, boxcar_str pattern,
                                   boxcar_stream_policy policy, boxcar_error *err) {
    struct pg_store *pg = pg_store_of(store);
    bool removes = policy == BOXCAR_STREAM_DEFAULT;
    AUTO_RESULT PGresult *result = NULL;

    TRY(pg_ask(pg, PG_STREAM_RULE, &result, err, P_TEXT(pattern),
               removes ? P_NULL(PG_BOOL) : P_BOOL(policy == BOXCAR_STREAM_HALT)));
    if (removes && !pg_get_bool(result, 0, 0) && !pg->repeated)
        return error_set(err, BOXCAR_E_NOT_FOUND, "there is no rule for \"%.*s\"", (int)pattern.len,
                         pattern.data);
    return BOXCAR_OK;
}

static void read_rule(const PGresult *r, int row, void *item) {
    boxcar_stream_rule *rule = item;

    rule->pattern = pg_get_text(r, row, 0);
    rule->policy = pg_get_bool(r, row, 1) ? BOXCAR_STREAM_HALT : BOXCAR_STREAM_CONTINUE;
}

boxcar_status pg_stream_rules(struct boxcar_store *store, struct stream_rule_rows **ret_list,
                              boxcar_error *err) {
    return pg_ask_list(pg_store_of(store), PG_STREAM_RULES, read_rule, ret_list, err);
}
