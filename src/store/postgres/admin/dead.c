#include "admin.h"

#include "base/error.h"
#include "base/utf8.h"
#include "store/postgres/connection/error.h"
#include "store/postgres/connection/query.h"
#include "store/postgres/join/join.h"
#include "store/postgres/message/inspect.h"

static size_t count_refs(const boxcar_dead_filter *filter, bool by_work_id) {
    size_t count = 0;

    for (size_t i = 0; i < filter->ref_count; i++)
        count += (filter->refs[i].work_id.value > 0) == by_work_id;
    return count;
}

static void add_refs(struct pg_params *params, const boxcar_dead_filter *filter) {
    struct buf *array;

    if (filter->ref_count == 0) {
        pg_params_add(params, P_NULL(PG_INT8_ARRAY), P_NULL(PG_UUID_ARRAY));
        return;
    }
    array = pg_params_array_begin(params, PG_INT8_ARRAY, count_refs(filter, true));
    for (size_t i = 0; i < filter->ref_count; i++)
        if (filter->refs[i].work_id.value > 0)
            pg_array_int8(array, filter->refs[i].work_id.value);
    array = pg_params_array_begin(params, PG_UUID_ARRAY, count_refs(filter, false));
    for (size_t i = 0; i < filter->ref_count; i++)
        if (filter->refs[i].work_id.value <= 0)
            pg_array_uuid(array, filter->refs[i].message_id.uuid.bytes);
}

static void add_choice(struct pg_params *params, const struct message_choice *choice) {
    const boxcar_dead_filter *filter = choice->dead;

    pg_params_add(params, P_INT2(filter->box), P_TOPIC(filter->topic),
                  filter->reason == BOXCAR_REASON_NONE ? P_NULL(PG_INT2) : P_INT2(filter->reason),
                  P_TIME(filter->before));
    add_refs(params, filter);
    pg_params_add(params, P_INT8_OR_NULL(choice->after.value), P_INT4(choice->limit));
}

boxcar_status pg_dead_page(struct boxcar_store *store, const struct message_choice *choice,
                           struct message_rows **ret_list, boxcar_error *err) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;
    PGresult *result;

    add_choice(&params, choice);
    TRY(pg_query(pg_store_of(store), PG_DEAD_PAGE, &params, &result, err));
    return pg_rows_into_list(result, PG_LIST_KIND(pg_read_message, ret_list), ret_list, err);
}

static bool is_replayed_with(struct boxcar_store *store, boxcar_box reader, boxcar_work_id work_id,
                             boxcar_str note) {
    struct attempt_rows *list;
    bool found = false;

    if (pg_attempts(store, reader, work_id, &list, NULL) != BOXCAR_OK)
        return false;
    for (size_t i = 0; i < list->count; i++)
        found = found || (str_equal(list->items[i].outcome, BOXCAR_STR("replayed")) &&
                          str_equal(list->items[i].error, note));
    list_free(list);
    return found;
}

/* How many of the messages named are no dead letters any more, because of a replay with this note. */
static int64_t count_replayed(struct boxcar_store *store, const boxcar_dead_filter *filter, boxcar_str note) {
    boxcar_message message;
    int64_t count = 0;

    for (size_t i = 0; i < filter->ref_count; i++)
        count += pg_glance(store, filter->box, filter->refs[i], &message) &&
                 message.status != BOXCAR_FAILED &&
                 is_replayed_with(store, filter->box, message.work_id, note);
    return count;
}

/* When the answer to a first try was lost, the second may find none of those that are named: the first has
 * replayed them. What conditions choose is counted from the second try on. */
static boxcar_status act(struct boxcar_store *store, const struct message_choice *choice,
                         enum message_action action, boxcar_str note, struct message_change *ret_change,
                         boxcar_error *err) {
    struct pg_store *pg = pg_store_of(store);
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;
    AUTO_RESULT PGresult *result = NULL;

    add_choice(&params, choice);
    pg_params_add(&params, P_BOOL(action == MESSAGE_REPLAY), P_TEXT(note));
    pg_look_for_ends(pg);
    TRY(pg_query(pg, PG_DEAD_ACT, &params, &result, err));
    bool may_be_replayed = pg->repeated && choice->after.value == 0 && action == MESSAGE_REPLAY;
    ret_change->count = pg_get_int8(result, 0, 0);
    ret_change->oldest.value = pg_get_int8(result, 0, 1);
    store_log_replayed_steps(store, pg_get_int8(result, 0, 2));
    pg_log_ended(pg, result, 3);
    if (may_be_replayed && ret_change->count == 0)
        ret_change->count = count_replayed(store, choice->dead, note);
    return BOXCAR_OK;
}

/* When the answer to a first try was lost, the second may find the message cancelled: by the first. */
boxcar_status pg_cancel(struct boxcar_store *store, boxcar_box box, boxcar_message_ref ref,
                        boxcar_error *err) {
    struct pg_store *pg = pg_store_of(store);
    AUTO_RESULT PGresult *result = NULL;
    boxcar_error why = BOXCAR_ERROR_INIT;
    boxcar_message message;

    pg_look_for_ends(pg);
    boxcar_status status = pg_ask(pg, PG_CANCEL, &result, &why, P_INT2(box), P_REF(ref));
    if (status == BOXCAR_OK)
        pg_log_ended(pg, result, 0);
    if (status == BOXCAR_E_CONFLICT && why.outcome_unknown && pg_glance(store, box, ref, &message) &&
        message.reason == BOXCAR_REASON_CANCELLED)
        return BOXCAR_OK;
    return pg_error_pass(status, &why, err);
}

boxcar_status pg_message_change(struct boxcar_store *store, const struct message_choice *choice,
                                enum message_action action, boxcar_str note,
                                struct message_change *ret_change, boxcar_error *err) {
    if (action != MESSAGE_CANCEL)
        return act(store, choice, action, note, ret_change, err);
    TRY(pg_cancel(store, choice->box, choice->ref, err));
    *ret_change = (struct message_change){.count = 1};
    return BOXCAR_OK;
}
