/* A key that is kept as long as its message is the id of that message; only programs of schema version 9 have
 * made another one of it. A unique key has a row that names its newest message, and is free if that has
 * ended. */
#include "key.h"

#include <string.h>

/* Reads the message that the query names, if there is one. */
static boxcar_status read_holder(struct query *query, boxcar_enqueued *ret_holder, bool *ret_found,
                                 boxcar_error *err) {
    TRY(query_step(query, ret_found, err));
    if (*ret_found) {
        *ret_holder = (boxcar_enqueued){.work_id = {query_get_int(query, 0)}, .duplicate = true};
        query_get_id(query, 1, ret_holder->message_id.uuid.bytes);
    }
    return BOXCAR_OK;
}

static boxcar_status find_unfinished(struct sqlite_store *store, boxcar_message_id key,
                                     boxcar_enqueued *ret_holder, bool *ret_found, boxcar_error *err) {
    AUTO_QUERY struct query query = query_with(store, S_UNIQUE_HOLDER, Q_ID(key.uuid.bytes));
    return read_holder(&query, ret_holder, ret_found, err);
}

static boxcar_status find_of_older_program(struct sqlite_store *store, const boxcar_new_message *message,
                                           boxcar_message_id key, boxcar_enqueued *ret_holder,
                                           bool *ret_found, boxcar_error *err) {
    AUTO_QUERY struct query query =
        query_with(store, S_MESSAGE_OF_OLD_KEY, Q_ID(key.uuid.bytes), Q_TEXT(message->topic));
    return read_holder(&query, ret_holder, ret_found, err);
}

boxcar_status sqlite_key_find(struct sqlite_store *store, const boxcar_new_message *message,
                              const struct message_key *key, boxcar_enqueued *ret_enqueued, bool *ret_found,
                              boxcar_error *err) {
    if (!key->unique)
        return find_of_older_program(store, message, key->id, ret_enqueued, ret_found, err);
    TRY(find_unfinished(store, key->id, ret_enqueued, ret_found, err));
    if (*ret_found)
        ret_enqueued->duplicate = memcmp(&ret_enqueued->message_id, &message->message_id, 16) != 0;
    return BOXCAR_OK;
}

boxcar_status sqlite_key_take(struct sqlite_store *store, boxcar_message_id key, int64_t work_id,
                              boxcar_error *err) {
    return query_do(store, S_UNIQUE_TAKE, err, Q_ID(key.uuid.bytes), Q_INT(work_id));
}

static boxcar_status read_key(struct sqlite_store *store, int64_t work_id, boxcar_message_id *ret_key,
                              boxcar_error *err) {
    AUTO_QUERY struct query query = query_with(store, S_UNIQUE_KEY_OF, Q_INT(work_id));
    *ret_key = (boxcar_message_id){0};
    if (query_next(&query))
        query_get_id(&query, 0, ret_key->uuid.bytes);
    return query_status(&query, err);
}

boxcar_status sqlite_key_take_back(struct sqlite_store *store, int64_t work_id, bool *ret_taken,
                                   boxcar_error *err) {
    boxcar_message_id key;
    boxcar_enqueued holder;
    bool held = false;
    TRY(read_key(store, work_id, &key, err));
    if (!boxcar_uuid_is_none(key.uuid)) {
        TRY(find_unfinished(store, key, &holder, &held, err));
        if (!held)
            TRY(sqlite_key_take(store, key, work_id, err));
    }
    *ret_taken = !held;
    return BOXCAR_OK;
}
