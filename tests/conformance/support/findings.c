#include "findings.h"

#include <string.h>

boxcar_finding_list *diagnose_with(struct fixture *f, boxcar_store *store) {
    boxcar_finding_list *list = NULL;
    ASSERT_OK(f, boxcar_doctor_run(store, BOXCAR_OUTBOX, &list, &f->err));
    assert_true(list->count > 0);
    return list;
}

boxcar_finding_list *diagnose(struct fixture *f) { return diagnose_with(f, f->store); }

bool has_text(boxcar_str text, const char *part) {
    return text.data && memmem(text.data, text.len, part, strlen(part)) != NULL;
}

static bool is_of(const boxcar_finding *finding, const char *check) {
    return finding->check.len == strlen(check) && memcmp(finding->check.data, check, finding->check.len) == 0;
}

size_t count_findings(const boxcar_finding_list *list, const char *check, const char *part) {
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++) {
        const boxcar_finding *finding = list->items[i];
        count += is_of(finding, check) && (!part || has_text(finding->text, part));
    }
    return count;
}

const boxcar_finding *only_finding(const boxcar_finding_list *list, const char *check) {
    assert_int_equal(count_findings(list, check, NULL), 1);
    for (size_t i = 0;; i++)
        if (is_of(list->items[i], check))
            return list->items[i];
}

void assert_found_with(struct fixture *f, boxcar_store *store, const char *check, boxcar_severity severity,
                       const char *part) {
    boxcar_finding_list *list = diagnose_with(f, store);
    bool found = false;
    for (size_t i = 0; i < list->count; i++) {
        const boxcar_finding *finding = list->items[i];
        if (!is_of(finding, check))
            continue;
        if (finding->severity > severity)
            fail_msg("%s: %s", check, finding->text.data);
        if (finding->severity != severity || !has_text(finding->text, part))
            continue;
        found = true;
        if (severity >= BOXCAR_SEVERITY_WARNING)
            assert_true(finding->remedy.len > 0);
    }
    if (!found)
        fail_msg("%s has no %s that says \"%s\"", check, boxcar_severity_name(severity), part);
    boxcar_list_free(list);
}

void assert_found(struct fixture *f, const char *check, boxcar_severity severity, const char *part) {
    assert_found_with(f, f->store, check, severity, part);
}

void report_worker(struct fixture *f, boxcar_owner owner, boxcar_box box, const char *host,
                   const boxcar_str *topics, size_t topic_count) {
    ASSERT_OK(f, say_alive(f->store, owner, box, host, topics, topic_count, &f->err));
}
