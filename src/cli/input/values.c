#include "values.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output/report.h"

bool value_parse_integer(const char *text, int64_t *ret_number) {
    const char *digits = text + (text[0] == '-');
    if (!digits[0] || digits[strspn(digits, "0123456789")])
        return false;
    errno = 0;
    long long number = strtoll(text, NULL, 10);
    if (errno)
        return false;
    *ret_number = number;
    return true;
}

bool value_count(const struct cli *cli, const char *option, const char *text, int *ret_count) {
    int64_t number;
    if (!text)
        return true;
    if (!value_parse_integer(text, &number)) {
        cli_usage(cli, "%s is '%.64s': give a whole number", option, text);
        return false;
    }
    if (number < INT_MIN || number > INT_MAX) {
        cli_usage(cli, "%s is %.64s: that is out of range", option, text);
        return false;
    }
    *ret_count = (int)number;
    return true;
}

static const struct {
    const char *name;
    int64_t bytes;
} SIZE_UNITS[] = {{"GiB", INT64_C(1) << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"", 1}};
#define SIZE_UNIT_COUNT (sizeof(SIZE_UNITS) / sizeof(SIZE_UNITS[0]))

bool value_parse_size(const char *text, int64_t *ret_bytes) {
    size_t digits = strspn(text, "0123456789");
    char number[20]; /* a number with more digits does not fit */
    int64_t count;
    if (digits == 0 || digits >= sizeof(number))
        return false;
    memcpy(number, text, digits);
    number[digits] = '\0';
    if (!value_parse_integer(number, &count))
        return false;
    for (size_t i = 0; i < SIZE_UNIT_COUNT; i++) {
        if (strcmp(text + digits, SIZE_UNITS[i].name) == 0)
            return !__builtin_mul_overflow(count, SIZE_UNITS[i].bytes, ret_bytes);
    }
    return false;
}

void value_format_size(int64_t bytes, char ret_text[VALUE_SIZE_SIZE]) {
    size_t i = bytes ? 0 : SIZE_UNIT_COUNT - 1;
    while (bytes % SIZE_UNITS[i].bytes)
        i++;
    snprintf(ret_text, VALUE_SIZE_SIZE, "%lld%s", (long long)(bytes / SIZE_UNITS[i].bytes),
             SIZE_UNITS[i].name);
}

bool value_size(const struct cli *cli, const char *option, const char *text, int64_t min, int64_t max,
                int64_t *ret_bytes) {
    char least[VALUE_SIZE_SIZE], most[VALUE_SIZE_SIZE];
    int64_t bytes;
    if (!text)
        return true;
    value_format_size(min, least);
    value_format_size(max, most);
    if (!value_parse_size(text, &bytes)) {
        cli_usage(cli, "%s is '%.64s': give a size such as 65536, 64KiB, 16MiB or 1GiB, %s to %s", option,
                  text, least, most);
        return false;
    }
    if (bytes < min || bytes > max) {
        cli_usage(cli, "%s is %.64s: give %s to %s", option, text, least, most);
        return false;
    }
    *ret_bytes = bytes;
    return true;
}

void value_format_duration(int64_t ms, char ret_text[VALUE_DURATION_SIZE]) {
    static const struct {
        const char *name;
        int64_t ms;
    } UNITS[] = {{"d", 86400000}, {"h", 3600000}, {"m", 60000}, {"s", 1000}, {"ms", 1}};
    size_t i = ms ? 0 : 4; /* 24h reads better than 1d */
    while (ms % UNITS[i].ms || (ms == UNITS[i].ms && UNITS[i].ms == 86400000))
        i++;
    snprintf(ret_text, VALUE_DURATION_SIZE, "%lld%s", (long long)(ms / UNITS[i].ms), UNITS[i].name);
}

bool value_duration(const struct cli *cli, const char *option, const char *text, int64_t min_ms,
                    int64_t max_ms, int64_t *ret_ms) {
    int64_t ms;
    if (!text)
        return true;
    if (!boxcar_duration_parse(boxcar_str_of(text), &ms)) {
        cli_usage(cli, "%s is '%.64s': give a duration such as 500ms, 30s, 5m, 2h or 7d", option, text);
        return false;
    }
    if (ms < min_ms || ms > max_ms) {
        char min[VALUE_DURATION_SIZE], max[VALUE_DURATION_SIZE];
        value_format_duration(min_ms, min);
        value_format_duration(max_ms, max);
        cli_usage(cli, "%s is %.64s: give %s to %s", option, text, min, max);
        return false;
    }
    *ret_ms = ms;
    return true;
}

bool value_lease_time(const struct cli *cli, const char *text, int64_t *ret_ms) {
    return value_duration(cli, "--lease", text, BOXCAR_LEASE_MS_MIN, BOXCAR_LEASE_MS_MAX, ret_ms);
}

bool value_delay(const struct cli *cli, const char *text, int64_t *ret_ms) {
    return value_duration(cli, "--delay", text, 0, BOXCAR_DELAY_MS_MAX, ret_ms);
}

/* 0 is refused: to the library it means "never", and a user who types it means "now". */
bool value_ttl(const struct cli *cli, const char *text, int64_t *ret_ms) {
    return value_duration(cli, "--ttl", text, 1, BOXCAR_DELAY_MS_MAX, ret_ms);
}

bool value_time(const struct cli *cli, const char *option, const char *text, boxcar_time *ret_time) {
    if (!text || boxcar_time_parse(boxcar_str_of(text), ret_time))
        return true;
    cli_usage(cli, "%s is '%.64s': give an RFC 3339 time such as 2026-01-31T12:00:00Z", option, text);
    return false;
}

bool value_box(const struct cli *cli, const char *text, boxcar_box *ret_box) {
    if (!text || VALUE_NAMED(text, boxcar_box_name, ret_box))
        return true;
    cli_usage(cli, "--box is '%.64s': give outbox or inbox", text);
    return false;
}

/* Work ids and epochs alike start at 1. */
static bool parse_positive(const char *text, int64_t *ret_number) {
    int64_t number;
    if (!value_parse_integer(text, &number) || number < 1)
        return false;
    *ret_number = number;
    return true;
}

bool value_work_id(const struct cli *cli, const char *option, const char *text, boxcar_work_id *ret_id) {
    if (!text || parse_positive(text, &ret_id->value))
        return true;
    cli_usage(cli, "%s is '%.64s': give a work id, a number from 1 on", option, text);
    return false;
}

bool value_message_id(const struct cli *cli, const char *name, const char *text, boxcar_message_id *ret_id) {
    boxcar_message_id id;
    if (!text)
        return true;
    if (!boxcar_uuid_parse(boxcar_str_of(text), &id.uuid) || boxcar_uuid_is_none(id.uuid)) {
        cli_usage(cli, "%s is '%.64s': give the id of a message, a UUID other than nil", name, text);
        return false;
    }
    *ret_id = id;
    return true;
}

bool value_join_id(const struct cli *cli, const char *name, const char *text, boxcar_join_id *ret_id) {
    boxcar_join_id id;
    if (!text)
        return true;
    if (!boxcar_uuid_parse(boxcar_str_of(text), &id.uuid) || boxcar_uuid_is_none(id.uuid)) {
        cli_usage(cli, "%s is '%.64s': give the id of a join, a UUID other than nil", name, text);
        return false;
    }
    *ret_id = id;
    return true;
}

bool value_owner(const struct cli *cli, const char *text, boxcar_owner *ret_owner) {
    if (!text) {
        cli_usage(cli, "--owner is missing: give the UUID of the worker");
        return false;
    }
    if (!boxcar_uuid_parse(boxcar_str_of(text), &ret_owner->uuid)) {
        cli_usage(cli, "--owner is '%.64s': give a UUID", text);
        return false;
    }
    if (boxcar_uuid_is_none(ret_owner->uuid)) {
        cli_usage(cli, "--owner is the nil UUID: give the worker's own");
        return false;
    }
    return true;
}

bool value_ref(const struct cli *cli, const char *text, boxcar_message_ref *ret_ref) {
    boxcar_message_ref ref = {0};
    if (!parse_positive(text, &ref.work_id.value) &&
        (!boxcar_uuid_parse(boxcar_str_of(text), &ref.message_id.uuid) ||
         boxcar_uuid_is_none(ref.message_id.uuid))) {
        cli_usage(cli, "ID is '%.64s': give a work id (digits) or a message id (UUID)", text);
        return false;
    }
    *ret_ref = ref;
    return true;
}

bool value_refs(const struct cli *cli, const char *const *args, boxcar_message_ref **ret_refs,
                size_t *ret_count) {
    size_t count = cli_args_count(args);
    boxcar_message_ref *refs = calloc(count + 1, sizeof(*refs));
    if (!refs) {
        cli_no_memory(cli);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (!value_ref(cli, args[i], &refs[i])) {
            free(refs);
            return false;
        }
    }
    *ret_refs = refs;
    *ret_count = count;
    return true;
}

bool value_lease(const struct cli *cli, const char *text, boxcar_settlement *ret_settlement) {
    const char *colon = strchr(text, ':');
    char *work_id = strndup(text, colon ? (size_t)(colon - text) : strlen(text));
    boxcar_settlement settlement = BOXCAR_SETTLEMENT_INIT;
    boxcar_uuid *uuid = &settlement.message_id.uuid;
    bool good = work_id &&
                (parse_positive(work_id, &settlement.work_id.value) ||
                 (boxcar_uuid_parse(boxcar_str_of(work_id), uuid) && !boxcar_uuid_is_none(*uuid))) &&
                (!colon || parse_positive(colon + 1, &settlement.epoch.value));
    free(work_id);
    if (!good) {
        cli_usage(cli,
                  "ID is '%.64s': give a work id or a message id, or either with :EPOCH; numbers begin at 1",
                  text);
        return false;
    }
    *ret_settlement = settlement;
    return true;
}
