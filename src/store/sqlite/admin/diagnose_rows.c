/* Rows that Boxcar did not write: a value of another type than its column's, or a text that is not UTF-8,
 * left by a hand or by a broken disk. SQLite's tables take any type in any column, and any bytes in a text.
 * Readers get along with such a row as well as they can; here it is named. The newest rows of each table are
 * looked at, as many as keep the doctor's costs bounded. */
#include <stdio.h>

#include "admin.h"
#include "base/utf8.h"

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
    AUTO_QUERY struct query query = query_once(store, sql);
    if (query_next(&query) && query_get_int(&query, 0) > 0)
        report(list, table, query_get_int(&query, 0), query_get_text(&query, 1).data,
               query_get_text(&query, 2).data, "");
    return query_status(&query, err);
}

/* The first text of the row that is no UTF-8; 0 = none. */
static int find_bad_text(const struct query *query, int64_t *bytes) {
    for (int column = 1; column < sqlite3_column_count(query->stmt); column++) {
        if (sqlite3_column_type(query->stmt, column) != SQLITE_TEXT)
            continue;
        boxcar_str text = query_get_text(query, column);
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

static void note_row(struct bad_texts *texts, const struct query *query, int column) {
    const char *key = query_get_text(query, 0).data, *name = sqlite3_column_name(query->stmt, column);
    texts->count++;
    snprintf(texts->key, sizeof(texts->key), "%s", key != NULL ? key : "?");
    snprintf(texts->column, sizeof(texts->column), "%s", name != NULL ? name : "?");
}

static boxcar_status judge_texts(struct sqlite_store *store, const char *table, const char *sql,
                                 struct damage_list *list, boxcar_error *err) {
    AUTO_QUERY struct query query = query_once(store, sql);
    struct bad_texts texts = {.count = 0};
    for (int64_t bytes = 0; bytes < TEXT_MAX && query_next(&query);) {
        int bad = find_bad_text(&query, &bytes);
        if (bad != 0)
            note_row(&texts, &query, bad);
    }
    TRY(query_status(&query, err));
    if (texts.count > 0)
        report(list, table, texts.count, texts.key, texts.column, " is not UTF-8");
    return BOXCAR_OK;
}

static boxcar_status judge_table(struct sqlite_store *store, const struct query *statements,
                                 struct damage_list *list, boxcar_error *err) {
    const char *table = query_get_text(statements, 0).data;
    const char *types = query_get_text(statements, 1).data;
    const char *texts = query_get_text(statements, 2).data;
    if (table == NULL || types == NULL)
        return error_no_memory(err);
    TRY(judge_types(store, table, types, list, err));
    if (query_is_null(statements, 2))
        return BOXCAR_OK;
    return texts != NULL ? judge_texts(store, table, texts, list, err) : error_no_memory(err);
}

boxcar_status sqlite_check_rows(struct sqlite_store *store, struct findings *findings, boxcar_error *err) {
    struct damage_list list = {.findings = findings};
    AUTO_QUERY struct query query = query_once(store, STATEMENTS);
    while (query_next(&query))
        TRY(judge_table(store, &query, &list, err));
    TRY(query_status(&query, err));
    if (!list.found)
        findings_add(findings, "rows", BOXCAR_SEVERITY_OK,
                     "the newest rows of each table have the types they should, and their texts are UTF-8");
    return BOXCAR_OK;
}
