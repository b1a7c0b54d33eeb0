#include <stdlib.h>

#include "base/options.h"
#include "base/utf8.h"
#include "check.h"
#include "core/limits/limits.h"
#include "store/store.h"

static boxcar_status check_store_and_output(const boxcar_store *store, const void *output,
                                            const char *argument, boxcar_error *err) {
    boxcar_status status = check_given(store, "store", err);

    return status == BOXCAR_OK ? check_given(output, argument, err) : status;
}

/* ---- looking ---- */

boxcar_status boxcar_stream_page(boxcar_store *store, const boxcar_stream_filter *filter,
                                 boxcar_stream_list **ret_list, boxcar_error *err) {
    boxcar_stream_filter checked = BOXCAR_STREAM_FILTER_INIT;
    struct stream_rows *rows = NULL;
    boxcar_status status = check_store_and_output(store, ret_list, "ret_list", err);

    if (status == BOXCAR_OK)
        status = options_read(&checked, sizeof(checked), filter, "filter", err);
    if (status == BOXCAR_OK)
        status = limits_check_stream_filter(&checked, err);
    if (status == BOXCAR_OK)
        status = store->ops->stream_page(store, &checked, BOXCAR_NO_STR, &rows, err);
    return status == BOXCAR_OK ? LIST_GIVE(rows, ret_list, err) : status;
}

static boxcar_status check_key(const boxcar_store *store, boxcar_box box, boxcar_str stream,
                               boxcar_error *err) {
    boxcar_status status = check_given(store, "store", err);

    if (status == BOXCAR_OK)
        status = limits_check_box(box, err);
    return status == BOXCAR_OK ? limits_check_stream(stream, "stream", err) : status;
}

boxcar_status boxcar_stream_find(boxcar_store *store, boxcar_box box, boxcar_str stream,
                                 boxcar_stream_list **ret_list, boxcar_error *err) {
    boxcar_stream_filter filter = BOXCAR_STREAM_FILTER_INIT;
    struct stream_rows *list = NULL;
    boxcar_status status = check_key(store, box, stream, err);

    if (status == BOXCAR_OK)
        status = check_given(ret_list, "ret_list", err);
    filter.box = box;
    filter.limit = 1;
    if (status == BOXCAR_OK)
        status = store->ops->stream_page(store, &filter, stream, &list, err);
    if (status != BOXCAR_OK)
        return status;
    if (list->count == 0) {
        list_free(list);
        return error_set(err, BOXCAR_E_NOT_FOUND,
                         "the %s has no such stream: nothing of it is unfinished, and it is not halted",
                         boxcar_box_name(box));
    }
    return LIST_GIVE(list, ret_list, err);
}

boxcar_status boxcar_stream_violation_count(boxcar_store *store, int64_t *ret_count, boxcar_error *err) {
    struct store_facts facts;
    boxcar_status status = check_store_and_output(store, ret_count, "ret_count", err);

    if (status == BOXCAR_OK)
        status = store->ops->facts(store, &facts, err);
    if (status == BOXCAR_OK)
        *ret_count = facts.violations;
    return status;
}

/* ---- deciding what becomes of one ---- */

static void log_stream(const boxcar_store *store, const char *event, boxcar_str stream, const char *text) {
    boxcar_log_field fields[] = {{"stream", stream}};

    store_log(store, BOXCAR_LOG_INFO, event, fields, 1, "%s", text);
}

boxcar_status boxcar_stream_resume(boxcar_store *store, boxcar_box box, boxcar_str stream, bool replay,
                                   boxcar_error *err) {
    boxcar_work_id work_id;
    boxcar_status status = check_key(store, box, stream, err);

    if (status == BOXCAR_OK)
        status = store->ops->stream_change(store, box, stream, replay ? STREAM_REPLAY : STREAM_RESUME,
                                           &work_id, err);
    if (status == BOXCAR_OK)
        log_stream(store, "stream_resume", stream,
                   replay ? "stream resumed with the message that halted it" : "stream resumed");
    return status;
}

boxcar_status boxcar_stream_skip(boxcar_store *store, boxcar_box box, boxcar_str stream,
                                 boxcar_work_id *ret_work_id, boxcar_error *err) {
    boxcar_work_id work_id = {0};
    boxcar_status status = check_key(store, box, stream, err);

    if (status == BOXCAR_OK)
        status = store->ops->stream_change(store, box, stream, STREAM_SKIP, &work_id, err);
    if (status != BOXCAR_OK)
        return status;
    log_stream(store, "stream_skip", stream, "stream goes on behind a message that was given up");
    if (ret_work_id)
        *ret_work_id = work_id;
    return BOXCAR_OK;
}

/* ---- rules ---- */

static void log_rule(const boxcar_store *store, boxcar_str pattern, const char *policy) {
    boxcar_log_field fields[] = {{"pattern", pattern}, {"policy", boxcar_str_of(policy)}};

    store_log(store, BOXCAR_LOG_INFO, "stream_policy", fields, 2, "changed the policy of streams");
}

boxcar_status boxcar_stream_rule_write(boxcar_store *store, boxcar_str pattern, boxcar_stream_policy policy,
                                       boxcar_error *err) {
    boxcar_status status = check_given(store, "store", err);

    if (status == BOXCAR_OK)
        status = limits_check_stream_pattern(pattern, err);
    if (status == BOXCAR_OK)
        status = limits_check_stream_policy(policy, err);
    if (status == BOXCAR_OK)
        status = store->ops->stream_rule_write(store, pattern, policy, err);
    if (status == BOXCAR_OK)
        log_rule(store, pattern,
                 policy == BOXCAR_STREAM_DEFAULT ? "default" : boxcar_stream_policy_name(policy));
    return status;
}

boxcar_status boxcar_stream_rule_read(boxcar_store *store, boxcar_stream_rule_list **ret_list,
                                      boxcar_error *err) {
    struct stream_rule_rows *rows = NULL;
    boxcar_status status = check_store_and_output(store, ret_list, "ret_list", err);

    if (status == BOXCAR_OK)
        status = store->ops->stream_rules(store, &rows, err);
    return status == BOXCAR_OK ? LIST_GIVE(rows, ret_list, err) : status;
}
