#include "new_message.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "values.h"

static bool add_header(const struct cli *cli, json_t *object, const char *header) {
    const char *equals = strchr(header, '=');
    if (!equals || equals == header) {
        cli_usage(cli, "--header is '%.64s': give NAME=VALUE", header);
        return false;
    }
    char *name = strndup(header, (size_t)(equals - header));
    json_t *value = json_string(equals + 1);
    bool repeated = name && json_object_get(object, name);
    bool good = name && !repeated && json_object_set(object, name, value) == 0;
    if (repeated)
        cli_usage(cli, "--header %.64s is given twice: give each name once", name);
    else if (!good)
        cli_usage(cli, "--header is not valid UTF-8: encode it as UTF-8");
    json_decref(value);
    free(name);
    return good;
}

static bool read_headers(const struct cli *cli, char *const *headers, boxcar_str *ret_headers,
                         char **ret_text) {
    if (!headers)
        return true;
    json_t *object = json_object();
    bool good = true;
    for (size_t i = 0; good && headers[i]; i++)
        good = add_header(cli, object, headers[i]);
    *ret_text = good ? json_dumps(object, JSON_COMPACT) : NULL;
    json_decref(object);
    if (good && !*ret_text) {
        cli_no_memory(cli);
        return false;
    }
    *ret_headers = boxcar_str_of(*ret_text);
    return good;
}

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

bool new_message_is_given(const struct new_message_given *given) {
    return given->correlation_id || given->due || given->delay || given->ttl || given->stream ||
           given->headers || given->max_attempts;
}

bool new_message_read(const struct cli *cli, const struct new_message_given *given,
                      boxcar_new_message *message, char **ret_headers) {
    message->correlation_id = boxcar_str_of(given->correlation_id);
    message->stream = boxcar_str_of(given->stream);
    return read_times(cli, given, message) &&
           read_max_attempts(cli, given->max_attempts, &message->max_attempts) &&
           read_headers(cli, given->headers, &message->headers, ret_headers);
}
