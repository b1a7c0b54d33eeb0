/* A key that is kept as long as its message is the id of that message; only programs of schema version 9 have
 * made another one of it. A unique key has a row that names its newest message, and is free if that has
 * ended. */
#include "key.h"

#include <string.h>

/* Reads the message that the query names, if there is one. */
static boxcar_status read_holder(struct query *query, boxcar_enqueued *ret_holder, bool *ret_found,
                                 boxcar_error *err) {
    bool found = false;
    boxcar_status status = query_step(query, &found, err);

    if (status != BOXCAR_OK)
        return status;
    if (found) {
        *ret_holder = (boxcar_enqueued){.work_id = {query_get_int(query, 0)}, .duplicate = true};
        query_get_id(query, 1, ret_holder->message_id.uuid.bytes);
    }
    *ret_found = found;
    return BOXCAR_OK;
}

static boxcar_status find_unfinished(struct sqlite_store *store, boxcar_message_id key,
                                     boxcar_enqueued *ret_holder, bool *ret_found, boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_UNIQUE_HOLDER);

    query_id(&query, key.uuid.bytes);
    return read_holder(&query, ret_holder, ret_found, err);
}

static boxcar_status find_of_older_program(struct sqlite_store *store, const boxcar_new_message *message,
                                           boxcar_message_id key, boxcar_enqueued *ret_holder,
                                           bool *ret_found, boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_MESSAGE_OF_OLD_KEY);

    query_id(&query, key.uuid.bytes);
    query_text(&query, message->topic);
    return read_holder(&query, ret_holder, ret_found, err);
}

boxcar_status sqlite_key_find(struct sqlite_store *store, const boxcar_new_message *message,
                              const struct message_key *key, boxcar_enqueued *ret_enqueued, bool *ret_found,
                              boxcar_error *err) {
    boxcar_status status;

    if (!key->unique)
        return find_of_older_program(store, message, key->id, ret_enqueued, ret_found, err);
    status = find_unfinished(store, key->id, ret_enqueued, ret_found, err);
    if (status == BOXCAR_OK && *ret_found)
        ret_enqueued->duplicate = memcmp(&ret_enqueued->message_id, &message->message_id, 16) != 0;
    return status;
}

boxcar_status sqlite_key_take(struct sqlite_store *store, boxcar_message_id key, int64_t work_id,
                              boxcar_error *err) {
    struct query query = query_on(store, S_UNIQUE_TAKE);

    query_id(&query, key.uuid.bytes);
    query_int(&query, work_id);
    return query_run(&query, err);
}

static boxcar_status read_key(struct sqlite_store *store, int64_t work_id, boxcar_message_id *ret_key,
                              boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_UNIQUE_KEY_OF);
    bool found = false;
    boxcar_status status;

    query_int(&query, work_id);
    status = query_step(&query, &found, err);
    if (status != BOXCAR_OK)
        return status;
    *ret_key = (boxcar_message_id){0};
    if (found)
        query_get_id(&query, 0, ret_key->uuid.bytes);
    return BOXCAR_OK;
}

boxcar_status sqlite_key_take_back(struct sqlite_store *store, int64_t work_id, bool *ret_taken,
                                   boxcar_error *err) {
    boxcar_message_id key;
    boxcar_enqueued holder;
    bool held = false;
    boxcar_status status = read_key(store, work_id, &key, err);

    if (status == BOXCAR_OK && !boxcar_uuid_is_none(key.uuid)) {
        status = find_unfinished(store, key, &holder, &held, err);
        if (status == BOXCAR_OK && !held)
            status = sqlite_key_take(store, key, work_id, err);
    }
    if (status == BOXCAR_OK)
        *ret_taken = !held;
    return status;
}
