/* The rules every argument must obey, whatever the store. Pure: no I/O, no clock.
 *
 * Each function returns BOXCAR_OK or BOXCAR_E_INVALID with the argument's name and the
 * remedy (BOXCAR_E_NO_MEMORY where JSON is read). An item of a list is named too
 * ("messages[3].topic"). Pointers to structs must not be NULL. */
#ifndef BOXCAR_CORE_LIMITS_LIMITS_H
#define BOXCAR_CORE_LIMITS_LIMITS_H

#include "base/arena.h"
#include "boxcar/dead_letter.h"
#include "boxcar/event.h"
#include "boxcar/fanout.h"
#include "boxcar/inbox.h"
#include "boxcar/inspect.h"
#include "boxcar/join.h"
#include "boxcar/message.h"
#include "boxcar/request.h"
#include "boxcar/schedule.h"
#include "boxcar/stream.h"
#include "boxcar/subscription.h"

/* Due times and other points in time must lie between the years 1970 and 9999. */
#define LIMITS_TIME_MAX INT64_C(253402300799999999)
/* What a payload and headers may have in any store, in bytes; above that the settings payload_bytes_max and
 * headers_bytes_max decide, which cannot be less. */
#define LIMITS_PAYLOAD_ALWAYS 65536
#define LIMITS_HEADERS_ALWAYS 4096
/* Of a worker: characters in the name of its host; after how long a silent one may count as gone. */
#define LIMITS_HOST_MAX 255
#define LIMITS_STALE_MS_MIN 1000
#define LIMITS_STALE_MS_MAX (INT64_C(24) * 60 * 60 * 1000)
/* How many things one call may bring. */
#define LIMITS_COUNT_MAX ((size_t)INT32_MAX)

/* Limits by name, for rules in another language: where a function of PostgreSQL says :topic_max, the store
 * fills in the value. The last one has no name. */
struct limit {
    const char *name;
    int64_t value;
};
extern const struct limit LIMITS[];

boxcar_status limits_check_new_message(boxcar_box box, const boxcar_new_message *message, boxcar_error *err);
/* Messages that come from outside, whose structs may be smaller: see options_read_array(). `first`: the
 * number of the first of them, in the caller's counting. */
boxcar_status limits_read_new_messages(struct arena *arena, boxcar_box box, boxcar_new_message_list *messages,
                                       size_t first, boxcar_error *err);
/* From min to max, both included. */
boxcar_status limits_check_range(int64_t value, const char *argument, int64_t min, int64_t max,
                                 boxcar_error *err);
boxcar_status limits_check_time(boxcar_time time, const char *argument, boxcar_error *err);
/* UTF-8 without NUL of at most max_characters (SIZE_MAX = any length); absent is fine. */
boxcar_status limits_check_text(boxcar_str text, const char *argument, size_t max_characters,
                                boxcar_error *err);
/* The same, of 1 character or more. */
boxcar_status limits_check_name(boxcar_str text, const char *argument, size_t max_characters,
                                boxcar_error *err);
boxcar_status limits_check_topic(boxcar_str topic, const char *argument, boxcar_error *err);
boxcar_status limits_check_payload(boxcar_str payload, boxcar_error *err);
/* Whether an array is there and not too long. `wanted`: what to give instead. */
boxcar_status limits_check_array(const void *items, size_t count, const char *argument,
                                 const char *count_argument, const char *wanted, boxcar_error *err);
/* A topic pattern: a topic, or a prefix followed by *; "*" alone is every topic. A * elsewhere is refused. */
boxcar_status limits_check_topic_pattern(boxcar_str pattern, const char *argument, boxcar_error *err);
/* A JSON object, each key once, whose values are strings without NUL; absent is fine. */
boxcar_status limits_check_headers(boxcar_str headers, const char *argument, boxcar_error *err);
/* A JSON object of any values, each key once; absent is fine. */
boxcar_status limits_check_metadata(boxcar_str metadata, const char *argument, boxcar_error *err);
/* Not the nil UUID as a text: some program forgot to fill it in, and all would share a stream. */
boxcar_status limits_check_not_nil(boxcar_str text, const char *argument, boxcar_error *err);
boxcar_status limits_check_owner(boxcar_owner owner, boxcar_error *err);
boxcar_status limits_check_box(boxcar_box box, boxcar_error *err);
/* The number of a box's main reader or of a subscription. Whether that exists, the store says. */
boxcar_status limits_check_reader(boxcar_box reader, const char *argument, boxcar_error *err);
boxcar_status limits_check_lease_ms(int64_t lease_ms, boxcar_error *err);
boxcar_status limits_check_batch_size(int64_t batch_size, boxcar_error *err);
boxcar_status limits_check_batch_bytes(int64_t batch_bytes, const char *argument, boxcar_error *err);
/* A threshold or a count that may be 0: then it is not asked for. */
boxcar_status limits_check_stale_threshold_ms(int64_t threshold_ms, boxcar_error *err);
boxcar_status limits_check_partition_count(int count, boxcar_error *err);
boxcar_status limits_check_return(boxcar_return returns, const char *argument, boxcar_error *err);
/* `list`: the argument's name. */
boxcar_status limits_check_topic_patterns(const boxcar_str *patterns, size_t count, const char *list,
                                          boxcar_error *err);
/* Checks the fields that settling uses; and all that claiming uses. */
boxcar_status limits_check_claimer(const boxcar_claimer *claimer, boxcar_error *err);
boxcar_status limits_check_claim(const boxcar_claimer *claimer, boxcar_error *err);
/* Checks that callers may settle with this kind. */
boxcar_status limits_check_settle_kind(boxcar_settle_kind kind, boxcar_error *err);
/* Flags of boxcar_stage, at least one. */
boxcar_status limits_check_stages(int stages, boxcar_error *err);
/* The same rules for every way to settle, also for fields it does not look at; only a record looks at the
 * stages. */
boxcar_status limits_check_settlement(boxcar_settle_kind kind, const boxcar_settlement *settlement,
                                      boxcar_error *err);
/* A whole list. One of another size than today's becomes a copy in the arena. */
boxcar_status limits_read_settlements(struct arena *arena, boxcar_settle_kind kind,
                                      boxcar_settlement_list *list, boxcar_error *err);
boxcar_status limits_check_ref(boxcar_message_ref ref, const char *argument, boxcar_error *err);
/* The page size of a listing and where it goes on. */
boxcar_status limits_check_page(int64_t limit, boxcar_work_id after, boxcar_error *err);
boxcar_status limits_check_list(const boxcar_message_filter *options, boxcar_error *err);
boxcar_status limits_check_dead_filter(const boxcar_dead_filter *filter, boxcar_error *err);
boxcar_status limits_check_join_id(boxcar_join_id join_id, const char *argument, boxcar_error *err);
boxcar_status limits_check_new_join(const boxcar_new_join *join, boxcar_error *err);
boxcar_status limits_check_new_wait(const boxcar_new_wait *wait, boxcar_error *err);
boxcar_status limits_check_join_filter(const boxcar_join_filter *filter, boxcar_error *err);
/* A key of the inbox, and the hash that may come with it. */
boxcar_status limits_check_inbox_key(boxcar_inbox_key key, boxcar_str content_hash, boxcar_error *err);
/* The key of a stream: 1 to BOXCAR_STREAM_MAX characters. */
boxcar_status limits_check_stream(boxcar_str stream, const char *argument, boxcar_error *err);
/* A key, or a prefix followed by *; "*" alone is every stream. */
boxcar_status limits_check_stream_pattern(boxcar_str pattern, boxcar_error *err);
boxcar_status limits_check_join_outcome(boxcar_member_status outcome, boxcar_error *err);
boxcar_status limits_check_stream_policy(boxcar_stream_policy policy, boxcar_error *err);
boxcar_status limits_check_stream_filter(const boxcar_stream_filter *filter, boxcar_error *err);
/* Whether a text of this many bytes is within a limit that is a setting. */
boxcar_status limits_check_size(size_t size, int64_t max, const char *argument, const char *setting,
                                boxcar_error *err);
/* The same for a payload and headers. */
boxcar_status limits_check_sizes(size_t payload, int64_t payload_max, size_t headers, int64_t headers_max,
                                 boxcar_error *err);
/* The name of a new subscription or policy; and that of one that exists, which may be POLICY/DESTINATION. */
boxcar_status limits_check_new_subscription_name(boxcar_str name, const char *argument, boxcar_error *err);
boxcar_status limits_check_subscription_name(boxcar_str name, const char *argument, boxcar_error *err);
boxcar_status limits_check_new_subscription(const boxcar_new_subscription *subscription, boxcar_error *err);
boxcar_status limits_check_subscription_changes(const boxcar_subscription_changes *changes,
                                                boxcar_error *err);
/* The place where a subscription or a policy starts. */
boxcar_status limits_check_start(boxcar_start start, boxcar_time time, boxcar_error *err);
boxcar_status limits_check_place(const boxcar_place *place, boxcar_error *err);
/* 1 to BOXCAR_PATTERN_COUNT_MAX topic patterns. */
boxcar_status limits_check_some_patterns(const boxcar_str *patterns, size_t count, boxcar_error *err);
boxcar_status limits_check_policy_name(boxcar_str name, const char *argument, boxcar_error *err);
boxcar_status limits_check_new_fanout(const boxcar_new_fanout *fanout, boxcar_error *err);
/* What a join of copies or slices is followed by: there is no else_topic without a then_topic. */
boxcar_status limits_check_continuation(boxcar_str then_topic, boxcar_str else_topic, boxcar_error *err);
/* The topic and the work key of a schedule. */
boxcar_status limits_check_schedule_key(boxcar_str topic, boxcar_str work_key, boxcar_error *err);
boxcar_status limits_check_new_schedule(const boxcar_new_schedule *schedule, boxcar_error *err);
boxcar_status limits_check_slice(int shard, int64_t slice, boxcar_error *err);
boxcar_status limits_check_plan(const boxcar_plan *plan, boxcar_error *err);
/* No control characters. */
boxcar_status limits_check_control(boxcar_str text, const char *argument, boxcar_error *err);
boxcar_status limits_check_event_stream(boxcar_str stream, boxcar_error *err);
/* Arguments are named "events[3].type"; with just one, "type". */
boxcar_status limits_check_new_events(const boxcar_new_event *events, size_t count, boxcar_error *err);
boxcar_status limits_check_expected_version(int64_t version, boxcar_error *err);
boxcar_status limits_check_event_filter(const boxcar_event_filter *filter, boxcar_error *err);
boxcar_status limits_check_not_negative(int64_t number, const char *argument, boxcar_error *err);
/* Ids of messages that need not exist, but must not be nil. */
boxcar_status limits_check_message_id(boxcar_message_id message_id, const char *argument, boxcar_error *err);
boxcar_status limits_check_message_ids(const boxcar_message_id *message_ids, size_t count, boxcar_error *err);
/* The page size of any listing. */
boxcar_status limits_check_limit(int64_t limit, boxcar_error *err);
/* Letters, digits and _, at most 63 bytes, not one of PostgreSQL's own; absent is fine. */
boxcar_status limits_check_schema_name(boxcar_str schema, boxcar_error *err);

#endif
