#include "base/options.h"
#include "check.h"
#include "core/names.h"
#include "store/store.h"

/* ---- looking ---- */

boxcar_status boxcar_stream_page(boxcar_store *store, const boxcar_stream_filter *filter,
                                 boxcar_stream_list **ret_list, boxcar_error *err) {
    boxcar_stream_filter checked = BOXCAR_STREAM_FILTER_INIT;
    struct stream_rows *rows;

    TRY(check_read(store, ret_list, err));
    TRY(options_read(&checked, sizeof(checked), filter, "filter", err));
    TRY(limits_check_stream_filter(&checked, err));
    TRY(store->ops->stream_page(store, &checked, BOXCAR_NO_STR, &rows, err));
    return LIST_GIVE(rows, ret_list, err);
}

boxcar_status boxcar_stream_find(boxcar_store *store, boxcar_box box, boxcar_str stream,
                                 boxcar_stream_list **ret_list, boxcar_error *err) {
    boxcar_stream_filter filter = BOXCAR_STREAM_FILTER_INIT;
    struct stream_rows *rows;

    TRY(check_store_and_reader(store, box, err));
    TRY(limits_check_stream(stream, "stream", err));
    TRY(check_given(ret_list, "ret_list", err));
    filter.box = box;
    filter.limit = 1;
    TRY(store->ops->stream_page(store, &filter, stream, &rows, err));
    if (rows->count == 0) {
        list_free(rows);
        return error_set(err, BOXCAR_E_NOT_FOUND,
                         "the %s has no such stream: nothing of it is unfinished, and it is not halted",
                         reader_kind(box));
    }
    return LIST_GIVE(rows, ret_list, err);
}

boxcar_status boxcar_stream_violation_count(boxcar_store *store, int64_t *ret_count, boxcar_error *err) {
    struct store_facts facts;

    TRY(check_given(store, "store", err));
    TRY(check_given(ret_count, "ret_count", err));
    TRY(store->ops->facts(store, &facts, err));
    *ret_count = facts.violations;
    return BOXCAR_OK;
}

/* ---- deciding what becomes of one ---- */

static const struct {
    const char *event, *text;
} ACTIONS[] = {
    [STREAM_RESUME] = {"stream_resume", "stream resumed"},
    [STREAM_REPLAY] = {"stream_resume", "stream resumed with the message that halted it"},
    [STREAM_SKIP] = {"stream_skip", "stream goes on behind a message that was given up"},
};

static boxcar_status change(boxcar_store *store, boxcar_box box, boxcar_str stream, enum stream_action action,
                            boxcar_work_id *ret_work_id, boxcar_error *err) {
    const boxcar_log_field field = {"stream", stream};
    boxcar_work_id work_id = {0};

    TRY(check_store_and_reader(store, box, err));
    TRY(limits_check_stream(stream, "stream", err));
    TRY(store->ops->stream_change(store, box, stream, action, &work_id, err));
    store_log(store, BOXCAR_LOG_INFO, ACTIONS[action].event, &field, 1, "%s", ACTIONS[action].text);
    if (ret_work_id)
        *ret_work_id = work_id;
    return BOXCAR_OK;
}

boxcar_status boxcar_stream_resume(boxcar_store *store, boxcar_box box, boxcar_str stream, bool replay,
                                   boxcar_error *err) {
    return change(store, box, stream, replay ? STREAM_REPLAY : STREAM_RESUME, NULL, err);
}

boxcar_status boxcar_stream_skip(boxcar_store *store, boxcar_box box, boxcar_str stream,
                                 boxcar_work_id *ret_work_id, boxcar_error *err) {
    return change(store, box, stream, STREAM_SKIP, ret_work_id, err);
}

/* ---- rules ---- */

boxcar_status boxcar_stream_rule_write(boxcar_store *store, boxcar_str pattern, boxcar_stream_policy policy,
                                       boxcar_error *err) {
    TRY(check_given(store, "store", err));
    TRY(limits_check_stream_pattern(pattern, err));
    TRY(limits_check_stream_policy(policy, err));
    TRY(store->ops->stream_rule_write(store, pattern, policy, err));
    const char *name = policy == BOXCAR_STREAM_DEFAULT ? "default" : boxcar_stream_policy_name(policy);
    const boxcar_log_field fields[] = {{"pattern", pattern}, {"policy", boxcar_str_of(name)}};
    store_log(store, BOXCAR_LOG_INFO, "stream_policy", fields, 2, "changed the policy of streams");
    return BOXCAR_OK;
}

boxcar_status boxcar_stream_rule_read(boxcar_store *store, boxcar_stream_rule_list **ret_list,
                                      boxcar_error *err) {
    struct stream_rule_rows *rows;

    TRY(check_read(store, ret_list, err));
    TRY(store->ops->stream_rules(store, &rows, err));
    return LIST_GIVE(rows, ret_list, err);
}
