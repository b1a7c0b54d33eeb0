#include "new_message.h"

#include "cli/output/report.h"
#include "headers.h"
#include "values.h"

/* 0 would mean "the store's setting" to the library. */
static bool read_max_attempts(const struct cli *cli, const char *text, int *ret_max_attempts) {
    int count = 1;
    if (!value_count(cli, "--max-attempts", text, &count))
        return false;
    if (count < 1 || count > BOXCAR_MAX_ATTEMPTS_MAX) {
        cli_usage(cli, "--max-attempts is %d: give 1 to %d", count, BOXCAR_MAX_ATTEMPTS_MAX);
        return false;
    }
    *ret_max_attempts = text ? count : 0;
    return true;
}

static bool read_times(const struct cli *cli, const struct new_message_given *given,
                       boxcar_new_message *message) {
    if (given->due && given->delay) {
        cli_usage(cli, "--due and --delay are both given: give one of them");
        return false;
    }
    return value_time(cli, "--due", given->due, &message->due_at) &&
           value_delay(cli, given->delay, &message->delay_ms) && value_ttl(cli, given->ttl, &message->ttl_ms);
}

static bool read_event(const struct cli *cli, const struct new_message_given *given,
                       boxcar_new_message *message) {
    if (given->is_event && given->no_event) {
        cli_usage(cli, "--event and --no-event are both given: give one of them");
        return false;
    }
    message->is_event = given->is_event   ? BOXCAR_EVENT_YES
                        : given->no_event ? BOXCAR_EVENT_NO
                                          : BOXCAR_EVENT_BY_TYPE;
    return true;
}

bool new_message_is_given(const struct new_message_given *given) {
    return given->correlation_id || given->causation_id || given->metadata || given->is_event ||
           given->no_event || given->event_type || given->due || given->delay || given->ttl ||
           given->stream || given->headers || given->max_attempts;
}

bool new_message_read(const struct cli *cli, const struct new_message_given *given,
                      boxcar_new_message *message, char **ret_headers) {
    message->correlation_id = boxcar_str_of(given->correlation_id);
    message->stream = boxcar_str_of(given->stream);
    message->causation_id = boxcar_str_of(given->causation_id);
    message->metadata = boxcar_str_of(given->metadata);
    message->event_type = boxcar_str_of(given->event_type);
    return read_event(cli, given, message) && read_times(cli, given, message) &&
           read_max_attempts(cli, given->max_attempts, &message->max_attempts) &&
           headers_read(cli, given->headers, &message->headers, ret_headers);
}
