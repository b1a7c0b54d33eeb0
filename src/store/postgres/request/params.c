/* How the statements of a request get their parameters, and which statements store its messages. */
#include "base/utf8.h"
#include "exchange.h"
#include "store/postgres/admin/admin.h"

/* ---- storing ---- */

/* Which members any message of the request has. */
struct used {
    bool correlation_id, stream, headers, due_at, delay_ms, ttl_ms, max_attempts, join_id, content_hash,
        causation_id, event_type, metadata;
};

static struct used find_used(const struct new_messages *messages) {
    struct used used = {0};

    for (size_t i = 0; i < messages->count; i++) {
        const boxcar_new_message *m = &messages->items[i];

        used.correlation_id |= m->correlation_id.data != NULL;
        used.stream |= m->stream.data != NULL;
        used.headers |= m->headers.data != NULL;
        used.due_at |= m->due_at != BOXCAR_TIME_NONE;
        used.delay_ms |= m->delay_ms != 0;
        used.ttl_ms |= m->ttl_ms != 0;
        used.max_attempts |= m->max_attempts != 0;
        used.causation_id |= m->causation_id.data != NULL;
        used.event_type |= m->event_type.data != NULL;
        used.metadata |= m->metadata.data != NULL;
        used.join_id |= !boxcar_uuid_is_none(m->join_id.uuid);
        used.content_hash |= m->content_hash.data != NULL;
    }
    return used;
}

/* Nothing but a topic and a payload; the key and the content hash are asked for apart. */
static bool is_plain(const struct new_messages *messages) {
    struct used used = find_used(messages);

    return !used.correlation_id && !used.stream && !used.headers && !used.due_at && !used.delay_ms &&
           !used.ttl_ms && !used.max_attempts && !used.join_id && !used.causation_id && !used.event_type &&
           !used.metadata;
}

size_t pg_count_keys(const struct new_messages *messages, bool unique) {
    size_t count = 0;

    for (size_t i = 0; messages->keys && i < messages->count; i++)
        count += messages->keys[i].unique == unique && !boxcar_uuid_is_none(messages->keys[i].id.uuid);
    return count;
}

struct new_messages pg_exchange_messages(const struct exchange *x, boxcar_box box) {
    struct new_messages messages = request_messages(x->request, box);

    messages.fresh_ids = messages.fresh_ids && !x->unknown;
    return messages;
}

enum pg_statement pg_enqueue_statement(const struct new_messages *messages, boxcar_box box) {
    if (box == BOXCAR_INBOX && messages->count == 1)
        return is_plain(messages) ? PG_INBOX_ENQUEUE_PLAIN : PG_INBOX_ENQUEUE_ONE;
    if (messages->count != 1)
        return box == BOXCAR_INBOX ? PG_INBOX_ENQUEUE : PG_ENQUEUE;
    if (!is_plain(messages) || pg_count_keys(messages, true) > 0)
        return PG_ENQUEUE_ONE;
    return messages->fresh_ids && !messages->keys ? PG_ENQUEUE_PLAIN : PG_ENQUEUE_KNOWN;
}

/* Of `messages`. A column that no message uses goes as one null instead of an array of nulls. */
#define COLUMN(array_type, member) P_COLUMN(array_type, messages->items, messages->count, member)
#define OPTIONAL(array_type, member) (used->member ? COLUMN(array_type, member) : P_NULL(array_type))

/* What messages of both boxes have, in two parts. */
static void add_messages(struct pg_params *params, const struct new_messages *messages,
                         const struct used *used) {
    pg_params_add(params, COLUMN(PG_UUID_ARRAY, message_id), COLUMN(PG_TEXT_ARRAY, topic),
                  COLUMN(PG_TEXT_ARRAY, payload), OPTIONAL(PG_TEXT_ARRAY, correlation_id),
                  OPTIONAL(PG_TEXT_ARRAY, stream), OPTIONAL(PG_TEXT_ARRAY, headers),
                  OPTIONAL(PG_TIMESTAMPTZ_ARRAY, due_at), OPTIONAL(PG_INT8_ARRAY, delay_ms),
                  OPTIONAL(PG_INT8_ARRAY, ttl_ms), OPTIONAL(PG_INT4_ARRAY, max_attempts));
}

static void add_extras(struct pg_params *params, const struct new_messages *messages,
                       const struct used *used) {
    pg_params_add(params, OPTIONAL(PG_TEXT_ARRAY, causation_id), OPTIONAL(PG_TEXT_ARRAY, event_type),
                  OPTIONAL(PG_TEXT_ARRAY, metadata));
}

/* The keys of one kind; null where there is none. */
static void add_keys(struct pg_params *params, const struct new_messages *messages, bool unique) {
    static const boxcar_message_id none;

    if (pg_count_keys(messages, unique) == 0) {
        pg_params_add(params, P_NULL(PG_UUID_ARRAY));
        return;
    }
    struct buf *array = pg_params_array_begin(params, PG_UUID_ARRAY, messages->count);
    for (size_t i = 0; i < messages->count; i++)
        pg_array_uuid(array,
                      messages->keys[i].unique == unique ? messages->keys[i].id.uuid.bytes : none.uuid.bytes);
}

static void add_unique_keys(struct pg_params *params, const struct new_messages *messages) {
    struct buf *array = pg_params_array_begin(params, PG_UUID_ARRAY, pg_count_keys(messages, true));

    for (size_t i = 0; i < messages->count; i++)
        if (messages->keys[i].unique)
            pg_array_uuid(array, messages->keys[i].id.uuid.bytes);
}

static void add_many(struct pg_params *params, const struct new_messages *messages) {
    struct used found = find_used(messages), *used = &found;

    pg_params_add(params, P_INT2(BOXCAR_OUTBOX));
    add_messages(params, messages, used);
    pg_params_add(params, P_BOOL(messages->fresh_ids), OPTIONAL(PG_UUID_ARRAY, join_id));
    add_keys(params, messages, false);
    add_keys(params, messages, true);
    add_extras(params, messages, used);
}

static void add_many_to_inbox(struct pg_params *params, const struct new_messages *messages) {
    struct used found = find_used(messages), *used = &found;

    add_messages(params, messages, used);
    pg_params_add(params, COLUMN(PG_TEXT_ARRAY, source), COLUMN(PG_TEXT_ARRAY, external_id),
                  OPTIONAL(PG_TEXT_ARRAY, content_hash));
    add_extras(params, messages, used);
}

/* One message, as the statements without arrays want it. */
static void add_plain(struct pg_params *params, const boxcar_new_message *m) {
    pg_params_add(params, P_ID(m->message_id), P_TEXT(m->topic), P_TEXT(m->payload));
}

static void add_message(struct pg_params *params, const boxcar_new_message *m) {
    add_plain(params, m);
    pg_params_add(params, P_TEXT(m->correlation_id), P_TEXT(m->stream), P_TEXT(m->headers), P_TIME(m->due_at),
                  P_MS_OR_NULL(m->delay_ms), P_MS_OR_NULL(m->ttl_ms),
                  m->max_attempts ? P_INT4(m->max_attempts) : P_NULL(PG_INT4));
}

static void add_message_extras(struct pg_params *params, const boxcar_new_message *m) {
    pg_params_add(params, P_TEXT(m->causation_id), P_TEXT(m->event_type), P_TEXT(m->metadata));
}

static void add_one(struct pg_params *params, const struct new_messages *messages) {
    static const struct message_key none;
    const struct message_key *key = messages->keys ? &messages->keys[0] : &none;
    const boxcar_message_id *known = key->unique ? &none.id : &key->id;
    const boxcar_message_id *unique = key->unique ? &key->id : &none.id;

    add_message(params, &messages->items[0]);
    pg_params_add(params, P_BOOL(messages->fresh_ids), P_ID_OR_NULL(messages->items[0].join_id),
                  P_ID_OR_NULL(*known), P_ID_OR_NULL(*unique));
    add_message_extras(params, &messages->items[0]);
}

static void add_origin(struct pg_params *params, const boxcar_new_message *m, bool alone) {
    pg_params_add(params, P_TEXT(m->source), P_TEXT(m->external_id), P_TEXT(m->content_hash), P_BOOL(alone));
}

/* ---- settling ---- */

/* The ways to settle that count in joins. */
static const boxcar_settle_kind COUNTING[] = {BOXCAR_ACK, BOXCAR_ABANDON, BOXCAR_FAIL, BOXCAR_RESOLVE};
#define COUNTING_KINDS (sizeof(COUNTING) / sizeof(COUNTING[0]))

size_t pg_count_counting(const boxcar_request_part *part) {
    size_t count = 0;

    for (size_t k = 0; k < COUNTING_KINDS; k++)
        count += part->settle[COUNTING[k]].count;
    return count;
}

static void add_counting_ids(struct pg_params *params, const boxcar_request_part *part) {
    struct buf *array = pg_params_array_begin(params, PG_INT8_ARRAY, pg_count_counting(part));

    for (size_t k = 0; k < COUNTING_KINDS; k++) {
        const boxcar_settlement_list *list = &part->settle[COUNTING[k]];

        for (size_t i = 0; i < list->count; i++)
            pg_array_int8(array, list->items[i].work_id.value);
    }
}

#define WORK_IDS(list) P_COLUMN(PG_INT8_ARRAY, (list).items, (list).count, work_id)

/* All that the settlements of both boxes lock. */
static void add_lock_ahead(struct pg_params *params, const struct request *request) {
    size_t waits = 0;

    pg_params_add(params, P_ID(request->base.owner));
    for (int box = 0; box < BOXES; box++) {
        add_counting_ids(params, &request->parts[box]);
        waits += request->parts[box].settle[BOXCAR_RESOLVE].count;
    }
    for (int box = 0; box < BOXES; box++)
        pg_params_add(params, WORK_IDS(request->parts[box].settle[BOXCAR_DEFER]));
    struct buf *array = pg_params_array_begin(params, PG_UUID_ARRAY, waits);
    for (int box = 0; box < BOXES; box++)
        for (size_t i = 0; i < request->parts[box].settle[BOXCAR_RESOLVE].count; i++)
            pg_array_uuid(array, request->own[box].waits[i].join_id.uuid.bytes);
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
    pg_params_add(params, P_INT8(list.items[0].work_id.value),
                  P_INT8(list.items[list.count - 1].work_id.value), P_INT8(list.items[0].epoch.value));
}

/* One epoch for all is the common case and the fastest: it is sent as an array of one. */
static void add_epochs(struct pg_params *params, boxcar_settlement_list list) {
    bool one = true;

    for (size_t i = 1; i < list.count && one; i++)
        one = list.items[i].epoch.value == list.items[0].epoch.value;
    if (one && list.items[0].epoch.value == 0)
        pg_params_add(params, P_NULL(PG_INT8_ARRAY));
    else
        pg_params_add(params, P_COLUMN(PG_INT8_ARRAY, list.items, one ? 1 : list.count, epoch));
}

static void add_errors(struct pg_params *params, boxcar_settlement_list list) {
    struct buf *array = pg_params_array_begin(params, PG_TEXT_ARRAY, list.count);

    for (size_t i = 0; i < list.count; i++)
        pg_array_text(array, utf8_cut(list.items[i].error, BOXCAR_ERROR_TEXT_MAX));
}

#define WAITS(array_type, member) P_COLUMN(array_type, waits, count, member)

static void add_waits(struct pg_params *params, const struct wait *waits, size_t count) {
    pg_params_add(params, WAITS(PG_UUID_ARRAY, join_id), WAITS(PG_BOOL_ARRAY, allow_failures),
                  WAITS(PG_TEXT_ARRAY, on_complete_topic), WAITS(PG_TEXT_ARRAY, on_complete_payload),
                  WAITS(PG_TEXT_ARRAY, on_fail_topic), WAITS(PG_TEXT_ARRAY, on_fail_payload),
                  WAITS(PG_TEXT_ARRAY, correlation_id), WAITS(PG_UUID_ARRAY, continuation_id));
}

/* By PG_ACK_RUN, or by the statement for this way to settle. */
static void add_settle(struct pg_params *params, const struct request *request, const struct step *step) {
    const struct request_own *own = &request->own[step->box];
    const boxcar_settlement_list list = request->parts[step->box].settle[step->kind];

    pg_params_add(params, P_INT2(request_reader(request, step->box)), P_ID(request->base.owner));
    if (step->statement == PG_ACK_RUN) {
        add_run(params, list);
        return;
    }
    pg_params_add(params, WORK_IDS(list));
    add_epochs(params, list);
    if (step->kind == BOXCAR_RECORD)
        pg_params_add(params, P_COLUMN(PG_INT4_ARRAY, list.items, list.count, stages));
    if (step->kind == BOXCAR_ABANDON || step->kind == BOXCAR_DEFER)
        pg_params_add(params, P_COLUMN(PG_INT8_ARRAY, list.items, list.count, delay_ms));
    if (step->kind == BOXCAR_ABANDON || step->kind == BOXCAR_FAIL)
        add_errors(params, list);
    if (step->kind == BOXCAR_FAIL)
        pg_params_add(params, P_INT2(own->fail_reason ? own->fail_reason : BOXCAR_REASON_REJECTED));
    if (step->kind == BOXCAR_RESOLVE)
        add_waits(params, own->waits, list.count);
    if (step->kind == BOXCAR_RENEW)
        pg_params_add(params, P_MS(request_part_renew_ms(&request->parts[step->box])));
}

/* ---- claiming ---- */

/* What every claim begins with. */
static void add_claim(struct pg_params *params, const struct request *request, boxcar_box box, int size) {
    const boxcar_request_part *part = &request->parts[box];

    pg_params_add(params, P_INT2(request_reader(request, box)), P_ID(request->base.owner),
                  P_MS(part->lease_ms), P_INT4(size));
    pg_params_topics(params, part->topics, part->topic_count);
}

/* A suspect comes alone: not where the request's own messages may come too, or have come. */
static bool takes_suspects(const struct exchange *x, boxcar_box box) {
    bool shared =
        request_claims_stored(x->request, box) && (x->settle || x->result->parts[box].claimed_count > 0);

    return !x->request->own[box].no_suspects && !shared;
}

void pg_params_for_claim(struct pg_params *params, const struct exchange *x, boxcar_box box) {
    add_claim(params, x->request, box, x->room[box].messages);
    pg_params_add(params, P_BOOL(pg_is_joined(x->pg)), P_BOOL(takes_suspects(x, box)),
                  P_INT8_OR_NULL(x->numbers[box]),
                  P_BOOL(x->together), /* what may wait comes before the first turn */
                  P_INT8(x->room[box].bytes));
}

/* What a claim takes first: messages that the request stores. All of the answer's places are its own: an
 * earlier round of the claim that has found something kept them free. */
static void add_claim_stored(struct pg_params *params, const struct exchange *x, boxcar_box box) {
    const boxcar_request_part *part = &x->request->parts[box];
    const boxcar_new_message_list stored = x->request->base.messages[box];

    add_claim(params, x->request, box, part->claim_size - (int)x->result->parts[box].claimed_count);
    pg_params_add(params, P_COLUMN(PG_UUID_ARRAY, stored.items, stored.count, message_id),
                  P_INT8_OR_NULL(x->stored_numbers[box]), P_INT8(request_part_claim_bytes(part)));
}

/* Messages that come back: what was renewed, if that is asked for, else all. */
static void add_returned(struct pg_params *params, const struct request *request, boxcar_box box) {
    const boxcar_request_part *part = &request->parts[box];

    pg_params_add(params, P_INT2(request_reader(request, box)), P_ID(request->base.owner),
                  part->returns == BOXCAR_RETURN_RENEWED ? WORK_IDS(part->settle[BOXCAR_RENEW])
                                                         : P_NULL(PG_INT8_ARRAY));
}

/* ---- all together ---- */

void pg_params_for_step(struct pg_params *params, const struct exchange *x, const struct step *step) {
    const struct request *request = x->request;
    const struct new_messages messages = pg_exchange_messages(x, step->box);
    const boxcar_new_message *first = messages.items;
    bool alone = x->step_count == 1 && !pg_is_joined(x->pg); /* nothing else is in this transaction */

    switch (step->statement) {
    case PG_JOINS_ENDED:
        break;
    case PG_WANT_PARTITIONS:
        pg_params_add(params, P_INT4(request->base.partition_count));
        break;
    case PG_ENQUEUE:
        add_many(params, &messages);
        break;
    case PG_ENQUEUE_ONE:
        add_one(params, &messages);
        break;
    case PG_ENQUEUE_PLAIN:
        add_plain(params, first);
        break;
    case PG_ENQUEUE_KNOWN:
        add_plain(params, first);
        pg_params_add(params, messages.keys ? P_ID_OR_NULL(messages.keys[0].id) : P_NULL(PG_UUID));
        break;
    case PG_INBOX_ENQUEUE:
        add_many_to_inbox(params, &messages);
        break;
    case PG_INBOX_ENQUEUE_ONE:
        add_message(params, first);
        add_origin(params, first, alone);
        add_message_extras(params, first);
        break;
    case PG_INBOX_ENQUEUE_PLAIN:
        add_plain(params, first);
        add_origin(params, first, alone);
        break;
    case PG_HOLD_KEYS:
        add_unique_keys(params, &messages);
        break;
    case PG_LOCK_AHEAD_OF:
        pg_params_add(params, P_INT2(request_reader(request, BOXCAR_OUTBOX)),
                      P_INT2(request_reader(request, BOXCAR_INBOX)));
        add_lock_ahead(params, request);
        break;
    case PG_LOCK_AHEAD:
        add_lock_ahead(params, request);
        break;
    case PG_READER:
    case PG_REAP:
        pg_params_add(params, P_INT2(request_reader(request, step->box)));
        break;
    case PG_REGISTER:
    case PG_HEARTBEAT:
    case PG_BEAT_ALONE:
        pg_params_for_instance(params, step->instance);
        break;
    case PG_REMOVE_STALE:
        pg_params_add(params, P_MS_OR_NULL(request->base.stale_threshold_ms));
        break;
    case PG_RETURNED:
        add_returned(params, request, step->box);
        break;
    case PG_CLAIM_STORED:
        add_claim_stored(params, x, step->box);
        break;
    case PG_FAREWELL:
        pg_params_add(params, P_ID(request->base.owner));
        break;
    default:
        add_settle(params, request, step);
    }
}
