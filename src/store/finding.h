/* Making a list of findings: add freely, check once at the end. */
#ifndef BOXCAR_STORE_FINDING_H
#define BOXCAR_STORE_FINDING_H

#include "base/buf.h"
#include "store.h"

struct findings {
    struct finding_rows *list; /* NULL = out of memory at some point; the rest was ignored */
    size_t capacity;
};

/* A text for "%.*s". */
#define FINDING_TEXT(text) (int)(text).len, (text).data ? (text).data : ""

struct findings findings_begin(void);
/* `check` is a literal. */
void findings_add(struct findings *findings, const char *check, boxcar_severity severity, const char *format,
                  ...) __attribute__((format(printf, 4, 5)));
/* The same with a text that is ready. */
void findings_add_text(struct findings *findings, const char *check, boxcar_severity severity,
                       const struct buf *text);
/* A note for each of these checks, which cannot be made. The last one is NULL. */
void findings_add_unchecked(struct findings *findings, const char *const *checks, const char *why,
                            const char *remedy);
/* What to do about the finding that was added last. */
void findings_remedy(struct findings *findings, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Hands the list over when `status`, of what went into it, is BOXCAR_OK; frees it otherwise. */
boxcar_status findings_end(struct findings *findings, boxcar_status status, struct finding_rows **ret_list,
                           boxcar_error *err);

#endif
