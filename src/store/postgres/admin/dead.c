#include "dead.h"

#include "base/error.h"
#include "base/utf8.h"
#include "store/postgres/connection/query.h"
#include "store/postgres/join/join.h"
#include "store/postgres/message/inspect.h"
#include "store/postgres/statement/choice.h"
#include "store/postgres/statement/params.h"
#include "store/postgres/statement/rows.h"

static size_t count_refs(const boxcar_dead_filter *filter, bool by_work_id) {
    size_t count = 0;

    for (size_t i = 0; i < filter->ref_count; i++)
        count += (filter->refs[i].work_id.value > 0) == by_work_id;
    return count;
}

static void add_refs(struct pg_params *params, const boxcar_dead_filter *filter) {
    struct buf *array;

    if (filter->ref_count == 0) {
        pg_params_null(params, PG_INT8_ARRAY);
        pg_params_null(params, PG_UUID_ARRAY);
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

    pg_params_int2(params, filter->box);
    pg_params_topic(params, filter->topic);
    if (filter->reason == BOXCAR_REASON_NONE)
        pg_params_null(params, PG_INT2);
    else
        pg_params_int2(params, (int)filter->reason);
    pg_params_time(params, filter->before);
    add_refs(params, filter);
    pg_params_after(params, choice->after);
    pg_params_int4(params, choice->limit);
}

boxcar_status pg_dead_page(struct boxcar_store *store, const struct message_choice *choice,
                           struct message_rows **ret_list, boxcar_error *err) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;
    PGresult *result;
    boxcar_status status;

    add_choice(&params, choice);
    status = pg_query(pg_store_of(store), PG_DEAD_PAGE, &params, &result, err);
    return status == BOXCAR_OK ? pg_items_into_list(result, ret_list, err) : status;
}

static bool is_replayed_with(struct boxcar_store *store, boxcar_work_id work_id, boxcar_str note) {
    struct attempt_rows *list;
    bool found = false;

    if (pg_attempts(store, work_id, &list, NULL) != BOXCAR_OK)
        return false;
    for (size_t i = 0; i < list->count; i++)
        found = found || (str_equal(list->items[i].outcome, BOXCAR_STR("replayed")) &&
                          str_equal(list->items[i].error, note));
    list_free(list);
    return found;
}

/* How many of the messages named are no dead letters any more, because of a replay with this note. */
static int64_t count_replayed(struct boxcar_store *store, const boxcar_dead_filter *filter, boxcar_str note) {
    int64_t count = 0;

    for (size_t i = 0; i < filter->ref_count; i++) {
        struct message_rows *list;

        if (pg_find(store, filter->box, filter->refs[i], &list, NULL) != BOXCAR_OK)
            continue;
        count +=
            list->items[0].status != BOXCAR_FAILED && is_replayed_with(store, list->items[0].work_id, note);
        list_free(list);
    }
    return count;
}

/* When the answer to a first try was lost, the second may find none of those that are named: the first has
 * replayed them. What conditions choose is counted from the second try on. */
static boxcar_status act(struct boxcar_store *store, const struct message_choice *choice,
                         enum message_action action, boxcar_str note, struct message_change *ret_change,
                         boxcar_error *err) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;
    AUTO_RESULT PGresult *result = NULL;
    bool is_first = choice->after.value == 0, repeated = false;
    boxcar_status status;

    add_choice(&params, choice);
    pg_params_bool(&params, action == MESSAGE_REPLAY);
    pg_params_text(&params, note);
    pg_look_for_ends(pg_store_of(store));
    status = pg_query_telling(pg_store_of(store), PG_DEAD_ACT, &params, &result, &repeated, err);
    if (status == BOXCAR_OK) {
        ret_change->count = pg_get_int8(result, 0, 0);
        ret_change->oldest.value = pg_get_int8(result, 0, 1);
        store_log_replayed_steps(store, pg_get_int8(result, 0, 2));
        pg_log_ended(pg_store_of(store), result, 3);
        if (repeated && is_first && action == MESSAGE_REPLAY && ret_change->count == 0)
            ret_change->count = count_replayed(store, choice->dead, note);
    }
    return status;
}

static bool is_cancelled(struct boxcar_store *store, boxcar_box box, boxcar_message_ref ref) {
    struct message_rows *list;
    bool cancelled;

    if (pg_find(store, box, ref, &list, NULL) != BOXCAR_OK)
        return false;
    cancelled = list->items[0].reason == BOXCAR_REASON_CANCELLED;
    list_free(list);
    return cancelled;
}

/* When the answer to a first try was lost, the second may find the message cancelled: by the first. */
boxcar_status pg_cancel(struct boxcar_store *store, boxcar_box box, boxcar_message_ref ref,
                        boxcar_error *err) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;
    AUTO_RESULT PGresult *result = NULL;
    boxcar_error why = BOXCAR_ERROR_INIT;
    boxcar_status status;

    pg_params_int2(&params, box);
    pg_params_ref(&params, ref);
    pg_look_for_ends(pg_store_of(store));
    status = pg_query(pg_store_of(store), PG_CANCEL, &params, &result, &why);
    if (status == BOXCAR_OK)
        pg_log_ended(pg_store_of(store), result, 0);
    if (status == BOXCAR_E_CONFLICT && why.outcome_unknown && is_cancelled(store, box, ref))
        return BOXCAR_OK;
    if (status != BOXCAR_OK && err)
        *err = why;
    return status;
}

boxcar_status pg_message_change(struct boxcar_store *store, const struct message_choice *choice,
                                enum message_action action, boxcar_str note,
                                struct message_change *ret_change, boxcar_error *err) {
    boxcar_status status;

    if (action != MESSAGE_CANCEL)
        return act(store, choice, action, note, ret_change, err);
    status = pg_cancel(store, choice->box, choice->ref, err);
    if (status == BOXCAR_OK)
        *ret_change = (struct message_change){.count = 1};
    return status;
}
