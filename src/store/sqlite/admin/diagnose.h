/* What an operator should know. */
#ifndef BOXCAR_STORE_SQLITE_ADMIN_DIAGNOSE_H
#define BOXCAR_STORE_SQLITE_ADMIN_DIAGNOSE_H

#include "store/finding.h"
#include "store/sqlite/state.h"

boxcar_status sqlite_diagnose(struct boxcar_store *store, boxcar_box box, bool tries_claim,
                              struct finding_rows **ret_list, boxcar_error *err);
/* diagnose_rows.c: which rows Boxcar did not write. */
boxcar_status sqlite_check_rows(struct sqlite_store *store, struct findings *findings, boxcar_error *err);
/* diagnose_turn.c: whether the file can be written now, and which process prevents it. path: NULL = in
 * memory. */
void sqlite_check_turn(struct sqlite_store *store, const char *path, struct findings *findings);
/* Reports that the WAL has grown to this size, and which other process keeps it from starting over. */
void sqlite_report_reader(const char *path, int64_t wal_bytes, boxcar_severity severity,
                          struct findings *findings);

#endif
