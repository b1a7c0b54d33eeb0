/* The window: the messages that a claim takes from the log itself.
 *
 * Plain messages are taken as they come, in one walk. From the first streamed message on, the claim looks
 * ahead before it takes. It collects messages of the log, up to a bounded number of rows, and shares its room
 * among plain messages and streams, so that a long stream does not hold up the others. Then it walks the same
 * rows again, takes its share and parks the messages that it skips, up to the last row that it takes.
 * Messages behind that row stay fresh.
 *
 * A stream is open to a claim if the log is the only place where unfinished messages of it lie. As long as
 * nothing goes wrong, its messages are leased straight from the log (boxcar_lease.stream) and leave no parked
 * row. As soon as one of them has to be parked, all that were met and are unfinished are
 * (sqlite_stream_enter_lot()), and message/park.c keeps their order. */
#include <string.h>

#include "base/utf8.h"
#include "claim.h"
#include "store/sqlite/message/park.h"
#include "store/sqlite/message/read.h"
#include "store/sqlite/message/tally.h"
#include "store/sqlite/subscription/reader.h"

#define WINDOW_PARK_MAX 2000  /* messages parked in one transaction */
#define WINDOW_ROWS_MAX 20000 /* rows looked at in one transaction */
#define LOOK_AHEAD 256        /* rows, to find other streams when one could fill the claim */

/* ---- plain messages, one by one ---- */

boxcar_status sqlite_claim_fresh(struct sqlite_store *store, struct claim *claim, struct query *row,
                                 enum lease_way way, bool *ret_taken, boxcar_error *err) {
    boxcar_message *message;
    TRY(sqlite_claim_next(claim, &message, err));
    TRY(sqlite_read_message(row, claim->arena, message, err));
    TRY(query_copy_text(row, M_COLUMNS, claim->arena, &message->payload, err));
    TRY(sqlite_claim_lease(store, claim, message, way, ret_taken, err));
    if (store->reader == NULL) /* nobody counts what subscriptions have not met */
        sqlite_tally_add(store, (int)message->box, message->topic, TALLY_FRESH, -1);
    return BOXCAR_OK;
}

/* A subscription has taken the topic of a message of the box, lane 0 or 2, from the main reader. */
static boxcar_status is_passed(struct sqlite_store *store, const struct claim *claim, boxcar_str topic,
                               bool *ret_passed, boxcar_error *err) {
    *ret_passed = false;
    return claim->passes ? sqlite_reader_takes(store, claim->box, topic, ret_passed, err) : BOXCAR_OK;
}

static boxcar_status park_met(struct sqlite_store *store, struct claim *claim, struct query *row,
                              boxcar_error *err) {
    struct parked parked = {.work_id = query_get_int(row, M_WORK_ID),
                            .box = (int)query_get_int(row, M_BOX),
                            .topic = query_get_text(row, M_TOPIC),
                            .stream = query_get_text(row, M_STREAM),
                            .available_at = query_get_int(row, M_CREATED_AT),
                            .expires_at = BOXCAR_TIME_NONE,
                            .met = true};
    claim->parked_streamed = claim->parked_streamed || parked.stream.data != NULL;
    sqlite_tally_add(store, parked.box, parked.topic, TALLY_FRESH, -1);
    return sqlite_park(store, &parked, err);
}

static boxcar_status pass(struct sqlite_store *store, const struct query *row, boxcar_error *err) {
    sqlite_tally_add(store, (int)query_get_int(row, M_BOX), query_get_text(row, M_TOPIC), TALLY_FRESH, -1);
    return sqlite_pass(store, query_get_int(row, M_WORK_ID), err);
}

struct walk {
    int looked_at, parked; /* or buried, which is damaged */
    bool met_stream;       /* stopped before a streamed message */
};

static boxcar_status look_at(struct sqlite_store *store, struct claim *claim, struct walk *walk,
                             struct query *row, boxcar_error *err) {
    int64_t lane = query_get_int(row, M_LANE);
    bool mine = query_get_int(row, M_BOX) == (int64_t)claim->box, taken = false;
    walk->met_stream = mine && lane == LANE_STREAMED;
    if (walk->met_stream)
        return BOXCAR_OK;
    walk->looked_at++;
    claim->frontier.position = query_get_int(row, M_WORK_ID);
    if (!mine || lane != LANE_PLAIN)
        return BOXCAR_OK;
    bool passed;
    TRY(is_passed(store, claim, query_get_text(row, M_TOPIC), &passed, err));
    if (passed)
        return pass(store, row, err);
    if (sqlite_claim_wants(claim, query_get_text(row, M_TOPIC)))
        TRY(sqlite_claim_fresh(store, claim, row, LEASE_PLAIN, &taken, err));
    else
        TRY(park_met(store, claim, row, err));
    walk->parked += !taken;
    return BOXCAR_OK;
}

static boxcar_status walk_plain(struct sqlite_store *store, struct claim *claim, struct walk *walk,
                                bool *ret_more, boxcar_error *err) {
    AUTO_QUERY struct query query = query_with(store, S_WINDOW, Q_INT(claim->frontier.position));
    while (!walk->met_stream && !sqlite_claim_is_full(claim, sqlite_claim_size(claim))) {
        *ret_more = walk->looked_at >= WINDOW_ROWS_MAX || walk->parked >= WINDOW_PARK_MAX;
        if (*ret_more || !query_next(&query))
            break;
        TRY(look_at(store, claim, walk, &query, err));
    }
    return query_status(&query, err);
}

/* ---- looking ahead ---- */

struct found_stream {
    boxcar_str key;
    bool open; /* what comes next of it may be taken */
    size_t found, share;
};

/* A message of the box that is fresh. */
struct entry {
    int64_t work_id;
    uint32_t stream; /* its number in `streams` + 1; 0 = none */
    bool candidate;
    bool passed; /* it is not the main reader's */
};

struct outlook {
    struct entry *entries;
    size_t count, capacity;
    struct found_stream *streams;
    size_t stream_count, stream_capacity;
    uint32_t *slots; /* hash table of streams, + 1; 0 = empty */
    size_t slot_count;
    size_t room;
    size_t plain, heads, more; /* candidates: without a stream, the first of their stream, behind one */
    int64_t last_id;           /* of the rows looked at */
    int looked_at, since_full; /* rows; since the claim could be filled */
    int unwanted;
    bool at_end;       /* of the log */
    bool broke_off;    /* took less than it had chosen */
    bool lot_is_empty; /* nothing streamed is parked, leased from the log, or halted */
};

static uint32_t *slot_of(const struct outlook *outlook, boxcar_str key) {
    size_t slot = str_hash(key, 0) & (outlook->slot_count - 1);
    while (outlook->slots[slot] != 0 && !str_equal(outlook->streams[outlook->slots[slot] - 1].key, key))
        slot = (slot + 1) & (outlook->slot_count - 1);
    return &outlook->slots[slot];
}

static bool grow_streams(struct sqlite_store *store, struct outlook *outlook) {
    size_t capacity = outlook->stream_capacity == 0 ? 64 : outlook->stream_capacity * 2;
    struct found_stream *streams = arena_alloc_array(&store->scratch, capacity, sizeof(*streams));
    uint32_t *slots = arena_alloc_array(&store->scratch, capacity * 2, sizeof(*slots));
    if (streams == NULL || slots == NULL)
        return false;
    if (outlook->stream_count > 0)
        memcpy(streams, outlook->streams, outlook->stream_count * sizeof(*streams));
    outlook->streams = streams;
    outlook->slots = slots;
    outlook->stream_capacity = capacity;
    outlook->slot_count = capacity * 2;
    for (size_t i = 0; i < outlook->stream_count; i++)
        *slot_of(outlook, streams[i].key) = (uint32_t)i + 1;
    return true;
}

/* A stream that is met for the first time. */
static boxcar_status judge_stream(struct sqlite_store *store, struct claim *claim,
                                  const struct outlook *outlook, boxcar_time created_at,
                                  struct found_stream *stream, boxcar_error *err) {
    int64_t busy = 0;
    if (!outlook->lot_is_empty)
        TRY(query_find_int(store, S_STREAM_BUSY, &busy, err, Q_INT(claim->box), Q_TEXT(stream->key)));
    return busy != 0 ? BOXCAR_OK
                     : sqlite_claim_prefers(store, claim, stream->key, created_at, &stream->open, err);
}

static boxcar_status find_stream(struct sqlite_store *store, struct claim *claim, struct outlook *outlook,
                                 const struct query *row, uint32_t *ret_number, boxcar_error *err) {
    boxcar_str key = query_get_text(row, L_STREAM);
    if (outlook->stream_count == outlook->stream_capacity && !grow_streams(store, outlook))
        return error_no_memory(err);
    uint32_t *slot = slot_of(outlook, key);
    if (*slot != 0) {
        *ret_number = *slot;
        return BOXCAR_OK;
    }
    struct found_stream *stream = &outlook->streams[outlook->stream_count];
    *stream = (struct found_stream){.open = false};
    if (!arena_copy_str(&store->scratch, key, &stream->key))
        return error_no_memory(err);
    *ret_number = *slot = (uint32_t)++outlook->stream_count;
    return judge_stream(store, claim, outlook, query_get_int(row, L_CREATED_AT), stream, err);
}

/* A message that is not wanted holds what is behind it in its stream. */
static void note_streamed(struct outlook *outlook, struct entry *entry, bool wanted) {
    struct found_stream *stream = &outlook->streams[entry->stream - 1];
    stream->open = stream->open && wanted;
    entry->candidate = stream->open;
    if (!entry->candidate)
        return;
    if (stream->found++ == 0)
        outlook->heads++;
    else
        outlook->more++;
}

static boxcar_status note_row(struct sqlite_store *store, struct claim *claim, struct outlook *outlook,
                              const struct query *row, boxcar_error *err) {
    int64_t lane = query_get_int(row, L_LANE);
    outlook->looked_at++;
    outlook->last_id = query_get_int(row, L_WORK_ID);
    if (query_get_int(row, L_BOX) != (int64_t)claim->box || (lane != LANE_PLAIN && lane != LANE_STREAMED))
        return BOXCAR_OK;
    struct entry *entries = arena_make_room(&store->scratch, outlook->entries, outlook->count,
                                            &outlook->capacity, sizeof(*entries));
    if (entries == NULL)
        return error_no_memory(err);
    outlook->entries = entries;
    struct entry *entry = &entries[outlook->count++];
    bool wanted = sqlite_claim_wants(claim, query_get_text(row, L_TOPIC)), passed;
    TRY(is_passed(store, claim, query_get_text(row, L_TOPIC), &passed, err));
    *entry = (struct entry){.work_id = outlook->last_id, .candidate = wanted && !passed, .passed = passed};
    if (passed)
        return BOXCAR_OK;
    if (lane == LANE_STREAMED && !query_is_null(row, L_STREAM)) {
        TRY(find_stream(store, claim, outlook, row, &entry->stream, err));
        note_streamed(outlook, entry, wanted);
    } else {
        outlook->plain += wanted;
    }
    outlook->unwanted += !entry->candidate;
    return BOXCAR_OK;
}

/* Every stream and plain message found can have a place, or the claim could be filled and no other stream was
 * found. */
static bool has_seen_enough(struct outlook *outlook) {
    if (outlook->plain + outlook->heads >= outlook->room)
        return true;
    if (outlook->plain + outlook->heads + outlook->more >= outlook->room)
        outlook->since_full++;
    return outlook->since_full > LOOK_AHEAD || outlook->looked_at >= WINDOW_ROWS_MAX ||
           outlook->unwanted >= WINDOW_PARK_MAX;
}

static boxcar_status look_ahead(struct sqlite_store *store, struct claim *claim, struct outlook *outlook,
                                boxcar_error *err) {
    int64_t exceptions = 0;
    TRY(query_find_int(store, S_STREAM_ANY, &exceptions, err, Q_INT(claim->box)));
    outlook->lot_is_empty = exceptions == 0;
    outlook->last_id = claim->frontier.position;
    AUTO_QUERY struct query query = query_with(store, S_WINDOW_LOOK, Q_INT(claim->frontier.position));
    while (!outlook->at_end && !has_seen_enough(outlook)) {
        outlook->at_end = !query_next(&query);
        if (!outlook->at_end)
            TRY(note_row(store, claim, outlook, &query, err));
    }
    return query_status(&query, err);
}

/* ---- sharing ---- */

/* Half for streams and half for plain messages, if both are there. What one side cannot use is the
 * other's. */
static size_t room_for_streams(const struct claim *claim, const struct outlook *outlook) {
    size_t streamed = outlook->heads + outlook->more, room = outlook->room, half = room / 2;
    size_t least = room > outlook->plain ? room - outlook->plain : 0;
    if (room == 1)
        half = (size_t)(claim->frontier.turn >> 1 & 1); /* the bit before decides about the lot */
    if (half < least)
        half = least;
    return streamed < half ? streamed : half;
}

/* One for each stream, then as many for each as fit. */
static void share_among_streams(struct outlook *outlook, size_t room) {
    size_t open = outlook->heads;
    while (room > 0 && open > 0) {
        size_t part = room / open > 0 ? room / open : 1;
        open = 0;
        for (size_t i = 0; i < outlook->stream_count && room > 0; i++) {
            struct found_stream *stream = &outlook->streams[i];
            size_t left = stream->found - stream->share, use = left < part ? left : part;
            use = use < room ? use : room;
            stream->share += use;
            room -= use;
            open += stream->share < stream->found;
        }
    }
}

/* Chooses among the candidates; the others are no longer candidates. Returns the last row to go to. */
static int64_t choose(const struct claim *claim, struct outlook *outlook) {
    size_t streamed = room_for_streams(claim, outlook), plain = outlook->room - streamed, chosen = 0;
    share_among_streams(outlook, streamed);
    for (size_t i = 0; i < outlook->count; i++) {
        struct entry *entry = &outlook->entries[i];
        size_t *left = entry->stream > 0 ? &outlook->streams[entry->stream - 1].share : &plain;
        entry->candidate = entry->candidate && *left > 0;
        if (!entry->candidate)
            continue;
        *left -= 1;
        if (++chosen == outlook->room)
            return entry->work_id;
    }
    return outlook->last_id;
}

/* ---- taking ---- */

/* A damaged message that is buried brings its stream to the lot: what was found out about it does not hold
 * any more. */
static boxcar_status take_entry(struct sqlite_store *store, struct claim *claim, struct outlook *outlook,
                                const struct entry *entry, struct query *row, boxcar_error *err) {
    bool taken, streamed = entry->stream > 0;
    if (entry->passed)
        return pass(store, row, err);
    if (!entry->candidate)
        return park_met(store, claim, row, err);
    TRY(sqlite_claim_fresh(store, claim, row, streamed ? LEASE_STREAMED : LEASE_PLAIN, &taken, err));
    outlook->broke_off = streamed && !taken;
    return BOXCAR_OK;
}

/* Rows of others are walked past. */
static boxcar_status take_share(struct sqlite_store *store, struct claim *claim, struct outlook *outlook,
                                int64_t last, boxcar_error *err) {
    const struct entry *entry = outlook->entries, *end = entry + outlook->count;
    AUTO_QUERY struct query query = query_with(store, S_WINDOW, Q_INT(claim->frontier.position));
    while (!outlook->broke_off && claim->frontier.position < last && query_next(&query)) {
        int64_t work_id = query_get_int(&query, M_WORK_ID);
        if (entry < end && entry->work_id == work_id) {
            if (sqlite_claim_is_full(claim, sqlite_claim_size(claim)))
                return BOXCAR_OK;
            TRY(take_entry(store, claim, outlook, entry++, &query, err));
        }
        claim->frontier.position = work_id;
    }
    return query_status(&query, err);
}

static boxcar_status claim_streams(struct sqlite_store *store, struct claim *claim, bool *ret_more,
                                   boxcar_error *err) {
    struct outlook outlook = {.room = sqlite_claim_size(claim) - claim->result->claimed_count};
    TRY(look_ahead(store, claim, &outlook, err));
    TRY(take_share(store, claim, &outlook, choose(claim, &outlook), err));
    *ret_more = !outlook.at_end || outlook.broke_off;
    return BOXCAR_OK;
}

boxcar_status sqlite_claim_window(struct sqlite_store *store, struct claim *claim, bool *ret_more,
                                  boxcar_error *err) {
    struct walk walk = {0};
    *ret_more = false;
    TRY(walk_plain(store, claim, &walk, ret_more, err));
    return walk.met_stream ? claim_streams(store, claim, ret_more, err) : BOXCAR_OK;
}
