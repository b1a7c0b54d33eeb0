/* Parts of a schema that were dropped or changed. */
#include "checkup.h"

#include "base/error.h"

#define PARTS_SHOWN 10

void parts_add(struct parts *parts, const char *kind, boxcar_str name) {
    if (parts->count < PARTS_SHOWN)
        buf_append_format(&parts->names, "%sthe %s %.*s", parts->count ? ", " : "", kind, FINDING_TEXT(name));
    parts->count++;
}

static void report(struct findings *findings, const struct parts *parts, boxcar_severity severity,
                   const char *what, const char *remedy) {
    size_t more = parts->count > PARTS_SHOWN ? parts->count - PARTS_SHOWN : 0;

    if (parts->count == 0)
        return;
    if (more)
        findings_add(findings, "schema", severity, "%s: %s and %zu more", what, parts->names.data, more);
    else
        findings_add(findings, "schema", severity, "%s: %s", what, parts->names.data);
    findings_remedy(findings, "%s", remedy);
}

boxcar_status checkup_parts(struct findings *findings, const struct schema_parts *parts, const char *init,
                            boxcar_error *err) {
    if (parts->lost.names.failed || parts->missing.names.failed || parts->changed.names.failed)
        return error_no_memory(err);
    report(findings, &parts->lost, BOXCAR_SEVERITY_PROBLEM, "lost",
           "restore it from a backup: boxcar init does not make it again, because its rows would be missing");
    report(findings, &parts->missing, BOXCAR_SEVERITY_PROBLEM, "missing",
           parts->lost.count ? "first restore the lost tables, then run boxcar init" : init);
    report(findings, &parts->changed, BOXCAR_SEVERITY_WARNING, "not as this program makes it", init);
    return BOXCAR_OK;
}

void schema_parts_release(struct schema_parts *parts) {
    buf_release(&parts->lost.names);
    buf_release(&parts->missing.names);
    buf_release(&parts->changed.names);
}

void checkup_box_broken(struct findings *findings) {
    checkup_box_hidden(findings, CHECKUP_BROKEN, CHECKUP_BROKEN_REMEDY);
}
