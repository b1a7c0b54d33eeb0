#include "values.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "cli/output/report.h"

/* ---- numbers ---- */

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
    if (!value_parse_integer(text, &number))
        return cli_refuse(cli, "%s is '%.64s': give a whole number", option, text);
    if (number < INT_MIN || number > INT_MAX)
        return cli_refuse(cli, "%s is %.64s: that is out of range", option, text);
    *ret_count = (int)number;
    return true;
}

/* ---- numbers with a unit; tables of units begin with the largest ---- */

struct unit {
    const char *name;
    int64_t size;
};
static const struct unit SIZES[] = {
    {"GiB", INT64_C(1) << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"", 1}, {NULL, 0}};
static const struct unit DURATIONS[] = {
    {"d", 86400000}, {"h", 3600000}, {"m", 60000}, {"s", 1000}, {"ms", 1}};

static void format(int64_t number, const struct unit *unit, char ret_text[VALUE_UNITS_SIZE]) {
    while (unit->size > 1 && (number == 0 || number % unit->size))
        unit++;
    snprintf(ret_text, VALUE_UNITS_SIZE, "%lld%s", (long long)(number / unit->size), unit->name);
}

void value_format_size(int64_t bytes, char ret_text[VALUE_UNITS_SIZE]) { format(bytes, SIZES, ret_text); }

void value_format_duration(int64_t ms, char ret_text[VALUE_UNITS_SIZE]) {
    format(ms, DURATIONS + (ms == DURATIONS[0].size), ret_text); /* 24h reads better than 1d */
}

bool value_parse_size(const char *text, int64_t *ret_bytes) {
    size_t digits = strspn(text, "0123456789");
    char number[20]; /* a number with more digits does not fit */
    int64_t count;
    if (digits == 0 || digits >= sizeof(number))
        return false;
    snprintf(number, sizeof(number), "%.*s", (int)digits, text);
    if (!value_parse_integer(number, &count))
        return false;
    for (const struct unit *unit = SIZES; unit->name; unit++)
        if (strcmp(text + digits, unit->name) == 0)
            return !__builtin_mul_overflow(count, unit->size, ret_bytes);
    return false;
}

bool value_size(const struct cli *cli, const char *option, const char *text, int64_t min, int64_t max,
                int64_t *ret_bytes) {
    char least[VALUE_UNITS_SIZE], most[VALUE_UNITS_SIZE];
    int64_t bytes;
    if (!text)
        return true;
    value_format_size(min, least);
    value_format_size(max, most);
    if (!value_parse_size(text, &bytes))
        return cli_refuse(cli, "%s is '%.64s': give a size such as 65536, 64KiB, 16MiB or 1GiB, %s to %s",
                          option, text, least, most);
    if (bytes < min || bytes > max)
        return cli_refuse(cli, "%s is %.64s: give %s to %s", option, text, least, most);
    *ret_bytes = bytes;
    return true;
}

bool value_duration(const struct cli *cli, const char *option, const char *text, int64_t min_ms,
                    int64_t max_ms, int64_t *ret_ms) {
    char least[VALUE_UNITS_SIZE], most[VALUE_UNITS_SIZE];
    int64_t ms;
    if (!text)
        return true;
    value_format_duration(min_ms, least);
    value_format_duration(max_ms, most);
    if (!boxcar_duration_parse(boxcar_str_of(text), &ms))
        return cli_refuse(cli, "%s is '%.64s': give a duration such as 500ms, 30s, 5m, 2h or 7d", option,
                          text);
    if (ms < min_ms || ms > max_ms)
        return cli_refuse(cli, "%s is %.64s: give %s to %s", option, text, least, most);
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

/* ---- words ---- */

bool value_choice(const char *const *words, const char *text, int64_t *ret_index) {
    for (int64_t i = 0; words[i]; i++) {
        if (strcmp(text, words[i]) == 0) {
            *ret_index = i;
            return true;
        }
    }
    return false;
}

bool value_time(const struct cli *cli, const char *option, const char *text, boxcar_time *ret_time) {
    return !text || boxcar_time_parse(boxcar_str_of(text), ret_time) ||
           cli_refuse(cli, "%s is '%.64s': give an RFC 3339 time such as 2026-01-31T12:00:00Z", option, text);
}

bool value_start(const struct cli *cli, const char *text, boxcar_start *ret_start, boxcar_time *ret_time) {
    if (!text || strcmp(text, "end") == 0)
        return true;
    *ret_start = BOXCAR_START_BEGINNING;
    if (strcmp(text, "beginning") == 0)
        return true;
    *ret_start = BOXCAR_START_TIME;
    return boxcar_time_parse(boxcar_str_of(text), ret_time) ||
           cli_refuse(cli, "--from is '%.64s': give end, beginning, or a time such as 2026-01-31T12:00:00Z",
                      text);
}

bool value_place(const struct cli *cli, const char *text, boxcar_place *ret_place) {
    if (!text)
        return cli_refuse(cli, "--to is missing: give beginning, a time, or a work id");
    if (strcmp(text, "beginning") == 0)
        return true;
    ret_place->start = BOXCAR_START_WORK_ID;
    if (value_parse_integer(text, &ret_place->work_id.value))
        return ret_place->work_id.value > 0 ||
               cli_refuse(cli, "--to is %.64s: work ids are numbers from 1 on", text);
    ret_place->start = BOXCAR_START_TIME;
    return boxcar_time_parse(boxcar_str_of(text), &ret_place->time) ||
           cli_refuse(cli,
                      "--to is '%.64s': give beginning, a time such as 2026-01-31T12:00:00Z, or a work id",
                      text);
}

bool value_box(const struct cli *cli, const char *text, boxcar_box *ret_box) {
    return !text || VALUE_NAMED(text, boxcar_box_name, ret_box) ||
           cli_refuse(cli, "--box is '%.64s': give outbox or inbox", text);
}

/* ---- ids ---- */

/* Work ids and epochs alike start at 1. */
static bool parse_positive(const char *text, int64_t *ret_number) {
    int64_t number;
    if (!value_parse_integer(text, &number) || number < 1)
        return false;
    *ret_number = number;
    return true;
}

bool value_parse_uuid(boxcar_str text, boxcar_uuid *ret_uuid) {
    boxcar_uuid uuid;
    if (!boxcar_uuid_parse(text, &uuid) || boxcar_uuid_is_none(uuid))
        return false;
    *ret_uuid = uuid;
    return true;
}

bool value_work_id(const struct cli *cli, const char *option, const char *text, boxcar_work_id *ret_id) {
    return !text || parse_positive(text, &ret_id->value) ||
           cli_refuse(cli, "%s is '%.64s': give a work id, a number from 1 on", option, text);
}

bool value_message_id(const struct cli *cli, const char *name, const char *text, boxcar_message_id *ret_id) {
    return !text || value_parse_uuid(boxcar_str_of(text), &ret_id->uuid) ||
           cli_refuse(cli, "%s is '%.64s': give the id of a message, a UUID other than nil", name, text);
}

bool value_join_id(const struct cli *cli, const char *name, const char *text, boxcar_join_id *ret_id) {
    return !text || value_parse_uuid(boxcar_str_of(text), &ret_id->uuid) ||
           cli_refuse(cli, "%s is '%.64s': give the id of a join, a UUID other than nil", name, text);
}

bool value_owner(const struct cli *cli, const char *text, boxcar_owner *ret_owner) {
    if (!text)
        return cli_refuse(cli, "--owner is missing: give the UUID of the worker");
    if (!boxcar_uuid_parse(boxcar_str_of(text), &ret_owner->uuid))
        return cli_refuse(cli, "--owner is '%.64s': give a UUID", text);
    return !boxcar_uuid_is_none(ret_owner->uuid) ||
           cli_refuse(cli, "--owner is the nil UUID: give the worker's own");
}

static bool parse_id(const char *text, boxcar_work_id *ret_work_id, boxcar_message_id *ret_message_id) {
    return parse_positive(text, &ret_work_id->value) ||
           value_parse_uuid(boxcar_str_of(text), &ret_message_id->uuid);
}

bool value_ref(const struct cli *cli, const char *text, boxcar_message_ref *ret_ref) {
    boxcar_message_ref ref = {0};
    if (!parse_id(text, &ref.work_id, &ref.message_id))
        return cli_refuse(cli, "ID is '%.64s': give a work id (digits) or a message id (UUID)", text);
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
    AUTO_FREE char *id = strndup(text, colon ? (size_t)(colon - text) : strlen(text));
    boxcar_settlement settlement = BOXCAR_SETTLEMENT_INIT;
    if (!id || !parse_id(id, &settlement.work_id, &settlement.message_id) ||
        (colon && !parse_positive(colon + 1, &settlement.epoch.value)))
        return cli_refuse(
            cli, "ID is '%.64s': give a work id or a message id, or either with :EPOCH; numbers begin at 1",
            text);
    *ret_settlement = settlement;
    return true;
}
