#include "starts.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *left, const void *right) {
    const struct start *a = left, *b = right;
    if (a->work_id != b->work_id)
        return a->work_id < b->work_id ? -1 : 1;
    return (a->at_us > b->at_us) - (a->at_us < b->at_us);
}

static struct start *add(struct starts *starts) {
    if (starts->count % 4096 == 0) {
        starts->rows = realloc(starts->rows, (starts->count + 4096) * sizeof(*starts->rows));
        if (!starts->rows)
            err(99, "evidence");
    }
    return &starts->rows[starts->count++];
}

static void parse(struct start *start, const char *line) {
    char id[64];
    long long work_id, at;
    if (sscanf(line, "%7s %63s %lld %d %d %d %lld", start->event, id, &work_id, &start->attempt, &start->pid,
               &start->worker_pid, &at) != 7)
        errx(99, "a line of evidence that makes no sense: %s", line);
    start->work_id = work_id;
    start->at_us = at;
}

void starts_read(struct starts *starts, const char *path) {
    char line[START_LINE_MAX];
    FILE *file = fopen(path, "r");
    *starts = (struct starts){0};
    if (!file)
        return;
    while (fgets(line, sizeof(line), file))
        parse(add(starts), line);
    fclose(file);
    if (starts->count > 0)
        qsort(starts->rows, starts->count, sizeof(*starts->rows), compare);
}

void starts_free(struct starts *starts) {
    free(starts->rows);
    *starts = (struct starts){0};
}

static size_t first_of(const struct starts *starts, int64_t work_id) {
    size_t low = 0, high = starts->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (starts->rows[middle].work_id < work_id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int64_t starts_count(const struct starts *starts, const char *event, int64_t work_id) {
    int64_t count = 0;
    for (size_t i = first_of(starts, work_id); i < starts->count; i++) {
        if (work_id != 0 && starts->rows[i].work_id != work_id)
            break;
        count += strcmp(starts->rows[i].event, event) == 0;
    }
    return count;
}

const struct start *starts_first(const struct starts *starts, const char *event, int64_t work_id,
                                 int64_t after_us) {
    for (size_t i = first_of(starts, work_id); i < starts->count; i++) {
        if (starts->rows[i].work_id != work_id)
            break;
        if (strcmp(starts->rows[i].event, event) == 0 && starts->rows[i].at_us >= after_us)
            return &starts->rows[i];
    }
    return NULL;
}
