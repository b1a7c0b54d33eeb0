/* Subscriptions: their names, patterns and places. */
#include "limits.h"

#include <string.h>

#include "base/error.h"
#include "base/utf8.h"

/* No name of a main reader. */
static boxcar_status check_free(boxcar_str name, const char *argument, boxcar_error *err) {
    if (str_equal(name, BOXCAR_STR("outbox")) || str_equal(name, BOXCAR_STR("inbox")))
        return error_invalid(err, argument,
                             "%s is that of a main reader: give a subscription's, or leave it out", argument);
    return BOXCAR_OK;
}

boxcar_status limits_check_subscription_name(boxcar_str name, const char *argument, boxcar_error *err) {
    TRY(limits_check_name(name, argument, BOXCAR_SUBSCRIPTION_NAME_MAX, err));
    TRY(limits_check_control(name, argument, err));
    return check_free(name, argument, err);
}

/* A policy's subscriptions are called POLICY/DESTINATION, so that a / never stands in other names. */
boxcar_status limits_check_new_subscription_name(boxcar_str name, const char *argument, boxcar_error *err) {
    TRY(limits_check_subscription_name(name, argument, err));
    if (memchr(name.data, '/', name.len))
        return error_invalid(err, argument, "%s has a /, which is reserved: use another character", argument);
    return BOXCAR_OK;
}

static boxcar_status check_patterns(const boxcar_str *patterns, size_t count, boxcar_error *err) {
    TRY(limits_check_array(patterns, count, "patterns", "pattern_count", "pattern_count of them", err));
    if (count > BOXCAR_PATTERN_COUNT_MAX)
        return error_invalid(err, "pattern_count", "pattern_count is too large: give at most %d patterns",
                             BOXCAR_PATTERN_COUNT_MAX);
    return limits_check_topic_patterns(patterns, count, "patterns", err);
}

boxcar_status limits_check_some_patterns(const boxcar_str *patterns, size_t count, boxcar_error *err) {
    TRY(check_patterns(patterns, count, err));
    if (count == 0)
        return error_invalid(err, "patterns", "patterns are missing: give 1 to %d, or * for every topic",
                             BOXCAR_PATTERN_COUNT_MAX);
    return BOXCAR_OK;
}

static boxcar_status check_max_lag(int64_t max_lag_ms, int64_t max_lag_count, boxcar_error *err) {
    if (max_lag_ms != 0)
        TRY(limits_check_range(max_lag_ms, "max_lag_ms", BOXCAR_MAX_LAG_MS_MIN, BOXCAR_MAX_LAG_MS_MAX, err));
    return limits_check_not_negative(max_lag_count, "max_lag_count", err);
}

/* A point in time that has to be there. */
static boxcar_status check_moment(boxcar_time time, const char *argument, boxcar_error *err) {
    if (time == BOXCAR_TIME_NONE)
        return error_invalid(err, argument, "%s is missing: give the time to start at", argument);
    return limits_check_time(time, argument, err);
}

boxcar_status limits_check_start(boxcar_start start, boxcar_time time, boxcar_error *err) {
    TRY(limits_check_range(start, "start", BOXCAR_START_END, BOXCAR_START_TIME, err));
    return start == BOXCAR_START_TIME ? check_moment(time, "start_time", err) : BOXCAR_OK;
}

boxcar_status limits_check_new_subscription(const boxcar_new_subscription *subscription, boxcar_error *err) {
    TRY(limits_check_new_subscription_name(subscription->name, "name", err));
    TRY(limits_check_box(subscription->box, err));
    TRY(limits_check_some_patterns(subscription->patterns, subscription->pattern_count, err));
    TRY(limits_check_start(subscription->start, subscription->start_time, err));
    return check_max_lag(subscription->max_lag_ms, subscription->max_lag_count, err);
}

boxcar_status limits_check_subscription_changes(const boxcar_subscription_changes *changes,
                                                boxcar_error *err) {
    TRY(check_patterns(changes->patterns, changes->pattern_count, err));
    return check_max_lag(changes->max_lag_ms == BOXCAR_UNCHANGED ? 0 : changes->max_lag_ms,
                         changes->max_lag_count == BOXCAR_UNCHANGED ? 0 : changes->max_lag_count, err);
}

boxcar_status limits_check_place(const boxcar_place *place, boxcar_error *err) {
    TRY(limits_check_range(place->start, "start", BOXCAR_START_BEGINNING, BOXCAR_START_WORK_ID, err));
    if (place->start == BOXCAR_START_TIME)
        TRY(check_moment(place->time, "time", err));
    if (place->start == BOXCAR_START_WORK_ID)
        TRY(limits_check_range(place->work_id.value, "work_id", 1, INT64_MAX, err));
    return BOXCAR_OK;
}
