#include "prepare.h"

#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "base/uuid.h"

#define IDS_AT_ONCE 256 /* so that the system is not asked for each */

static boxcar_str empty_is_absent(boxcar_str text) { return str_is_empty(text) ? BOXCAR_NO_STR : text; }

void prepare_texts(boxcar_new_message *message) {
    message->correlation_id = empty_is_absent(message->correlation_id);
    message->stream = empty_is_absent(message->stream);
}

bool prepare_message(boxcar_new_message *message, struct message_key *ret_key) {
    boxcar_message_id id;

    prepare_texts(message);
    *ret_key = (struct message_key){.unique = message->unique != 0};
    if (str_is_absent(message->key))
        return true;
    id = boxcar_message_id_of_topic_key(message->topic, message->key);
    ret_key->id = ret_key->unique ? id : boxcar_message_id_of_key(message->key);
    if (!ret_key->unique)
        message->message_id = id;
    message->key = BOXCAR_NO_STR;
    return !boxcar_uuid_is_none(id.uuid) && !boxcar_uuid_is_none(ret_key->id.uuid);
}

boxcar_status prepare_ids(boxcar_new_message *messages, size_t count, size_t missing, boxcar_error *err) {
    struct uuid_series series = {.begun = false};
    uint8_t ids[IDS_AT_ONCE][16];
    size_t used = 0, made = 0;

    for (size_t i = 0; i < count && missing > 0; i++) {
        if (!boxcar_uuid_is_none(messages[i].message_id.uuid))
            continue;
        if (used == made) {
            made = missing < IDS_AT_ONCE ? missing : IDS_AT_ONCE;
            used = 0;
            if (!(count == 1 ? uuid_new_v7(ids, made) : uuid_series_next(&series, ids, made)))
                return error_set(err, BOXCAR_E_UNAVAILABLE, "the system gives no randomness for message ids");
        }
        memcpy(messages[i].message_id.uuid.bytes, ids[used++], sizeof(ids[0]));
        missing--;
    }
    return BOXCAR_OK;
}

bool prepare_is_needed(boxcar_settle_kind kind, const boxcar_settlement *settlement) {
    return settlement->error.len > BOXCAR_ERROR_TEXT_MAX ||
           (kind == BOXCAR_DEFER && settlement->delay_ms == BOXCAR_BACKOFF);
}

void prepare_settlement(boxcar_settle_kind kind, boxcar_settlement *settlement) {
    settlement->error = utf8_cut(settlement->error, BOXCAR_ERROR_TEXT_MAX);
    if (kind == BOXCAR_DEFER && settlement->delay_ms == BOXCAR_BACKOFF)
        settlement->delay_ms = 0;
}
