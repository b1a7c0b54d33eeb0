/* Rows that Boxcar did not write: a value of another type than its column's, or a text that is not UTF-8,
 * left by a hand or by a broken disk. SQLite's tables take any type in any column, and any bytes in a text.
 * Readers get along with such a row as well as they can; here it is named. The newest rows of each table are
 * looked at, as many as keep the doctor's costs bounded. */
#include <stdio.h>

#include "base/error.h"
#include "base/utf8.h"
#include "diagnose.h"
#include "store/checkup.h"
#include "store/sqlite/connection/connection.h"

#define ROWS_MAX "10000"
#define TEXT_MAX (INT64_C(64) << 20) /* bytes of texts, of each table */

/* What names a row: "work_id 7". */
#define KEY                                                                                                  \
    "(select group_concat('''' || k.name || ' '' || substr(quote(' || k.name || '), 1, 80)', ' || '', '' "   \
    "|| ') "                                                                                                 \
    "from pragma_table_info(m.name) k where k.pk > 0)"
#define NEWEST_FIRST                                                                                         \
    "' order by ' || (select group_concat(k.name || ' desc', ', ') from pragma_table_info(m.name) k "        \
    "where k.pk > 0) || ' limit " ROWS_MAX "'"

/* Yields, for each table of Boxcar's, the statement that looks at the types in it, and the one that reads its
 * texts (null if it has none). Blobs are ids, and have 16 bytes. */
static const char STATEMENTS[] =
    "select m.name, 'select count(*), min(k), min(c) from (select ' || " KEY " || ' as k, case ' || "
    "    (select group_concat('when typeof(' || c.name || ') not in (''' || "
    "        case lower(c.type) when 'real' then 'real'', ''integer' else lower(c.type) end || '''' || "
    "        case when c.\"notnull\" = 0 then ', ''null''' else '' end || ')' || "
    "        case lower(c.type) when 'blob' then ' or length(' || c.name || ') <> 16' else '' end || "
    "        ' then ''' || c.name || ' is of type '' || typeof(' || c.name || ')', ' ') "
    "     from pragma_table_info(m.name) c) || ' end as c from (select * from ' || m.name || " NEWEST_FIRST
    " || ')) where c is not null', "
    "'select ' || " KEY " || ', ' || (select group_concat(c.name, ', ') from pragma_table_info(m.name) c "
    "    where lower(c.type) = 'text') || ' from ' || m.name || " NEWEST_FIRST
    " from sqlite_master m where m.type = 'table' and m.name like 'boxcar\\_%' escape '\\' order by m.name";

struct damage_list {
    struct findings *findings;
    bool found;
};

static void report(struct damage_list *list, const char *table, int64_t count, const char *key,
                   const char *what, const char *how) {
    char name[200];

    snprintf(name, sizeof(name), "%s", key != NULL ? key : "?");
    error_tidy(name);
    list->found = true;
    findings_add(list->findings, "rows", BOXCAR_SEVERITY_PROBLEM,
                 "%s: %lld of its rows are damaged, the first is %s: %s%s", table, (long long)count, name,
                 what != NULL ? what : "?", how);
    findings_remedy(list->findings,
                    "stop the workers, then correct or delete the row with the sqlite3 program");
}

static boxcar_status judge_types(struct sqlite_store *store, const char *table, const char *sql,
                                 struct damage_list *list, boxcar_error *err) {
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(store->db, sql, -1, &stmt, NULL);

    if (rc == SQLITE_OK)
        rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW && sqlite3_column_int64(stmt, 0) > 0)
        report(list, table, sqlite3_column_int64(stmt, 0), (const char *)sqlite3_column_text(stmt, 1),
               (const char *)sqlite3_column_text(stmt, 2), "");
    sqlite3_finalize(stmt);
    return rc == SQLITE_ROW ? BOXCAR_OK : sqlite_error(store, rc, err);
}

/* The first text of the row that is no UTF-8; 0 = none. */
static int find_bad_text(sqlite3_stmt *stmt, int64_t *bytes) {
    for (int column = 1; column < sqlite3_column_count(stmt); column++) {
        boxcar_str text;

        if (sqlite3_column_type(stmt, column) != SQLITE_TEXT)
            continue;
        text.data = (const char *)sqlite3_column_text(stmt, column);
        text.len = (size_t)sqlite3_column_bytes(stmt, column);
        *bytes += (int64_t)text.len;
        if (text.data != NULL && !utf8_is_valid(text))
            return column;
    }
    return 0;
}

/* The newest come first, and the oldest is named. */
struct bad_texts {
    int64_t count;
    char key[200], column[64];
};

static void note_row(struct bad_texts *texts, sqlite3_stmt *stmt, int column) {
    const char *key = (const char *)sqlite3_column_text(stmt, 0), *name = sqlite3_column_name(stmt, column);

    texts->count++;
    snprintf(texts->key, sizeof(texts->key), "%s", key != NULL ? key : "?");
    snprintf(texts->column, sizeof(texts->column), "%s", name != NULL ? name : "?");
}

static boxcar_status judge_texts(struct sqlite_store *store, const char *table, const char *sql,
                                 struct damage_list *list, boxcar_error *err) {
    struct bad_texts texts = {.count = 0};
    sqlite3_stmt *stmt = NULL;
    int64_t bytes = 0;
    int rc = sqlite3_prepare_v2(store->db, sql, -1, &stmt, NULL);

    while (rc == SQLITE_OK && bytes < TEXT_MAX && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        int bad = find_bad_text(stmt, &bytes);
        if (bad != 0)
            note_row(&texts, stmt, bad);
        rc = SQLITE_OK;
    }
    sqlite3_finalize(stmt);
    if (rc != SQLITE_DONE && rc != SQLITE_OK)
        return sqlite_error(store, rc, err);
    if (texts.count > 0)
        report(list, table, texts.count, texts.key, texts.column, " is not UTF-8");
    return BOXCAR_OK;
}

static boxcar_status judge_table(struct sqlite_store *store, sqlite3_stmt *statements,
                                 struct damage_list *list, boxcar_error *err) {
    const char *table = (const char *)sqlite3_column_text(statements, 0);
    const char *types = (const char *)sqlite3_column_text(statements, 1);
    const char *texts = (const char *)sqlite3_column_text(statements, 2);
    boxcar_status status;

    if (table == NULL || types == NULL)
        return error_no_memory(err);
    status = judge_types(store, table, types, list, err);
    if (status != BOXCAR_OK || sqlite3_column_type(statements, 2) == SQLITE_NULL)
        return status;
    return texts != NULL ? judge_texts(store, table, texts, list, err) : error_no_memory(err);
}

boxcar_status sqlite_check_rows(struct sqlite_store *store, struct findings *findings, boxcar_error *err) {
    struct damage_list list = {.findings = findings};
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(store->db, STATEMENTS, -1, &stmt, NULL);
    boxcar_status status = BOXCAR_OK;

    while (rc == SQLITE_OK && status == BOXCAR_OK && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        status = judge_table(store, stmt, &list, err);
        rc = SQLITE_OK;
    }
    sqlite3_finalize(stmt);
    if (status != BOXCAR_OK || rc != SQLITE_DONE)
        return status != BOXCAR_OK ? status : sqlite_error(store, rc, err);
    if (!list.found)
        findings_add(findings, "rows", BOXCAR_SEVERITY_OK,
                     "the newest rows of each table have the types they should, and their texts are UTF-8");
    return BOXCAR_OK;
}
