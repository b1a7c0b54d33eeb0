/* Claims, and what ends or changes a lease. */
#include "limits.h"

#include "base/error.h"
#include "base/options.h"
#include "boxcar/instance.h"

boxcar_status limits_check_lease_ms(int64_t lease_ms, boxcar_error *err) {
    return limits_check_range(lease_ms, "lease_ms", BOXCAR_LEASE_MS_MIN, BOXCAR_LEASE_MS_MAX, err);
}

boxcar_status limits_check_batch_size(int64_t batch_size, boxcar_error *err) {
    return limits_check_range(batch_size, "batch_size", 1, BOXCAR_BATCH_SIZE_MAX, err);
}

boxcar_status limits_check_batch_bytes(int64_t batch_bytes, const char *argument, boxcar_error *err) {
    return limits_check_range(batch_bytes, argument, BOXCAR_BATCH_BYTES_MIN, BOXCAR_BATCH_BYTES_MAX, err);
}

boxcar_status limits_check_stale_threshold_ms(int64_t threshold_ms, boxcar_error *err) {
    if (threshold_ms == 0 || (threshold_ms >= LIMITS_STALE_MS_MIN && threshold_ms <= LIMITS_STALE_MS_MAX))
        return BOXCAR_OK;
    return error_invalid(
        err, "stale_threshold_ms",
        "stale_threshold_ms is out of range: give 1 second to 1 day, or 0 for none of your own");
}

boxcar_status limits_check_partition_count(int count, boxcar_error *err) {
    if (count >= 0 && count <= BOXCAR_PARTITION_COUNT_MAX)
        return BOXCAR_OK;
    return error_invalid(err, "partition_count",
                         "partition_count is out of range: give 1 to %d, or 0 for any",
                         BOXCAR_PARTITION_COUNT_MAX);
}

boxcar_status limits_check_return(boxcar_return returns, const char *argument, boxcar_error *err) {
    if ((unsigned)returns <= BOXCAR_RETURN_OWNED)
        return BOXCAR_OK;
    return error_invalid(err, argument, "%s is unknown: give one of BOXCAR_RETURN_*", argument);
}

boxcar_status limits_check_claimer(const boxcar_claimer *options, boxcar_error *err) {
    TRY(limits_check_reader(options->box, "box", err));
    TRY(limits_check_owner(options->owner, err));
    return limits_check_lease_ms(options->lease_ms, err);
}

boxcar_status limits_check_claim(const boxcar_claimer *options, boxcar_error *err) {
    TRY(limits_check_claimer(options, err));
    TRY(limits_check_batch_size(options->batch_size, err));
    TRY(limits_check_batch_bytes(options->batch_bytes, "batch_bytes", err));
    TRY(limits_check_array(options->topics, options->topic_count, "topics", "topic_count",
                           "topic_count patterns, or a count of 0", err));
    return limits_check_topic_patterns(options->topics, options->topic_count, "topics", err);
}

boxcar_status limits_check_settle_kind(boxcar_settle_kind kind, boxcar_error *err) {
    if ((unsigned)kind < BOXCAR_SETTLE_KINDS && kind != BOXCAR_RESOLVE)
        return BOXCAR_OK;
    return error_invalid(err, "kind",
                         "callers cannot settle with this kind: give BOXCAR_ACK or another one of theirs");
}

boxcar_status limits_check_stages(int stages, boxcar_error *err) {
    if (stages > 0 && (stages & ~BOXCAR_STAGES_ALL) == 0)
        return BOXCAR_OK;
    return error_invalid(err, "stages",
                         "stages is %d, which has unknown flags or none: give a sum of 1, 2, 4, 8 and 16",
                         stages);
}

/* Which message: by one of its ids. */
static boxcar_status check_named(const boxcar_settlement *settlement, boxcar_error *err) {
    if (boxcar_uuid_is_none(settlement->message_id.uuid))
        return limits_check_range(settlement->work_id.value, "work_id", 1, INT64_MAX, err);
    if (settlement->work_id.value != 0)
        return error_invalid(err, "message_id",
                             "message_id cannot go together with work_id: give one of them");
    return BOXCAR_OK;
}

boxcar_status limits_check_settlement(boxcar_settle_kind kind, const boxcar_settlement *settlement,
                                      boxcar_error *err) {
    TRY(check_named(settlement, err));
    TRY(limits_check_range(settlement->epoch.value, "epoch", 0, INT64_MAX, err));
    if (settlement->delay_ms != BOXCAR_BACKOFF)
        TRY(limits_check_range(settlement->delay_ms, "delay_ms", 0, BOXCAR_DELAY_MS_MAX, err));
    TRY(limits_check_text(settlement->error, "error", SIZE_MAX, err));
    if (kind == BOXCAR_RECORD || settlement->stages != 0)
        TRY(limits_check_stages(settlement->stages, err));
    return BOXCAR_OK;
}

boxcar_status limits_read_settlements(struct arena *arena, boxcar_settle_kind kind,
                                      boxcar_settlement_list *list, boxcar_error *err) {
    TRY(limits_check_array(list->items, list->count, "settlements", "count", "`count` of them", err));
    TRY(OPTIONS_READ_ARRAY(arena, BOXCAR_SETTLEMENT_INIT, &list->items, list->count, "settlements", err));
    for (size_t i = 0; i < list->count; i++)
        TRY(error_locate_item(limits_check_settlement(kind, &list->items[i], err), "settlements", i, err));
    return BOXCAR_OK;
}
