/* A copy: what it takes over from its source, and what is its own. */
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "core/fanout.h"
#include "visit.h"

#define SOURCE_PREFIX "fanout:"

static boxcar_str cut_characters(boxcar_str text, size_t most) {
    size_t at = 0;
    for (size_t count = 0; at < text.len && count < most; count++)
        at += utf8_char_size(text.data + at, text.len - at);
    return (boxcar_str){text.data, at};
}

/* An inbox tells copies apart by the policy and the id. */
static boxcar_status set_origin(const struct route *route, struct arena *arena, boxcar_new_message *copy,
                                boxcar_error *err) {
    size_t prefix = strlen(SOURCE_PREFIX);
    boxcar_str policy = cut_characters(route->policy, 255 - prefix);
    char *source = arena_alloc_text(arena, prefix + policy.len);
    char *id = arena_alloc_text(arena, BOXCAR_UUID_TEXT_SIZE);
    if (!source || !id)
        return error_no_memory(err);
    memcpy(source, SOURCE_PREFIX, prefix);
    memcpy(source + prefix, policy.data, policy.len);
    boxcar_uuid_format(copy->message_id.uuid, id);
    copy->source = (boxcar_str){source, prefix + policy.len};
    copy->external_id = boxcar_str_of(id);
    copy->message_id = (boxcar_message_id){0}; /* an inbox derives it */
    return BOXCAR_OK;
}

static boxcar_status fill(const struct route *route, const boxcar_message *message, boxcar_str destination,
                          struct arena *arena, boxcar_str headers, boxcar_new_message *copy,
                          boxcar_error *err) {
    struct destination parsed;
    char *causation = arena_alloc_text(arena, BOXCAR_UUID_TEXT_SIZE);
    if (!causation)
        return error_no_memory(err);
    TRY(destination_parse(destination, "destination", &parsed, err));
    *copy = BOXCAR_NEW_MESSAGE_INIT;
    TRY(destination_topic(&parsed, message->topic, arena, &copy->topic, err));
    boxcar_uuid_format(message->message_id.uuid, causation);
    copy->payload = message->payload;
    copy->correlation_id = message->correlation_id;
    copy->stream = message->stream;
    copy->headers = headers;
    copy->metadata = message->metadata;
    copy->causation_id = boxcar_str_of(causation);
    copy->is_event = BOXCAR_EVENT_NO;
    TRY(fanout_copy_id(route->policy, destination, message->message_id, &copy->message_id, err));
    if (route->kind == ROUTE_SCATTER)
        TRY(fanout_join_id(route->policy, message->message_id, &copy->join_id, err));
    return parsed.box == BOXCAR_INBOX ? set_origin(route, arena, copy, err) : BOXCAR_OK;
}

/* The value of the header that names the tenant. */
static boxcar_status find_key(const struct route *route, const boxcar_message *message, struct arena *arena,
                              boxcar_str *ret_key, boxcar_error *err) {
    struct destination parsed;
    TRY(destination_parse(route->destinations[0], "destination", &parsed, err));
    TRY(fanout_find_header(message->headers, parsed.header, arena, ret_key, err));
    boxcar_str shown = utf8_cut(parsed.header, 100);
    if (str_is_absent(*ret_key))
        return error_invalid(err, "headers", "the message has no header %.*s, which names its tenant",
                             (int)shown.len, shown.data);
    return BOXCAR_OK;
}

static boxcar_status make(const struct route *route, const boxcar_message *message, struct arena *arena,
                          struct item *item, boxcar_error *err) {
    boxcar_str headers;
    item->copies = arena_alloc_array(arena, route->destination_count, sizeof(*item->copies));
    if (!item->copies)
        return error_no_memory(err);
    int hops;
    TRY(fanout_raise_hops(message->headers, arena, &hops, &headers, err));
    if (hops >= BOXCAR_HOPS_MAX)
        return error_set(err, BOXCAR_E_CONFLICT,
                         "copied %d times already: policies of several stores may forward in a circle", hops);
    if (route->kind == ROUTE_TENANT)
        TRY(find_key(route, message, arena, &item->key, err));
    for (size_t i = 0; i < route->destination_count; i++)
        TRY(fill(route, message, route->destinations[i], arena, headers, &item->copies[i], err));
    item->copy_count = route->destination_count;
    return BOXCAR_OK;
}

/* A message that came in a circle is no use later, either. The others may be mended. */
static enum item_end end_for(boxcar_status status) {
    return status == BOXCAR_E_CONFLICT ? ITEM_FAIL : ITEM_ABANDON;
}

boxcar_status copy_make(const struct route *route, const boxcar_message *message, struct arena *arena,
                        struct item *ret_item, boxcar_error *err) {
    boxcar_error why = BOXCAR_ERROR_INIT;
    boxcar_status status = make(route, message, arena, ret_item, &why);
    if (status == BOXCAR_E_NO_MEMORY) {
        if (err)
            *err = why;
        return status;
    }
    if (status == BOXCAR_OK)
        return BOXCAR_OK;
    atomic_fetch_add(&route->stats->failures, 1);
    ret_item->end = end_for(status);
    ret_item->delay_ms = BOXCAR_BACKOFF;
    return arena_copy_str(arena, boxcar_str_of(why.message), &ret_item->error) ? BOXCAR_OK
                                                                               : error_no_memory(err);
}
