#include "outbound.h"

#include <stdlib.h>

void outbound_clear(struct outbound *out) {
    for (int kind = 0; kind < SETTLE_KINDS; kind++)
        out->lists[kind].count = 0;
}

void outbound_release(struct outbound *out) {
    for (int kind = 0; kind < SETTLE_KINDS; kind++) {
        free(out->lists[kind].items);
        free(out->lists[kind].jobs);
        out->lists[kind] = (struct outbound_list){0};
    }
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

static bool grow(struct outbound_list *list) {
    size_t capacity = list->capacity ? list->capacity * 2 : 64;
    boxcar_settlement *items = realloc(list->items, capacity * sizeof(*items));
    struct job **jobs;

    if (!items)
        return false;
    list->items = items;
    jobs = realloc(list->jobs, capacity * sizeof(struct job *));
    if (!jobs)
        return false;
    list->jobs = jobs;
    list->capacity = capacity;
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
    struct outbound_list *list = &out->lists[kind];

    if (list->count == list->capacity && !grow(list))
        return false;
    if (kind == SETTLE_RESOLVE && !add_wait(out, list->count, job->wait))
        return false;
    if (kind == SETTLE_RECORD && !add_stages(out, list->count, atomic_load(&job->stages)))
        return false;
    list->items[list->count] = (boxcar_settlement){
        .work_id = job->message->work_id,
        .epoch = job->message->epoch,
        .delay_ms = job->delay_ms,
        .error = {job->error, job->error_len},
    };
    list->jobs[list->count++] = job;
    return true;
}

static int compare_ids(const void *a, const void *b) {
    int64_t x = ((const boxcar_work_id *)a)->value, y = ((const boxcar_work_id *)b)->value;

    return (x > y) - (x < y);
}

void outbound_match(const struct outbound_list *list, struct work_id_list *affected,
                    void (*found)(void *context, struct job *job, bool affected), void *context) {
    bool all = affected->count >= list->count; /* the usual case, and no need to look */

    if (!all && affected->count > 1)
        qsort(affected->items, affected->count, sizeof(*affected->items), compare_ids);
    for (size_t i = 0; i < list->count; i++) {
        struct job *job = list->jobs[i];
        bool hit =
            all || (affected->count > 0 && bsearch(&job->message->work_id, affected->items, affected->count,
                                                   sizeof(*affected->items), compare_ids) != NULL);

        found(context, job, hit);
    }
}
