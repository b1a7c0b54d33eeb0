#include "new_message.h"

#include "cli/output/report.h"
#include "payload.h"
#include "values.h"

/* 0 would mean "the store's setting" to the library. */
static bool read_max_attempts(const struct cli *cli, const char *text, int *ret_max_attempts) {
    int count = 1;
    if (!value_count(cli, "--max-attempts", text, &count))
        return false;
    if (count < 1 || count > BOXCAR_MAX_ATTEMPTS_MAX)
        return cli_refuse(cli, "--max-attempts is %d: give 1 to %d", count, BOXCAR_MAX_ATTEMPTS_MAX);
    *ret_max_attempts = text ? count : 0;
    return true;
}

bool new_message_is_given(const struct new_message_given *given) {
    return given->correlation_id || given->causation_id || given->metadata || given->is_event ||
           given->no_event || given->event_type || given->due || given->delay || given->ttl ||
           given->stream || given->headers || given->max_attempts;
}

bool new_message_read(const struct cli *cli, const struct new_message_given *given,
                      boxcar_new_message *message, char **ret_headers) {
    if (given->is_event && given->no_event)
        return cli_refuse(cli, "--event and --no-event are both given: give one of them");
    if (given->due && given->delay)
        return cli_refuse(cli, "--due and --delay are both given: give one of them");
    message->correlation_id = boxcar_str_of(given->correlation_id);
    message->stream = boxcar_str_of(given->stream);
    message->causation_id = boxcar_str_of(given->causation_id);
    message->metadata = boxcar_str_of(given->metadata);
    message->event_type = boxcar_str_of(given->event_type);
    message->is_event = given->is_event   ? BOXCAR_EVENT_YES
                        : given->no_event ? BOXCAR_EVENT_NO
                                          : BOXCAR_EVENT_BY_TYPE;
    return value_time(cli, "--due", given->due, &message->due_at) &&
           value_delay(cli, given->delay, &message->delay_ms) &&
           value_ttl(cli, given->ttl, &message->ttl_ms) &&
           read_max_attempts(cli, given->max_attempts, &message->max_attempts) &&
           headers_read(cli, given->headers, &message->headers, ret_headers);
}
