#include "discovery.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/utf8.h"
#include "core/limits/limits.h"
#include "store/open.h"

#define QUERY_DEFAULT "select url from stores"
#define COMMAND_MS 60000
#define KEY_MAX 255

struct discovery {
    struct arena arena;
    boxcar_fleet_options options; /* texts in the arena */
    boxcar_str default_schema;
    boxcar_store_entry *fixed;
    size_t fixed_count;
    const char *path; /* of a file or a directory */
    const char *source;
    atomic_bool is_over;
};

/* ---- a list ---- */

static boxcar_status check_entry(const boxcar_store_entry *entry, boxcar_error *err) {
    TRY(limits_check_text(entry->url, "url", SIZE_MAX, err));
    TRY(store_check_url(entry->url, err));
    TRY(limits_check_schema_name(entry->schema, err));
    return limits_check_text(entry->key, "key", KEY_MAX, err);
}

/* The id is malloc'ed: it moves into the arena. */
static boxcar_status copy_entry(struct boxcar_discovered *list, const boxcar_store_entry *entry,
                                boxcar_found_store *found, boxcar_error *err) {
    AUTO_FREE char *id = NULL;
    boxcar_str copy;
    boxcar_str schema = str_is_empty(entry->schema) ? list->default_schema : entry->schema;
    TRY(store_identify(entry->url, schema, &id, err));
    if (!arena_copy_str(&list->arena, boxcar_str_of(id), &copy) ||
        !arena_copy_str(&list->arena, entry->url, &found->url) ||
        !arena_copy_str(&list->arena, schema, &found->schema) ||
        !arena_copy_str(&list->arena, str_unless_empty(entry->key), &found->key))
        return error_no_memory(err);
    found->id = copy.data;
    return BOXCAR_OK;
}

boxcar_status discovered_add(struct boxcar_discovered *list, const boxcar_store_entry *entry,
                             boxcar_error *err) {
    boxcar_found_store found = {0};
    TRY(check_entry(entry, err));
    if (list->count >= BOXCAR_FLEET_STORES_MAX)
        return error_invalid(err, "stores", "the list has more than %d stores", BOXCAR_FLEET_STORES_MAX);
    TRY(copy_entry(list, entry, &found, err));
    boxcar_found_store *place = list_add(list, sizeof(*place));
    if (!place)
        return error_no_memory(err);
    *place = found;
    return BOXCAR_OK;
}

/* ---- each store once ---- */

static int compare_ids(const void *a, const void *b) {
    return strcmp((*(const boxcar_found_store *const *)a)->id, (*(const boxcar_found_store *const *)b)->id);
}

static boxcar_status refuse_twin(const boxcar_found_store *found, boxcar_error *err) {
    error_invalid(err, "stores", "the list names the store %.200s twice%s%.*s%s: name each store once",
                  found->id, str_is_empty(found->key) ? "" : " (key ",
                  (int)(found->key.len < 80 ? found->key.len : 80),
                  str_is_empty(found->key) ? "" : found->key.data, str_is_empty(found->key) ? "" : ")");
    if (err)
        err->status = BOXCAR_E_CONFLICT;
    return BOXCAR_E_CONFLICT;
}

static boxcar_status check_twins(const struct boxcar_discovered *list, boxcar_error *err) {
    AUTO_FREE const boxcar_found_store **sorted = calloc(list->count + 1, sizeof(*sorted));
    if (!sorted)
        return error_no_memory(err);
    for (size_t i = 0; i < list->count; i++)
        sorted[i] = &list->items[i];
    qsort(sorted, list->count, sizeof(*sorted), compare_ids);
    for (size_t i = 1; i < list->count; i++)
        if (compare_ids(&sorted[i - 1], &sorted[i]) == 0)
            return refuse_twin(sorted[i] > sorted[i - 1] ? sorted[i] : sorted[i - 1], err);
    return BOXCAR_OK;
}

/* ---- the sources ---- */

/* Columns: url; key, url; key, url, schema. */
static boxcar_status take_row(void *context, const boxcar_str *columns, int count, boxcar_error *err) {
    boxcar_store_entry entry = BOXCAR_STORE_ENTRY_INIT;
    entry.url = columns[count > 1];
    if (count > 1)
        entry.key = columns[0];
    if (count > 2)
        entry.schema = columns[2];
    return discovered_add(context, &entry, err);
}

static boxcar_status read_source(struct discovery *discovery, struct boxcar_discovered *list,
                                 boxcar_error *err) {
    const boxcar_fleet_options *options = &discovery->options;
    switch (options->discovery) {
    case BOXCAR_DISCOVERY_NONE:
        return BOXCAR_OK;
    case BOXCAR_DISCOVERY_FUNCTION:
        return options->discover(options->discover_context, list, err);
    case BOXCAR_DISCOVERY_FILE:
        return discovery_read_file(discovery->path, list, err);
    case BOXCAR_DISCOVERY_DIRECTORY:
        return discovery_read_directory(discovery->path, list, err);
    case BOXCAR_DISCOVERY_SQL:
        return store_query(options->where, options->query, 3, &discovery->is_over, take_row, list, err);
    case BOXCAR_DISCOVERY_COMMAND:
        return discovery_run_command(options->where, COMMAND_MS, &discovery->is_over, list, err);
    }
    return BOXCAR_OK;
}

static boxcar_status make_list(struct discovery *discovery, struct boxcar_discovered *list,
                               boxcar_error *err) {
    list->default_schema = discovery->default_schema;
    for (size_t i = 0; i < discovery->fixed_count; i++)
        TRY(error_locate_item(discovered_add(list, &discovery->fixed[i], err), "stores", i, err));
    TRY(read_source(discovery, list, err));
    return check_twins(list, err);
}

boxcar_status discovery_run(struct discovery *discovery, struct boxcar_discovered **ret_list,
                            boxcar_error *err) {
    struct boxcar_discovered *list = calloc(1, sizeof(*list));
    boxcar_status status = list ? make_list(discovery, list, err) : error_no_memory(err);
    if (status == BOXCAR_OK)
        *ret_list = list;
    else
        list_free(list);
    return status;
}

/* ---- options ---- */

static boxcar_status check_range(const char *argument, int64_t value, int64_t min, int64_t max,
                                 boxcar_error *err) {
    if (value >= min && value <= max)
        return BOXCAR_OK;
    return error_invalid(err, argument, "%s is %lld: give %lld to %lld", argument, (long long)value,
                         (long long)min, (long long)max);
}

static boxcar_status check_numbers(const boxcar_fleet_options *options, boxcar_error *err) {
    TRY(check_range("fleet.refresh_ms", options->refresh_ms, BOXCAR_FLEET_REFRESH_MS_MIN,
                    BOXCAR_FLEET_REFRESH_MS_MAX, err));
    TRY(check_range("fleet.connections", options->connections, 1, BOXCAR_FLEET_CONNECTIONS_MAX, err));
    TRY(check_range("fleet.idle_ms", options->idle_ms, 0, BOXCAR_FLEET_IDLE_MS_MAX, err));
    TRY(check_range("fleet.look_ms", options->look_ms, BOXCAR_FLEET_LOOK_MS_MIN, BOXCAR_FLEET_LOOK_MS_MAX,
                    err));
    if ((unsigned)options->selection > BOXCAR_SELECT_DRAIN_FIRST)
        return error_invalid(err, "fleet.selection",
                             "fleet.selection is unknown: give one of BOXCAR_SELECT_*");
    return BOXCAR_OK;
}

static boxcar_status check_source(const boxcar_fleet_options *options, boxcar_error *err) {
    if ((unsigned)options->discovery > BOXCAR_DISCOVERY_COMMAND)
        return error_invalid(err, "fleet.discovery",
                             "fleet.discovery is unknown: give one of BOXCAR_DISCOVERY_*");
    if (options->discovery == BOXCAR_DISCOVERY_NONE && options->store_count == 0)
        return error_invalid(err, "fleet.stores",
                             "fleet.stores is empty: give stores, or a way to discover them");
    if (options->store_count > 0 && !options->stores)
        return error_invalid(err, "fleet.stores", "fleet.stores is NULL: store_count says otherwise");
    if (options->store_count > BOXCAR_FLEET_STORES_MAX)
        return error_invalid(err, "fleet.stores", "fleet.stores has more than %d stores",
                             BOXCAR_FLEET_STORES_MAX);
    if (options->discovery == BOXCAR_DISCOVERY_FUNCTION && !options->discover)
        return error_invalid(err, "fleet.discover", "fleet.discover is NULL: it is required");
    TRY(limits_check_text(options->where, "fleet.where", SIZE_MAX, err));
    TRY(limits_check_text(options->query, "fleet.query", SIZE_MAX, err));
    if (options->discovery > BOXCAR_DISCOVERY_FUNCTION && str_is_empty(options->where))
        return error_invalid(err, "fleet.where", "fleet.where is empty: say where the stores are listed");
    return options->discovery == BOXCAR_DISCOVERY_SQL
               ? error_locate(store_check_url(options->where, err), "fleet.", err)
               : BOXCAR_OK;
}

/* ---- a copy of them ---- */

static bool copy_entries(struct discovery *discovery, const boxcar_store_entry *given, size_t count) {
    discovery->fixed = arena_alloc_array(&discovery->arena, count, sizeof(*discovery->fixed));
    for (size_t i = 0; discovery->fixed && i < count; i++) {
        discovery->fixed[i] = given[i];
        if (!arena_copy_str(&discovery->arena, given[i].url, &discovery->fixed[i].url) ||
            !arena_copy_str(&discovery->arena, given[i].schema, &discovery->fixed[i].schema) ||
            !arena_copy_str(&discovery->arena, given[i].key, &discovery->fixed[i].key))
            return false;
    }
    discovery->fixed_count = count;
    return discovery->fixed != NULL;
}

/* A control database is named by its identifier, which has no password; a command without its arguments. */
static boxcar_status name_source(struct discovery *discovery, boxcar_error *err) {
    const boxcar_fleet_options *options = &discovery->options;
    AUTO_FREE char *id = NULL;
    AUTO_BUF struct buf text = BUF_INIT;
    boxcar_str copy, where = options->where;
    if (options->discovery == BOXCAR_DISCOVERY_SQL) {
        TRY(store_identify(options->where, BOXCAR_NO_STR, &id, err));
        where = boxcar_str_of(id);
    } else if (options->discovery == BOXCAR_DISCOVERY_COMMAND) {
        where.len = 0;
        while (where.len < options->where.len && !memchr(" \t\n", where.data[where.len], 3))
            where.len++;
    }
    buf_append_text(&text, boxcar_discovery_name(options->discovery));
    if (!str_is_empty(where)) {
        buf_append_char(&text, ':');
        buf_append_str(&text, where);
    }
    if (text.failed || !arena_copy_str(&discovery->arena, (boxcar_str){text.data, text.len}, &copy))
        return error_no_memory(err);
    discovery->source = copy.data;
    return BOXCAR_OK;
}

static boxcar_status copy_options(struct discovery *discovery, const boxcar_store_entry *stores,
                                  boxcar_str default_schema, boxcar_error *err) {
    boxcar_fleet_options *options = &discovery->options;
    if (!arena_copy_str(&discovery->arena, options->where, &options->where) ||
        !arena_copy_str(&discovery->arena, options->query, &options->query) ||
        !arena_copy_str(&discovery->arena, default_schema, &discovery->default_schema) ||
        !copy_entries(discovery, stores, options->store_count))
        return error_no_memory(err);
    options->stores = NULL;
    discovery->path = options->where.data;
    if (str_is_empty(options->query))
        options->query = BOXCAR_STR(QUERY_DEFAULT);
    return name_source(discovery, err);
}

static boxcar_status init(struct discovery *discovery, const boxcar_fleet_options *given,
                          boxcar_str default_schema, boxcar_error *err) {
    boxcar_fleet_options *options = &discovery->options;
    *options = BOXCAR_FLEET_OPTIONS_INIT;
    TRY(options_read(options, sizeof(*options), given, "fleet", err));
    TRY(check_numbers(options, err));
    TRY(check_source(options, err));
    const boxcar_store_entry *stores = options->stores;
    TRY(OPTIONS_READ_ARRAY(&discovery->arena, BOXCAR_STORE_ENTRY_INIT, &stores, options->store_count,
                           "fleet.stores", err));
    return copy_options(discovery, stores, default_schema, err);
}

boxcar_status discovery_new(const boxcar_fleet_options *options, boxcar_str default_schema,
                            struct discovery **ret_discovery, boxcar_error *err) {
    struct discovery *discovery = calloc(1, sizeof(*discovery));
    boxcar_status status = discovery ? init(discovery, options, default_schema, err) : error_no_memory(err);
    if (status == BOXCAR_OK)
        *ret_discovery = discovery;
    else
        discovery_free(discovery);
    return status;
}

void discovery_free(struct discovery *discovery) {
    if (!discovery)
        return;
    arena_release(&discovery->arena);
    free(discovery);
}

void discovery_hurry(struct discovery *discovery) { atomic_store(&discovery->is_over, true); }

bool discovery_is_live(const struct discovery *discovery) {
    return discovery->options.discovery != BOXCAR_DISCOVERY_NONE;
}

const char *discovery_source(const struct discovery *discovery) { return discovery->source; }
