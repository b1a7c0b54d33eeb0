#include "job.h"

#include <stdlib.h>
#include <string.h>

struct load *load_new(struct result *result) {
    size_t count = result->parts[BOXCAR_OUTBOX].claimed_count + result->parts[BOXCAR_INBOX].claimed_count;
    struct load *load = calloc(1, sizeof(*load));
    struct job *jobs = calloc(count ? count : 1, sizeof(*jobs)), *job = jobs;
    if (!load || !jobs) {
        free(load);
        free(jobs);
        result_release(result);
        return NULL;
    }
    load->result = *result;
    load->jobs = jobs;
    load->count = count;
    atomic_init(&load->references, load->count + 1); /* and one for the caller */
    for (int box = 0; box < BOXES; box++)
        for (size_t i = 0; i < load->result.parts[box].claimed_count; i++, job++) {
            job->load = load;
            job->message = &load->result.parts[box].claimed[i];
        }
    return load;
}

void load_retain(struct load *load) { atomic_fetch_add(&load->references, 1); }

void load_release(struct load *load) {
    if (atomic_fetch_sub(&load->references, 1) != 1)
        return;
    result_release(&load->result);
    free(load->jobs);
    free(load);
}

int stream_compare(const boxcar_message *a, const boxcar_message *b) {
    size_t shorter = a->stream.len < b->stream.len ? a->stream.len : b->stream.len;
    int order = (a->box > b->box) - (a->box < b->box);
    if (order == 0 && shorter > 0)
        order = memcmp(a->stream.data, b->stream.data, shorter);
    return order != 0 ? order : (a->stream.len > b->stream.len) - (a->stream.len < b->stream.len);
}

int stream_compare_places(const boxcar_message *a, const boxcar_message *b) {
    int order = stream_compare(a, b);
    return order != 0 ? order : (a->work_id.value > b->work_id.value) - (a->work_id.value < b->work_id.value);
}

void job_list_push(struct job_list *list, struct job *job) {
    job->next = NULL;
    *(list->last ? &list->last->next : &list->first) = job;
    list->last = job;
    list->count++;
}

struct job *job_list_pop(struct job_list *list) {
    struct job *job = list->first;
    if (job)
        job_list_remove(list, job);
    return job;
}

void job_list_append(struct job_list *list, struct job_list *from) {
    if (!from->first)
        return;
    *(list->last ? &list->last->next : &list->first) = from->first;
    list->last = from->last;
    list->count += from->count;
    *from = (struct job_list){0};
}

void job_list_remove(struct job_list *list, struct job *job) {
    struct job **at = &list->first, *previous = NULL;
    for (; *at && *at != job; at = &previous->next)
        previous = *at;
    if (!*at)
        return;
    *at = job->next;
    if (list->last == job)
        list->last = previous;
    list->count--;
    job->next = NULL;
}
