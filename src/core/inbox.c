/* Keys of the inbox: the message ids they stand for, and what their states are called. */
#include "boxcar/inbox.h"

#include "base/memory.h"
#include "base/utf8.h"
#include "base/uuid.h"

#define UUID_NAMESPACE_INBOX "boxcar:inbox:"

/* The number of characters keeps the two parts apart. The SQL function _inbox_id computes the same. */
boxcar_message_id boxcar_inbox_message_id(boxcar_inbox_key key) {
    AUTO_BUF struct buf text = BUF_INIT;
    boxcar_message_id id = {{0}};

    buf_append_format(&text, "%zu:", utf8_length(key.source));
    buf_append_str(&text, key.source);
    buf_append_str(&text, key.external_id);
    if (!text.failed)
        uuid_derive(UUID_NAMESPACE_INBOX, (boxcar_str){text.data, text.len}, id.bytes);
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
