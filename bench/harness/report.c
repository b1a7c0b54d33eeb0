/* The table at the end. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

#define ROWS_MAX 160

struct row {
    char row[48]; /* for --only */
    char name[64];
    char unit[16];
    double ours, theirs; /* medians */
    double ratio;        /* the median of the rounds' ratios: what slows a round slows both sides */
    double lowest, highest;
    struct target target;
};

struct report {
    struct row rows[ROWS_MAX];
    size_t count;
};

struct report *report_new(void) {
    return bench_alloc(1, sizeof(struct report));
}

void report_free(struct report *report) { free(report); }

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median_of(const double *values, int count) {
    double sorted[BENCH_ROUNDS_MAX];

    memcpy(sorted, values, (size_t)count * sizeof(*values));
    qsort(sorted, (size_t)count, sizeof(*sorted), compare_doubles);
    return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
}

void report_add(struct report *report, const char *name, const char *unit, const struct pairs *pairs,
                struct target target) {
    double ratios[BENCH_ROUNDS_MAX];
    struct row *row = &report->rows[report->count];

    if (report->count == ROWS_MAX || pairs->count == 0)
        bench_die("no room for a row, or nothing in it");
    report->count++;
    snprintf(row->row, sizeof(row->row), "%s", rows_current());
    snprintf(row->name, sizeof(row->name), "%s", name);
    snprintf(row->unit, sizeof(row->unit), "%s", unit);
    for (int i = 0; i < pairs->count; i++)
        ratios[i] = pairs->theirs[i] > 0 ? pairs->ours[i] / pairs->theirs[i] : 0;
    row->ours = median_of(pairs->ours, pairs->count);
    row->theirs = median_of(pairs->theirs, pairs->count);
    row->ratio = median_of(ratios, pairs->count);
    qsort(ratios, (size_t)pairs->count, sizeof(*ratios), compare_doubles);
    row->lowest = ratios[0];
    row->highest = ratios[pairs->count - 1];
    row->target = target;
}

static bool row_is_met(const struct row *row) {
    switch (row->target.kind) {
    case TARGET_AT_LEAST:
        return row->ratio >= row->target.ratio;
    case TARGET_AT_MOST:
        return row->ratio <= row->target.ratio;
    case TARGET_NONE:
        break;
    }
    return true;
}

bool report_is_met(const struct report *report) {
    for (size_t i = 0; i < report->count; i++)
        if (!row_is_met(&report->rows[i]))
            return false;
    return true;
}

static const char *verdict(const struct row *row) {
    if (row->target.kind == TARGET_NONE)
        return "";
    return row_is_met(row) ? "ok" : "short";
}

static void print_row(const struct row *row) {
    static const char *const signs[] = {[TARGET_AT_LEAST] = ">=", [TARGET_AT_MOST] = "<="};
    char target[32] = "", spread[32];
    int digits = row->ours < 100 || row->theirs < 100 ? 2 : 0;

    if (row->target.kind != TARGET_NONE)
        snprintf(target, sizeof(target), "%s %.2f", signs[row->target.kind], row->target.ratio);
    snprintf(spread, sizeof(spread), "%.2f-%.2f", row->lowest, row->highest);
    printf("%-46s %11.*f %11.*f  %-7s %6.2f  %-13s %-8s %-6s %s\n", row->name, digits, row->ours, digits,
           row->theirs, row->unit, row->ratio, spread, target, verdict(row), row->row);
}

static void print_table(const struct report *report, const char *store_kind) {
    printf("%-46s %11s %11s  %-7s %6s  %-13s %-8s %-6s %s\n", store_kind, "ours", "baseline", "unit", "ratio",
           "rounds", "target", "", "row");
    for (size_t i = 0; i < report->count; i++)
        print_row(&report->rows[i]);
}

static json_t *row_as_json(const struct row *row) {
    json_t *object = json_pack("{s:s, s:s, s:s, s:f, s:f, s:f, s:[f, f]}", "row", row->row, "name", row->name,
                               "unit", row->unit, "ours", row->ours, "baseline", row->theirs, "ratio",
                               row->ratio, "ratio_range", row->lowest, row->highest);

    if (object && row->target.kind != TARGET_NONE)
        json_object_update_new(object, json_pack("{s:f, s:s, s:b}", "target", row->target.ratio, "target_is",
                                                 row->target.kind == TARGET_AT_LEAST ? "at_least" : "at_most",
                                                 "ok", row_is_met(row)));
    return object;
}

static void print_json(const struct report *report, const char *store_kind) {
    json_t *rows = json_array();
    json_t *document;

    for (size_t i = 0; i < report->count; i++)
        json_array_append_new(rows, row_as_json(&report->rows[i]));
    document = json_pack("{s:s, s:o}", "store", store_kind, "figures", rows);
    if (!document || json_dumpf(document, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6)) != 0)
        bench_die("cannot write JSON");
    putchar('\n');
    json_decref(document);
}

void report_print(const struct report *report, bool json, const char *store_kind) {
    if (json)
        print_json(report, store_kind);
    else
        print_table(report, store_kind);
}
