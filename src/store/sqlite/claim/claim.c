/* Claiming.
 *
 * Most messages are handed out straight from the log. A message beyond the frontier of its box that was not
 * set aside (lane 0, and lane 2 with a stream) is fresh, and only a claim changes that. A claim walks on from
 * the frontier. It leases the messages that it wants and parks those that it does not want (other topics,
 * streams of which a message is leased). It skips the other box, and messages that were set aside when they
 * were enqueued. It leaves the frontier behind the last row that it handled (window.c), and never looks at
 * finished work again. Only one transaction writes at a time, so the order of numbers is the order of
 * commits, and a single number is enough.
 *
 * All other open messages are in the parking lot: not due, retrying, deferred, expiring, heads of streams,
 * suspects. Indexes find them by their time (and topic).
 *
 * Rules:
 * - Before taking, a bounded number of expired leases is released and of expired messages
 *   buried, so that nothing waits for maintenance.
 * - A suspect (a lease expired on it) is handed out alone; claims alternate between suspects
 *   and the rest while both are there.
 * - At most half a batch comes from the lot while fresh messages wait and the other way round;
 *   a batch of one alternates.
 * - Several neighbours of a stream go together, see stream.c.
 * - A claim looks at a bounded number of rows in one transaction. If it has found nothing by then, it has
 *   still moved the frontier, and continues in a new transaction. So a long way through topics that it does
 *   not want does not keep writers out.
 * - A claim stops early when it holds as much payload as it wants.
 * - A claim that wants the messages that its request has stored takes these first (own.c).
 * - A damaged message is buried instead of handed out (damaged.c).
 * - Waits for joins are handed out only to claims that name their topic. */
#include "claim.h"

#include <string.h>

#include "base/utf8.h"
#include "core/topic.h"
#include "store/sqlite/admin/setting.h"
#include "store/sqlite/connection/connection.h"
#include "store/sqlite/inbox/inbox.h"
#include "store/sqlite/join/join.h"
#include "store/sqlite/message/park.h"
#include "store/sqlite/message/tally.h"
#include "store/sqlite/settle/lease.h"
#include "store/sqlite/settle/release.h"

#define RELEASE_MAX 1000 /* expired leases, expired messages */
#define WAITS_MAX 100    /* evaluated by a claim */
#define WAITS_LEFT_US (INT64_C(5) * 1000 * 1000)
#define CAPACITY_FIRST 64

static boxcar_status frontier_read(struct sqlite_store *store, struct claim *claim, boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_FRONTIER_READ);
    bool found = false;
    boxcar_status status;

    query_int(&query, claim->box);
    status = query_step(&query, &found, err);
    if (status == BOXCAR_OK && !found)
        status = error_set(err, BOXCAR_E_STORE, "%s: the frontier is missing", store->base.id);
    if (status != BOXCAR_OK)
        return status;
    claim->frontier.position = query_get_int(&query, 0);
    claim->frontier.epoch = query_get_int(&query, 1);
    claim->frontier.turn = query_get_int(&query, 2);
    claim->frontier.suspect_last = query_get_int(&query, 3) != 0;
    return BOXCAR_OK;
}

static boxcar_status frontier_write(struct sqlite_store *store, const struct claim *claim,
                                    boxcar_error *err) {
    struct query query = query_on(store, S_FRONTIER_WRITE);

    query_int(&query, claim->box);
    query_int(&query, claim->frontier.position);
    query_int(&query, claim->frontier.epoch);
    query_int(&query, claim->frontier.turn);
    query_int(&query, claim->frontier.suspect_last);
    return query_run(&query, err);
}

bool sqlite_claim_is_full(const struct claim *claim, size_t limit) {
    return claim->result->claimed_count >= limit ||
           claim->bytes >= (size_t)request_part_claim_bytes(claim->part);
}

static bool grow(struct claim *claim) {
    size_t size = (size_t)claim->part->claim_size;
    size_t capacity = claim->capacity == 0 ? CAPACITY_FIRST : claim->capacity * 4;
    boxcar_message *messages;

    if (capacity > size)
        capacity = size;
    messages = arena_alloc_array(claim->arena, capacity, sizeof(*messages));
    if (messages == NULL)
        return false;
    if (claim->capacity > 0)
        memcpy(messages, claim->result->claimed, claim->result->claimed_count * sizeof(*messages));
    claim->result->claimed = messages;
    claim->capacity = capacity;
    return true;
}

/* Room for one more; it counts once it is leased. */
boxcar_status sqlite_claim_next(struct sqlite_store *store, struct claim *claim, boxcar_message **ret_message,
                                boxcar_error *err) {
    (void)store;
    if (claim->result->claimed_count == claim->capacity && !grow(claim))
        return error_no_memory(err);
    *ret_message = &claim->result->claimed[claim->result->claimed_count];
    return BOXCAR_OK;
}

/* Never used before, even if a power cut took the last claims away: the clock has moved on. */
static void draw_epoch(struct sqlite_store *store, struct claim *claim) {
    if (claim->epoch_drawn)
        return;
    claim->frontier.epoch = claim->frontier.epoch + 1 > store->now ? claim->frontier.epoch + 1 : store->now;
    claim->epoch_drawn = true;
}

static boxcar_status write_lease(struct sqlite_store *store, struct claim *claim,
                                 const boxcar_message *message, enum lease_way way, boxcar_owner owner,
                                 boxcar_error *err) {
    struct query query = query_on(store, S_LEASE_INSERT);

    draw_epoch(store, claim);
    query_int(&query, message->work_id.value);
    query_int(&query, claim->frontier.epoch);
    query_id(&query, owner.uuid.bytes);
    query_int(&query, claim->until);
    query_int(&query, message->box);
    query_int(&query, way == LEASE_PARKED);
    query_text(&query, message->topic);
    query_text(&query, way == LEASE_STREAMED ? message->stream : BOXCAR_NO_STR);
    sqlite_tally_add(store, (int)message->box, message->topic, TALLY_LEASED, 1);
    return query_run(&query, err);
}

boxcar_status sqlite_claim_lease(struct sqlite_store *store, struct claim *claim, boxcar_message *message,
                                 enum lease_way way, bool *ret_taken, boxcar_error *err) {
    boxcar_status status =
        message->box == BOXCAR_INBOX ? sqlite_inbox_read_key(store, claim->arena, message, err) : BOXCAR_OK;
    const char *damage = status == BOXCAR_OK ? sqlite_claim_find_damage(message) : NULL;

    *ret_taken = damage == NULL;
    if (status == BOXCAR_OK)
        status = write_lease(store, claim, message, way, *ret_taken ? claim->owner : LEASE_OF_NOBODY, err);
    if (status != BOXCAR_OK)
        return status;
    if (!*ret_taken)
        return sqlite_claim_bury_damaged(store, claim, message, way, damage, err);
    message->status = BOXCAR_IN_PROGRESS;
    message->owner = claim->owner;
    message->epoch.value = claim->frontier.epoch;
    message->locked_until = claim->until;
    claim->bytes += message->payload.len + message->headers.len + message->metadata.len;
    claim->result->claimed_count++;
    return BOXCAR_OK;
}

bool sqlite_claim_wants(const struct claim *claim, boxcar_str topic) {
    const boxcar_request_part *part = claim->part;

    if (!str_is_absent(claim->waits) && str_equal(topic, claim->waits))
        return false;
    for (size_t i = 0; i < part->topic_count; i++) {
        if (topic_matches(part->topics[i], topic))
            return true;
    }
    return part->topic_count == 0;
}

/* ---- the whole ---- */

static size_t parked_share(const struct claim *claim) {
    if (claim->part->claim_size == 1)
        return (size_t)(claim->frontier.turn & 1);
    return (size_t)claim->part->claim_size / 2;
}

static boxcar_status claim_ordinary(struct sqlite_store *store, struct claim *claim, bool *ret_more,
                                    boxcar_error *err) {
    boxcar_status status = sqlite_claim_parked(store, claim, PARKED_OPEN, parked_share(claim), err);

    if (status == BOXCAR_OK)
        status = sqlite_claim_window(store, claim, ret_more, err);
    if (status == BOXCAR_OK)
        status = sqlite_claim_parked(store, claim, PARKED_OPEN, (size_t)claim->part->claim_size, err);
    if (status == BOXCAR_OK)
        status = sqlite_claim_runs_extend(store, claim, err);
    if (status == BOXCAR_OK && claim->result->claimed_count > 0) {
        claim->frontier.turn++;
        claim->frontier.suspect_last = false;
        *ret_more = false;
    }
    return status;
}

static boxcar_status claim_suspect(struct sqlite_store *store, struct claim *claim, boxcar_error *err) {
    boxcar_status status = BOXCAR_OK;

    if (!claim->no_suspects)
        status = sqlite_claim_parked(store, claim, PARKED_SUSPECT, 1, err);
    if (status == BOXCAR_OK && claim->result->claimed_count > 0)
        claim->frontier.suspect_last = true;
    return status;
}

/* A suspect comes alone, so none is handed out together with messages that the request has stored itself. */
static boxcar_status take(struct sqlite_store *store, struct claim *claim, bool *ret_more,
                          boxcar_error *err) {
    boxcar_status status = BOXCAR_OK;

    *ret_more = false;
    if (claim->result->claimed_count > 0)
        return claim_ordinary(store, claim, ret_more, err);
    if (!claim->frontier.suspect_last)
        status = claim_suspect(store, claim, err);
    if (status != BOXCAR_OK || claim->result->claimed_count > 0)
        return status;
    status = claim_ordinary(store, claim, ret_more, err);
    if (status != BOXCAR_OK || claim->result->claimed_count > 0 || *ret_more)
        return status;
    return claim_suspect(store, claim, err);
}

/* Evaluates waits that have been due for a while: no worker seems to run, and they must not pile up in the
 * way of claims. */
static boxcar_status evaluate_waits(struct sqlite_store *store, const struct claim *claim,
                                    boxcar_error *err) {
    int64_t count;

    return str_is_absent(claim->waits)
               ? BOXCAR_OK
               : sqlite_join_evaluate_due(store, store->now - WAITS_LEFT_US, WAITS_MAX, &count, err);
}

static boxcar_status tidy_up(struct sqlite_store *store, const struct claim *claim, boxcar_error *err) {
    int64_t count;
    boxcar_status status = sqlite_reap(store, RELEASE_MAX, &count, err);

    if (status == BOXCAR_OK)
        status = sqlite_expire(store, RELEASE_MAX, &count, err);
    return status == BOXCAR_OK ? evaluate_waits(store, claim, err) : status;
}

/* The topic of waits, unless the claim names it, and not as a pattern. */
static boxcar_status read_waits(struct sqlite_store *store, struct claim *claim, boxcar_error *err) {
    boxcar_status status;

    claim->waits = BOXCAR_NO_STR;
    if (claim->box != BOXCAR_OUTBOX)
        return BOXCAR_OK;
    status = sqlite_settings_load(store, err);
    if (status != BOXCAR_OK)
        return status;
    for (size_t i = 0; i < claim->part->topic_count; i++)
        if (str_equal(claim->part->topics[i], store->settings.wait_topic))
            return BOXCAR_OK;
    claim->waits = store->settings.wait_topic;
    return BOXCAR_OK;
}

boxcar_status sqlite_claim(struct sqlite_store *store, const struct request *request, boxcar_box box,
                           struct result *result, bool *ret_more, boxcar_error *err) {
    const boxcar_request_part *part = &request->parts[box];
    struct claim claim = {.box = box,
                          .owner = request->base.owner,
                          .part = part,
                          .no_suspects = request->own[box].no_suspects,
                          .result = &result->parts[box],
                          .arena = &result->arena,
                          .until = store->now + part->lease_ms * 1000};
    struct frontier before;
    boxcar_status status = read_waits(store, &claim, err);

    if (status == BOXCAR_OK)
        status = tidy_up(store, &claim, err);
    if (status == BOXCAR_OK)
        status = sqlite_sleep_note(store, err);
    if (status == BOXCAR_OK)
        status = frontier_read(store, &claim, err);
    if (status == BOXCAR_OK)
        status = sqlite_claim_topics(store, &claim, err);
    before = claim.frontier;
    if (status == BOXCAR_OK && request_claims_stored(request, box))
        status = sqlite_claim_stored(store, &claim, claim.result->enqueued, request->base.messages[box].count,
                                     err);
    if (status == BOXCAR_OK)
        status = take(store, &claim, ret_more, err);
    /* A claim that finds nothing writes nothing. */
    if (status == BOXCAR_OK && (claim.epoch_drawn || before.position != claim.frontier.position))
        status = frontier_write(store, &claim, err);
    if (status == BOXCAR_OK)
        messages_sort(claim.result->claimed, claim.result->claimed_count);
    return status;
}
