/* Instances that say that they live: a row for each box, written again and again. Claims prefer the streams
 * of a worker's own partitions; one that was silent for long, in both boxes and in every way, is taken for
 * gone, and what it had leased for lost. */
#include "instance.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "core/partition.h"
#include "setting.h"
#include "store/sqlite/connection/transaction.h"
#include "store/sqlite/message/read.h"
#include "store/sqlite/settle/release.h"

static int compare_topics(const void *a, const void *b) {
    const boxcar_str *x = a, *y = b;
    int order = memcmp(x->data, y->data, x->len < y->len ? x->len : y->len);

    return order != 0 ? order : (x->len > y->len) - (x->len < y->len);
}

/* The patterns as a JSON array; NULL when out of memory. */
static char *as_json(const boxcar_str *topics, size_t count) {
    json_t *array = json_array();
    char *text;

    for (size_t i = 0; i < count; i++)
        if (json_array_append_new(array, json_stringn(topics[i].data, topics[i].len)) != 0) {
            json_decref(array);
            return NULL;
        }
    text = array != NULL ? json_dumps(array, JSON_COMPACT) : NULL;
    json_decref(array);
    return text;
}

/* Sorted: workers that handle the same topics share partitions. */
static char *topics_as_json(const struct instance *instance) {
    size_t count = instance->topic_count;
    AUTO_FREE boxcar_str *topics = calloc(count + 1, sizeof(*topics));

    if (topics == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++)
        topics[i] = instance->topics[i];
    qsort(topics, count, sizeof(*topics), compare_topics);
    return as_json(topics, count);
}

/* topics NULL: as they were, none at first. */
static boxcar_status write_row(struct sqlite_store *store, const struct instance *instance,
                               const char *topics, boxcar_error *err) {
    struct query query = query_on(store, S_INSTANCE_WRITE);

    query_id(&query, instance->owner.uuid.bytes);
    query_int(&query, instance->box);
    query_text(&query, instance->host);
    query_int(&query, instance->pid);
    query_int(&query, instance->concurrency);
    query_text(&query, topics != NULL ? boxcar_str_of(topics) : (boxcar_str){0});
    query_int(&query, store->now);
    return query_run(&query, err);
}

/* A heartbeat that names no box: in those where the owner is known, else in both. */
static boxcar_status write_boxless(struct sqlite_store *store, const struct instance *instance,
                                   boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_INSTANCE_TOUCH);
    struct instance written = *instance;
    bool known = false;
    boxcar_status status;

    query_id(&query, instance->owner.uuid.bytes);
    query_text(&query, instance->host);
    query_int(&query, instance->pid);
    query_int(&query, instance->concurrency);
    query_int(&query, store->now);
    status = query_step(&query, &known, err);
    for (int box = 0; status == BOXCAR_OK && !known && box < BOXES; box++) {
        written.box = (boxcar_box)box;
        status = write_row(store, &written, NULL, err);
    }
    return status;
}

boxcar_status sqlite_instance_write(struct sqlite_store *store, const struct instance *instance,
                                    boxcar_error *err) {
    AUTO_FREE char *topics = NULL;

    if (instance->no_box)
        return write_boxless(store, instance, err);
    if (instance->topics == NULL)
        return write_row(store, instance, NULL, err);
    topics = topics_as_json(instance);
    return topics != NULL ? write_row(store, instance, topics, err) : error_no_memory(err);
}

/* ---- signs of life ---- */

/* When the owner was last noted, in the box where that is longest ago; *ret_known: it is registered. */
static boxcar_status read_seen(struct sqlite_store *store, boxcar_owner owner, boxcar_time *ret_seen_at,
                               bool *ret_known, boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_INSTANCE_SEEN);
    bool row = false;
    boxcar_status status;

    query_id(&query, owner.uuid.bytes);
    status = query_step(&query, &row, err);
    if (status != BOXCAR_OK)
        return status;
    *ret_known = row && !query_is_null(&query, 0);
    if (*ret_known)
        *ret_seen_at = query_get_int(&query, 0);
    return BOXCAR_OK;
}

static boxcar_status holds_leases(struct sqlite_store *store, boxcar_owner owner, bool *ret_holds,
                                  boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_INSTANCE_LEASES);

    query_id(&query, owner.uuid.bytes);
    query_int(&query, 1);
    return query_step(&query, ret_holds, err);
}

/* A claim that finds nothing writes nothing, because every commit wakes all that sleep: it is noted only when
 * the owner has leases to lose, or when no heartbeat has come for a while. */
static boxcar_status is_worth_noting(struct sqlite_store *store, boxcar_owner owner, boxcar_time seen_at,
                                     enum sign_kind kind, bool *ret_worth, boxcar_error *err) {
    boxcar_status status = sqlite_settings_load(store, err);

    *ret_worth = seen_at <= store->now - SQLITE_SIGN_US;
    if (status != BOXCAR_OK || !*ret_worth || kind == SIGN_WITH_WORK)
        return status;
    if (seen_at <= store->now - store->settings.instance_timeout_ms * 1000 / 3)
        return BOXCAR_OK;
    return holds_leases(store, owner, ret_worth, err);
}

boxcar_status sqlite_instance_sign(struct sqlite_store *store, boxcar_owner owner, enum sign_kind kind,
                                   boxcar_error *err) {
    struct query query = query_on(store, S_INSTANCE_SIGN);
    boxcar_time seen_at = 0;
    bool worth = false;
    boxcar_status status = read_seen(store, owner, &seen_at, &worth, err);

    if (status == BOXCAR_OK && worth)
        status = is_worth_noting(store, owner, seen_at, kind, &worth, err);
    if (status != BOXCAR_OK || !worth)
        return status;
    query_id(&query, owner.uuid.bytes);
    query_int(&query, store->now);
    return query_run(&query, err);
}

boxcar_status sqlite_instance_delete(struct sqlite_store *store, boxcar_owner owner, boxcar_error *err) {
    struct query query = query_on(store, S_INSTANCE_DELETE);

    query_id(&query, owner.uuid.bytes);
    return query_run(&query, err);
}

/* ---- those that are gone ---- */

/* Signs of life are noted at intervals of SQLITE_SIGN_US. */
static boxcar_time silent_since(const struct sqlite_store *store, int64_t threshold_ms) {
    if (threshold_ms == 0)
        threshold_ms = store->settings.instance_timeout_ms;
    return store->now - threshold_ms * 1000 - SQLITE_SIGN_US;
}

static boxcar_status find_silent(struct sqlite_store *store, int64_t threshold_ms, boxcar_owner *ret_owner,
                                 bool *ret_found, boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_INSTANCE_SILENT);
    boxcar_status status = sqlite_settings_load(store, err);

    if (status != BOXCAR_OK)
        return status;
    query_int(&query, silent_since(store, threshold_ms));
    status = query_step(&query, ret_found, err);
    if (status == BOXCAR_OK && *ret_found)
        query_get_id(&query, 0, ret_owner->uuid.bytes);
    return status;
}

static boxcar_status release_leases(struct sqlite_store *store, boxcar_owner owner, int limit,
                                    int64_t *ret_released, boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_INSTANCE_LEASES);
    int64_t *ids;
    size_t count;
    boxcar_status status;

    query_id(&query, owner.uuid.bytes);
    query_int(&query, limit);
    status = sqlite_collect_ids(store, &query, &ids, &count, err);
    for (size_t i = 0; status == BOXCAR_OK && i < count; i++)
        status = sqlite_release_expired(store, ids[i], err);
    if (status == BOXCAR_OK)
        *ret_released = (int64_t)count;
    return status;
}

/* Not by its id: one that is no id would be found again and again. */
static boxcar_status delete_silent(struct sqlite_store *store, int64_t threshold_ms, boxcar_error *err) {
    struct query query = query_on(store, S_INSTANCE_SILENT_DELETE);

    query_int(&query, silent_since(store, threshold_ms));
    return query_run(&query, err);
}

boxcar_status sqlite_instance_remove_silent(struct sqlite_store *store, int64_t threshold_ms, int limit,
                                            int64_t *ret_released, bool *ret_more, boxcar_error *err) {
    boxcar_owner silent;
    boxcar_status status = find_silent(store, threshold_ms, &silent, ret_more, err);

    *ret_released = 0;
    if (status != BOXCAR_OK || !*ret_more)
        return status;
    status = release_leases(store, silent, limit, ret_released, err);
    if (status != BOXCAR_OK || *ret_released == limit)
        return status;
    return delete_silent(store, threshold_ms, err);
}

/* ---- for people ---- */

static boxcar_status read_instance(struct sqlite_store *store, struct query *query, struct arena *arena,
                                   boxcar_instance *ret_instance, boxcar_error *err) {
    boxcar_instance instance = {.pid = query_get_int(query, 2),
                                .concurrency = (int)query_get_int(query, 3),
                                .started_at = query_get_int(query, 4),
                                .seen_at = query_get_int(query, 5),
                                .leased = query_get_int(query, 6),
                                .oldest_lease_at = query_get_time(query, 7),
                                .box = (boxcar_box)query_get_int(query, 8),
                                .rank = (int)query_get_int(query, 9)};
    struct partition_range own =
        partition_range_of(instance.rank, query_get_int(query, 10), store->settings.partition_count,
                           store->settings.partitions_max);

    query_get_id(query, 0, instance.owner.uuid.bytes);
    instance.first_partition = own.first;
    instance.partition_count = own.count;
    if (instance.oldest_lease_at > store->now)
        instance.oldest_lease_at = store->now;
    *ret_instance = instance;
    return query_copy_text(query, 1, arena, &ret_instance->host, err);
}

static boxcar_status add_instance(struct sqlite_store *store, struct query *query, struct instance_rows *list,
                                  size_t *capacity, boxcar_error *err) {
    boxcar_instance *items =
        arena_make_room(&list->arena, list->items, list->count, capacity, sizeof(*items));
    if (items == NULL)
        return error_no_memory(err);
    list->items = items;
    return read_instance(store, query, &list->arena, &list->items[list->count++], err);
}

static boxcar_status list_instances(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct instance_rows *list = context;
    AUTO_QUERY struct query query = query_on(store, S_INSTANCES);
    boxcar_status status = sqlite_settings_load(store, err);
    size_t capacity = 0;
    bool row = true;

    arena_release(&list->arena);
    list->items = NULL;
    list->count = 0;
    query_int(&query, store->now - store->settings.instance_timeout_ms * 1000);
    while (status == BOXCAR_OK && (status = query_step(&query, &row, err)) == BOXCAR_OK && row)
        status = add_instance(store, &query, list, &capacity, err);
    return status;
}

boxcar_status sqlite_instances(struct boxcar_store *store, struct instance_rows **ret_list,
                               boxcar_error *err) {
    struct instance_rows *list = calloc(1, sizeof(*list));
    boxcar_status status;

    if (list == NULL)
        return error_no_memory(err);
    status = sqlite_transaction(sqlite_of(store), ACCESS_READ, list_instances, list, err);
    if (status == BOXCAR_OK)
        *ret_list = list;
    else
        list_free(list);
    return status;
}
