/* Ids, times and durations as text and back. */
#include <stdio.h>
#include <string.h>

#include "base/uuid.h"
#include "boxcar/message.h"
#include "digits.h"

#define BYTES_MAX 4 /* of a character */

boxcar_str boxcar_str_of(const char *text) { return text ? (boxcar_str){text, strlen(text)} : BOXCAR_NO_STR; }

boxcar_message_id boxcar_message_id_of_key(boxcar_str key) {
    boxcar_message_id id;

    uuid_derive(UUID_NAMESPACE_KEY, key, id.uuid.bytes);
    return id;
}

boxcar_message_id boxcar_message_id_of_topic_key(boxcar_str topic, boxcar_str key) {
    char text[BOXCAR_UUID_TEXT_SIZE - 1 + BYTES_MAX * BOXCAR_TOPIC_MAX + 1];
    boxcar_message_id id = boxcar_message_id_of_key(key);

    if (boxcar_uuid_is_none(id.uuid) || topic.len > BYTES_MAX * BOXCAR_TOPIC_MAX)
        return (boxcar_message_id){0};
    boxcar_uuid_format(id.uuid, text);
    if (topic.len > 0)
        memcpy(text + BOXCAR_UUID_TEXT_SIZE - 1, topic.data, topic.len);
    uuid_derive(UUID_NAMESPACE_TOPIC_KEY, (boxcar_str){text, BOXCAR_UUID_TEXT_SIZE - 1 + topic.len},
                id.uuid.bytes);
    return id;
}

#define SECONDS_PER_DAY 86400
#define MICROSECONDS INT64_C(1000000)

struct date {
    int64_t year;
    int64_t month, day; /* from 1 */
};

/* Days since 1970-01-01 in the Gregorian calendar, counted in years that begin in March, so
 * that the leap day is the last of its year; 400 years have 146097 days. */
static int64_t days_of_date(struct date date) {
    int64_t year = date.month <= 2 ? date.year - 1 : date.year;
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    int64_t year_of_era = year - era * 400;
    int64_t day_of_year = (153 * (date.month > 2 ? date.month - 3 : date.month + 9) + 2) / 5 + date.day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;

    return era * 146097 + day_of_era - 719468;
}

static struct date date_of_days(int64_t days) {
    int64_t shifted = days + 719468;
    int64_t era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
    int64_t day_of_era = shifted - era * 146097;
    int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t month_from_march = (5 * day_of_year + 2) / 153;
    int64_t month = month_from_march < 10 ? month_from_march + 3 : month_from_march - 9;

    return (struct date){.year = year_of_era + era * 400 + (month <= 2),
                         .month = month,
                         .day = day_of_year - (153 * month_from_march + 2) / 5 + 1};
}

static bool take_char(boxcar_str *text, const char *accepted) {
    if (text->len == 0 || text->data[0] == '\0' || !strchr(accepted, text->data[0]))
        return false;
    *text = (boxcar_str){text->data + 1, text->len - 1};
    return true;
}

static bool take_date(boxcar_str *text, int64_t *ret_days) {
    struct date date;

    if (!digits_take_exactly(text, 4, &date.year) || !take_char(text, "-") ||
        !digits_take_exactly(text, 2, &date.month) || !take_char(text, "-") ||
        !digits_take_exactly(text, 2, &date.day))
        return false;
    int64_t days = days_of_date(date);
    /* A day that the month does not have is another day of another month. */
    if (date.year < 1 || date.month < 1 || date.month > 12 || date_of_days(days).day != date.day)
        return false;
    *ret_days = days;
    return true;
}

static bool take_hours_and_minutes(boxcar_str *text, int64_t *ret_seconds) {
    int64_t hours, minutes;

    if (!digits_take_exactly(text, 2, &hours) || !take_char(text, ":") ||
        !digits_take_exactly(text, 2, &minutes) || hours > 23 || minutes > 59)
        return false;
    *ret_seconds = hours * 3600 + minutes * 60;
    return true;
}

/* No leap seconds: the database's time has none, so 23:59:60 is refused like 23:59:61. */
static bool take_time_of_day(boxcar_str *text, int64_t *ret_seconds) {
    int64_t up_to_minutes, seconds;

    if (!take_hours_and_minutes(text, &up_to_minutes) || !take_char(text, ":") ||
        !digits_take_exactly(text, 2, &seconds) || seconds > 59)
        return false;
    *ret_seconds = up_to_minutes + seconds;
    return true;
}

static bool take_offset(boxcar_str *text, int64_t *ret_seconds) {
    bool west = text->len > 0 && text->data[0] == '-';
    int64_t seconds;

    if (take_char(text, "Zz")) {
        *ret_seconds = 0;
        return true;
    }
    if (!take_char(text, "+-") || !take_hours_and_minutes(text, &seconds))
        return false;
    *ret_seconds = west ? -seconds : seconds;
    return true;
}

bool boxcar_time_parse(boxcar_str text, boxcar_time *ret_time) {
    static const struct date first = {1, 1, 1}, beyond = {10000, 1, 1};
    int64_t days, time_of_day, microseconds, offset, seconds;

    if (!take_date(&text, &days) || !take_char(&text, "Tt") || !take_time_of_day(&text, &time_of_day) ||
        !digits_take_millionths(&text, 9, &microseconds) || !take_offset(&text, &offset) || text.len > 0)
        return false;
    seconds = days * SECONDS_PER_DAY + time_of_day - offset;
    if (seconds < days_of_date(first) * SECONDS_PER_DAY || seconds >= days_of_date(beyond) * SECONDS_PER_DAY)
        return false;
    *ret_time = seconds * MICROSECONDS + microseconds;
    return true;
}

/* Division that rounds down, also below zero. */
static int64_t divide(int64_t number, int64_t by, int64_t *ret_rest) {
    int64_t rest = number % by;

    *ret_rest = rest < 0 ? rest + by : rest;
    return number / by - (rest < 0);
}

void boxcar_time_format(boxcar_time time, char ret_text[BOXCAR_TIME_TEXT_SIZE]) {
    if (time == BOXCAR_TIME_NONE) {
        ret_text[0] = '\0';
        return;
    }
    int64_t microseconds, second_of_day;
    int64_t days = divide(divide(time, MICROSECONDS, &microseconds), SECONDS_PER_DAY, &second_of_day);
    struct date date = date_of_days(days);
    snprintf(ret_text, BOXCAR_TIME_TEXT_SIZE, "%04d-%02d-%02dT%02d:%02d:%02d.%06dZ", (int)date.year,
             (uint8_t)date.month, (uint8_t)date.day, (uint8_t)(second_of_day / 3600),
             (uint8_t)(second_of_day / 60 % 60), (uint8_t)(second_of_day % 60), (int)microseconds);
}

bool boxcar_duration_parse(boxcar_str text, int64_t *ret_ms) {
    int64_t number;

    if (!digits_take(&text, &number))
        return false;
    if (number == 0 && text.len == 0) /* 0 needs no unit */
        text = BOXCAR_STR("ms");
    const struct duration_unit *unit = duration_unit_find(text);
    return unit && !__builtin_mul_overflow(number, unit->ms, ret_ms);
}
