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

struct topic_list {
    boxcar_str *items;
    size_t count, capacity;
};

static bool topic_list_add(struct arena *arena, struct topic_list *list, boxcar_str topic) {
    boxcar_str *items = arena_make_room(arena, list->items, list->count, &list->capacity, sizeof(*items));
    if (items == NULL)
        return false;
    list->items = items;
    return arena_copy_str(arena, topic, &list->items[list->count++]);
}

static boxcar_status add_topics(struct sqlite_store *store, const struct claim *claim, size_t pattern,
                                struct topic_list *list, boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_PARKED_TOPICS);
    struct topic_range range;
    boxcar_status status = sqlite_topic_range(store, claim->part->topics[pattern], &range, err);
    bool row = true;

    if (status != BOXCAR_OK)
        return status;
    query_int(&query, claim->box);
    query_text(&query, range.low);
    query_text(&query, range.high);
    while ((status = query_step(&query, &row, err)) == BOXCAR_OK && row) {
        boxcar_str topic = query_get_text(&query, 0);
        if (!str_is_absent(claim->waits) && str_equal(topic, claim->waits))
            continue;
        if (!is_met_before(claim->part, pattern, topic) && !topic_list_add(&store->scratch, list, topic))
            return error_no_memory(err);
    }
    return status;
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
    struct topic_list list = {0};
    boxcar_status status;

    claim->every_topic = wants_every_topic(claim->part);
    if (claim->every_topic)
        return BOXCAR_OK;
    status = sqlite_tally_flush_parked(store, err); /* this very transaction may have parked some */
    for (size_t i = 0; status == BOXCAR_OK && i < claim->part->topic_count; i++)
        status = add_topics(store, claim, i, &list, err);
    claim->topics = list.items;
    claim->topic_count = list.count;
    return status;
}

/* ---- taking ---- */

/* The message behind a candidate, read into the answer; *ret_expired instead when it is too
 * old to be handed out. */
static boxcar_status read_candidate(struct sqlite_store *store, struct claim *claim, int64_t work_id,
                                    boxcar_message *message, bool *ret_expired, boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_PARKED_MESSAGE);
    struct arena *arena = claim->arena;
    bool found = false;
    boxcar_status status;

    query_int(&query, work_id);
    status = query_step(&query, &found, err);
    if (status == BOXCAR_OK && !found)
        status = error_set(err, BOXCAR_E_STORE, "%s: a parked message is not in the log", store->base.id);
    if (status != BOXCAR_OK)
        return status;
    boxcar_time expires_at = query_get_time(&query, P_EXPIRES_AT);
    *ret_expired = expires_at != BOXCAR_TIME_NONE && expires_at <= store->now;
    if (*ret_expired)
        return BOXCAR_OK;
    status = sqlite_read_message(&query, arena, message, err);
    message->expires_at = expires_at;
    message->retry_count = (int)query_get_int(&query, P_RETRY_COUNT);
    message->crash_count = (int)query_get_int(&query, P_CRASH_COUNT);
    message->stages = sqlite_stages_of(message, query_get_int(&query, P_STAGES));
    if (status == BOXCAR_OK)
        status = query_copy_text(&query, P_LAST_ERROR, arena, &message->last_error, err);
    return status == BOXCAR_OK ? sqlite_read_payload(&query, P_PAYLOAD, arena, message, err) : status;
}

static boxcar_status mark_leased(struct sqlite_store *store, const boxcar_message *message,
                                 enum parked_state state, boxcar_error *err) {
    struct query query = query_on(store, S_PARKED_LEASE);

    query_int(&query, message->work_id.value);
    sqlite_tally_add(store, (int)message->box, message->topic, sqlite_parked_tally(state), -1);
    return query_run(&query, err);
}

boxcar_status sqlite_claim_take(struct sqlite_store *store, struct claim *claim, int64_t work_id,
                                enum parked_state state, boxcar_message **ret_taken, boxcar_error *err) {
    boxcar_message *message;
    bool expired, taken = false;
    boxcar_status status = sqlite_claim_next(store, claim, &message, err);

    *ret_taken = NULL;
    if (status == BOXCAR_OK)
        status = read_candidate(store, claim, work_id, message, &expired, err);
    if (status == BOXCAR_OK && expired)
        return sqlite_bury_expired(store, work_id, err);
    if (status == BOXCAR_OK)
        status = mark_leased(store, message, state, err);
    if (status == BOXCAR_OK)
        status = sqlite_claim_lease(store, claim, message, LEASE_PARKED, &taken, err);
    if (status == BOXCAR_OK && taken)
        *ret_taken = message;
    return status;
}

struct search {
    enum parked_state state;
    const boxcar_str *topic; /* NULL = every one */
    size_t limit;            /* of what the claim holds in the end */
};

/* Messages that may be taken, in this order; `streams` of them are heads. */
struct candidates {
    int64_t *ids;
    size_t count, streams;
};

/* Others' streams come behind all that the claimer is preferred for. */
struct candidate_room {
    int64_t *ids; /* own ones from the front, others' from `limit` on */
    size_t limit, own, others, own_streams;
};

static boxcar_status sort_in(struct sqlite_store *store, struct claim *claim, const struct query *row,
                             struct candidate_room *room, boxcar_error *err) {
    bool streamed = !query_is_null(row, 2);
    enum claim_right right = RIGHT_OWN;
    boxcar_status status = BOXCAR_OK;

    if (streamed)
        status =
            sqlite_claim_right(store, claim, (int)query_get_int(row, 2), query_get_int(row, 1), &right, err);
    if (status != BOXCAR_OK)
        return status;
    if (right == RIGHT_OWN) {
        room->ids[room->own++] = query_get_int(row, 0);
        room->own_streams += streamed;
    } else if (right == RIGHT_OTHERS && room->others < room->limit) {
        room->ids[room->limit + room->others++] = query_get_int(row, 0);
    }
    return BOXCAR_OK;
}

static struct candidates join_room(const struct candidate_room *room) {
    size_t free = room->limit - room->own, others = room->others < free ? room->others : free;

    memmove(room->ids + room->own, room->ids + room->limit, others * sizeof(*room->ids));
    return (struct candidates){room->ids, room->own + others, room->own_streams + others};
}

/* Collected first: taking changes the very index that is walked. */
static boxcar_status find_candidates(struct sqlite_store *store, struct claim *claim,
                                     const struct search *search, struct candidates *ret_candidates,
                                     boxcar_error *err) {
    AUTO_QUERY struct query query =
        query_on(store, search->topic == NULL ? S_PARKED_AVAILABLE : S_PARKED_AVAILABLE_TOPIC);
    struct candidate_room room = {.limit = search->limit - claim->result->claimed_count};
    boxcar_status status = BOXCAR_OK;
    bool row = true;

    room.ids = arena_alloc_array(&store->scratch, 2 * room.limit, sizeof(*room.ids));
    if (room.ids == NULL)
        return error_no_memory(err);
    query_int(&query, claim->box);
    query_int(&query, search->state);
    query_int(&query, store->now);
    query_int(&query, (int64_t)room.limit + LOOK_MAX);
    query_text(&query,
               search->topic != NULL ? *search->topic : claim->waits); /* just that one; all but that */
    while (status == BOXCAR_OK && room.own < room.limit &&
           (status = query_step(&query, &row, err)) == BOXCAR_OK && row)
        status = sort_in(store, claim, &query, &room, err);
    if (status == BOXCAR_OK)
        *ret_candidates = join_room(&room);
    return status;
}

/* Takes one, and if it is the head of a stream up to `followers` from behind it. */
static boxcar_status take_candidate(struct sqlite_store *store, struct claim *claim, int64_t work_id,
                                    enum parked_state state, size_t followers, boxcar_error *err) {
    boxcar_message *taken;
    boxcar_status status = sqlite_claim_take(store, claim, work_id, state, &taken, err);

    if (status != BOXCAR_OK || taken == NULL || taken->stream.data == NULL || state == PARKED_SUSPECT)
        return status;
    return sqlite_claim_run_begin(store, claim, taken, followers, err);
}

/* How many of a stream may go together, so that every stream that was found has its turn. */
static size_t share_of(const struct candidates *candidates, size_t room) {
    size_t singles = candidates->count - candidates->streams;

    return candidates->streams == 0 || room - singles < candidates->streams
               ? 1
               : (room - singles) / candidates->streams;
}

/* Again while there are candidates: some may have been buried instead of taken. */
static boxcar_status search_and_take(struct sqlite_store *store, struct claim *claim,
                                     const struct search *search, boxcar_error *err) {
    struct candidates candidates = {.count = 1};
    boxcar_status status = BOXCAR_OK;

    while (status == BOXCAR_OK && candidates.count > 0 && !sqlite_claim_is_full(claim, search->limit)) {
        size_t room = search->limit - claim->result->claimed_count, share;
        status = find_candidates(store, claim, search, &candidates, err);
        if (status != BOXCAR_OK)
            break;
        share = share_of(&candidates, room);
        for (size_t i = 0;
             status == BOXCAR_OK && i < candidates.count && !sqlite_claim_is_full(claim, search->limit); i++)
            status = take_candidate(store, claim, candidates.ids[i], search->state, share - 1, err);
    }
    return status;
}

/* One round over the topics, `share` from each; the first one changes with every claim. */
static boxcar_status round_of_topics(struct sqlite_store *store, struct claim *claim, struct search search,
                                     size_t share, boxcar_error *err) {
    size_t limit = search.limit;
    boxcar_status status = BOXCAR_OK;

    for (size_t i = 0; status == BOXCAR_OK && i < claim->topic_count && !sqlite_claim_is_full(claim, limit);
         i++) {
        size_t left = limit - claim->result->claimed_count;
        search.topic = &claim->topics[(i + (size_t)claim->frontier.turn) % claim->topic_count];
        search.limit = claim->result->claimed_count + (share < left ? share : left);
        status = search_and_take(store, claim, &search, err);
    }
    return status;
}

boxcar_status sqlite_claim_parked(struct sqlite_store *store, struct claim *claim, enum parked_state state,
                                  size_t limit, boxcar_error *err) {
    struct search search = {.state = state, .limit = limit};
    size_t share;
    boxcar_status status;

    if (claim->every_topic)
        return search_and_take(store, claim, &search, err);
    if (claim->topic_count == 0)
        return BOXCAR_OK;
    share = limit / claim->topic_count > 0 ? limit / claim->topic_count : 1;
    status = round_of_topics(store, claim, search, share, err);
    return status == BOXCAR_OK ? round_of_topics(store, claim, search, limit, err) : status;
}
