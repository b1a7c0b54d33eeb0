/* Streams. A claim may bring several messages of one stream. They are handled one after the other in the
 * order of their work ids, in parallel with other streams. The first message that is not acked stops its
 * stream: the messages behind it go back without having run, in the request that carries its verdict (BX-006,
 * BX-062).
 *
 * This file finds the order, and the crew keeps it (desk_put). Suspects run alone, and the store evaluates
 * waits. So the messages behind a suspect or a wait go back at once and come again when that one is done. */
#include <stdlib.h>

#include "base/utf8.h"
#include "pump.h"

#define NO_MEMORY_AWAY_MS 1000

static int compare_places(const void *a, const void *b) {
    return stream_compare_places((*(struct job *const *)a)->message, (*(struct job *const *)b)->message);
}

/* A job that runs on a thread of the crew, in parallel with others. */
static bool is_ordinary(const struct job *job) {
    return job->handler && job->handler->run && job->message->crash_count == 0;
}

static bool is_discarded(const struct pump *pump, const struct job *job) {
    return job->handler && job->handler != pump->worker->wait_handler && !job->handler->run;
}

/* The messages of one stream, in order. */
static void admit_stream(struct pump *pump, struct job **jobs, size_t count, struct job_list *ready) {
    size_t i = 0;
    while (i + 1 < count && is_discarded(pump, jobs[i])) /* done at once */
        pump_admit_one(pump, jobs[i++], ready);
    pump_admit_one(pump, jobs[i], ready);
    for (; i + 1 < count && is_ordinary(jobs[i]) && is_ordinary(jobs[i + 1]); i++)
        jobs[i]->behind = jobs[i + 1];
    for (i++; i < count; i++)
        pump_give_back_one(pump, jobs[i], 0);
}

void pump_admit_streams(struct pump *pump, struct load *load, size_t streamed, struct job_list *ready) {
    struct job **jobs = malloc((streamed ? streamed : 1) * sizeof(struct job *));
    size_t count = 0;
    for (size_t i = 0; i < load->count; i++) {
        if (str_is_empty(load->jobs[i].message->stream))
            continue;
        if (jobs)
            jobs[count++] = &load->jobs[i];
        else
            pump_give_back_one(pump, &load->jobs[i], NO_MEMORY_AWAY_MS);
    }
    if (count > 1)
        qsort(jobs, count, sizeof(struct job *), compare_places);
    for (size_t first = 0, end; first < count; first = end) {
        end = first + 1;
        while (end < count && stream_compare(jobs[first]->message, jobs[end]->message) == 0)
            end++;
        admit_stream(pump, jobs + first, end - first, ready);
    }
    free(jobs);
}

void pump_give_back_behind(struct pump *pump, struct job *job) {
    struct job_list jobs = {0};
    desk_take_back_behind(pump->desk, job, &jobs);
    for (struct job *behind; (behind = job_list_pop(&jobs)) != NULL;)
        pump_give_back_one(pump, behind, 0);
}
