/* Streams in a claim: which worker should have them, and how many messages of one go together.
 *
 * A claim may bring several neighbours of a stream: its head and the messages behind it in the order of work
 * ids, as long as each could be handed out by itself. While a message of a stream is leased, no other one can
 * be claimed. So the head stands for the whole stream, and a stream of a million messages costs no more than
 * the few that are taken.
 *
 * A registered worker is preferred for the streams of its partitions: other claimers leave them alone for a
 * moment. The order in streams does not depend on this. */
#include <string.h>

#include "boxcar/instance.h"
#include "claim.h"
#include "core/partition.h"
#include "store/sqlite/admin/setting.h"
#include "store/sqlite/message/park.h"

#define RUN_OVER                                                                                             \
    INT64_MAX /* one was buried, which may have halted the stream: what is behind it waits for another claim \
               */
#define PATIENCE_US (INT64_C(1000) * 1000) /* after this time any claimer may take a stream */

/* ---- preferred streams ---- */

static boxcar_status read_rank(struct sqlite_store *store, boxcar_owner owner, boxcar_box box,
                               struct ownership *ownership, boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_INSTANCE_RANK);
    bool found = false;
    boxcar_status status;

    query_id(&query, owner.uuid.bytes);
    query_int(&query, store->now - store->settings.instance_timeout_ms * 1000);
    query_int(&query, box);
    status = query_step(&query, &found, err);
    if (status != BOXCAR_OK || !found)
        return status;
    ownership->workers = query_get_int(&query, 0);
    ownership->rank = query_get_int(&query, 1);
    ownership->registered = query_get_int(&query, 2) != 0;
    return BOXCAR_OK;
}

static boxcar_status ownership_load(struct sqlite_store *store, struct claim *claim, boxcar_error *err) {
    struct ownership *ownership = &claim->ownership;
    const struct sqlite_settings *settings = &store->settings;
    boxcar_status status;

    if (ownership->loaded)
        return BOXCAR_OK;
    status = sqlite_settings_load(store, err);
    if (status == BOXCAR_OK)
        status = read_rank(store, claim->owner, claim->box, ownership, err);
    if (status != BOXCAR_OK)
        return status;
    ownership->loaded = true;
    if (ownership->registered)
        ownership->own = partition_range_of(ownership->rank, ownership->workers, settings->partition_count,
                                            settings->partitions_max);
    return BOXCAR_OK;
}

boxcar_status sqlite_claim_right(struct sqlite_store *store, struct claim *claim, int partition,
                                 boxcar_time available_at, enum claim_right *ret_right, boxcar_error *err) {
    const struct ownership *ownership = &claim->ownership;
    boxcar_status status = ownership_load(store, claim, err);

    if (status != BOXCAR_OK)
        return status;
    if (!ownership->registered || partition_is_in(ownership->own, partition))
        *ret_right = RIGHT_OWN;
    else if (available_at < store->now - PATIENCE_US ||
             partition_is_free(partition, ownership->workers, store->settings.partition_count,
                               store->settings.partitions_max))
        *ret_right = RIGHT_OTHERS;
    else
        *ret_right = RIGHT_NONE;
    return BOXCAR_OK;
}

boxcar_status sqlite_claim_prefers(struct sqlite_store *store, struct claim *claim, boxcar_str stream,
                                   boxcar_time created_at, bool *ret_prefers, boxcar_error *err) {
    enum claim_right right = RIGHT_OWN;
    boxcar_status status = ownership_load(store, claim, err);

    if (status == BOXCAR_OK && claim->ownership.registered)
        status =
            sqlite_claim_right(store, claim, boxcar_stream_partition(stream, store->settings.partition_count),
                               created_at, &right, err);
    if (status == BOXCAR_OK)
        *ret_prefers = right == RIGHT_OWN;
    return status;
}

/* ---- how many ---- */

static bool can_follow(const struct sqlite_store *store, const struct claim *claim, const struct query *row) {
    boxcar_time expires_at = query_get_time(row, 3);

    return query_get_int(row, 2) <= store->now &&
           (expires_at == BOXCAR_TIME_NONE || expires_at > store->now) && query_get_int(row, 4) == 0 &&
           sqlite_claim_wants(claim, query_get_text(row, 1));
}

/* Collected first: taking changes the very index that is walked. */
static boxcar_status find_followers(struct sqlite_store *store, const struct claim *claim, struct run *run,
                                    size_t wanted, int64_t **ret_ids, size_t *ret_count, boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_STREAM_FOLLOWERS);
    int64_t *ids = arena_alloc_array(&store->scratch, wanted, sizeof(*ids));
    boxcar_status status = BOXCAR_OK;
    size_t count = 0;
    bool row = true;

    if (ids == NULL)
        return error_no_memory(err);
    query_int(&query, claim->box);
    query_text(&query, run->stream);
    query_int(&query, run->last_id);
    while (count < wanted && (status = query_step(&query, &row, err)) == BOXCAR_OK && row) {
        if (!can_follow(store, claim, &query))
            break;
        ids[count++] = query_get_int(&query, 0);
    }
    run->ended = count < wanted;
    *ret_ids = ids;
    *ret_count = count;
    return status;
}

static boxcar_status follow(struct sqlite_store *store, struct claim *claim, struct run *run, size_t wanted,
                            boxcar_error *err) {
    size_t limit = (size_t)claim->part->claim_size, room = limit - claim->result->claimed_count, count = 0;
    int64_t *ids = NULL;
    boxcar_status status;

    if (wanted > room)
        wanted = room;
    if (wanted == 0)
        return BOXCAR_OK;
    status = find_followers(store, claim, run, wanted, &ids, &count, err);
    for (size_t i = 0;
         status == BOXCAR_OK && i < count && run->last_id < RUN_OVER && !sqlite_claim_is_full(claim, limit);
         i++) {
        boxcar_message *taken;
        status = sqlite_claim_take(store, claim, ids[i], PARKED_BEHIND, &taken, err);
        run->last_id = taken != NULL ? ids[i] : RUN_OVER;
    }
    return status;
}

static struct run *add_run(struct sqlite_store *store, struct claim *claim) {
    struct run_list *runs = &claim->runs;

    struct run *items =
        arena_make_room(&store->scratch, runs->items, runs->count, &runs->capacity, sizeof(*items));
    if (items == NULL)
        return NULL;
    runs->items = items;
    return &runs->items[runs->count++];
}

boxcar_status sqlite_claim_run_begin(struct sqlite_store *store, struct claim *claim,
                                     const boxcar_message *head, size_t count, boxcar_error *err) {
    struct run *run = add_run(store, claim);

    if (run == NULL)
        return error_no_memory(err);
    *run = (struct run){.stream = head->stream, .last_id = head->work_id.value};
    return follow(store, claim, run, count, err);
}

static size_t count_open(const struct run_list *runs) {
    size_t count = 0;

    for (size_t i = 0; i < runs->count; i++)
        count += !runs->items[i].ended;
    return count;
}

/* A message that the window has parked may be the next one of a stream that the claim holds already. */
static void reopen_runs(struct claim *claim) {
    for (size_t i = 0; claim->parked_streamed && i < claim->runs.count; i++)
        claim->runs.items[i].ended = false;
}

boxcar_status sqlite_claim_runs_extend(struct sqlite_store *store, struct claim *claim, boxcar_error *err) {
    size_t limit = (size_t)claim->part->claim_size, open;
    boxcar_status status = BOXCAR_OK;

    reopen_runs(claim);
    while (status == BOXCAR_OK && !sqlite_claim_is_full(claim, limit) &&
           (open = count_open(&claim->runs)) > 0) {
        size_t share = (limit - claim->result->claimed_count) / open;
        for (size_t i = 0; status == BOXCAR_OK && i < claim->runs.count; i++) {
            if (!claim->runs.items[i].ended && !sqlite_claim_is_full(claim, limit))
                status = follow(store, claim, &claim->runs.items[i], share > 0 ? share : 1, err);
        }
    }
    return status;
}
