#include <inttypes.h>
#include <stdio.h>

#include "base/memory.h"
#include "base/options.h"
#include "base/utf8.h"
#include "check.h"
#include "core/limits/limits.h"
#include "core/wait.h"
#include "store/join_log.h"
#include "store/store.h"

static boxcar_str empty_is_absent(boxcar_str text) { return str_is_empty(text) ? BOXCAR_NO_STR : text; }

static boxcar_status no_randomness(const char *ids, boxcar_error *err) {
    return error_set(err, BOXCAR_E_UNAVAILABLE, "the system gives no randomness for %s", ids);
}

/* ---- starting and filling ---- */

static void log_started(const boxcar_store *store, const boxcar_new_join *join) {
    char join_id[BOXCAR_UUID_TEXT_SIZE], steps[24];
    boxcar_log_field fields[] = {
        {"join_id", BOXCAR_NO_STR}, {"grouping_key", join->grouping_key}, {"expected_steps", BOXCAR_NO_STR}};

    if (!store_logs(store, BOXCAR_LOG_INFO))
        return;
    boxcar_uuid_format(join->join_id.uuid, join_id);
    snprintf(steps, sizeof(steps), "%" PRId64, join->expected_steps);
    fields[0].value = boxcar_str_of(join_id);
    fields[2].value = boxcar_str_of(steps);
    store_log(store, BOXCAR_LOG_INFO, "join_start", fields, sizeof(fields) / sizeof(fields[0]),
              "join started, %s steps expected", steps);
}

/* Reads what the caller gave into the form that stores want: checked, and with an id. */
static boxcar_status read_join(const boxcar_new_join *given, boxcar_new_join *ret_join, boxcar_error *err) {
    boxcar_new_join join = BOXCAR_NEW_JOIN_INIT;
    boxcar_status status = options_read(&join, sizeof(join), given, "join", err);

    if (status == BOXCAR_OK)
        status = limits_check_new_join(&join, err);
    if (status != BOXCAR_OK)
        return status;
    join.grouping_key = empty_is_absent(join.grouping_key);
    if (boxcar_uuid_is_none(join.join_id.uuid))
        join.join_id.uuid = boxcar_uuid_new();
    if (boxcar_uuid_is_none(join.join_id.uuid))
        return no_randomness("join ids", err);
    *ret_join = join;
    return BOXCAR_OK;
}

boxcar_status boxcar_join_start(boxcar_store *store, const boxcar_new_join *join, boxcar_join_id *ret_join_id,
                                boxcar_error *err) {
    boxcar_new_join checked;
    boxcar_status status = check_given(store, "store", err);

    if (status == BOXCAR_OK)
        status = check_given(ret_join_id, "ret_join_id", err);
    if (status == BOXCAR_OK)
        status = read_join(join, &checked, err);
    if (status == BOXCAR_OK)
        status = store->ops->join_start(store, &checked, err);
    if (status != BOXCAR_OK)
        return status;
    log_started(store, &checked);
    *ret_join_id = checked.join_id;
    return BOXCAR_OK;
}

static boxcar_status attach_checked(boxcar_store *store, boxcar_join_id join_id,
                                    const boxcar_message_id *message_ids, size_t count,
                                    boxcar_attached *ret_attached, boxcar_error *err) {
    boxcar_status status = store->ops->join_attach(store, join_id, message_ids, count, ret_attached, err);

    for (size_t i = 0; status == BOXCAR_OK && store_logs(store, BOXCAR_LOG_DEBUG) && i < count; i++) {
        if (ret_attached[i].is_new)
            join_log_attached(store, join_id, message_ids[i]);
    }
    return status;
}

boxcar_status boxcar_join_attach(boxcar_store *store, boxcar_join_id join_id,
                                 const boxcar_message_id *message_ids, size_t count,
                                 boxcar_attached *ret_attached, boxcar_error *err) {
    AUTO_FREE boxcar_attached *attached = NULL;
    boxcar_status status = check_given(store, "store", err);

    if (status == BOXCAR_OK)
        status = limits_check_join_id(join_id, "join_id", err);
    if (status == BOXCAR_OK)
        status = limits_check_message_ids(message_ids, count, err);
    if (status != BOXCAR_OK || count == 0)
        return status;
    status = answer_check(ret_attached, "ret_attached", err);
    if (status != BOXCAR_OK)
        return status;
    attached = calloc(count, sizeof(*attached));
    status =
        attached ? attach_checked(store, join_id, message_ids, count, attached, err) : error_no_memory(err);
    if (status == BOXCAR_OK)
        answers_write(ret_attached, attached, count, sizeof(*attached));
    return status;
}

static void log_change(boxcar_store *store, const struct join_change *change) {
    if (change->ended)
        join_log_ended(store, &change->join, 1);
}

boxcar_status boxcar_join_report(boxcar_store *store, boxcar_join_id join_id, boxcar_message_id message_id,
                                 boxcar_member_status outcome, bool *ret_counted, boxcar_error *err) {
    const struct step_end step = {message_id, outcome};
    struct join_change change = {.counted = false};
    boxcar_status status = check_given(store, "store", err);

    if (status == BOXCAR_OK)
        status = limits_check_join_id(join_id, "join_id", err);
    if (status == BOXCAR_OK)
        status = limits_check_message_id(message_id, "message_id", err);
    if (status == BOXCAR_OK)
        status = limits_check_join_outcome(outcome, err);
    if (status == BOXCAR_OK)
        status = store->ops->join_end(store, join_id, &step, &change, err);
    if (status != BOXCAR_OK)
        return status;
    log_change(store, &change);
    if (ret_counted)
        *ret_counted = change.counted;
    return BOXCAR_OK;
}

boxcar_status boxcar_join_cancel(boxcar_store *store, boxcar_join_id join_id, boxcar_error *err) {
    struct join_change change = {.ended = false};
    boxcar_status status = check_given(store, "store", err);

    if (status == BOXCAR_OK)
        status = limits_check_join_id(join_id, "join_id", err);
    if (status == BOXCAR_OK)
        status = store->ops->join_end(store, join_id, NULL, &change, err);
    if (status == BOXCAR_OK)
        log_change(store, &change);
    return status;
}

/* ---- waiting ---- */

static void log_wait(const boxcar_store *store, const boxcar_new_wait *wait,
                     const boxcar_enqueued *enqueued) {
    char join_id[BOXCAR_UUID_TEXT_SIZE], message_id[BOXCAR_UUID_TEXT_SIZE], work_id[24];
    boxcar_log_field fields[] = {{"join_id", BOXCAR_NO_STR},
                                 {"correlation_id", wait->correlation_id},
                                 {"message_id", BOXCAR_NO_STR},
                                 {"work_id", BOXCAR_NO_STR}};

    if (!store_logs(store, BOXCAR_LOG_INFO))
        return;
    boxcar_uuid_format(wait->join_id.uuid, join_id);
    boxcar_uuid_format(enqueued->message_id.uuid, message_id);
    snprintf(work_id, sizeof(work_id), "%" PRId64, enqueued->work_id.value);
    fields[0].value = boxcar_str_of(join_id);
    fields[2].value = boxcar_str_of(message_id);
    fields[3].value = boxcar_str_of(work_id);
    store_log(store, BOXCAR_LOG_INFO, "join_wait", fields, sizeof(fields) / sizeof(fields[0]), "%s",
              enqueued->duplicate ? "wait is already there" : "wait enqueued");
}

static boxcar_status read_wait(const boxcar_new_wait *given, boxcar_new_wait *ret_wait, boxcar_error *err) {
    boxcar_new_wait wait = BOXCAR_NEW_WAIT_INIT;
    boxcar_status status = options_read(&wait, sizeof(wait), given, "wait", err);

    if (status == BOXCAR_OK)
        status = limits_check_new_wait(&wait, err);
    if (status != BOXCAR_OK)
        return status;
    wait.correlation_id = empty_is_absent(wait.correlation_id);
    wait.causation_id = empty_is_absent(wait.causation_id);
    if (boxcar_uuid_is_none(wait.message_id.uuid))
        wait.message_id.uuid = boxcar_uuid_new();
    if (boxcar_uuid_is_none(wait.message_id.uuid))
        return no_randomness("message ids", err);
    *ret_wait = wait;
    return BOXCAR_OK;
}

static boxcar_status wait_checked(boxcar_store *store, const boxcar_new_wait *wait,
                                  boxcar_enqueued *ret_enqueued, boxcar_error *err) {
    AUTO_BUF struct buf payload = BUF_INIT;
    struct join_change change = {.ended = false};
    boxcar_new_message message = BOXCAR_NEW_MESSAGE_INIT;
    boxcar_status status = wait_format(wait, &payload, err);

    if (status != BOXCAR_OK)
        return status;
    message.payload = (boxcar_str){payload.data, payload.len};
    message.correlation_id = wait->correlation_id;
    message.causation_id = wait->causation_id;
    message.message_id = wait->message_id;
    message.max_attempts = WAIT_MAX_ATTEMPTS;
    status = store->ops->join_wait(store, wait->join_id, &message, ret_enqueued, &change, err);
    if (status == BOXCAR_OK)
        log_change(store, &change);
    return status;
}

boxcar_status boxcar_join_wait(boxcar_store *store, const boxcar_new_wait *wait,
                               boxcar_enqueued *ret_enqueued, boxcar_error *err) {
    boxcar_new_wait checked;
    boxcar_enqueued enqueued;
    boxcar_status status = check_given(store, "store", err);

    if (status == BOXCAR_OK)
        status = read_wait(wait, &checked, err);
    if (status == BOXCAR_OK)
        status = wait_checked(store, &checked, &enqueued, err);
    if (status != BOXCAR_OK)
        return status;
    log_wait(store, &checked, &enqueued);
    if (ret_enqueued)
        *ret_enqueued = enqueued;
    return BOXCAR_OK;
}

/* ---- looking ---- */

static boxcar_status check_store_and_output(const boxcar_store *store, const void *ret_list,
                                            boxcar_error *err) {
    boxcar_status status = check_given(store, "store", err);

    return status == BOXCAR_OK ? check_given(ret_list, "ret_list", err) : status;
}

boxcar_status boxcar_join_find(boxcar_store *store, boxcar_join_id join_id, boxcar_join_list **ret_list,
                               boxcar_error *err) {
    const boxcar_join_filter everything = BOXCAR_JOIN_FILTER_INIT;
    struct join_rows *rows = NULL;
    boxcar_status status = check_store_and_output(store, ret_list, err);

    if (status == BOXCAR_OK)
        status = limits_check_join_id(join_id, "join_id", err);
    if (status == BOXCAR_OK)
        status = store->ops->join_page(store, &everything, join_id, &rows, err);
    return status == BOXCAR_OK ? LIST_GIVE(rows, ret_list, err) : status;
}

boxcar_status boxcar_join_page(boxcar_store *store, const boxcar_join_filter *filter,
                               boxcar_join_list **ret_list, boxcar_error *err) {
    boxcar_join_filter checked = BOXCAR_JOIN_FILTER_INIT;
    struct join_rows *rows = NULL;
    boxcar_status status = check_store_and_output(store, ret_list, err);

    if (status == BOXCAR_OK)
        status = options_read(&checked, sizeof(checked), filter, "filter", err);
    if (status == BOXCAR_OK)
        status = limits_check_join_filter(&checked, err);
    if (status == BOXCAR_OK)
        status = store->ops->join_page(store, &checked, (boxcar_join_id){0}, &rows, err);
    return status == BOXCAR_OK ? LIST_GIVE(rows, ret_list, err) : status;
}

boxcar_status boxcar_join_member_page(boxcar_store *store, boxcar_join_id join_id, boxcar_message_id after,
                                      int limit, boxcar_join_member_list **ret_list, boxcar_error *err) {
    struct join_member_rows *rows = NULL;
    boxcar_status status = check_store_and_output(store, ret_list, err);

    if (status == BOXCAR_OK)
        status = limits_check_join_id(join_id, "join_id", err);
    if (status == BOXCAR_OK)
        status = limits_check_limit(limit, err);
    if (status == BOXCAR_OK)
        status = store->ops->join_members(store, join_id, after, limit, &rows, err);
    return status == BOXCAR_OK ? LIST_GIVE(rows, ret_list, err) : status;
}
