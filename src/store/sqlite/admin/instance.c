/* Instances that say that they live: a row for each box, written again and again. Claims prefer the streams
 * of a worker's own partitions; one that was silent for long, in both boxes and in every way, is taken for
 * gone, and what it had leased for lost. */
#include "instance.h"

#include <jansson.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "core/partition.h"
#include "setting.h"
#include "store/sqlite/connection/transaction.h"
#include "store/sqlite/message/read.h"
#include "store/sqlite/settle/release.h"
#include "store/sqlite/subscription/reader.h"

static int compare_topics(const void *a, const void *b) {
    return str_compare(*(const boxcar_str *)a, *(const boxcar_str *)b);
}

/* The patterns as a JSON array; NULL when out of memory. */
static char *as_json(const boxcar_str *topics, size_t count) {
    json_t *array = json_array();
    bool made = array != NULL;
    for (size_t i = 0; made && i < count; i++)
        made = json_array_append_new(array, json_stringn(topics[i].data, topics[i].len)) == 0;
    char *text = made ? json_dumps(array, JSON_COMPACT) : NULL;
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
static boxcar_status write_row(struct sqlite_store *store, const struct instance *instance, boxcar_box box,
                               const char *topics, boxcar_error *err) {
    return query_do(store, S_INSTANCE_WRITE, err, Q_ID(instance->owner.uuid.bytes), Q_INT(box),
                    Q_TEXT(instance->host), Q_INT(instance->pid), Q_INT(instance->concurrency),
                    Q_TEXT(topics != NULL ? boxcar_str_of(topics) : BOXCAR_NO_STR), Q_INT(store->now));
}

/* A heartbeat that names no box: in those where the owner is known, else in both. */
static boxcar_status write_boxless(struct sqlite_store *store, const struct instance *instance,
                                   boxcar_error *err) {
    int64_t known = 0;
    TRY(query_find_int(store, S_INSTANCE_TOUCH, &known, err, Q_ID(instance->owner.uuid.bytes),
                       Q_TEXT(instance->host), Q_INT(instance->pid), Q_INT(instance->concurrency),
                       Q_INT(store->now)));
    for (int box = 0; known == 0 && box < BOXES; box++)
        TRY(write_row(store, instance, (boxcar_box)box, NULL, err));
    return BOXCAR_OK;
}

boxcar_status sqlite_instance_write(struct sqlite_store *store, const struct instance *instance,
                                    boxcar_error *err) {
    if (instance->no_box)
        return write_boxless(store, instance, err);
    if (instance->topics == NULL)
        return write_row(store, instance, instance->box, NULL, err);
    AUTO_FREE char *topics = topics_as_json(instance);
    return topics != NULL ? write_row(store, instance, instance->box, topics, err) : error_no_memory(err);
}

/* ---- signs of life ---- */

/* When the owner was last noted, in the box where that is longest ago; *ret_known: it is registered. */
static boxcar_status read_seen(struct sqlite_store *store, boxcar_owner owner, boxcar_time *ret_seen_at,
                               bool *ret_known, boxcar_error *err) {
    AUTO_QUERY struct query query = query_with(store, S_INSTANCE_SEEN, Q_ID(owner.uuid.bytes));
    *ret_known = query_next(&query) && !query_is_null(&query, 0);
    if (*ret_known)
        *ret_seen_at = query_get_int(&query, 0);
    return query_status(&query, err);
}

/* A claim that finds nothing writes nothing, because every commit wakes all that sleep: it is noted only when
 * the owner has leases to lose, or when no heartbeat has come for a while. */
static boxcar_status is_worth_noting(struct sqlite_store *store, boxcar_owner owner, boxcar_time seen_at,
                                     enum sign_kind kind, bool *ret_worth, boxcar_error *err) {
    TRY(sqlite_settings_load(store, err));
    *ret_worth = seen_at <= store->now - SQLITE_SIGN_US;
    if (!*ret_worth || kind == SIGN_WITH_WORK ||
        seen_at <= store->now - store->settings.instance_timeout_ms * 1000 / 3)
        return BOXCAR_OK;
    int64_t lease = 0;
    TRY(query_find_int(store, S_INSTANCE_LEASES, &lease, err, Q_ID(owner.uuid.bytes), Q_INT(1)));
    if (lease == 0)
        TRY(query_find_int(store, S_INSTANCE_READER_LEASES, &lease, err, Q_ID(owner.uuid.bytes), Q_INT(1)));
    *ret_worth = lease != 0;
    return BOXCAR_OK;
}

boxcar_status sqlite_instance_sign(struct sqlite_store *store, boxcar_owner owner, enum sign_kind kind,
                                   boxcar_error *err) {
    boxcar_time seen_at = 0;
    bool worth;
    TRY(read_seen(store, owner, &seen_at, &worth, err));
    if (worth)
        TRY(is_worth_noting(store, owner, seen_at, kind, &worth, err));
    if (!worth)
        return BOXCAR_OK;
    return query_do(store, S_INSTANCE_SIGN, err, Q_ID(owner.uuid.bytes), Q_INT(store->now));
}

boxcar_status sqlite_instance_delete(struct sqlite_store *store, boxcar_owner owner, boxcar_error *err) {
    return query_do(store, S_INSTANCE_DELETE, err, Q_ID(owner.uuid.bytes));
}

/* ---- those that are gone ---- */

static boxcar_status find_silent(struct sqlite_store *store, boxcar_time since, boxcar_owner *ret_owner,
                                 bool *ret_found, boxcar_error *err) {
    AUTO_QUERY struct query query = query_with(store, S_INSTANCE_SILENT, Q_INT(since));
    *ret_found = query_next(&query);
    if (*ret_found)
        query_get_id(&query, 0, ret_owner->uuid.bytes);
    return query_status(&query, err);
}

/* One lease after the other, whichever subscription it is of: releasing changes the table that is walked. */
static boxcar_status release_of_subscriptions(struct sqlite_store *store, boxcar_owner owner, int limit,
                                              int64_t *released, boxcar_error *err) {
    while (*released < limit) {
        AUTO_QUERY struct query query =
            query_with(store, S_INSTANCE_READER_LEASES, Q_ID(owner.uuid.bytes), Q_INT(1));
        bool found = query_next(&query);
        TRY(query_status(&query, err));
        if (!found)
            return BOXCAR_OK;
        boxcar_box reader = (boxcar_box)query_get_int(&query, 0);
        int64_t work_id = query_get_int(&query, 1);
        query_end(&query);
        TRY(sqlite_reader_enter(store, reader, err));
        TRY(sqlite_release_expired(store, work_id, err));
        sqlite_reader_leave(store);
        *released += 1;
    }
    return BOXCAR_OK;
}

static boxcar_status release_leases(struct sqlite_store *store, boxcar_owner owner, int limit,
                                    int64_t *ret_released, boxcar_error *err) {
    AUTO_QUERY struct query query =
        query_with(store, S_INSTANCE_LEASES, Q_ID(owner.uuid.bytes), Q_INT(limit));
    int64_t *ids;
    size_t count;
    TRY(sqlite_collect_ids(store, &query, &ids, &count, err));
    for (size_t i = 0; i < count; i++)
        TRY(sqlite_release_expired(store, ids[i], err));
    *ret_released = (int64_t)count;
    return release_of_subscriptions(store, owner, limit, ret_released, err);
}

boxcar_status sqlite_instance_remove_silent(struct sqlite_store *store, int64_t threshold_ms, int limit,
                                            int64_t *ret_released, bool *ret_more, boxcar_error *err) {
    *ret_released = 0;
    TRY(sqlite_settings_load(store, err));
    int64_t silent_ms = threshold_ms != 0 ? threshold_ms : store->settings.instance_timeout_ms;
    /* Signs of life are noted at intervals of SQLITE_SIGN_US. */
    boxcar_time since = store->now - silent_ms * 1000 - SQLITE_SIGN_US;
    boxcar_owner silent;
    TRY(find_silent(store, since, &silent, ret_more, err));
    if (!*ret_more)
        return BOXCAR_OK;
    TRY(release_leases(store, silent, limit, ret_released, err));
    if (*ret_released == limit)
        return BOXCAR_OK;
    /* Not by its id: one that is no id would be found again and again. */
    return query_do(store, S_INSTANCE_SILENT_DELETE, err, Q_INT(since));
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

static boxcar_status list_instances(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct instance_rows *list = context;
    TRY(sqlite_settings_load(store, err));
    AUTO_QUERY struct query query =
        query_with(store, S_INSTANCES, Q_INT(store->now - store->settings.instance_timeout_ms * 1000));
    list_clear(list);
    while (query_next(&query)) {
        boxcar_instance *instance = list_add(list, sizeof(*instance));
        if (instance == NULL)
            return error_no_memory(err);
        TRY(read_instance(store, &query, &list->arena, instance, err));
    }
    return query_status(&query, err);
}

boxcar_status sqlite_instances(struct boxcar_store *store, struct instance_rows **ret_list,
                               boxcar_error *err) {
    struct instance_rows *list = calloc(1, sizeof(*list));
    if (list == NULL)
        return error_no_memory(err);
    boxcar_status status = sqlite_transaction(sqlite_of(store), ACCESS_READ, list_instances, list, err);
    if (status == BOXCAR_OK)
        *ret_list = list;
    else
        list_free(list);
    return status;
}
