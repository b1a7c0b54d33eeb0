/* Claiming from the parking lot: what is open and due, the longest waiting first. */
#include <string.h>

#include "base/utf8.h"
#include "claim.h"
#include "core/topic.h"
#include "store/sqlite/message/park.h"
#include "store/sqlite/message/read.h"
#include "store/sqlite/message/tally.h"
#include "store/sqlite/settle/release.h"

#define LOOK_MAX 5000 /* due streams that are others' and looked at in vain */

/* Behind the columns of the message, see S_PARKED_MESSAGE. */
enum parked_column {
    P_STATE = M_COLUMNS,
    P_EXPIRES_AT,
    P_RETRY_COUNT,
    P_CRASH_COUNT,
    P_LAST_ERROR,
    P_PAYLOAD,
    P_STAGES
};

/* ---- which topics ---- */

static bool is_met_before(const boxcar_request_part *part, size_t pattern, boxcar_str topic) {
    for (size_t i = 0; i < pattern; i++) {
        if (topic_matches(part->topics[i], topic))
            return true;
    }
    return false;
}

static boxcar_status add_topics(struct sqlite_store *store, struct claim *claim, size_t pattern,
                                size_t *capacity, boxcar_error *err) {
    struct topic_range range;
    TRY(sqlite_topic_range(store, claim->part->topics[pattern], &range, err));
    AUTO_QUERY struct query query =
        query_with(store, S_PARKED_TOPICS, Q_INT(claim->box), Q_TEXT(range.low), Q_TEXT(range.high));
    while (query_next(&query)) {
        boxcar_str topic = query_get_text(&query, 0);
        if ((!str_is_absent(claim->waits) && str_equal(topic, claim->waits)) ||
            is_met_before(claim->part, pattern, topic))
            continue;
        boxcar_str *topics =
            arena_make_room(&store->scratch, claim->topics, claim->topic_count, capacity, sizeof(*topics));
        if (topics == NULL || !arena_copy_str(&store->scratch, topic, &topics[claim->topic_count]))
            return error_no_memory(err);
        claim->topics = topics;
        claim->topic_count++;
    }
    return query_status(&query, err);
}

static bool wants_every_topic(const boxcar_request_part *part) {
    for (size_t i = 0; i < part->topic_count; i++) {
        if (str_equal(part->topics[i], BOXCAR_STR("*")))
            return true;
    }
    return part->topic_count == 0;
}

/* The counters know which topics have parked messages at all: a prefix becomes a few exact
 * topics, each of which is a range of the index. */
boxcar_status sqlite_claim_topics(struct sqlite_store *store, struct claim *claim, boxcar_error *err) {
    size_t capacity = 0;
    claim->every_topic = wants_every_topic(claim->part);
    if (claim->every_topic)
        return BOXCAR_OK;
    TRY(sqlite_tally_flush_parked(store, err)); /* this very transaction may have parked some */
    for (size_t i = 0; i < claim->part->topic_count; i++)
        TRY(add_topics(store, claim, i, &capacity, err));
    return BOXCAR_OK;
}

/* ---- taking ---- */

/* What became of a candidate. */
enum candidate { CANDIDATE_GOOD, CANDIDATE_EXPIRED, CANDIDATE_GONE };

/* The message behind a candidate, read into the answer if it is good. */
static boxcar_status read_candidate(struct sqlite_store *store, struct claim *claim, int64_t work_id,
                                    boxcar_message *message, enum candidate *ret_candidate,
                                    boxcar_error *err) {
    AUTO_QUERY struct query query = query_with(store, S_PARKED_MESSAGE, Q_INT(work_id));
    struct arena *arena = claim->arena;
    bool found;
    TRY(query_step(&query, &found, err));
    if (!found && store->reader == NULL)
        return error_set(err, BOXCAR_E_STORE, "%s: a parked message is not in the log", store->base.id);
    boxcar_time expires_at = found ? query_get_time(&query, P_EXPIRES_AT) : BOXCAR_TIME_NONE;
    bool expired = expires_at != BOXCAR_TIME_NONE && expires_at <= store->now;
    *ret_candidate = !found ? CANDIDATE_GONE : expired ? CANDIDATE_EXPIRED : CANDIDATE_GOOD;
    if (*ret_candidate != CANDIDATE_GOOD)
        return BOXCAR_OK;
    TRY(sqlite_read_message(&query, arena, message, err));
    message->expires_at = expires_at;
    message->retry_count = (int)query_get_int(&query, P_RETRY_COUNT);
    message->crash_count = (int)query_get_int(&query, P_CRASH_COUNT);
    message->stages = sqlite_stages_of(message, query_get_int(&query, P_STAGES));
    TRY(query_copy_text(&query, P_LAST_ERROR, arena, &message->last_error, err));
    return query_copy_text(&query, P_PAYLOAD, arena, &message->payload, err);
}

/* A program of schema version 14 keeps no message for subscriptions, and may have removed this one. */
static boxcar_status forget(struct sqlite_store *store, int64_t work_id, boxcar_error *err) {
    struct parked row;
    bool found;
    TRY(sqlite_parked_read(store, work_id, &row, &found, err));
    return found ? sqlite_unpark(store, &row, NULL, err) : BOXCAR_OK;
}

boxcar_status sqlite_claim_take(struct sqlite_store *store, struct claim *claim, int64_t work_id,
                                enum parked_state state, boxcar_message **ret_taken, boxcar_error *err) {
    boxcar_message *message;
    enum candidate candidate = CANDIDATE_GOOD;
    bool taken;
    *ret_taken = NULL;
    TRY(sqlite_claim_next(claim, &message, err));
    TRY(read_candidate(store, claim, work_id, message, &candidate, err));
    if (candidate == CANDIDATE_EXPIRED)
        return sqlite_bury_expired(store, work_id, err);
    if (candidate == CANDIDATE_GONE)
        return forget(store, work_id, err);
    TRY(query_do(store, S_PARKED_LEASE, err, Q_INT(work_id)));
    sqlite_tally_add(store, (int)claim->box, message->topic, sqlite_parked_tally(state), -1);
    TRY(sqlite_claim_lease(store, claim, message, LEASE_PARKED, &taken, err));
    *ret_taken = taken ? message : NULL;
    return BOXCAR_OK;
}

/* Messages that may be taken, in this order. Others' streams come behind all that the claimer is preferred
 * for. */
struct candidates {
    int64_t *ids;
    size_t count, limit;
    size_t streams; /* of them are heads */
    size_t others;  /* streams of others, from ids[limit] on, until all are found */
};

static boxcar_status sort_in(struct sqlite_store *store, struct claim *claim, const struct query *row,
                             struct candidates *candidates, boxcar_error *err) {
    bool streamed = !query_is_null(row, 2);
    enum claim_right right = RIGHT_OWN;
    if (streamed)
        TRY(sqlite_claim_right(store, claim, (int)query_get_int(row, 2), query_get_int(row, 1), &right, err));
    if (right == RIGHT_OWN) {
        candidates->ids[candidates->count++] = query_get_int(row, 0);
        candidates->streams += streamed;
    } else if (right == RIGHT_OTHERS && candidates->others < candidates->limit) {
        candidates->ids[candidates->limit + candidates->others++] = query_get_int(row, 0);
    }
    return BOXCAR_OK;
}

static void append_others(struct candidates *candidates) {
    size_t free = candidates->limit - candidates->count;
    size_t others = candidates->others < free ? candidates->others : free;
    memmove(candidates->ids + candidates->count, candidates->ids + candidates->limit,
            others * sizeof(*candidates->ids));
    candidates->count += others;
    candidates->streams += others;
}

/* Collected first: taking changes the very index that is walked. `topic`: NULL = every one. */
static boxcar_status find_candidates(struct sqlite_store *store, struct claim *claim, enum parked_state state,
                                     const boxcar_str *topic, struct candidates *candidates,
                                     boxcar_error *err) {
    candidates->ids = arena_alloc_array(&store->scratch, 2 * candidates->limit, sizeof(*candidates->ids));
    if (candidates->ids == NULL)
        return error_no_memory(err);
    AUTO_QUERY struct query query =
        query_with(store, topic == NULL ? S_PARKED_AVAILABLE : S_PARKED_AVAILABLE_TOPIC, Q_INT(claim->box),
                   Q_INT(state), Q_INT(store->now), Q_INT((int64_t)candidates->limit + LOOK_MAX),
                   Q_TEXT(topic != NULL ? *topic : claim->waits)); /* just that one; all but that */
    while (candidates->count < candidates->limit && query_next(&query))
        TRY(sort_in(store, claim, &query, candidates, err));
    TRY(query_status(&query, err));
    append_others(candidates);
    return BOXCAR_OK;
}

/* Takes one, and if it is the head of a stream up to `followers` from behind it. */
static boxcar_status take_candidate(struct sqlite_store *store, struct claim *claim, int64_t work_id,
                                    enum parked_state state, size_t followers, boxcar_error *err) {
    boxcar_message *taken;
    TRY(sqlite_claim_take(store, claim, work_id, state, &taken, err));
    if (taken == NULL || taken->stream.data == NULL || state == PARKED_SUSPECT)
        return BOXCAR_OK;
    return sqlite_claim_run_begin(store, claim, taken, followers, err);
}

/* How many of a stream may go together, so that every stream that was found has its turn. */
static size_t share_of(const struct candidates *candidates) {
    size_t streams = candidates->streams, room = candidates->limit - (candidates->count - streams);
    return streams == 0 || room < streams ? 1 : room / streams;
}

/* Until the claim holds `limit`. Again while there are candidates: some may have been buried instead of
 * taken. */
static boxcar_status search_and_take(struct sqlite_store *store, struct claim *claim, enum parked_state state,
                                     const boxcar_str *topic, size_t limit, boxcar_error *err) {
    while (!sqlite_claim_is_full(claim, limit)) {
        struct candidates candidates = {.limit = limit - claim->result->claimed_count};
        TRY(find_candidates(store, claim, state, topic, &candidates, err));
        if (candidates.count == 0)
            return BOXCAR_OK;
        size_t share = share_of(&candidates);
        for (size_t i = 0; i < candidates.count && !sqlite_claim_is_full(claim, limit); i++)
            TRY(take_candidate(store, claim, candidates.ids[i], state, share - 1, err));
    }
    return BOXCAR_OK;
}

/* One round over the topics, `share` from each; the first one changes with every claim. */
static boxcar_status round_of_topics(struct sqlite_store *store, struct claim *claim, enum parked_state state,
                                     size_t limit, size_t share, boxcar_error *err) {
    for (size_t i = 0; i < claim->topic_count && !sqlite_claim_is_full(claim, limit); i++) {
        const boxcar_str *topic = &claim->topics[(i + (size_t)claim->frontier.turn) % claim->topic_count];
        size_t held = claim->result->claimed_count, left = limit - held;
        TRY(search_and_take(store, claim, state, topic, held + (share < left ? share : left), err));
    }
    return BOXCAR_OK;
}

boxcar_status sqlite_claim_parked(struct sqlite_store *store, struct claim *claim, enum parked_state state,
                                  size_t limit, boxcar_error *err) {
    if (claim->every_topic)
        return search_and_take(store, claim, state, NULL, limit, err);
    if (claim->topic_count == 0)
        return BOXCAR_OK;
    size_t share = limit / claim->topic_count > 0 ? limit / claim->topic_count : 1;
    TRY(round_of_topics(store, claim, state, limit, share, err));
    return round_of_topics(store, claim, state, limit, limit, err);
}
