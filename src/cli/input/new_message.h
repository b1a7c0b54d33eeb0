/* The options of a new message that both boxes have. */
#ifndef BOXCAR_CLI_INPUT_NEW_MESSAGE_H
#define BOXCAR_CLI_INPUT_NEW_MESSAGE_H

#include "cli/cli.h"

/* As typed; NULL = not given. */
struct new_message_given {
    char *correlation_id, *causation_id, *metadata, *event_type, *due, *delay, *ttl, *stream, *max_attempts;
    char **headers;
    int is_event, no_event;
};

#define NEW_MESSAGE_OPTIONS(given)                                                                           \
    {"correlation-id",                                                                                       \
     0,                                                                                                      \
     POPT_ARG_STRING,                                                                                        \
     &(given).correlation_id,                                                                                \
     0,                                                                                                      \
     "up to 255 characters for tracing",                                                                     \
     "TEXT"},                                                                                                \
        {"causation-id",                                                                                     \
         0,                                                                                                  \
         POPT_ARG_STRING,                                                                                    \
         &(given).causation_id,                                                                              \
         0,                                                                                                  \
         "of the message or call that caused this one",                                                      \
         "TEXT"},                                                                                            \
        {"metadata", 0, POPT_ARG_STRING, &(given).metadata, 0, "a JSON object, for your own use", "JSON"},   \
        {"event", 0, POPT_ARG_NONE, &(given).is_event, 0, "store it as an event of its stream, too", NULL},  \
        {"no-event", 0, POPT_ARG_NONE, &(given).no_event, 0, "no event, whatever its topic ends in", NULL},  \
        {"event-type",                                                                                       \
         0,                                                                                                  \
         POPT_ARG_STRING,                                                                                    \
         &(given).event_type,                                                                                \
         0,                                                                                                  \
         "the type of the event, instead of the last part of the topic",                                     \
         "TYPE"},                                                                                            \
        {"due", 0, POPT_ARG_STRING, &(given).due, 0, "not claimed before this time", "TIME"},                \
        {"delay", 0, POPT_ARG_STRING, &(given).delay, 0, "not claimed before this has passed", "DUR"},       \
        {"ttl", 0, POPT_ARG_STRING, &(given).ttl, 0, "dead (expired) when not finished after this", "DUR"},  \
        {"stream",                                                                                           \
         0,                                                                                                  \
         POPT_ARG_STRING,                                                                                    \
         &(given).stream,                                                                                    \
         0,                                                                                                  \
         "messages of a stream are handled one by one, in order",                                            \
         "KEY"},                                                                                             \
        {"header", 0, POPT_ARG_ARGV, &(given).headers, 0, "a header; may be repeated", "K=V"}, {             \
        "max-attempts", 0, POPT_ARG_STRING, &(given).max_attempts, 0, "instead of the store's setting", "N"  \
    }

bool new_message_is_given(const struct new_message_given *given);
/* Reads them all into `message`, which borrows *ret_headers (free() it). On a bad one it has reported it and
 * returns false. */
bool new_message_read(const struct cli *cli, const struct new_message_given *given,
                      boxcar_new_message *message, char **ret_headers);

#endif
