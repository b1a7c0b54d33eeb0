#include "job.h"

#include <stdlib.h>

static size_t count_claimed(const struct result *result) {
    return result->parts[BOXCAR_OUTBOX].claimed_count + result->parts[BOXCAR_INBOX].claimed_count;
}

struct load *load_new(struct result *result) {
    size_t count = count_claimed(result);
    struct load *load = calloc(1, sizeof(*load));
    struct job *jobs = calloc(count ? count : 1, sizeof(*jobs));
    struct job *job = jobs;

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

void job_list_push(struct job_list *list, struct job *job) {
    job->next = NULL;
    if (list->last)
        list->last->next = job;
    else
        list->first = job;
    list->last = job;
    list->count++;
}

struct job *job_list_pop(struct job_list *list) {
    struct job *job = list->first;

    if (!job)
        return NULL;
    list->first = job->next;
    if (!list->first)
        list->last = NULL;
    list->count--;
    job->next = NULL;
    return job;
}

void job_list_append(struct job_list *list, struct job_list *from) {
    if (!from->first)
        return;
    if (list->last)
        list->last->next = from->first;
    else
        list->first = from->first;
    list->last = from->last;
    list->count += from->count;
    *from = (struct job_list){0};
}

bool job_list_remove(struct job_list *list, struct job *job) {
    struct job *previous = NULL;

    for (struct job *at = list->first; at; previous = at, at = at->next) {
        if (at != job)
            continue;
        if (previous)
            previous->next = job->next;
        else
            list->first = job->next;
        if (list->last == job)
            list->last = previous;
        list->count--;
        job->next = NULL;
        return true;
    }
    return false;
}
