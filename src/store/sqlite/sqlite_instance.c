/* Workers that say that they live: one row each, written again and again, for people and for doctor.
 * Nothing else relies on it. */
#include <jansson.h>

#include "sqlite_store.h"

#define SILENT_US (INT64_C(60) * 1000 * 1000) /* then a worker is taken for gone */

/* The patterns as a JSON array; NULL when out of memory. */
static char *topics_as_json(const struct instance *instance) {
    json_t *array = json_array();
    char *text;

    for (size_t i = 0; i < instance->topic_count; i++) {
        boxcar_str topic = instance->topics[i];
        if (json_array_append_new(array, json_stringn(topic.data, topic.len)) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    text = array != NULL ? json_dumps(array, JSON_COMPACT) : NULL;
    json_decref(array);
    return text;
}

struct beat {
    const struct instance *instance;
    const char *topics;
};

static boxcar_status write_row(struct sqlite_store *store, const struct instance *instance,
                               const char *topics, boxcar_error *err) {
    struct query query = query_on(store, S_INSTANCE_WRITE);

    query_id(&query, instance->owner.bytes);
    query_int(&query, instance->box);
    query_text(&query, instance->host);
    query_int(&query, instance->pid);
    query_int(&query, instance->concurrency);
    query_text(&query, boxcar_str_of(topics));
    query_int(&query, store->now);
    return query_run(&query, err);
}

static boxcar_status write_instance(struct sqlite_store *store, void *context, boxcar_error *err) {
    const struct beat *beat = context;

    return write_row(store, beat->instance, beat->topics, err);
}

boxcar_status sqlite_instance_write(struct sqlite_store *store, const struct instance *instance,
                                    boxcar_error *err) {
    AUTO_FREE char *topics = topics_as_json(instance);

    return topics != NULL ? write_row(store, instance, topics, err) : error_no_memory(err);
}

boxcar_status sqlite_heartbeat(struct boxcar_store *store, const struct instance *instance,
                               boxcar_error *err) {
    AUTO_FREE char *topics = topics_as_json(instance);
    struct beat beat = {.instance = instance, .topics = topics};
    boxcar_status status;

    if (topics == NULL)
        return error_no_memory(err);
    status = sqlite_follow_name(sqlite_of(store), err);
    if (status != BOXCAR_OK)
        return status;
    return sqlite_transaction(sqlite_of(store), ACCESS_WRITE_RELAXED, write_instance, &beat, err);
}

static boxcar_status delete_instance(struct sqlite_store *store, void *context, boxcar_error *err) {
    const boxcar_owner *owner = context;
    struct query query = query_on(store, S_INSTANCE_DELETE);

    query_id(&query, owner->bytes);
    return query_run(&query, err);
}

boxcar_status sqlite_farewell(struct boxcar_store *store, boxcar_owner owner, boxcar_error *err) {
    return sqlite_transaction(sqlite_of(store), ACCESS_WRITE_RELAXED, delete_instance, &owner, err);
}

boxcar_status sqlite_instances_sweep(struct sqlite_store *store, boxcar_error *err) {
    struct query query = query_on(store, S_INSTANCE_SWEEP);

    query_int(&query, store->now - SILENT_US);
    return query_run(&query, err);
}
