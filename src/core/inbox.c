/* Keys of the inbox: the message ids they stand for, and what their states are called. */
#include "boxcar/inbox.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "base/uuid.h"

#define UUID_NAMESPACE_INBOX "boxcar:inbox:"

#define BYTES_MAX 4 /* of a character */
#define PREFIX_MAX 24

/* The number of characters keeps the two parts apart. The SQL function _inbox_id computes the same. */
boxcar_message_id boxcar_inbox_message_id(boxcar_inbox_key key) {
    char text[PREFIX_MAX + BYTES_MAX * (BOXCAR_SOURCE_MAX + BOXCAR_EXTERNAL_ID_MAX)];
    boxcar_message_id id = {0};

    if (str_is_empty(key.source) || key.source.len > BYTES_MAX * BOXCAR_SOURCE_MAX ||
        str_is_empty(key.external_id) || key.external_id.len > BYTES_MAX * BOXCAR_EXTERNAL_ID_MAX)
        return id;
    size_t len = (size_t)snprintf(text, PREFIX_MAX, "%zu:", utf8_length(key.source));
    memcpy(text + len, key.source.data, key.source.len);
    len += key.source.len;
    memcpy(text + len, key.external_id.data, key.external_id.len);
    len += key.external_id.len;
    uuid_derive(UUID_NAMESPACE_INBOX, (boxcar_str){text, len}, id.uuid.bytes);
    return id;
}

boxcar_inbox_state boxcar_inbox_state_of(boxcar_message_status status) {
    switch (status) {
    case BOXCAR_IN_PROGRESS:
        return BOXCAR_INBOX_PROCESSING;
    case BOXCAR_DONE:
        return BOXCAR_INBOX_DONE;
    case BOXCAR_FAILED:
        return BOXCAR_INBOX_DEAD;
    default:
        return BOXCAR_INBOX_SEEN;
    }
}
