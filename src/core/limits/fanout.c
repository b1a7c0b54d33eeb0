/* Policies: their names, destinations and continuations. */
#include "limits.h"

#include <stdio.h>

#include "base/error.h"
#include "base/utf8.h"
#include "core/fanout.h"

boxcar_status limits_check_policy_name(boxcar_str name, const char *argument, boxcar_error *err) {
    TRY(limits_check_name(name, argument, BOXCAR_FANOUT_NAME_MAX, err));
    return limits_check_new_subscription_name(name, argument, err);
}

boxcar_status limits_check_continuation(boxcar_str then_topic, boxcar_str else_topic, boxcar_error *err) {
    if (!str_is_absent(then_topic))
        TRY(limits_check_topic(then_topic, "then_topic", err));
    if (str_is_absent(else_topic))
        return BOXCAR_OK;
    if (str_is_absent(then_topic))
        return error_invalid(err, "else_topic",
                             "else_topic needs a then_topic: give that, too, or leave it out");
    return limits_check_topic(else_topic, "else_topic", err);
}

/* POLICY/DESTINATION is the name of a subscription. */
static boxcar_status check_route_name(boxcar_str policy, boxcar_str destination, const char *argument,
                                      boxcar_error *err) {
    if (utf8_length(policy) + 1 + utf8_length(destination) <= BOXCAR_SUBSCRIPTION_NAME_MAX)
        return BOXCAR_OK;
    return error_invalid(err, argument,
                         "%s is too long: the policy's name, a / and the destination have at most %d "
                         "characters together",
                         argument, BOXCAR_SUBSCRIPTION_NAME_MAX);
}

static boxcar_status check_destination(const boxcar_new_fanout *fanout, size_t i, const char *argument,
                                       boxcar_error *err) {
    const boxcar_str text = fanout->destinations[i];
    bool has_join = !str_is_absent(fanout->then_topic);
    struct destination destination;

    TRY(destination_parse(text, argument, &destination, err));
    if (has_join && destination.kind != DESTINATION_TOPIC)
        return error_invalid(
            err, argument, "%s is another store, and a join spans none: give topics, or leave out then_topic",
            argument);
    if (!has_join)
        TRY(check_route_name(fanout->name, text, argument, err));
    for (size_t j = 0; j < i; j++)
        if (str_equal(fanout->destinations[j], text))
            return error_invalid(err, argument, "%s is there twice: give each destination once", argument);
    return BOXCAR_OK;
}

static boxcar_status check_destinations(const boxcar_new_fanout *fanout, boxcar_error *err) {
    TRY(limits_check_array(fanout->destinations, fanout->destination_count, "destinations",
                           "destination_count", "destination_count of them", err));
    if (fanout->destination_count == 0)
        return error_invalid(err, "destinations",
                             "destinations are missing: give 1 to %d topics, store:NAME or tenant:HEADER",
                             BOXCAR_DESTINATION_COUNT_MAX);
    if (fanout->destination_count > BOXCAR_DESTINATION_COUNT_MAX)
        return error_invalid(err, "destination_count",
                             "destination_count is too large: give at most %d destinations",
                             BOXCAR_DESTINATION_COUNT_MAX);
    for (size_t i = 0; i < fanout->destination_count; i++) {
        char argument[40];
        snprintf(argument, sizeof(argument), "destinations[%zu]", i);
        TRY(check_destination(fanout, i, argument, err));
    }
    return BOXCAR_OK;
}

boxcar_status limits_check_new_fanout(const boxcar_new_fanout *fanout, boxcar_error *err) {
    TRY(limits_check_policy_name(fanout->name, "name", err));
    TRY(limits_check_box(fanout->box, err));
    TRY(limits_check_some_patterns(fanout->patterns, fanout->pattern_count, err));
    TRY(limits_check_continuation(fanout->then_topic, fanout->else_topic, err));
    if (!str_is_absent(fanout->then_topic))
        TRY(check_route_name(fanout->name, BOXCAR_STR(FANOUT_ALL), "name", err));
    TRY(check_destinations(fanout, err));
    return limits_check_start(fanout->start, fanout->start_time, err);
}
