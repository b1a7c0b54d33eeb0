/* The doctor compares the schema with what this program would deploy, by name. */
#include <stdio.h>
#include <string.h>

#include "deploy.h"
#include "store/checkup.h"

struct looking {
    struct schema_parts parts;
    bool whole;
};

static boxcar_status note(struct sqlite_store *store, const struct sqlite_part *part, void *context,
                          boxcar_error *err) {
    struct looking *looking = context;
    (void)store, (void)err;
    char kind[200];
    snprintf(kind, sizeof(kind), part->feature ? "%s of the %s" : "%s",
             part->feature ? part->feature : part->type, part->type);
    struct parts *parts[] = {[PART_MISSING] = &looking->parts.missing,
                             [PART_CHANGED] = &looking->parts.changed,
                             [PART_LOST] = &looking->parts.lost};
    parts_add(parts[part->state], kind, boxcar_str_of(part->name));
    looking->whole &= part->state != PART_LOST && strcmp(part->type, "view") != 0;
    return BOXCAR_OK;
}

boxcar_status sqlite_check_parts(struct sqlite_store *store, sqlite3 *model, struct findings *findings,
                                 bool *ret_whole, boxcar_error *err) {
    struct looking looking = {.whole = true};
    boxcar_status status = sqlite_compare(store, model, note, &looking, err);
    if (status == BOXCAR_OK)
        status = checkup_parts(findings, &looking.parts, "boxcar init", err);
    schema_parts_release(&looking.parts);
    *ret_whole = looking.whole;
    return status;
}
