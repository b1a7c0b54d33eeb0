/* The rules for events, as limits.h has them for everything else. */
#ifndef BOXCAR_CORE_LIMITS_EVENT_H
#define BOXCAR_CORE_LIMITS_EVENT_H

#include "boxcar/event.h"

boxcar_status limits_check_event_stream(boxcar_str stream, boxcar_error *err);
/* Arguments are named "events[3].type"; with just one, "type". */
boxcar_status limits_check_new_events(const boxcar_new_event *events, size_t count, boxcar_error *err);
boxcar_status limits_check_expected_version(int64_t version, boxcar_error *err);
boxcar_status limits_check_from_version(int64_t version, boxcar_error *err);
boxcar_status limits_check_event_filter(const boxcar_event_filter *filter, boxcar_error *err);

#endif
