/* The options of a new message that both boxes have. */
#ifndef BOXCAR_CLI_INPUT_NEW_MESSAGE_H
#define BOXCAR_CLI_INPUT_NEW_MESSAGE_H

#include "cli/cli.h"
#include "options.h"

/* As typed; NULL = not given. */
struct new_message_given {
    char *correlation_id, *causation_id, *metadata, *event_type, *due, *delay, *ttl, *stream, *max_attempts;
    char **headers;
    int is_event, no_event;
};

#define NEW_MESSAGE_OPTIONS(given)                                                                           \
    OPTION_TEXT("correlation-id", (given).correlation_id, "up to 255 characters for tracing", "TEXT"),       \
        OPTION_TEXT("causation-id", (given).causation_id,                                                    \
                    "the id of the message or call that caused this one", "TEXT"),                           \
        OPTION_TEXT("metadata", (given).metadata, "a JSON object, for your own use", "JSON"),                \
        OPTION_FLAG("event", (given).is_event, "store it as an event of its stream, too"),                   \
        OPTION_FLAG("no-event", (given).no_event, "do not store it as an event, whatever its topic"),        \
        OPTION_TEXT("event-type", (given).event_type,                                                        \
                    "the type of the event, instead of the last part of the topic", "TYPE"),                 \
        OPTION_TEXT("due", (given).due, "not claimed before this time", "TIME"),                             \
        OPTION_TEXT("delay", (given).delay, "not claimed before this has passed", "DUR"),                    \
        OPTION_TEXT("ttl", (given).ttl, "a dead letter (expired) if not finished after this", "DUR"),        \
        OPTION_TEXT("stream", (given).stream, "messages of a stream are handled one by one, in order",       \
                    "KEY"),                                                                                  \
        OPTION_LIST("header", (given).headers, "a header; may be repeated", "K=V"),                          \
        OPTION_TEXT("max-attempts", (given).max_attempts,                                                    \
                    "attempts before it is dead (default: the store's setting)", "N")

bool new_message_is_given(const struct new_message_given *given);
/* Reads them all into `message`, which borrows *ret_headers (free() it). On a bad one it has reported it and
 * returns false. */
bool new_message_read(const struct cli *cli, const struct new_message_given *given,
                      boxcar_new_message *message, char **ret_headers);

#endif
