#include "event_type.h"

#include <string.h>

#include "base/utf8.h"

#define SUFFIX "Event"

/* Behind the last dot, colon or slash; the whole topic if that leaves nothing. */
static boxcar_str last_part(boxcar_str topic) {
    size_t start = topic.len;

    while (start > 0 && !strchr(".:/", topic.data[start - 1]))
        start--;
    return start < topic.len ? (boxcar_str){topic.data + start, topic.len - start} : topic;
}

static bool is_named_event(boxcar_str topic) {
    size_t len = sizeof(SUFFIX) - 1;

    return topic.len >= len && memcmp(topic.data + topic.len - len, SUFFIX, len) == 0;
}

boxcar_str event_type_of(const boxcar_new_message *message) {
    if (str_is_empty(message->stream) || message->is_event == BOXCAR_EVENT_NO)
        return BOXCAR_NO_STR;
    if (!str_is_empty(message->event_type))
        return message->event_type;
    return message->is_event == BOXCAR_EVENT_YES || is_named_event(message->topic) ? last_part(message->topic)
                                                                                   : BOXCAR_NO_STR;
}
