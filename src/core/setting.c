#include "setting.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "base/utf8.h"
#include "boxcar/instance.h"
#include "boxcar/stream.h"
#include "core/limits/limits.h"
#include "digits.h"
#include "names.h"
#include "wait.h"

#define DAYS_MS (24.0 * 60 * 60 * 1000)

/* By name: this is the order in which they are shown. */
const struct setting SETTINGS[] = {
    {"backoff_base", SETTING_DURATION, "1s", 0, 3650 * DAYS_MS,
     "delay before the first retry, before the factor is applied"},
    {"backoff_cap", SETTING_DURATION, "1m", 0, 3650 * DAYS_MS, "longest delay before a retry"},
    {"backoff_factor", SETTING_NUMBER, "2", 1, 100, "by how much the delay grows with every attempt"},
    {"backoff_jitter", SETTING_NUMBER, "0", 0, 1, "part of the delay that may be cut at random"},
    {"headers_bytes_max", SETTING_COUNT, "65536", LIMITS_HEADERS_ALWAYS, 1048576,
     "size of a message's or an event's headers at most, as JSON text"},
    {"instance_timeout", SETTING_DURATION, "30s", 1000, DAYS_MS,
     "after which a registered instance that was silent in every way is removed and its leases are released"},
    {"join_wait_topic", SETTING_TOPIC, WAIT_TOPIC_DEFAULT, 0, 0,
     "topic of the messages that wait for joins; workers read it when they start"},
    {"max_attempts", SETTING_COUNT, "10", 1, 1000000,
     "attempts after which a message is a dead letter, unless it brings its own number"},
    {"partition_count", SETTING_COUNT, "10000", 1, BOXCAR_PARTITION_COUNT_MAX,
     "over how many partitions streams are spread; fixed once a message had a stream"},
    {"partitions_per_instance_max", SETTING_COUNT, "0", 0, BOXCAR_PARTITION_COUNT_MAX,
     "partitions that one worker is preferred for at most; 0 = no limit"},
    {"payload_bytes_max", SETTING_COUNT, "67108864", LIMITS_PAYLOAD_ALWAYS, 1000000000,
     "size of a payload at most, and of a join's metadata"},
    {"retention_dead", SETTING_DURATION, "30d", 0, 3650 * DAYS_MS, "how long dead letters are kept"},
    {"retention_done", SETTING_DURATION, "7d", 0, 3650 * DAYS_MS, "how long finished messages are kept"},
    {"retention_inbox", SETTING_DURATION, "30d", 0, 3650 * DAYS_MS,
     "how long keys of the inbox are kept after they were last seen, if their message is gone"},
    {"retention_joins", SETTING_DURATION, "30d", 0, 3650 * DAYS_MS,
     "how long joins that have ended are kept"},
    {"stream_policy", SETTING_POLICY, "continue", 0, 0,
     "what a stream does when a message of it dies, continue or halt; rules for patterns come first"},
};
const size_t SETTING_COUNT_ALL = sizeof(SETTINGS) / sizeof(SETTINGS[0]);

/* Decimal numbers have at most this many digits behind the point, so that text and number
 * go back and forth without loss. */
#define DECIMALS 6
#define DECIMALS_FACTOR INT64_C(1000000)

const struct setting *setting_find(boxcar_str name) {
    for (size_t i = 0; i < SETTING_COUNT_ALL; i++) {
        if (str_equal(name, boxcar_str_of(SETTINGS[i].name)))
            return &SETTINGS[i];
    }
    return NULL;
}

/* By hand: strtod() reads what the program's locale says. */
static bool parse_decimal(boxcar_str text, double *ret_number) {
    int64_t whole, fraction;

    if (!digits_take(&text, &whole) || whole > INT64_MAX / DECIMALS_FACTOR / 2 ||
        !digits_take_millionths(&text, DECIMALS, &fraction) || text.len > 0)
        return false;
    *ret_number = (double)(whole * DECIMALS_FACTOR + fraction) / (double)DECIMALS_FACTOR;
    return true;
}

static bool parse_by_kind(enum setting_kind kind, boxcar_str text, double *ret_number) {
    boxcar_stream_policy policy;
    int64_t whole = 0;
    bool good = false;

    switch (kind) {
    case SETTING_COUNT:
        good = digits_take(&text, &whole) && text.len == 0;
        break;
    case SETTING_DURATION:
        good = boxcar_duration_parse(text, &whole);
        break;
    case SETTING_NUMBER:
        return parse_decimal(text, ret_number);
    case SETTING_TOPIC:
        good = limits_check_topic(text, "value", NULL) == BOXCAR_OK && text.data[text.len - 1] != '*';
        break;
    case SETTING_POLICY:
        good = stream_policy_parse(text, &policy);
        break;
    }
    *ret_number = (double)whole;
    return good;
}

static boxcar_status refuse(const struct setting *setting, boxcar_error *err) {
    static const char *const kinds[] = {
        [SETTING_COUNT] = "whole number",
        [SETTING_DURATION] = "duration such as 500ms, 30s, 5m, 2h or 7d",
        [SETTING_NUMBER] = "number with at most 6 decimals",
    };
    char min[32], max[32];

    if (setting->kind == SETTING_POLICY)
        return error_invalid(err, "value", "%s must be continue or halt", setting->name);
    if (setting_is_text(setting))
        return error_invalid(err, "value",
                             "%s must be a topic of 1 to 255 characters, no pattern that ends in *",
                             setting->name);
    setting_format(setting, setting->min, min);
    setting_format(setting, setting->max, max);
    return error_invalid(err, "value", "%s must be a %s, from %s to %s", setting->name, kinds[setting->kind],
                         min, max);
}

boxcar_status setting_parse(const struct setting *setting, boxcar_str text, double *ret_number,
                            boxcar_error *err) {
    double number;

    if (!parse_by_kind(setting->kind, text, &number) || number < setting->min || number > setting->max)
        return refuse(setting, err);
    *ret_number = number;
    return BOXCAR_OK;
}

static int64_t to_whole(double number) { return (int64_t)(number + 0.5); }

static void format_duration(int64_t ms, char ret_text[32]) {
    const struct duration_unit *unit = duration_unit_of(ms);

    snprintf(ret_text, 32, "%" PRId64 "%s", ms / unit->ms, ms == 0 ? "" : unit->name);
}

static void format_decimal(double number, char ret_text[32]) {
    int64_t scaled = to_whole(number * (double)DECIMALS_FACTOR);
    int len =
        snprintf(ret_text, 32, "%" PRId64 ".%06" PRId64, scaled / DECIMALS_FACTOR, scaled % DECIMALS_FACTOR);

    while (ret_text[len - 1] == '0')
        len--;
    if (ret_text[len - 1] == '.')
        len--;
    ret_text[len] = '\0';
}

void setting_format(const struct setting *setting, double number, char ret_text[32]) {
    /* A value that was written into the table by hand may be anything. */
    number = number > setting->min ? number : setting->min;
    number = number < setting->max ? number : setting->max;
    if (setting->kind == SETTING_DURATION)
        format_duration(to_whole(number), ret_text);
    else if (setting->kind == SETTING_NUMBER)
        format_decimal(number, ret_text);
    else
        snprintf(ret_text, 32, "%" PRId64, to_whole(number));
}
