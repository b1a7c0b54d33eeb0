/* For operators: counters, the doctor, upkeep and the audit. */
#ifndef BOXCAR_STORE_SQLITE_ADMIN_ADMIN_H
#define BOXCAR_STORE_SQLITE_ADMIN_ADMIN_H

#include "store/finding.h"
#include "store/sqlite/state.h"

/* ---- counters (stats.c) ---- */
boxcar_status sqlite_stats(struct boxcar_store *store, boxcar_box box, bool by_topic,
                           struct stats_rows **ret_list, boxcar_error *err);

/* ---- upkeep (maintain.c) and the audit (audit.c) ---- */
boxcar_status sqlite_maintain(struct boxcar_store *store, enum upkeep_task task, struct upkeep_done *ret_done,
                              boxcar_error *err);
boxcar_status sqlite_facts(struct boxcar_store *store, struct store_facts *ret_facts, boxcar_error *err);
/* When upkeep ran last; in a transaction of the caller. */
boxcar_status sqlite_upkeep_look(struct sqlite_store *store, boxcar_upkeep *ret_upkeep, boxcar_error *err);
boxcar_status sqlite_audit(struct sqlite_store *store, bool repair, boxcar_audit *ret_audit,
                           boxcar_error *err);

/* ---- the doctor (diagnose.c) ---- */
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
