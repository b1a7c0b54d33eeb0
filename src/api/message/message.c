/* A message from enqueue to its end: each call fills a request with one list. */
#include <string.h>

#include "api/check.h"
#include "base/options.h"
#include "request/request.h"

/* ---- storing ---- */

boxcar_status boxcar_enqueue(boxcar_store *store, boxcar_box box, const boxcar_new_message *message,
                             boxcar_enqueued *ret_enqueued, boxcar_error *err) {
    AUTO_RESULT struct result result = {.arena = ARENA_INIT};
    boxcar_new_message whole = BOXCAR_NEW_MESSAGE_INIT;
    struct request request = {.instances = NULL};

    TRY(check_store_and_box(store, box, err));
    TRY(options_read(&whole, sizeof(whole), message, "message", err));
    TRY(limits_check_new_message(box, &whole, err));
    request.base.messages[box] = (boxcar_new_message_list){&whole, 1};
    TRY(request_run(store, &request, &result, err));
    if (ret_enqueued)
        *ret_enqueued = result.parts[box].enqueued[0];
    return BOXCAR_OK;
}

boxcar_status boxcar_enqueue_many(boxcar_store *store, boxcar_box box, const boxcar_new_message *messages,
                                  size_t count, boxcar_enqueued *ret_enqueued, boxcar_error *err) {
    AUTO_RESULT struct result result = {.arena = ARENA_INIT};
    AUTO_ARENA struct arena arena = ARENA_INIT;
    boxcar_new_message_list list = {messages, count};
    struct request request = {.instances = NULL};

    TRY(check_store_and_box(store, box, err));
    TRY(limits_read_new_messages(&arena, box, &list, 0, err));
    if (count == 0)
        return BOXCAR_OK;
    request.base.messages[box] = list;
    TRY(request_run(store, &request, &result, err));
    if (ret_enqueued)
        memcpy(ret_enqueued, result.parts[box].enqueued, count * sizeof(*ret_enqueued));
    return BOXCAR_OK;
}

/* ---- claiming ---- */

boxcar_status boxcar_claim(boxcar_store *store, const boxcar_claimer *given, boxcar_message_list **ret_list,
                           boxcar_error *err) {
    AUTO_RESULT struct result result = {.arena = ARENA_INIT};
    boxcar_claimer claimer = BOXCAR_CLAIMER_INIT;
    struct request request = {.instances = NULL};

    TRY(check_given(ret_list, "ret_list", err));
    TRY(check_given(store, "store", err));
    TRY(options_read(&claimer, sizeof(claimer), given, "claimer", err));
    TRY(limits_check_claim(&claimer, err));
    request.base.owner = claimer.owner;
    request_set_claim(&request, &claimer);
    TRY(request_run(store, &request, &result, err));
    struct message_rows *rows = result_into_list(&result, request_index(claimer.box));
    return rows ? LIST_GIVE(rows, ret_list, err) : error_no_memory(err);
}

boxcar_status boxcar_reap(boxcar_store *store, boxcar_box box, int64_t *ret_count, boxcar_error *err) {
    AUTO_RESULT struct result result = {.arena = ARENA_INIT};
    struct request request = {.instances = NULL};

    TRY(check_store_and_reader(store, box, err));
    request_part_of(&request, box)->reap = true;
    TRY(request_run(store, &request, &result, err));
    if (ret_count)
        *ret_count = result.parts[request_index(box)].reaped;
    return BOXCAR_OK;
}

/* ---- settling ---- */

boxcar_status boxcar_settle(boxcar_store *store, const boxcar_claimer *given, boxcar_settle_kind kind,
                            const boxcar_settlement *settlements, size_t count, boxcar_work_id *ret_affected,
                            size_t *ret_affected_count, boxcar_error *err) {
    AUTO_RESULT struct result result = {.arena = ARENA_INIT};
    AUTO_ARENA struct arena arena = ARENA_INIT;
    boxcar_settlement_list list = {settlements, count};
    boxcar_claimer claimer = BOXCAR_CLAIMER_INIT;
    struct request request = {.instances = NULL};

    TRY(check_given(store, "store", err));
    TRY(options_read(&claimer, sizeof(claimer), given, "claimer", err));
    TRY(limits_check_claimer(&claimer, err));
    TRY(limits_check_settle_kind(kind, err));
    TRY(limits_read_settlements(&arena, kind, &list, err));
    request.base.owner = claimer.owner;
    request_part_of(&request, claimer.box)->lease_ms = claimer.lease_ms;
    request_part_of(&request, claimer.box)->settle[kind] = list;
    if (count > 0)
        TRY(request_run(store, &request, &result, err));
    struct work_id_list affected = result.parts[request_index(claimer.box)].settled[kind];
    if (ret_affected && affected.count > 0)
        memcpy(ret_affected, affected.items, affected.count * sizeof(*affected.items));
    if (ret_affected_count)
        *ret_affected_count = affected.count;
    return BOXCAR_OK;
}
