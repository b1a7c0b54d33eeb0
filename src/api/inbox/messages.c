#include "messages.h"

#include <stdio.h>

#include "api/check.h"
#include "base/options.h"
#include "base/utf8.h"
#include "core/limits.h"
#include "flow/prepare.h"

/* ---- reading and checking ---- */

boxcar_status inbox_message_at(const boxcar_new_inbox_message *messages, size_t i,
                               boxcar_new_inbox_message *ret_message, boxcar_error *err) {
    size_t stride = messages->struct_size;
    const boxcar_new_inbox_message *given;

    given = (const boxcar_new_inbox_message *)((const char *)messages + i * stride);
    if (stride % _Alignof(boxcar_new_inbox_message) != 0 || given->struct_size != stride)
        return error_invalid(err, "struct_size",
                             "struct_size is wrong: start every message from BOXCAR_NEW_INBOX_MESSAGE_INIT");
    *ret_message = BOXCAR_NEW_INBOX_MESSAGE_INIT;
    return options_read(ret_message, sizeof(*ret_message), given, "message", err);
}

static boxcar_inbox_key key_of(const boxcar_new_inbox_message *message) {
    return (boxcar_inbox_key){message->source, message->external_id};
}

/* What it has in common with a message of the outbox. */
static boxcar_new_message to_message(const boxcar_new_inbox_message *said) {
    boxcar_new_message message = BOXCAR_NEW_MESSAGE_INIT;

    message.topic = said->topic;
    message.payload = said->payload;
    message.correlation_id = said->correlation_id;
    message.stream = said->stream;
    message.headers = said->headers;
    message.due_at = said->due_at;
    message.delay_ms = said->delay_ms;
    message.ttl_ms = said->ttl_ms;
    message.max_attempts = said->max_attempts;
    return message;
}

boxcar_status inbox_message_check(const boxcar_new_inbox_message *said, boxcar_error *err) {
    boxcar_new_message message = to_message(said);
    boxcar_status status = limits_check_inbox_key(key_of(said), said->content_hash, err);

    return status == BOXCAR_OK ? limits_check_new_message(&message, "", err) : status;
}

boxcar_status inbox_messages_check(const boxcar_new_inbox_message *messages, size_t count,
                                   boxcar_error *err) {
    if (count > 0 && !messages)
        return error_invalid(err, "messages", "messages is NULL: give `count` of them");
    if (count > LIMITS_COUNT_MAX)
        return error_invalid(err, "count", "count is too large: give at most %zu", LIMITS_COUNT_MAX);
    for (size_t i = 0; i < count; i++) {
        boxcar_new_inbox_message said;
        boxcar_status status = inbox_message_at(messages, i, &said, err);
        char where[40];

        if (status == BOXCAR_OK)
            status = inbox_message_check(&said, err);
        if (status == BOXCAR_OK)
            continue;
        snprintf(where, sizeof(where), "messages[%zu].", i);
        return error_locate(status, where, err);
    }
    return BOXCAR_OK;
}

/* ---- the store's form ---- */

boxcar_status inbox_origin_of(boxcar_inbox_key key, boxcar_str content_hash, struct inbox_origin *ret_origin,
                              boxcar_error *err) {
    boxcar_message_id message_id = boxcar_inbox_message_id(key);

    if (boxcar_uuid_is_none(message_id.uuid))
        return error_no_memory(err);
    *ret_origin =
        (struct inbox_origin){.source = key.source,
                              .external_id = key.external_id,
                              .content_hash = str_is_empty(content_hash) ? BOXCAR_NO_STR : content_hash,
                              .message_id = message_id};
    return BOXCAR_OK;
}

boxcar_status inbox_messages_add(struct arena *arena, const boxcar_new_inbox_message *messages, size_t count,
                                 struct batch_part *part, boxcar_error *err) {
    boxcar_new_message *copies = arena_alloc_array(arena, count, sizeof(*copies));
    struct inbox_origin *origins = arena_alloc_array(arena, count, sizeof(*origins));

    if (!copies || !origins)
        return error_no_memory(err);
    for (size_t i = 0; i < count; i++) {
        boxcar_new_inbox_message said;
        boxcar_status status = inbox_message_at(messages, i, &said, err);

        if (status == BOXCAR_OK)
            status = inbox_origin_of(key_of(&said), said.content_hash, &origins[i], err);
        if (status != BOXCAR_OK)
            return status;
        copies[i] = to_message(&said);
        copies[i].message_id = origins[i].message_id;
        prepare_texts(&copies[i]);
    }
    part->messages = copies;
    part->origins = origins;
    part->message_count = count;
    return BOXCAR_OK;
}
