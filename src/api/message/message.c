/* A message from enqueue to its end: each call fills a request with one list. */
#include <string.h>

#include "api/check.h"
#include "base/options.h"
#include "core/limits/limits.h"
#include "request/request.h"

/* ---- storing ---- */

boxcar_status boxcar_enqueue(boxcar_store *store, boxcar_box box, const boxcar_new_message *message,
                             boxcar_enqueued *ret_enqueued, boxcar_error *err) {
    AUTO_RESULT struct result result = {.arena = ARENA_INIT};
    boxcar_new_message whole = BOXCAR_NEW_MESSAGE_INIT;
    struct request request = {.instances = NULL};
    boxcar_status status = check_given(store, "store", err);

    if (status == BOXCAR_OK)
        status = limits_check_box(box, err);
    if (status == BOXCAR_OK)
        status = options_read(&whole, sizeof(whole), message, "message", err);
    if (status == BOXCAR_OK)
        status = limits_check_new_message(box, &whole, "", err);
    if (status != BOXCAR_OK)
        return status;
    request.base.messages[box] = (boxcar_new_message_list){&whole, 1};
    status = request_run(store, &request, &result, err);
    if (status == BOXCAR_OK && ret_enqueued)
        *ret_enqueued = result.parts[box].enqueued[0];
    return status;
}

boxcar_status boxcar_enqueue_many(boxcar_store *store, boxcar_box box, const boxcar_new_message *messages,
                                  size_t count, boxcar_enqueued *ret_enqueued, boxcar_error *err) {
    AUTO_RESULT struct result result = {.arena = ARENA_INIT};
    AUTO_ARENA struct arena arena = ARENA_INIT;
    boxcar_new_message_list list = {messages, count};
    struct request request = {.instances = NULL};
    boxcar_status status = check_given(store, "store", err);

    if (status == BOXCAR_OK)
        status = limits_check_box(box, err);
    if (status == BOXCAR_OK)
        status = limits_read_new_messages(&arena, box, &list, 0, err);
    if (status != BOXCAR_OK || count == 0)
        return status;
    request.base.messages[box] = list;
    status = request_run(store, &request, &result, err);
    if (status == BOXCAR_OK && ret_enqueued)
        memcpy(ret_enqueued, result.parts[box].enqueued, count * sizeof(*ret_enqueued));
    return status;
}

/* ---- claiming ---- */

static boxcar_status read_claimer(const boxcar_store *store, const boxcar_claimer *given,
                                  boxcar_claimer *ret_claimer, boxcar_error *err) {
    boxcar_status status = check_given(store, "store", err);

    return status == BOXCAR_OK ? options_read(ret_claimer, sizeof(*ret_claimer), given, "claimer", err)
                               : status;
}

boxcar_status boxcar_claim(boxcar_store *store, const boxcar_claimer *given, boxcar_message_list **ret_list,
                           boxcar_error *err) {
    AUTO_RESULT struct result result = {.arena = ARENA_INIT};
    boxcar_claimer claimer = BOXCAR_CLAIMER_INIT;
    struct request request = {.instances = NULL};
    struct message_rows *rows;
    boxcar_status status = check_given(ret_list, "ret_list", err);

    if (status == BOXCAR_OK)
        status = read_claimer(store, given, &claimer, err);
    if (status == BOXCAR_OK)
        status = limits_check_claim(&claimer, err);
    if (status != BOXCAR_OK)
        return status;
    request.base.owner = claimer.owner;
    request_set_claim(&request, &claimer);
    status = request_run(store, &request, &result, err);
    if (status != BOXCAR_OK)
        return status;
    rows = result_into_list(&result, claimer.box);
    return rows ? LIST_GIVE(rows, ret_list, err) : error_no_memory(err);
}

boxcar_status boxcar_reap(boxcar_store *store, boxcar_box box, int64_t *ret_count, boxcar_error *err) {
    AUTO_RESULT struct result result = {.arena = ARENA_INIT};
    struct request request = {.instances = NULL};
    boxcar_status status = check_given(store, "store", err);

    if (status == BOXCAR_OK)
        status = limits_check_box(box, err);
    if (status != BOXCAR_OK)
        return status;
    request.parts[box].reap = true;
    status = request_run(store, &request, &result, err);
    if (status == BOXCAR_OK && ret_count)
        *ret_count = result.parts[box].reaped;
    return status;
}

/* ---- settling ---- */

static void report(struct work_id_list affected, boxcar_work_id *ret_affected, size_t *ret_affected_count) {
    if (ret_affected && affected.count > 0)
        memcpy(ret_affected, affected.items, affected.count * sizeof(*affected.items));
    if (ret_affected_count)
        *ret_affected_count = affected.count;
}

boxcar_status boxcar_settle(boxcar_store *store, const boxcar_claimer *given, boxcar_settle_kind kind,
                            const boxcar_settlement *settlements, size_t count, boxcar_work_id *ret_affected,
                            size_t *ret_affected_count, boxcar_error *err) {
    AUTO_RESULT struct result result = {.arena = ARENA_INIT};
    AUTO_ARENA struct arena arena = ARENA_INIT;
    boxcar_settlement_list list = {settlements, count};
    boxcar_claimer claimer = BOXCAR_CLAIMER_INIT;
    struct request request = {.instances = NULL};
    boxcar_status status = read_claimer(store, given, &claimer, err);

    if (status == BOXCAR_OK)
        status = limits_check_claimer(&claimer, err);
    if (status == BOXCAR_OK)
        status = limits_check_settle_kind(kind, err);
    if (status == BOXCAR_OK)
        status = limits_read_settlements(&arena, kind, &list, err);
    if (status != BOXCAR_OK)
        return status;
    request.base.owner = claimer.owner;
    request.parts[claimer.box].lease_ms = claimer.lease_ms;
    request.parts[claimer.box].settle[kind] = list;
    if (count > 0)
        status = request_run(store, &request, &result, err);
    if (status == BOXCAR_OK)
        report(result.parts[claimer.box].settled[kind], ret_affected, ret_affected_count);
    return status;
}
