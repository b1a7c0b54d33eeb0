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

#define WINDOW_PARK_MAX 2000  /* messages parked in one transaction */
#define WINDOW_ROWS_MAX 20000 /* rows looked at in one transaction */
#define LOOK_AHEAD 256        /* rows, to find other streams when one could fill the claim */

/* ---- plain messages, one by one ---- */

boxcar_status sqlite_claim_fresh(struct sqlite_store *store, struct claim *claim, struct query *row,
                                 bool streamed, bool *ret_taken, boxcar_error *err) {
    boxcar_message *message;
    boxcar_status status = sqlite_claim_next(store, claim, &message, err);

    if (status == BOXCAR_OK)
        status = sqlite_read_message(row, claim->arena, message, err);
    if (status == BOXCAR_OK)
        status = sqlite_read_payload(row, M_COLUMNS, claim->arena, message, err);
    if (status == BOXCAR_OK)
        status = sqlite_claim_lease(store, claim, message, streamed ? LEASE_STREAMED : LEASE_PLAIN, ret_taken,
                                    err);
    if (status == BOXCAR_OK)
        sqlite_tally_add(store, (int)message->box, message->topic, TALLY_FRESH, -1);
    return status;
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

struct walk {
    int looked_at, parked; /* or buried, which is damaged */
    bool met_stream;       /* stopped before a streamed message */
};

static bool is_spent(const struct walk *walk) {
    return walk->looked_at >= WINDOW_ROWS_MAX || walk->parked >= WINDOW_PARK_MAX;
}

static boxcar_status look_at(struct sqlite_store *store, struct claim *claim, struct walk *walk,
                             struct query *row, boxcar_error *err) {
    int64_t lane = query_get_int(row, M_LANE);
    bool mine = query_get_int(row, M_BOX) == (int64_t)claim->box, taken = false;
    boxcar_status status;

    walk->met_stream = mine && lane == LANE_STREAMED;
    if (walk->met_stream)
        return BOXCAR_OK;
    walk->looked_at++;
    claim->frontier.position = query_get_int(row, M_WORK_ID);
    if (!mine || lane != LANE_PLAIN)
        return BOXCAR_OK;
    if (sqlite_claim_wants(claim, query_get_text(row, M_TOPIC)))
        status = sqlite_claim_fresh(store, claim, row, false, &taken, err);
    else
        status = park_met(store, claim, row, err);
    walk->parked += !taken;
    return status;
}

static boxcar_status walk_plain(struct sqlite_store *store, struct claim *claim, struct walk *walk,
                                bool *ret_more, boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_WINDOW);
    boxcar_status status = BOXCAR_OK;
    bool row = true;

    query_int(&query, claim->frontier.position);
    while (status == BOXCAR_OK && row && !walk->met_stream &&
           !sqlite_claim_is_full(claim, (size_t)claim->part->claim_size)) {
        *ret_more = is_spent(walk);
        if (*ret_more)
            break;
        status = query_step(&query, &row, err);
        if (status == BOXCAR_OK && row)
            status = look_at(store, claim, walk, &query, err);
    }
    return status;
}

/* ---- looking ahead ---- */

struct found_stream {
    boxcar_str key;
    bool open; /* what comes next of it may be taken */
    size_t found, share, taken;
};

/* A message of the box that is fresh. */
struct entry {
    int64_t work_id;
    uint32_t stream; /* its number in `streams` + 1; 0 = none */
    bool candidate;
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

static uint32_t hash(boxcar_str text) { /* FNV-1a */
    uint32_t value = 2166136261u;

    for (size_t i = 0; i < text.len; i++)
        value = (value ^ (unsigned char)text.data[i]) * 16777619u;
    return value;
}

static size_t slot_of(const struct outlook *outlook, boxcar_str key) {
    size_t slot = hash(key) & (outlook->slot_count - 1);

    while (outlook->slots[slot] != 0 && !str_equal(outlook->streams[outlook->slots[slot] - 1].key, key))
        slot = (slot + 1) & (outlook->slot_count - 1);
    return slot;
}

static bool grow_streams(struct sqlite_store *store, struct outlook *outlook) {
    size_t capacity = outlook->stream_capacity == 0 ? 64 : outlook->stream_capacity * 2;
    struct found_stream *streams = arena_alloc_array(&store->scratch, capacity, sizeof(*streams));
    uint32_t *slots = arena_alloc_array(&store->scratch, capacity * 2, sizeof(*slots));

    if (streams == NULL || slots == NULL)
        return false;
    if (outlook->stream_count > 0)
        memcpy(streams, outlook->streams, outlook->stream_count * sizeof(*streams));
    memset(slots, 0, capacity * 2 * sizeof(*slots));
    outlook->streams = streams;
    outlook->slots = slots;
    outlook->stream_capacity = capacity;
    outlook->slot_count = capacity * 2;
    for (size_t i = 0; i < outlook->stream_count; i++)
        slots[slot_of(outlook, streams[i].key)] = (uint32_t)i + 1;
    return true;
}

static struct entry *add_entry(struct sqlite_store *store, struct outlook *outlook) {
    struct entry *entries = arena_make_room(&store->scratch, outlook->entries, outlook->count,
                                            &outlook->capacity, sizeof(*entries));
    if (entries == NULL)
        return NULL;
    outlook->entries = entries;
    return &outlook->entries[outlook->count++];
}

static boxcar_status look_for_exceptions(struct sqlite_store *store, const struct claim *claim,
                                         bool *ret_none, boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_STREAM_ANY);
    bool row = false;
    boxcar_status status;

    query_int(&query, claim->box);
    status = query_step(&query, &row, err);
    if (status == BOXCAR_OK)
        *ret_none = row && query_get_int(&query, 0) == 0;
    return status;
}

static boxcar_status is_busy(struct sqlite_store *store, const struct claim *claim, boxcar_str key,
                             bool *ret_busy, boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_STREAM_BUSY);
    bool row = false;
    boxcar_status status;

    query_int(&query, claim->box);
    query_text(&query, key);
    status = query_step(&query, &row, err);
    if (status == BOXCAR_OK)
        *ret_busy = row && query_get_int(&query, 0) != 0;
    return status;
}

/* A stream that is met for the first time. */
static boxcar_status judge_stream(struct sqlite_store *store, struct claim *claim,
                                  const struct outlook *outlook, boxcar_time created_at,
                                  struct found_stream *stream, boxcar_error *err) {
    bool busy = false, preferred = false;
    boxcar_status status = BOXCAR_OK;

    if (!outlook->lot_is_empty)
        status = is_busy(store, claim, stream->key, &busy, err);
    if (status == BOXCAR_OK && !busy)
        status = sqlite_claim_prefers(store, claim, stream->key, created_at, &preferred, err);
    stream->open = !busy && preferred;
    return status;
}

static boxcar_status find_stream(struct sqlite_store *store, struct claim *claim, struct outlook *outlook,
                                 const struct query *row, uint32_t *ret_number, boxcar_error *err) {
    boxcar_str key = query_get_text(row, L_STREAM);
    struct found_stream *stream;
    size_t slot;

    if (outlook->stream_count == outlook->stream_capacity && !grow_streams(store, outlook))
        return error_no_memory(err);
    slot = slot_of(outlook, key);
    *ret_number = outlook->slots[slot];
    if (*ret_number != 0)
        return BOXCAR_OK;
    stream = &outlook->streams[outlook->stream_count];
    *stream = (struct found_stream){.open = false};
    if (!arena_copy_str(&store->scratch, key, &stream->key))
        return error_no_memory(err);
    *ret_number = outlook->slots[slot] = (uint32_t)++outlook->stream_count;
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
    bool wanted;
    struct entry *entry;
    boxcar_status status = BOXCAR_OK;

    outlook->looked_at++;
    outlook->last_id = query_get_int(row, L_WORK_ID);
    if (query_get_int(row, L_BOX) != (int64_t)claim->box || (lane != LANE_PLAIN && lane != LANE_STREAMED))
        return BOXCAR_OK;
    entry = add_entry(store, outlook);
    if (entry == NULL)
        return error_no_memory(err);
    wanted = sqlite_claim_wants(claim, query_get_text(row, L_TOPIC));
    *entry = (struct entry){.work_id = outlook->last_id, .candidate = wanted};
    if (lane == LANE_STREAMED && !query_is_null(row, L_STREAM)) {
        status = find_stream(store, claim, outlook, row, &entry->stream, err);
        if (status == BOXCAR_OK)
            note_streamed(outlook, entry, wanted);
    } else {
        outlook->plain += wanted;
    }
    outlook->unwanted += !entry->candidate;
    return status;
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
    AUTO_QUERY struct query query = query_on(store, S_WINDOW_LOOK);
    boxcar_status status = look_for_exceptions(store, claim, &outlook->lot_is_empty, err);
    bool row = true;

    outlook->last_id = claim->frontier.position;
    query_int(&query, claim->frontier.position);
    while (status == BOXCAR_OK && !has_seen_enough(outlook) &&
           (status = query_step(&query, &row, err)) == BOXCAR_OK && row)
        status = note_row(store, claim, outlook, &query, err);
    outlook->at_end = status == BOXCAR_OK && !row;
    return status;
}

/* ---- sharing ---- */

/* Half for streams and half for plain messages, if both are there; what one side cannot use is the other's.
 */
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
    int64_t last = outlook->last_id;

    share_among_streams(outlook, streamed);
    for (size_t i = 0; i < outlook->count; i++) {
        struct entry *entry = &outlook->entries[i];
        struct found_stream *stream = entry->stream > 0 ? &outlook->streams[entry->stream - 1] : NULL;

        if (!entry->candidate)
            continue;
        if (stream != NULL)
            entry->candidate = stream->taken < stream->share;
        else
            entry->candidate = plain > 0;
        if (!entry->candidate)
            continue;
        if (stream != NULL)
            stream->taken++;
        else
            plain--;
        if (++chosen == outlook->room)
            last = entry->work_id;
    }
    return last;
}

/* ---- taking ---- */

/* A damaged message that is buried brings its stream to the lot: what was found out about it does not hold
 * any more. */
static boxcar_status take_entry(struct sqlite_store *store, struct claim *claim, struct outlook *outlook,
                                const struct entry *entry, struct query *row, bool *ret_done,
                                boxcar_error *err) {
    bool taken = false, streamed = entry->stream > 0;
    boxcar_status status = sqlite_claim_fresh(store, claim, row, streamed, &taken, err);

    if (status == BOXCAR_OK && streamed && !taken)
        *ret_done = outlook->broke_off = true;
    return status;
}

/* *ret_done: the claim is full, or stops here. Rows of others are walked past. */
static boxcar_status take_row(struct sqlite_store *store, struct claim *claim, struct outlook *outlook,
                              size_t *at, struct query *row, bool *ret_done, boxcar_error *err) {
    int64_t work_id = query_get_int(row, M_WORK_ID);
    const struct entry *entry = *at < outlook->count ? &outlook->entries[*at] : NULL;
    boxcar_status status = BOXCAR_OK;

    if (entry == NULL || entry->work_id != work_id) {
        claim->frontier.position = work_id;
        return BOXCAR_OK;
    }
    *ret_done = sqlite_claim_is_full(claim, (size_t)claim->part->claim_size);
    if (*ret_done)
        return BOXCAR_OK;
    status = entry->candidate ? take_entry(store, claim, outlook, entry, row, ret_done, err)
                              : park_met(store, claim, row, err);
    claim->frontier.position = work_id;
    *at += 1;
    return status;
}

static boxcar_status take_share(struct sqlite_store *store, struct claim *claim, struct outlook *outlook,
                                int64_t last, boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_WINDOW);
    boxcar_status status = BOXCAR_OK;
    bool row = true, done = false;
    size_t at = 0;

    query_int(&query, claim->frontier.position);
    while (status == BOXCAR_OK && !done && claim->frontier.position < last &&
           (status = query_step(&query, &row, err)) == BOXCAR_OK && row)
        status = take_row(store, claim, outlook, &at, &query, &done, err);
    return status;
}

static boxcar_status claim_streams(struct sqlite_store *store, struct claim *claim, bool *ret_more,
                                   boxcar_error *err) {
    struct outlook outlook = {.room = (size_t)claim->part->claim_size - claim->result->claimed_count};
    boxcar_status status = look_ahead(store, claim, &outlook, err);

    if (status == BOXCAR_OK)
        status = take_share(store, claim, &outlook, choose(claim, &outlook), err);
    *ret_more = !outlook.at_end || outlook.broke_off;
    return status;
}

boxcar_status sqlite_claim_window(struct sqlite_store *store, struct claim *claim, bool *ret_more,
                                  boxcar_error *err) {
    struct walk walk = {0};
    boxcar_status status;

    *ret_more = false;
    status = walk_plain(store, claim, &walk, ret_more, err);
    return status == BOXCAR_OK && walk.met_stream ? claim_streams(store, claim, ret_more, err) : status;
}
