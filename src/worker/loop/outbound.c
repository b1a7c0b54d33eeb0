#include "outbound.h"

#include <stdlib.h>

#include "base/memory.h"

void outbound_clear(struct outbound *out) {
    for (int kind = 0; kind < BOXCAR_SETTLE_KINDS; kind++)
        out->lists[kind].count = 0;
}

void outbound_release(struct outbound *out) {
    for (int kind = 0; kind < BOXCAR_SETTLE_KINDS; kind++)
        gather_release(&out->lists[kind]);
    free(out->waits);
    out->waits = NULL;
    out->wait_capacity = 0;
}

bool outbound_is_empty(const struct outbound *out) {
    for (int kind = 0; kind < BOXCAR_SETTLE_KINDS; kind++)
        if (out->lists[kind].count > 0)
            return false;
    return true;
}

static bool add_wait(struct outbound *out, size_t i, const struct wait *wait) {
    if (i == out->wait_capacity) {
        size_t capacity = out->wait_capacity ? out->wait_capacity * 2 : 64;
        if (!memory_resize(&out->waits, capacity, sizeof(*out->waits)))
            return false;
        out->wait_capacity = capacity;
    }
    out->waits[i] = *wait;
    return true;
}

bool outbound_add(struct outbound *out, boxcar_settle_kind kind, struct job *job) {
    struct gather_list *list = &out->lists[kind];
    boxcar_settlement settlement = {.work_id = job->message->work_id, .epoch = job->message->epoch};
    /* Of a job that still runs, the rest is its thread's. */
    if (kind != BOXCAR_RENEW && kind != BOXCAR_RECORD) {
        settlement.delay_ms = job->delay_ms;
        settlement.error = (boxcar_str){job->error, job->error_len};
    }
    if (kind == BOXCAR_RESOLVE && !add_wait(out, list->count, job->wait))
        return false;
    if (kind == BOXCAR_RECORD)
        settlement.stages = atomic_load(&job->stages);
    return gather_add(list, &settlement, (union gather_tag){.pointer = job});
}
