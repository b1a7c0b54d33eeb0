/* What the doctor found, for the tests of it. */
#ifndef BOXCAR_TESTS_FINDINGS_H
#define BOXCAR_TESTS_FINDINGS_H

#include "conformance.h"

/* The caller frees the list. */
boxcar_finding_list *diagnose(struct fixture *f);
boxcar_finding_list *diagnose_with(struct fixture *f, boxcar_store *store);

/* Of one name, with this text in it (NULL = any): how many, and the only one. */
size_t count_findings(const boxcar_finding_list *list, const char *check, const char *part);
const boxcar_finding *only_finding(const boxcar_finding_list *list, const char *check);
bool has_text(boxcar_str text, const char *part);

/* Diagnoses; some finding of this name is so severe and says so, and none of this name is worse. */
void assert_found(struct fixture *f, const char *check, boxcar_severity severity, const char *part);
void assert_found_with(struct fixture *f, boxcar_store *store, const char *check, boxcar_severity severity,
                       const char *part);

/* A worker of a box says that it lives. */
void report_worker(struct fixture *f, boxcar_owner owner, boxcar_box box, const char *host,
                   const boxcar_str *topics, size_t topic_count);

#endif
