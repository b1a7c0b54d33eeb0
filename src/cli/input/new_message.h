/* The options of a new message that both boxes have. */
#ifndef BOXCAR_CLI_INPUT_NEW_MESSAGE_H
#define BOXCAR_CLI_INPUT_NEW_MESSAGE_H

#include "cli/cli.h"

/* As typed; NULL = not given. */
struct new_message_given {
    char *correlation_id, *due, *delay, *ttl, *stream, *max_attempts;
    char **headers;
};

#define NEW_MESSAGE_OPTIONS(given)                                                                           \
    {"correlation-id", 0, POPT_ARG_STRING, &(given).correlation_id, 0, "up to 255 characters for tracing",   \
     "TEXT"},                                                                                                \
        {"due", 0, POPT_ARG_STRING, &(given).due, 0, "not claimed before this time", "TIME"},                \
        {"delay", 0, POPT_ARG_STRING, &(given).delay, 0, "not claimed before this has passed", "DUR"},       \
        {"ttl", 0, POPT_ARG_STRING, &(given).ttl, 0, "dead (expired) when not finished after this", "DUR"},  \
        {"stream", 0, POPT_ARG_STRING, &(given).stream, 0,                                                   \
         "messages of a stream are handled one by one, in order", "KEY"},                                    \
        {"header", 0, POPT_ARG_ARGV, &(given).headers, 0, "a header; may be repeated", "K=V"},               \
        {"max-attempts", 0, POPT_ARG_STRING, &(given).max_attempts, 0, "instead of the store's setting", "N"}

bool new_message_is_given(const struct new_message_given *given);
/* Reads them all into `message`, which borrows *ret_headers (free() it). On a bad one it has reported it and
 * returns false. */
bool new_message_read(const struct cli *cli, const struct new_message_given *given, boxcar_new_message *message,
                      char **ret_headers);

#endif
