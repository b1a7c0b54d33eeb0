#include "params.h"

#include "base/utf8.h"
#include "base/uuid.h"
#include "store/postgres/statement/choice.h"
#include "store/postgres/statement/params.h"

/* Columns that no message of the request uses go as one null instead of an array of nulls. */
struct used {
    bool correlation, stream, headers, due, delay, ttl, attempts, join, hash, causation, event, metadata;
};

static struct used find_used(const struct new_messages *new) {
    struct used used = {0};

    for (size_t i = 0; i < new->count; i++) {
        const boxcar_new_message *m = &new->items[i];

        used.correlation |= m->correlation_id.data != NULL;
        used.stream |= m->stream.data != NULL;
        used.headers |= m->headers.data != NULL;
        used.due |= m->due_at != BOXCAR_TIME_NONE;
        used.delay |= m->delay_ms != 0;
        used.ttl |= m->ttl_ms != 0;
        used.attempts |= m->max_attempts != 0;
        used.causation |= m->causation_id.data != NULL;
        used.event |= m->event_type.data != NULL;
        used.metadata |= m->metadata.data != NULL;
        used.join |= !boxcar_uuid_is_none(m->join_id.uuid);
        used.hash |= m->content_hash.data != NULL;
    }
    return used;
}

static void add_texts(struct pg_params *params, const struct new_messages *new, bool used, size_t field) {
    struct buf *array;

    if (!used) {
        pg_params_null(params, PG_TEXT_ARRAY);
        return;
    }
    array = pg_params_array_begin(params, PG_TEXT_ARRAY, new->count);
    for (size_t i = 0; i < new->count; i++)
        pg_array_text(array, *(const boxcar_str *)((const char *)&new->items[i] + field));
}

static void add_numbers(struct pg_params *params, const struct new_messages *new, bool used, size_t field) {
    struct buf *array;

    if (!used) {
        pg_params_null(params, PG_INT8_ARRAY);
        return;
    }
    array = pg_params_array_begin(params, PG_INT8_ARRAY, new->count);
    for (size_t i = 0; i < new->count; i++)
        pg_array_int8(array, *(const int64_t *)(const void *)((const char *)&new->items[i] + field));
}

static void add_ids(struct pg_params *params, const struct new_messages *new) {
    struct buf *array = pg_params_array_begin(params, PG_UUID_ARRAY, new->count);

    for (size_t i = 0; i < new->count; i++)
        pg_array_uuid(array, new->items[i].message_id.uuid.bytes);
}

static void add_dues(struct pg_params *params, const struct new_messages *new, bool used) {
    struct buf *array;

    if (!used) {
        pg_params_null(params, PG_TIMESTAMPTZ_ARRAY);
        return;
    }
    array = pg_params_array_begin(params, PG_TIMESTAMPTZ_ARRAY, new->count);
    for (size_t i = 0; i < new->count; i++)
        pg_array_time(array, new->items[i].due_at);
}

static void add_attempts(struct pg_params *params, const struct new_messages *new, bool used) {
    struct buf *array;

    if (!used) {
        pg_params_null(params, PG_INT4_ARRAY);
        return;
    }
    array = pg_params_array_begin(params, PG_INT4_ARRAY, new->count);
    for (size_t i = 0; i < new->count; i++)
        pg_array_int4(array, new->items[i].max_attempts);
}

static void add_joins(struct pg_params *params, const struct new_messages *new, bool used) {
    struct buf *array;

    if (!used) {
        pg_params_null(params, PG_UUID_ARRAY);
        return;
    }
    array = pg_params_array_begin(params, PG_UUID_ARRAY, new->count);
    for (size_t i = 0; i < new->count; i++)
        pg_array_uuid(array, new->items[i].join_id.uuid.bytes);
}

/* What messages of both boxes have. */
static void add_messages(struct pg_params *params, const struct new_messages *new, struct used used) {
    add_ids(params, new);
    add_texts(params, new, true, offsetof(boxcar_new_message, topic));
    add_texts(params, new, true, offsetof(boxcar_new_message, payload));
    add_texts(params, new, used.correlation, offsetof(boxcar_new_message, correlation_id));
    add_texts(params, new, used.stream, offsetof(boxcar_new_message, stream));
    add_texts(params, new, used.headers, offsetof(boxcar_new_message, headers));
    add_dues(params, new, used.due);
    add_numbers(params, new, used.delay, offsetof(boxcar_new_message, delay_ms));
    add_numbers(params, new, used.ttl, offsetof(boxcar_new_message, ttl_ms));
    add_attempts(params, new, used.attempts);
}

/* The last parameters. */
static void add_extras(struct pg_params *params, const struct new_messages *new, struct used used) {
    add_texts(params, new, used.causation, offsetof(boxcar_new_message, causation_id));
    add_texts(params, new, used.event, offsetof(boxcar_new_message, event_type));
    add_texts(params, new, used.metadata, offsetof(boxcar_new_message, metadata));
}

size_t pg_count_keys(const struct new_messages *new, bool unique) {
    size_t count = 0;

    for (size_t i = 0; new->keys &&i < new->count; i++)
        count += new->keys[i].unique == unique && !boxcar_uuid_is_none(new->keys[i].id.uuid);
    return count;
}

/* The keys of one kind; null where there is none. */
static void add_keys(struct pg_params *params, const struct new_messages *new, bool unique) {
    static const boxcar_message_id none;
    struct buf *array;

    if (pg_count_keys(new, unique) == 0) {
        pg_params_null(params, PG_UUID_ARRAY);
        return;
    }
    array = pg_params_array_begin(params, PG_UUID_ARRAY, new->count);
    for (size_t i = 0; i < new->count; i++)
        pg_array_uuid(array, new->keys[i].unique == unique ? new->keys[i].id.uuid.bytes : none.uuid.bytes);
}

void pg_params_for_hold_keys(struct pg_params *params, const struct request *request) {
    const struct new_messages messages = request_messages(request, BOXCAR_OUTBOX), *new = &messages;
    struct buf *array = pg_params_array_begin(params, PG_UUID_ARRAY, pg_count_keys(new, true));

    for (size_t i = 0; i < new->count; i++)
        if (new->keys[i].unique)
            pg_array_uuid(array, new->keys[i].id.uuid.bytes);
}

static void add_many(struct pg_params *params, const struct new_messages *new, bool fresh_ids) {
    struct used used = find_used(new);

    pg_params_int2(params, BOXCAR_OUTBOX);
    add_messages(params, new, used);
    pg_params_bool(params, fresh_ids);
    add_joins(params, new, used.join);
    add_keys(params, new, false);
    add_keys(params, new, true);
    add_extras(params, new, used);
}

/* Nothing but a topic and a payload; the key and the content hash are asked for apart. */
static bool is_plain(const struct new_messages *new) {
    struct used used = find_used(new);

    return !used.correlation && !used.stream && !used.headers && !used.due && !used.delay && !used.ttl &&
           !used.attempts && !used.join && !used.causation && !used.event && !used.metadata;
}

enum pg_statement pg_enqueue_statement(const struct new_messages *new, bool fresh_ids) {
    if (new->count != 1)
        return PG_ENQUEUE;
    if (!is_plain(new) || pg_count_keys(new, true) > 0)
        return PG_ENQUEUE_ONE;
    return fresh_ids && !new->keys ? PG_ENQUEUE_PLAIN : PG_ENQUEUE_KNOWN;
}

static void add_id(struct pg_params *params, const uint8_t id[16]) {
    if (uuid_is_nil(id))
        pg_params_null(params, PG_UUID);
    else
        pg_params_uuid(params, id);
}

static void add_duration(struct pg_params *params, int64_t ms) {
    if (ms == 0)
        pg_params_null(params, PG_INTERVAL);
    else
        pg_params_interval_ms(params, ms);
}

static void add_plain(struct pg_params *params, const boxcar_new_message *message) {
    pg_params_uuid(params, message->message_id.uuid.bytes);
    pg_params_text(params, message->topic);
    pg_params_text(params, message->payload);
}

/* What one message of either box has. */
static void add_message(struct pg_params *params, const boxcar_new_message *m) {
    add_plain(params, m);
    pg_params_text(params, m->correlation_id);
    pg_params_text(params, m->stream);
    pg_params_text(params, m->headers);
    pg_params_time(params, m->due_at);
    add_duration(params, m->delay_ms);
    add_duration(params, m->ttl_ms);
    if (m->max_attempts != 0)
        pg_params_int4(params, m->max_attempts);
    else
        pg_params_null(params, PG_INT4);
}

static void add_message_extras(struct pg_params *params, const boxcar_new_message *m) {
    pg_params_text(params, m->causation_id);
    pg_params_text(params, m->event_type);
    pg_params_text(params, m->metadata);
}

static void add_one(struct pg_params *params, const struct new_messages *new, bool fresh_ids) {
    static const struct message_key none;
    const boxcar_new_message *m = &new->items[0];
    const struct message_key *key = new->keys ? &new->keys[0] : &none;

    add_message(params, m);
    pg_params_bool(params, fresh_ids);
    add_id(params, m->join_id.uuid.bytes);
    add_id(params, key->unique ? none.id.uuid.bytes : key->id.uuid.bytes);
    add_id(params, key->unique ? key->id.uuid.bytes : none.id.uuid.bytes);
    add_message_extras(params, m);
}

static void add_known(struct pg_params *params, const struct new_messages *new) {
    static const boxcar_message_id none;

    add_plain(params, &new->items[0]);
    add_id(params, new->keys ? new->keys[0].id.uuid.bytes : none.uuid.bytes);
}

void pg_params_for_enqueue(struct pg_params *params, const struct new_messages *new, bool fresh_ids) {
    switch (pg_enqueue_statement(new, fresh_ids)) {
    case PG_ENQUEUE_PLAIN:
        add_plain(params, &new->items[0]);
        break;
    case PG_ENQUEUE_KNOWN:
        add_known(params, new);
        break;
    case PG_ENQUEUE_ONE:
        add_one(params, new, fresh_ids);
        break;
    default:
        add_many(params, new, fresh_ids);
    }
}

enum pg_statement pg_inbox_enqueue_statement(const struct new_messages *new) {
    if (new->count != 1)
        return PG_INBOX_ENQUEUE;
    return is_plain(new) ? PG_INBOX_ENQUEUE_PLAIN : PG_INBOX_ENQUEUE_ONE;
}

static void add_origin(struct pg_params *params, const boxcar_new_message *message, bool alone) {
    pg_params_text(params, message->source);
    pg_params_text(params, message->external_id);
    pg_params_text(params, message->content_hash);
    pg_params_bool(params, alone);
}

void pg_params_for_inbox_enqueue(struct pg_params *params, const struct new_messages *new, bool alone) {
    struct used used = find_used(new);

    switch (pg_inbox_enqueue_statement(new)) {
    case PG_INBOX_ENQUEUE_PLAIN:
        add_plain(params, &new->items[0]);
        add_origin(params, &new->items[0], alone);
        break;
    case PG_INBOX_ENQUEUE_ONE:
        add_message(params, &new->items[0]);
        add_origin(params, &new->items[0], alone);
        add_message_extras(params, &new->items[0]);
        break;
    default:
        add_messages(params, new, used);
        add_texts(params, new, true, offsetof(boxcar_new_message, source));
        add_texts(params, new, true, offsetof(boxcar_new_message, external_id));
        add_texts(params, new, used.hash, offsetof(boxcar_new_message, content_hash));
        add_extras(params, new, used);
    }
}

static void add_work_ids(struct pg_params *params, boxcar_settlement_list list) {
    struct buf *array = pg_params_array_begin(params, PG_INT8_ARRAY, list.count);

    for (size_t i = 0; i < list.count; i++)
        pg_array_int8(array, list.items[i].work_id.value);
}

/* One epoch for all is the common case and the fastest: it is sent as an array of one. */
static void add_epochs(struct pg_params *params, boxcar_settlement_list list) {
    bool one = true;
    struct buf *array;

    for (size_t i = 1; i < list.count && one; i++)
        one = list.items[i].epoch.value == list.items[0].epoch.value;
    if (one && list.items[0].epoch.value == 0) {
        pg_params_null(params, PG_INT8_ARRAY);
        return;
    }
    array = pg_params_array_begin(params, PG_INT8_ARRAY, one ? 1 : list.count);
    for (size_t i = 0; i < (one ? 1 : list.count); i++)
        pg_array_int8(array, list.items[i].epoch.value);
}

static void add_delays(struct pg_params *params, boxcar_settlement_list list) {
    struct buf *array = pg_params_array_begin(params, PG_INT8_ARRAY, list.count);

    for (size_t i = 0; i < list.count; i++)
        pg_array_int8(array, list.items[i].delay_ms);
}

static void add_errors(struct pg_params *params, boxcar_settlement_list list) {
    struct buf *array = pg_params_array_begin(params, PG_TEXT_ARRAY, list.count);

    for (size_t i = 0; i < list.count; i++)
        pg_array_text(array, utf8_cut(list.items[i].error, BOXCAR_ERROR_TEXT_MAX));
}

static void add_wait_texts(struct pg_params *params, const struct wait *waits, size_t count, size_t field) {
    struct buf *array = pg_params_array_begin(params, PG_TEXT_ARRAY, count);

    for (size_t i = 0; i < count; i++)
        pg_array_text(array, *(const boxcar_str *)((const char *)&waits[i] + field));
}

static void add_wait_joins(struct pg_params *params, const struct wait *waits, size_t count) {
    struct buf *array = pg_params_array_begin(params, PG_UUID_ARRAY, count);

    for (size_t i = 0; i < count; i++)
        pg_array_uuid(array, waits[i].join_id.uuid.bytes);
}

static void add_waits(struct pg_params *params, const struct wait *waits, size_t count) {
    struct buf *array;

    add_wait_joins(params, waits, count);
    array = pg_params_array_begin(params, PG_BOOL_ARRAY, count);
    for (size_t i = 0; i < count; i++)
        pg_array_bool(array, waits[i].allow_failures);
    add_wait_texts(params, waits, count, offsetof(struct wait, on_complete_topic));
    add_wait_texts(params, waits, count, offsetof(struct wait, on_complete_payload));
    add_wait_texts(params, waits, count, offsetof(struct wait, on_fail_topic));
    add_wait_texts(params, waits, count, offsetof(struct wait, on_fail_payload));
    add_wait_texts(params, waits, count, offsetof(struct wait, correlation_id));
    array = pg_params_array_begin(params, PG_UUID_ARRAY, count);
    for (size_t i = 0; i < count; i++)
        pg_array_uuid(array, waits[i].continuation_id.uuid.bytes);
}

/* The ways to settle that count in joins. */
static const boxcar_settle_kind COUNTING[] = {BOXCAR_ACK, BOXCAR_ABANDON, BOXCAR_FAIL, BOXCAR_RESOLVE};
#define COUNTING_KINDS (sizeof(COUNTING) / sizeof(COUNTING[0]))

static void add_counting_ids(struct pg_params *params, const boxcar_request_part *part) {
    size_t count = 0;
    struct buf *array;

    for (size_t k = 0; k < COUNTING_KINDS; k++)
        count += part->settle[COUNTING[k]].count;
    array = pg_params_array_begin(params, PG_INT8_ARRAY, count);
    for (size_t k = 0; k < COUNTING_KINDS; k++) {
        const boxcar_settlement_list *list = &part->settle[COUNTING[k]];

        for (size_t i = 0; i < list->count; i++)
            pg_array_int8(array, list->items[i].work_id.value);
    }
}

void pg_params_for_lock_ahead(struct pg_params *params, const struct request *request) {
    struct buf *array;
    size_t waits = 0;

    pg_params_uuid(params, request->base.owner.uuid.bytes);
    for (int box = 0; box < BOXES; box++) {
        add_counting_ids(params, &request->parts[box]);
        waits += request->parts[box].settle[BOXCAR_RESOLVE].count;
    }
    for (int box = 0; box < BOXES; box++)
        add_work_ids(params, request->parts[box].settle[BOXCAR_DEFER]);
    array = pg_params_array_begin(params, PG_UUID_ARRAY, waits);
    for (int box = 0; box < BOXES; box++)
        for (size_t i = 0; i < request->parts[box].settle[BOXCAR_RESOLVE].count; i++)
            pg_array_uuid(array, request->own[box].waits[i].join_id.uuid.bytes);
}

static void add_stages(struct pg_params *params, boxcar_settlement_list list) {
    struct buf *array = pg_params_array_begin(params, PG_INT4_ARRAY, list.count);

    for (size_t i = 0; i < list.count; i++)
        pg_array_int4(array, list.items[i].stages);
}

bool pg_is_run(boxcar_settlement_list list) {
    int64_t first = list.count > 0 ? list.items[0].work_id.value : 0;

    if (first < 1 || list.count > BOXCAR_BATCH_SIZE_MAX || first > INT64_MAX - BOXCAR_BATCH_SIZE_MAX ||
        list.items[0].epoch.value == 0)
        return false;
    for (size_t i = 1; i < list.count; i++)
        if (list.items[i].work_id.value != first + (int64_t)i ||
            list.items[i].epoch.value != list.items[0].epoch.value)
            return false;
    return true;
}

static void add_run(struct pg_params *params, boxcar_settlement_list list) {
    pg_params_int8(params, list.items[0].work_id.value);
    pg_params_int8(params, list.items[list.count - 1].work_id.value);
    pg_params_int8(params, list.items[0].epoch.value);
}

void pg_params_for_settle(struct pg_params *params, const struct request *request, boxcar_box box,
                          boxcar_settle_kind kind) {
    const boxcar_request_part *part = &request->parts[box];
    boxcar_settlement_list list = part->settle[kind];

    pg_params_int2(params, box);
    pg_params_uuid(params, request->base.owner.uuid.bytes);
    if (kind == BOXCAR_ACK && pg_is_run(list)) {
        add_run(params, list);
        return;
    }
    add_work_ids(params, list);
    add_epochs(params, list);
    if (kind == BOXCAR_RECORD)
        add_stages(params, list);
    if (kind == BOXCAR_ABANDON || kind == BOXCAR_DEFER)
        add_delays(params, list);
    if (kind == BOXCAR_ABANDON || kind == BOXCAR_FAIL)
        add_errors(params, list);
    if (kind == BOXCAR_FAIL)
        pg_params_int2(params, request->own[box].fail_reason ? request->own[box].fail_reason
                                                             : BOXCAR_REASON_REJECTED);
    if (kind == BOXCAR_RESOLVE)
        add_waits(params, request->own[box].waits, list.count);
    if (kind == BOXCAR_RENEW)
        pg_params_interval_ms(params, request_part_renew_ms(part));
}

static void add_number(struct pg_params *params, int64_t number) {
    if (number != 0)
        pg_params_int8(params, number);
    else
        pg_params_null(params, PG_INT8);
}

/* What every claim begins with. */
static void add_claim(struct pg_params *params, const struct request *request, boxcar_box box, int size) {
    const boxcar_request_part *part = &request->parts[box];

    pg_params_int2(params, box);
    pg_params_uuid(params, request->base.owner.uuid.bytes);
    pg_params_interval_ms(params, part->lease_ms);
    pg_params_int4(params, size);
    pg_params_topics(params, part->topics, part->topic_count);
}

void pg_params_for_claim(struct pg_params *params, const struct request *request, boxcar_box box, int size,
                         bool durable, bool suspects, int64_t number) {
    add_claim(params, request, box, size);
    pg_params_bool(params, durable);
    pg_params_bool(params, suspects);
    add_number(params, number);
}

void pg_params_for_claim_stored(struct pg_params *params, const struct request *request, boxcar_box box,
                                int size, int64_t number) {
    const struct new_messages messages = request_messages(request, box);

    add_claim(params, request, box, size);
    add_ids(params, &messages);
    add_number(params, number);
    pg_params_int8(params, request_part_claim_bytes(&request->parts[box]));
}

void pg_params_for_returned(struct pg_params *params, const struct request *request, boxcar_box box) {
    const boxcar_request_part *part = &request->parts[box];

    pg_params_int2(params, box);
    pg_params_uuid(params, request->base.owner.uuid.bytes);
    if (part->returns == BOXCAR_RETURN_RENEWED)
        add_work_ids(params, part->settle[BOXCAR_RENEW]);
    else
        pg_params_null(params, PG_INT8_ARRAY);
}

void pg_params_for_was_settled(struct pg_params *params, const struct request *request, boxcar_box box,
                               boxcar_settle_kind kind, const char *outcome) {
    boxcar_settlement_list list = request->parts[box].settle[kind];
    struct buf *epochs;

    pg_params_int2(params, box);
    pg_params_text(params, boxcar_str_of(outcome));
    pg_params_uuid(params, request->base.owner.uuid.bytes);
    add_work_ids(params, list);
    epochs = pg_params_array_begin(params, PG_INT8_ARRAY, list.count);
    for (size_t i = 0; i < list.count; i++)
        pg_array_int8(epochs, list.items[i].epoch.value);
}

void pg_params_for_give_back(struct pg_params *params, boxcar_owner owner, boxcar_box box,
                             const boxcar_message *claimed, size_t count) {
    struct buf *array;

    pg_params_int2(params, box);
    pg_params_uuid(params, owner.uuid.bytes);
    array = pg_params_array_begin(params, PG_INT8_ARRAY, count);
    for (size_t i = 0; i < count; i++)
        pg_array_int8(array, claimed[i].work_id.value);
    array = pg_params_array_begin(params, PG_INT8_ARRAY, count);
    for (size_t i = 0; i < count; i++)
        pg_array_int8(array, claimed[i].epoch.value);
    array = pg_params_array_begin(params, PG_INT8_ARRAY, 1);
    pg_array_int8(array, 0);
}
