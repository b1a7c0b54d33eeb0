#include "request.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "prepare.h"
#include "store/inbox_log.h"
#include "store/join_log.h"
#include "store/message_log.h"

/* ---- what was done ---- */

static void log_count(const struct boxcar_store *store, boxcar_log_level level, const char *event,
                      int64_t count, const char *of) {
    char text[24];
    snprintf(text, sizeof(text), "%" PRId64, count);
    const boxcar_log_field field = {"count", boxcar_str_of(text)};
    store_log(store, level, event, &field, 1, "%s: %s%s messages", event, text, of);
}

static void log_settled(const struct boxcar_store *store, const boxcar_request_part *part,
                        const struct part_result *result) {
    for (int kind = 0; kind < BOXCAR_SETTLE_KINDS; kind++) {
        if (part->settle[kind].count == 0 || kind == BOXCAR_RESOLVE) /* a worker tells of each wait */
            continue;
        char of[32];
        snprintf(of, sizeof(of), " of %zu", part->settle[kind].count);
        log_count(store, BOXCAR_LOG_DEBUG, boxcar_settle_kind_name((boxcar_settle_kind)kind),
                  (int64_t)result->settled[kind].count, of);
    }
}

static void log_box(const struct boxcar_store *store, const boxcar_request_part *part,
                    const struct part_result *result) {
    if (result->reaped > 0 && store_logs(store, BOXCAR_LOG_INFO))
        log_count(store, BOXCAR_LOG_INFO, "reap", result->reaped, "");
    if (!store_logs(store, BOXCAR_LOG_DEBUG))
        return;
    log_settled(store, part, result);
    if (part->claim_size > 0)
        log_count(store, BOXCAR_LOG_DEBUG, "claim", (int64_t)result->claimed_count, "");
}

void request_log_messages(const struct boxcar_store *store, boxcar_box box, boxcar_new_message_list messages,
                          const boxcar_enqueued *enqueued) {
    if (box == BOXCAR_INBOX)
        inbox_log_enqueued(store, messages, enqueued);
    else
        message_log_enqueued(store, messages, enqueued);
}

/* ---- sending ---- */

static void name_reader(struct part_result *part, boxcar_box reader) {
    for (size_t i = 0; i < part->claimed_count; i++)
        part->claimed[i].reader = reader;
    for (size_t i = 0; i < part->returned_count; i++)
        part->returned[i].reader = reader;
}

boxcar_status request_send(struct boxcar_store *store, const struct request *request,
                           struct result *ret_result, boxcar_error *err) {
    TRY(store->ops->process(store, request, ret_result, err));
    for (int box = 0; box < BOXES; box++) {
        name_reader(&ret_result->parts[box], request_reader(request, box));
        log_box(store, &request->parts[box], &ret_result->parts[box]);
        if (!request->logs_messages_later)
            request_log_messages(store, (boxcar_box)box, request->base.messages[box],
                                 ret_result->parts[box].enqueued);
    }
    join_log_ended(store, ret_result->ended, ret_result->ended_count);
    return BOXCAR_OK;
}

boxcar_status request_beat(struct boxcar_store *store, const struct instance *instances, size_t count,
                           int64_t stale_threshold_ms, boxcar_error *err) {
    AUTO_RESULT struct result result = {.arena = ARENA_INIT};
    const struct request request = {.base.owner = instances[0].owner,
                                    .base.stale_threshold_ms = stale_threshold_ms,
                                    .instances = instances,
                                    .instance_count = count,
                                    .remove_stale = stale_threshold_ms > 0};
    return request_send(store, &request, &result, err);
}

boxcar_status request_farewell(struct boxcar_store *store, boxcar_owner owner, boxcar_error *err) {
    AUTO_RESULT struct result result = {.arena = ARENA_INIT};
    const struct request request = {.base.owner = owner, .farewell = true};
    return request_send(store, &request, &result, err);
}

boxcar_status request_run(struct boxcar_store *store, struct request *request, struct result *ret_result,
                          boxcar_error *err) {
    AUTO_ARENA struct arena arena = ARENA_INIT;
    TRY(prepare_settlements(&arena, store, request, err));
    TRY(prepare_stages(&arena, request, err));
    for (int box = 0; box < BOXES; box++)
        if (request->base.messages[box].count > 0)
            TRY(prepare_messages(&arena, request, (boxcar_box)box, request->base.messages[box], err));
    return request_send(store, request, ret_result, err);
}

boxcar_request_part *request_part_of(struct request *request, boxcar_box reader) {
    boxcar_request_part *part = &request->parts[request_index(reader)];

    part->reader = reader > BOXCAR_INBOX ? reader : 0;
    return part;
}

void request_set_claim(struct request *request, const boxcar_claimer *claimer) {
    boxcar_request_part *part = request_part_of(request, claimer->box);
    part->claim_size = claimer->batch_size;
    part->lease_ms = claimer->lease_ms;
    part->claim_bytes = claimer->batch_bytes;
    part->topics = claimer->topics;
    part->topic_count = claimer->topic_count;
}
