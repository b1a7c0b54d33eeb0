#include "boxcar/event.h"
#include "boxcar/fanout.h"
#include "boxcar/instance.h"
#include "boxcar/schedule.h"
#include "limits.h"

#define HOUR_MS (INT64_C(60) * 60 * 1000)
#define DAY_MS (24 * HOUR_MS)

/* The numbers themselves are in the public headers, and in limits.h where callers need not know them. */
const struct limit LIMITS[] = {
    {"topic_max", BOXCAR_TOPIC_MAX},
    {"correlation_id_max", BOXCAR_CORRELATION_ID_MAX},
    {"causation_id_max", BOXCAR_CAUSATION_ID_MAX},
    {"stream_max", BOXCAR_STREAM_MAX},
    {"key_max", BOXCAR_KEY_MAX},
    {"source_max", BOXCAR_SOURCE_MAX},
    {"external_id_max", BOXCAR_EXTERNAL_ID_MAX},
    {"content_hash_max", BOXCAR_CONTENT_HASH_MAX},
    {"event_type_max", BOXCAR_EVENT_TYPE_MAX},
    {"event_count_max", BOXCAR_EVENT_COUNT_MAX},
    {"event_page_bytes", BOXCAR_EVENT_PAGE_BYTES},
    {"grouping_key_max", BOXCAR_GROUPING_KEY_MAX},
    {"max_attempts_max", BOXCAR_MAX_ATTEMPTS_MAX},
    {"error_text_max", BOXCAR_ERROR_TEXT_MAX},
    {"batch_size_max", BOXCAR_BATCH_SIZE_MAX},
    {"batch_bytes_min", BOXCAR_BATCH_BYTES_MIN},
    {"batch_bytes_max", BOXCAR_BATCH_BYTES_MAX},
    {"partition_count_max", BOXCAR_PARTITION_COUNT_MAX},
    {"lease_ms_min", BOXCAR_LEASE_MS_MIN},
    {"lease_hours_max", BOXCAR_LEASE_MS_MAX / HOUR_MS},
    {"delay_ms_max", BOXCAR_DELAY_MS_MAX},
    {"delay_days_max", BOXCAR_DELAY_MS_MAX / DAY_MS},
    {"subscription_name_max", BOXCAR_SUBSCRIPTION_NAME_MAX},
    {"pattern_count_max", BOXCAR_PATTERN_COUNT_MAX},
    {"destination_count_max", BOXCAR_DESTINATION_COUNT_MAX},
    {"shards_max", BOXCAR_SHARDS_MAX},
    {"every_ms_min", BOXCAR_EVERY_MS_MIN},
    {"every_days_max", BOXCAR_EVERY_MS_MAX / DAY_MS},
    {"payload_always", LIMITS_PAYLOAD_ALWAYS},
    {"headers_always", LIMITS_HEADERS_ALWAYS},
    {"host_max", LIMITS_HOST_MAX},
    {"stale_seconds_max", LIMITS_STALE_MS_MAX / 1000},
    {0},
};
