#include "open.h"

#include <string.h>

#include "base/error.h"
#include "base/options.h"
#include "base/utf8.h"
#include "core/limits/limits.h"

#define BUSY_TIMEOUT_MS_DEFAULT 30000
#define TIMEOUT_MS_MAX (24 * 60 * 60 * 1000)

/* The URL may hold a password: no message repeats any of it. */
#define URL_FORMS "give sqlite:PATH or postgres://USER@HOST/DATABASE"

/* ---- options ---- */

static boxcar_status check_timeout(const char *argument, int64_t timeout_ms, boxcar_error *err) {
    if (timeout_ms < 0 || timeout_ms > TIMEOUT_MS_MAX)
        return error_invalid(err, argument, "%s is out of range: give 0 to %d", argument, TIMEOUT_MS_MAX);
    return BOXCAR_OK;
}

boxcar_status store_options_read(const boxcar_store_options *given, boxcar_store_options *ret_options,
                                 boxcar_error *err) {
    boxcar_store_options options = BOXCAR_STORE_OPTIONS_INIT;

    TRY(options_read(&options, sizeof(options), given, "options", err));
    TRY(limits_check_text(options.url, "url", SIZE_MAX, err));
    TRY(limits_check_schema_name(options.schema, err));
    if (options.durability != BOXCAR_DURABILITY_FULL && options.durability != BOXCAR_DURABILITY_NORMAL)
        return error_invalid(err, "durability",
                             "durability is unknown: give BOXCAR_DURABILITY_FULL or _NORMAL");
    TRY(check_timeout("busy_timeout_ms", options.busy_timeout_ms, err));
    TRY(check_timeout("answer_timeout_ms", options.answer_timeout_ms, err));
    if (str_is_absent(options.schema))
        options.schema = BOXCAR_STR(STORE_DEFAULT_SCHEMA);
    if (options.busy_timeout_ms == 0)
        options.busy_timeout_ms = BUSY_TIMEOUT_MS_DEFAULT;
    *ret_options = options;
    return BOXCAR_OK;
}

/* ---- backends ---- */

typedef boxcar_status open_fn(const boxcar_store_options *options, struct boxcar_store **ret_store,
                              boxcar_error *err);

static const struct backend {
    const char *prefix;
    open_fn *open;
    store_identify_fn *identify;
    store_query_fn *query;
} BACKENDS[] = {
    {STORE_URL_SQLITE, store_sqlite_open, store_sqlite_identify, store_sqlite_query},
    {"postgres://", store_postgres_open, store_postgres_identify, store_postgres_query},
    {"postgresql://", store_postgres_open, store_postgres_identify, store_postgres_query},
};

static const struct backend *find_backend(boxcar_str url) {
    for (size_t i = 0; i < sizeof(BACKENDS) / sizeof(BACKENDS[0]); i++) {
        if (str_starts_with(url, boxcar_str_of(BACKENDS[i].prefix)))
            return &BACKENDS[i];
    }
    return NULL;
}

/* SQLite gets the path only as the name of a file. SQLite's URIs can turn off locks and syncs, keep the
 * database in memory or choose another VFS. A path that looks like a URI is refused, so that no user believes
 * it took effect. */
static boxcar_status check_sqlite_path(boxcar_str path, boxcar_error *err) {
    if (str_is_empty(path))
        return error_invalid(err, "url", "url names no file: give sqlite:PATH");
    if (str_starts_with(path, BOXCAR_STR(":memory:")))
        return error_invalid(
            err, "url",
            "url names a database in memory, which would vanish with this one connection: give "
            "sqlite:PATH");
    if (str_starts_with(path, BOXCAR_STR("file:")))
        return error_invalid(
            err, "url",
            "url is a URI (file:...), which could turn off locks or keep the store in memory: give "
            "sqlite:PATH (and for a file that has such a name sqlite:./file:...)");
    if (memchr(path.data, '?', path.len) != NULL)
        return error_invalid(
            err, "url",
            "url has parameters (?...), which SQLite stores do not take: give sqlite:PATH, a path "
            "without a question mark");
    return BOXCAR_OK;
}

boxcar_status store_check_url(boxcar_str url, boxcar_error *err) {
    if (str_is_empty(url))
        return error_invalid(err, "url", "url is empty: " URL_FORMS);
    if (!find_backend(url))
        return error_invalid(err, "url", "url has an unknown form: " URL_FORMS);
    if (!str_starts_with(url, BOXCAR_STR(STORE_URL_SQLITE)))
        return BOXCAR_OK;
    return check_sqlite_path(
        (boxcar_str){url.data + strlen(STORE_URL_SQLITE), url.len - strlen(STORE_URL_SQLITE)}, err);
}

boxcar_status store_open(const boxcar_store_options *options, struct boxcar_store **ret_store,
                         boxcar_error *err) {
    boxcar_store_options checked;

    TRY(store_options_read(options, &checked, err));
    TRY(store_check_url(checked.url, err));
    return find_backend(checked.url)->open(&checked, ret_store, err);
}

boxcar_status store_identify(boxcar_str url, boxcar_str schema, char **ret_id, boxcar_error *err) {
    TRY(limits_check_text(url, "url", SIZE_MAX, err));
    TRY(limits_check_schema_name(schema, err));
    TRY(store_check_url(url, err));
    return find_backend(url)->identify(url, str_is_absent(schema) ? BOXCAR_STR(STORE_DEFAULT_SCHEMA) : schema,
                                       ret_id, err);
}

boxcar_status store_query(boxcar_str url, boxcar_str query, int most_columns, const atomic_bool *is_over,
                          store_row_fn *take, void *context, boxcar_error *err) {
    TRY(limits_check_text(url, "where", SIZE_MAX, err));
    TRY(limits_check_text(query, "query", SIZE_MAX, err));
    TRY(store_check_url(url, err));
    return find_backend(url)->query(url, query, most_columns, is_over, take, context, err);
}
