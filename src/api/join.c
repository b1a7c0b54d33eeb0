#include <inttypes.h>
#include <stdio.h>

#include "base/memory.h"
#include "base/options.h"
#include "base/utf8.h"
#include "base/uuid.h"
#include "check.h"
#include "core/wait.h"
#include "store/join_log.h"
#include "store/store.h"

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

boxcar_status boxcar_join_start(boxcar_store *store, const boxcar_new_join *given,
                                boxcar_join_id *ret_join_id, boxcar_error *err) {
    boxcar_new_join join = BOXCAR_NEW_JOIN_INIT;

    TRY(check_given(store, "store", err));
    TRY(check_given(ret_join_id, "ret_join_id", err));
    TRY(options_read(&join, sizeof(join), given, "join", err));
    TRY(limits_check_new_join(&join, err));
    TRY(uuid_ensure(&join.join_id.uuid, "join ids", err));
    join.grouping_key = str_unless_empty(join.grouping_key);
    TRY(store->ops->join_start(store, &join, err));
    log_started(store, &join);
    *ret_join_id = join.join_id;
    return BOXCAR_OK;
}

boxcar_status boxcar_join_attach(boxcar_store *store, boxcar_join_id join_id,
                                 const boxcar_message_id *message_ids, size_t count,
                                 boxcar_attached *ret_attached, boxcar_error *err) {
    TRY(check_given(store, "store", err));
    TRY(limits_check_join_id(join_id, "join_id", err));
    TRY(limits_check_message_ids(message_ids, count, err));
    if (count == 0)
        return BOXCAR_OK;
    TRY(answer_check(ret_attached, "ret_attached", err));
    AUTO_FREE boxcar_attached *attached = calloc(count, sizeof(*attached));
    if (!attached)
        return error_no_memory(err);
    TRY(store->ops->join_attach(store, join_id, message_ids, count, attached, err));
    for (size_t i = 0; store_logs(store, BOXCAR_LOG_DEBUG) && i < count; i++) {
        if (attached[i].is_new)
            join_log_attached(store, join_id, message_ids[i]);
    }
    answers_write(ret_attached, attached, count, sizeof(*attached));
    return BOXCAR_OK;
}

static void log_change(boxcar_store *store, const struct join_change *change) {
    if (change->ended)
        join_log_ended(store, &change->join, 1);
}

boxcar_status boxcar_join_report(boxcar_store *store, boxcar_join_id join_id, boxcar_message_id message_id,
                                 boxcar_member_status outcome, bool *ret_counted, boxcar_error *err) {
    const struct step_end step = {message_id, outcome};
    struct join_change change = {.counted = false};

    TRY(check_given(store, "store", err));
    TRY(limits_check_join_id(join_id, "join_id", err));
    TRY(limits_check_message_id(message_id, "message_id", err));
    TRY(limits_check_join_outcome(outcome, err));
    TRY(store->ops->join_end(store, join_id, &step, &change, err));
    log_change(store, &change);
    if (ret_counted)
        *ret_counted = change.counted;
    return BOXCAR_OK;
}

boxcar_status boxcar_join_cancel(boxcar_store *store, boxcar_join_id join_id, boxcar_error *err) {
    struct join_change change = {.ended = false};

    TRY(check_given(store, "store", err));
    TRY(limits_check_join_id(join_id, "join_id", err));
    TRY(store->ops->join_end(store, join_id, NULL, &change, err));
    log_change(store, &change);
    return BOXCAR_OK;
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

boxcar_status boxcar_join_wait(boxcar_store *store, const boxcar_new_wait *given,
                               boxcar_enqueued *ret_enqueued, boxcar_error *err) {
    AUTO_BUF struct buf payload = BUF_INIT;
    boxcar_new_wait wait = BOXCAR_NEW_WAIT_INIT;
    boxcar_new_message message = BOXCAR_NEW_MESSAGE_INIT;
    struct join_change change = {.ended = false};
    boxcar_enqueued enqueued;

    TRY(check_given(store, "store", err));
    TRY(options_read(&wait, sizeof(wait), given, "wait", err));
    TRY(limits_check_new_wait(&wait, err));
    TRY(uuid_ensure(&wait.message_id.uuid, "message ids", err));
    TRY(wait_format(&wait, &payload, err));
    wait.correlation_id = str_unless_empty(wait.correlation_id);
    message.payload = (boxcar_str){payload.data, payload.len};
    message.correlation_id = wait.correlation_id;
    message.causation_id = str_unless_empty(wait.causation_id);
    message.message_id = wait.message_id;
    message.max_attempts = WAIT_MAX_ATTEMPTS;
    TRY(store->ops->join_wait(store, wait.join_id, &message, &enqueued, &change, err));
    log_change(store, &change);
    log_wait(store, &wait, &enqueued);
    if (ret_enqueued)
        *ret_enqueued = enqueued;
    return BOXCAR_OK;
}

/* ---- looking ---- */

boxcar_status boxcar_join_find(boxcar_store *store, boxcar_join_id join_id, boxcar_join_list **ret_list,
                               boxcar_error *err) {
    const boxcar_join_filter everything = BOXCAR_JOIN_FILTER_INIT;
    struct join_rows *rows;

    TRY(check_read(store, ret_list, err));
    TRY(limits_check_join_id(join_id, "join_id", err));
    TRY(store->ops->join_page(store, &everything, join_id, &rows, err));
    return LIST_GIVE(rows, ret_list, err);
}

boxcar_status boxcar_join_page(boxcar_store *store, const boxcar_join_filter *filter,
                               boxcar_join_list **ret_list, boxcar_error *err) {
    boxcar_join_filter checked = BOXCAR_JOIN_FILTER_INIT;
    struct join_rows *rows;

    TRY(check_read(store, ret_list, err));
    TRY(options_read(&checked, sizeof(checked), filter, "filter", err));
    TRY(limits_check_join_filter(&checked, err));
    TRY(store->ops->join_page(store, &checked, (boxcar_join_id){0}, &rows, err));
    return LIST_GIVE(rows, ret_list, err);
}

boxcar_status boxcar_join_member_page(boxcar_store *store, boxcar_join_id join_id, boxcar_message_id after,
                                      int limit, boxcar_join_member_list **ret_list, boxcar_error *err) {
    struct join_member_rows *rows;

    TRY(check_read(store, ret_list, err));
    TRY(limits_check_join_id(join_id, "join_id", err));
    TRY(limits_check_limit(limit, err));
    TRY(store->ops->join_members(store, join_id, after, limit, &rows, err));
    return LIST_GIVE(rows, ret_list, err);
}
