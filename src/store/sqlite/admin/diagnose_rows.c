/* Rows that Boxcar did not write: a value of another type than its column's, left by a hand or by a broken disk. SQLite's
 * tables take any type in any column. Readers get along with such a row as well as they can; here it is named. The newest
 * rows of each table are looked at, as many as keep the doctor's costs bounded. */
#include "diagnose.h"
#include "store/checkup.h"
#include "store/sqlite/connection/connection.h"

#define ROWS_MAX "10000"

/* Yields, for each table of Boxcar's, the statement that looks at it. Blobs are ids, and have 16 bytes. */
static const char STATEMENTS[] =
    "select m.name, 'select count(*), min(k), min(c) from (select ' || "
    "    (select group_concat('''' || k.name || ' '' || substr(quote(' || k.name || '), 1, 80)', ' || '', '' || ') "
    "     from pragma_table_info(m.name) k where k.pk > 0) || ' as k, case ' || "
    "    (select group_concat('when typeof(' || c.name || ') not in (''' || "
    "        case lower(c.type) when 'real' then 'real'', ''integer' else lower(c.type) end || '''' || "
    "        case when c.\"notnull\" = 0 then ', ''null''' else '' end || ')' || "
    "        case lower(c.type) when 'blob' then ' or length(' || c.name || ') <> 16' else '' end || "
    "        ' then ''' || c.name || ' is of type '' || typeof(' || c.name || ')', ' ') "
    "     from pragma_table_info(m.name) c) || ' end as c from (select * from ' || m.name || ' order by ' || "
    "    (select group_concat(k.name || ' desc', ', ') from pragma_table_info(m.name) k where k.pk > 0) || "
    "    ' limit " ROWS_MAX ")) where c is not null' "
    "from sqlite_master m where m.type = 'table' and m.name like 'boxcar\\_%' escape '\\' order by m.name";

static boxcar_status judge_table(struct sqlite_store *store, const char *table, const char *sql,
                                 struct findings *findings, bool *found, boxcar_error *err) {
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(store->db, sql, -1, &stmt, NULL);

    if (rc == SQLITE_OK)
        rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW && sqlite3_column_int64(stmt, 0) > 0) {
        const char *key = (const char *)sqlite3_column_text(stmt, 1);
        const char *column = (const char *)sqlite3_column_text(stmt, 2);
        *found = true;
        findings_add(findings, "rows", BOXCAR_SEVERITY_PROBLEM, "%s: %lld of its rows are damaged, the first is %s: %s",
                     table, (long long)sqlite3_column_int64(stmt, 0), key != NULL ? key : "?",
                     column != NULL ? column : "?");
        findings_remedy(findings, "stop the workers, then correct or delete the row with the sqlite3 program");
    }
    sqlite3_finalize(stmt);
    return rc == SQLITE_ROW ? BOXCAR_OK : sqlite_error(store, rc, err);
}

boxcar_status sqlite_check_rows(struct sqlite_store *store, struct findings *findings, boxcar_error *err) {
    sqlite3_stmt *stmt = NULL;
    bool found = false;
    int rc = sqlite3_prepare_v2(store->db, STATEMENTS, -1, &stmt, NULL);
    boxcar_status status = BOXCAR_OK;

    while (rc == SQLITE_OK && status == BOXCAR_OK && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        const char *table = (const char *)sqlite3_column_text(stmt, 0);
        const char *sql = (const char *)sqlite3_column_text(stmt, 1);
        status = table != NULL && sql != NULL ? judge_table(store, table, sql, findings, &found, err)
                                              : error_no_memory(err);
        rc = SQLITE_OK;
    }
    sqlite3_finalize(stmt);
    if (status != BOXCAR_OK || rc != SQLITE_DONE)
        return status != BOXCAR_OK ? status : sqlite_error(store, rc, err);
    if (!found)
        findings_add(findings, "rows", BOXCAR_SEVERITY_OK, "the newest rows of each table have the types they should");
    return BOXCAR_OK;
}
