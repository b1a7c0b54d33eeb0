/* A request from outside: checked as a whole, then handed on. */
#include "request/request.h"

#include <stdlib.h>

#include "api/check.h"
#include "base/utf8.h"

/* What the caller gets, and what lends it. */
struct answer {
    boxcar_result result; /* first: the caller's pointer */
    struct result memory;
    boxcar_message_list claimed[BOXES], returned[BOXES]; /* their memory is the result's */
};

/* ---- checking ---- */

/* The error describes the first fault and says how many there are. */
static boxcar_status check_request(struct arena *arena, const boxcar_request *given,
                                   struct whole_request *ret_whole, boxcar_error *err) {
    boxcar_error first = BOXCAR_ERROR_INIT;
    size_t count = 0;

    if (faults_find(arena, given, ret_whole, NULL, NULL, &count, &first) != BOXCAR_OK)
        return error_no_memory(err);
    if (count == 0)
        return BOXCAR_OK;
    if (count == 1)
        return error_invalid(err, first.argument, "%s", first.message);
    return error_invalid(err, first.argument,
                         "%s (the first of %zu faults, boxcar_request_faults() lists them; nothing was done)",
                         first.message, count);
}

size_t boxcar_request_faults(const boxcar_request *request, boxcar_fault_fn report, void *context) {
    AUTO_ARENA struct arena arena = ARENA_INIT;
    struct whole_request whole;
    size_t count = 0;

    return faults_find(&arena, request, &whole, report, context, &count, NULL) == BOXCAR_OK ? count : 0;
}

/* ---- heartbeats ---- */

/* Only a claim, and a list of topics, say what an instance handles. */
static void fill_topics(const boxcar_request_part *part, struct instance *instance) {
    bool is_every = part->claim_size > 0 && part->topic_count == 0;

    instance->topics = is_every ? &EVERY_TOPIC : part->topic_count > 0 ? part->topics : NULL;
    instance->topic_count = is_every ? 1 : part->topic_count;
}

static size_t fill_instances(const struct whole_request *whole, struct instance ret_instances[BOXES]) {
    struct instance instance = {.owner = whole->request.owner,
                                .host = str_is_absent(whole->heartbeat.host) ? BOXCAR_STR("")
                                                                             : whole->heartbeat.host,
                                .pid = whole->heartbeat.pid,
                                .concurrency = whole->heartbeat.concurrency,
                                .no_box = !whole->given[BOXCAR_OUTBOX] && !whole->given[BOXCAR_INBOX]};
    size_t count = 0;

    if (!whole->request.heartbeat)
        return 0;
    if (instance.no_box)
        ret_instances[count++] = instance;
    for (int box = 0; box < BOXES; box++) {
        if (!whole->given[box])
            continue;
        instance.box = whole->parts[box].reader > 0 ? whole->parts[box].reader : box;
        fill_topics(&whole->parts[box], &instance);
        ret_instances[count++] = instance;
    }
    return count;
}

/* ---- the call ---- */

static boxcar_status run(boxcar_store *store, const struct whole_request *whole, struct result *ret_result,
                         boxcar_error *err) {
    struct instance instances[BOXES];
    struct request request = {.base = whole->request,
                              .parts = {whole->parts[BOXCAR_OUTBOX], whole->parts[BOXCAR_INBOX]},
                              .instances = instances,
                              .instance_count = fill_instances(whole, instances),
                              .remove_stale =
                                  whole->request.heartbeat || whole->request.stale_threshold_ms > 0};

    return request_run(store, &request, ret_result, err);
}

static bool give_box(struct answer *answer, boxcar_box box, size_t message_count) {
    const struct part_result *part = &answer->memory.parts[box];
    const void *enqueued =
        list_pointers(&answer->memory.arena, part->enqueued, message_count, sizeof(*part->enqueued));

    for (int kind = 0; kind < BOXCAR_SETTLE_KINDS; kind++)
        answer->result.settled[box][kind] =
            (boxcar_work_id_list){part->settled[kind].items, part->settled[kind].count};
    answer->claimed[box] = result_lend(&answer->memory, part->claimed, part->claimed_count);
    answer->result.claimed[box] = &answer->claimed[box];
    answer->returned[box] = result_lend(&answer->memory, part->returned, part->returned_count);
    answer->result.returned[box] = &answer->returned[box];
    answer->result.reaped[box] = part->reaped;
    answer->result.enqueued[box] = (boxcar_enqueued_list){enqueued, message_count};
    return enqueued != NULL;
}

boxcar_status boxcar_process(boxcar_store *store, const boxcar_request *given, boxcar_result **ret_result,
                             boxcar_error *err) {
    AUTO_ARENA struct arena arena = ARENA_INIT;
    struct whole_request whole;

    TRY(check_given(store, "store", err));
    TRY(check_given(given, "request", err));
    TRY(check_given(ret_result, "ret_result", err));
    TRY(check_request(&arena, given, &whole, err));
    struct answer *answer = calloc(1, sizeof(*answer));
    if (!answer)
        return error_no_memory(err);
    boxcar_status status = run(store, &whole, &answer->memory, err);
    for (int box = 0; status == BOXCAR_OK && box < BOXES; box++) {
        if (!give_box(answer, (boxcar_box)box, whole.request.messages[box].count))
            status = error_no_memory(err);
    }
    if (status == BOXCAR_OK)
        *ret_result = &answer->result;
    else
        boxcar_result_free(&answer->result);
    return status;
}

void boxcar_result_free(boxcar_result *result) {
    struct answer *answer = (struct answer *)result;

    if (!answer)
        return;
    result_release(&answer->memory);
    free(answer);
}
