#include "outbound.h"

#include <stdlib.h>

void outbound_clear(struct outbound *out) {
    for (int kind = 0; kind < SETTLE_KINDS; kind++)
        gather_clear(&out->lists[kind]);
}

void outbound_release(struct outbound *out) {
    for (int kind = 0; kind < SETTLE_KINDS; kind++)
        gather_release(&out->lists[kind]);
    free(out->stages);
    out->stages = NULL;
    out->stage_capacity = 0;
    free(out->waits);
    out->waits = NULL;
    out->wait_capacity = 0;
}

bool outbound_is_empty(const struct outbound *out) {
    for (int kind = 0; kind < SETTLE_KINDS; kind++)
        if (out->lists[kind].count > 0)
            return false;
    return true;
}

static bool add_wait(struct outbound *out, size_t i, const struct wait *wait) {
    size_t capacity = out->wait_capacity ? out->wait_capacity * 2 : 64;
    struct wait *waits;

    if (i == out->wait_capacity) {
        waits = realloc(out->waits, capacity * sizeof(*waits));
        if (!waits)
            return false;
        out->waits = waits;
        out->wait_capacity = capacity;
    }
    out->waits[i] = *wait;
    return true;
}

static bool add_stages(struct outbound *out, size_t i, int stages) {
    size_t capacity = out->stage_capacity ? out->stage_capacity * 2 : 64;
    int *longer;

    if (i == out->stage_capacity) {
        longer = realloc(out->stages, capacity * sizeof(*longer));
        if (!longer)
            return false;
        out->stages = longer;
        out->stage_capacity = capacity;
    }
    out->stages[i] = stages;
    return true;
}

bool outbound_add(struct outbound *out, enum settle_kind kind, struct job *job) {
    struct gather_list *list = &out->lists[kind];
    boxcar_settlement settlement = {.work_id = job->message->work_id, .epoch = job->message->epoch};

    /* Of a job that still runs, the rest is its thread's. */
    if (kind != SETTLE_RENEW && kind != SETTLE_RECORD) {
        settlement.delay_ms = job->delay_ms;
        settlement.error = (boxcar_str){job->error, job->error_len};
    }
    if (kind == SETTLE_RESOLVE && !add_wait(out, list->count, job->wait))
        return false;
    if (kind == SETTLE_RECORD && !add_stages(out, list->count, atomic_load(&job->stages)))
        return false;
    return gather_add(list, &settlement, (union gather_tag){.pointer = job});
}
