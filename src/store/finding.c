#include "finding.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static void fail(struct findings *findings) {
    list_free(findings->list);
    findings->list = NULL;
}

struct findings findings_begin(void) {
    return (struct findings){.list = calloc(1, sizeof(struct finding_rows))};
}

static boxcar_finding *add_empty(struct findings *findings) {
    struct finding_rows *list = findings->list;

    boxcar_finding *items =
        arena_make_room(&list->arena, list->items, list->count, &findings->capacity, sizeof(*items));
    if (!items)
        return NULL;
    list->items = items;
    return &list->items[list->count++];
}

static bool print_into(struct arena *arena, boxcar_str *ret_text, const char *format, va_list arguments) {
    va_list again;
    int length;
    char *text;

    va_copy(again, arguments);
    length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    text = length < 0 ? NULL : arena_alloc_text(arena, (size_t)length);
    if (!text)
        return false;
    vsnprintf(text, (size_t)length + 1, format, arguments);
    *ret_text = (boxcar_str){text, (size_t)length};
    return true;
}

void findings_add(struct findings *findings, const char *check, boxcar_severity severity, const char *format,
                  ...) {
    boxcar_finding *finding = findings->list ? add_empty(findings) : NULL;
    va_list arguments;
    bool good = false;

    if (finding) {
        *finding = (boxcar_finding){.check = boxcar_str_of(check), .severity = severity};
        va_start(arguments, format);
        good = print_into(&findings->list->arena, &finding->text, format, arguments);
        va_end(arguments);
    }
    if (!good)
        fail(findings);
}

void findings_add_text(struct findings *findings, const char *check, boxcar_severity severity,
                       const struct buf *text) {
    if (text->failed)
        fail(findings);
    else
        findings_add(findings, check, severity, "%s", text->data);
}

void findings_add_unchecked(struct findings *findings, const char *const *checks, const char *why,
                            const char *remedy) {
    for (; *checks; checks++) {
        findings_add(findings, *checks, BOXCAR_SEVERITY_NOTE, "%s", why);
        findings_remedy(findings, "%s", remedy);
    }
}

void findings_remedy(struct findings *findings, const char *format, ...) {
    struct finding_rows *list = findings->list;
    va_list arguments;
    bool good;

    if (!list || list->count == 0)
        return;
    va_start(arguments, format);
    good = print_into(&list->arena, &list->items[list->count - 1].remedy, format, arguments);
    va_end(arguments);
    if (!good)
        fail(findings);
}

boxcar_status findings_end(struct findings *findings, boxcar_status status, struct finding_rows **ret_list,
                           boxcar_error *err) {
    if (status != BOXCAR_OK) {
        fail(findings);
        return status;
    }
    if (!findings->list)
        return error_no_memory(err);
    *ret_list = findings->list;
    return BOXCAR_OK;
}
