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
 * - Waits for joins are handed out only to claims that name their topic.
 * - A claim for a subscription does the same with what that knows; it has a walk of its own (unread.c). */
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
    AUTO_QUERY struct query query = query_with(store, S_FRONTIER_READ, Q_INT(claim->box));
    bool found;
    TRY(query_step(&query, &found, err));
    if (!found)
        return error_set(err, BOXCAR_E_STORE, "%s: the frontier is missing", store->base.id);
    claim->frontier = (struct frontier){.position = query_get_int(&query, 0),
                                        .epoch = query_get_int(&query, 1),
                                        .turn = query_get_int(&query, 2),
                                        .suspect_last = query_get_int(&query, 3) != 0};
    claim->passes = query_get_int(&query, 4) != 0;
    return BOXCAR_OK;
}

static boxcar_status frontier_write(struct sqlite_store *store, const struct claim *claim,
                                    boxcar_error *err) {
    const struct frontier *frontier = &claim->frontier;
    return query_do(store, S_FRONTIER_WRITE, err, Q_INT(claim->box), Q_INT(frontier->position),
                    Q_INT(frontier->epoch), Q_INT(frontier->turn), Q_INT(frontier->suspect_last));
}

bool sqlite_claim_is_full(const struct claim *claim, size_t limit) {
    return claim->result->claimed_count >= limit ||
           claim->bytes >= (size_t)request_part_claim_bytes(claim->part);
}

boxcar_status sqlite_claim_next(struct claim *claim, boxcar_message **ret_message, boxcar_error *err) {
    struct part_result *result = claim->result;
    if (result->claimed_count == claim->capacity) {
        size_t size = sqlite_claim_size(claim);
        size_t capacity = claim->capacity == 0 ? CAPACITY_FIRST : claim->capacity * 4;
        if (capacity > size)
            capacity = size;
        boxcar_message *messages = arena_alloc_array(claim->arena, capacity, sizeof(*messages));
        if (messages == NULL)
            return error_no_memory(err);
        if (claim->capacity > 0)
            memcpy(messages, result->claimed, result->claimed_count * sizeof(*messages));
        result->claimed = messages;
        claim->capacity = capacity;
    }
    *ret_message = &result->claimed[result->claimed_count];
    return BOXCAR_OK;
}

/* Never used before, even if a power cut took the last claims away: the clock has moved on. */
static void draw_epoch(struct sqlite_store *store, struct claim *claim) {
    if (claim->epoch_drawn)
        return;
    claim->frontier.epoch = claim->frontier.epoch + 1 > store->now ? claim->frontier.epoch + 1 : store->now;
    claim->epoch_drawn = true;
}

boxcar_status sqlite_claim_lease(struct sqlite_store *store, struct claim *claim, boxcar_message *message,
                                 enum lease_way way, bool *ret_taken, boxcar_error *err) {
    if (message->box == BOXCAR_INBOX)
        TRY(sqlite_inbox_read_key(store, claim->arena, message, err));
    const char *damage = sqlite_claim_find_damage(message);
    boxcar_owner owner = damage == NULL ? claim->owner : LEASE_OF_NOBODY;
    *ret_taken = damage == NULL;
    draw_epoch(store, claim);
    TRY(query_do(store, S_LEASE_INSERT, err, Q_INT(message->work_id.value), Q_INT(claim->frontier.epoch),
                 Q_ID(owner.uuid.bytes), Q_INT(claim->until), Q_INT(claim->box), Q_INT(way == LEASE_PARKED),
                 Q_TEXT(message->topic), Q_TEXT(way == LEASE_STREAMED ? message->stream : BOXCAR_NO_STR)));
    sqlite_tally_add(store, (int)claim->box, message->topic, TALLY_LEASED, 1);
    if (damage != NULL)
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

static boxcar_status claim_ordinary(struct sqlite_store *store, struct claim *claim, bool *ret_more,
                                    boxcar_error *err) {
    size_t size = sqlite_claim_size(claim);
    size_t parked_share = size == 1 ? (size_t)(claim->frontier.turn & 1) : size / 2;
    TRY(sqlite_claim_parked(store, claim, PARKED_OPEN, parked_share, err));
    TRY(store->reader != NULL ? sqlite_claim_unread(store, claim, ret_more, err)
                              : sqlite_claim_window(store, claim, ret_more, err));
    TRY(sqlite_claim_parked(store, claim, PARKED_OPEN, size, err));
    TRY(sqlite_claim_runs_extend(store, claim, err));
    if (claim->result->claimed_count > 0) {
        claim->frontier.turn++;
        claim->frontier.suspect_last = false;
        *ret_more = false;
    }
    return BOXCAR_OK;
}

static boxcar_status claim_suspect(struct sqlite_store *store, struct claim *claim, boxcar_error *err) {
    if (!claim->no_suspects)
        TRY(sqlite_claim_parked(store, claim, PARKED_SUSPECT, 1, err));
    if (claim->result->claimed_count > 0)
        claim->frontier.suspect_last = true;
    return BOXCAR_OK;
}

/* A suspect comes alone, so none is handed out together with messages that the request has stored itself. */
static boxcar_status take(struct sqlite_store *store, struct claim *claim, bool *ret_more,
                          boxcar_error *err) {
    const size_t *count = &claim->result->claimed_count;
    *ret_more = false;
    if (*count > 0)
        return claim_ordinary(store, claim, ret_more, err);
    if (!claim->frontier.suspect_last)
        TRY(claim_suspect(store, claim, err));
    if (*count == 0)
        TRY(claim_ordinary(store, claim, ret_more, err));
    return *count > 0 || *ret_more ? BOXCAR_OK : claim_suspect(store, claim, err);
}

/* Waits that have been due for a while are evaluated: no worker seems to run, and they must not pile up in
 * the way of claims. */
static boxcar_status tidy_up(struct sqlite_store *store, const struct claim *claim, boxcar_error *err) {
    int64_t count;
    TRY(sqlite_reap(store, RELEASE_MAX, &count, err));
    TRY(sqlite_expire(store, RELEASE_MAX, &count, err));
    if (str_is_absent(claim->waits))
        return BOXCAR_OK;
    return sqlite_join_evaluate_due(store, store->now - WAITS_LEFT_US, WAITS_MAX, &count, err);
}

/* The topic of waits, unless the claim names it, and not as a pattern. */
static boxcar_status read_waits(struct sqlite_store *store, struct claim *claim, boxcar_error *err) {
    if (claim->box != BOXCAR_OUTBOX)
        return BOXCAR_OK;
    TRY(sqlite_settings_load(store, err));
    for (size_t i = 0; i < claim->part->topic_count; i++) {
        if (str_equal(claim->part->topics[i], store->settings.wait_topic))
            return BOXCAR_OK;
    }
    claim->waits = store->settings.wait_topic;
    return BOXCAR_OK;
}

boxcar_status sqlite_claim(struct sqlite_store *store, const struct request *request, boxcar_box box,
                           struct result *result, bool *ret_more, boxcar_error *err) {
    const boxcar_request_part *part = &request->parts[box];
    struct claim claim = {.box = request_reader(request, (int)box),
                          .owner = request->base.owner,
                          .part = part,
                          .no_suspects = request->own[box].no_suspects,
                          .result = &result->parts[box],
                          .arena = &result->arena,
                          .until = store->now + part->lease_ms * 1000};
    *ret_more = false;
    TRY(sqlite_sleep_note(store, err));
    if (store->reader != NULL && store->reader->paused)
        return BOXCAR_OK;
    if (store->reader != NULL && store->reader->pattern_count == 0)
        return error_set(err, BOXCAR_E_STORE,
                         "%s: the patterns of the subscription are damaged: give it new ones",
                         store->base.id);
    TRY(read_waits(store, &claim, err));
    TRY(tidy_up(store, &claim, err));
    TRY(frontier_read(store, &claim, err));
    TRY(sqlite_claim_topics(store, &claim, err));
    int64_t before = claim.frontier.position;
    if (request_claims_stored(request, box))
        TRY(sqlite_claim_stored(store, &claim, claim.result->enqueued, request->base.messages[box].count,
                                err));
    TRY(take(store, &claim, ret_more, err));
    /* A claim that finds nothing writes nothing. */
    if (claim.epoch_drawn || before != claim.frontier.position)
        TRY(frontier_write(store, &claim, err));
    messages_sort(claim.result->claimed, claim.result->claimed_count);
    return BOXCAR_OK;
}
