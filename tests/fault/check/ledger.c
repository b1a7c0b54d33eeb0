/* Reading the journals, and looking things up. */
#include <err.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ledger.h"

#define OFFENCES_SHOWN 5

void verdict_add(struct verdict *verdict, const char *promise, int64_t offences) {
    if (offences == 0) {
        verdict->passed++;
        printf("ok: %s\n", promise);
    } else {
        verdict->failed++;
        printf("FAILED (%lld): %s\n", (long long)offences, promise);
    }
    fflush(stdout);
}

void offend(struct ledger *ledger, const char *format, ...) {
    va_list arguments;
    if (ledger->offences++ >= OFFENCES_SHOWN)
        return;
    printf("  - ");
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
}

void conclude(struct ledger *ledger, struct verdict *verdict, const char *promise) {
    verdict_add(verdict, promise, ledger->offences);
    ledger->offences = 0;
}

static int compare_numbers(int64_t a, int64_t b) { return (a > b) - (a < b); }

/* A claim comes before the calls about it, whatever the microsecond; an announcement before its
 * answer, which has the same time. */
static int compare_acts(const void *left, const void *right) {
    const struct record *a = left, *b = right;
    int order = compare_numbers(a->work_id, b->work_id);
    if (order == 0)
        order = compare_numbers(a->epoch, b->epoch);
    if (order == 0)
        order = compare_numbers(a->kind != RECORD_CLAIMED, b->kind != RECORD_CLAIMED);
    if (order == 0)
        order = compare_numbers(a->before, b->before);
    if (order == 0)
        order = compare_numbers(a->client, b->client);
    return order != 0 ? order : compare_numbers(a->kind, b->kind);
}

static int compare_enqueues(const void *left, const void *right) {
    const struct record *a = left, *b = right;
    int order = memcmp(a->id, b->id, sizeof(a->id));
    return order != 0 ? order : compare_numbers(a->kind, b->kind);
}

static struct record *pick(struct ledger *ledger, enum record_kind low, enum record_kind high,
                           size_t *ret_count) {
    size_t count = 0;
    for (size_t i = 0; i < ledger->record_count; i++)
        count += ledger->records[i].kind >= low && ledger->records[i].kind <= high;
    struct record *picked = malloc((count + 1) * sizeof(*picked));
    if (!picked)
        err(99, "journals");
    *ret_count = 0;
    for (size_t i = 0; i < ledger->record_count; i++)
        if (ledger->records[i].kind >= low && ledger->records[i].kind <= high)
            picked[(*ret_count)++] = ledger->records[i];
    return picked;
}

void ledger_read_journals(struct ledger *ledger) {
    ledger->records = journal_read_all(ledger->storm->directory, &ledger->record_count);
    ledger->acts = pick(ledger, RECORD_CLAIMED, RECORD_CANCELLED, &ledger->act_count);
    ledger->enqueues = pick(ledger, RECORD_INTENT, RECORD_ROLLED_BACK, &ledger->enqueue_count);
    ledger->crashes = pick(ledger, RECORD_CRASH, RECORD_CRASH, &ledger->crash_count);
    free(ledger->records);
    ledger->records = NULL;
    qsort(ledger->acts, ledger->act_count, sizeof(*ledger->acts), compare_acts);
    qsort(ledger->enqueues, ledger->enqueue_count, sizeof(*ledger->enqueues), compare_enqueues);
}

void ledger_free(struct ledger *ledger) {
    free(ledger->acts);
    free(ledger->enqueues);
    free(ledger->crashes);
    free(ledger->end_states);
    free(ledger->bad_ends);
}

static int compare_fate_key(const void *key, const void *end_state) {
    return compare_numbers(*(const int64_t *)key, ((const struct end_state *)end_state)->work_id);
}

struct end_state *ledger_end_state(const struct ledger *ledger, int64_t work_id) {
    return bsearch(&work_id, ledger->end_states, ledger->end_state_count, sizeof(*ledger->end_states),
                   compare_fate_key);
}

/* The first row whose work id is not below the given one. */
static size_t lower_bound(const void *rows, size_t count, size_t size, size_t offset, int64_t work_id) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int64_t value;
        memcpy(&value, (const char *)rows + middle * size + offset, sizeof(value));
        if (value < work_id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t ledger_bad_ends(const struct ledger *ledger, int64_t work_id, size_t *ret_first) {
    size_t offset = offsetof(struct bad_end, work_id);
    *ret_first =
        lower_bound(ledger->bad_ends, ledger->bad_end_count, sizeof(struct bad_end), offset, work_id);
    return lower_bound(ledger->bad_ends, ledger->bad_end_count, sizeof(struct bad_end), offset, work_id + 1);
}

size_t ledger_acts(const struct ledger *ledger, int64_t work_id, size_t *ret_first) {
    size_t offset = offsetof(struct record, work_id);
    *ret_first = lower_bound(ledger->acts, ledger->act_count, sizeof(struct record), offset, work_id);
    return lower_bound(ledger->acts, ledger->act_count, sizeof(struct record), offset, work_id + 1);
}

void check_all(struct storm *storm, struct verdict *verdict) {
    struct ledger ledger = {.storm = storm};
    ledger_read_journals(&ledger);
    ledger_read_store(&ledger);
    check_messages(&ledger, verdict);
    check_counts(&ledger, verdict);
    check_leases(&ledger, verdict);
    check_attempts(&ledger, verdict);
    check_streams(&ledger, verdict);
    ledger_free(&ledger);
}
