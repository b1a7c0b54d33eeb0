/* Streams in a claim: which worker should have them, and how many messages of one go together.
 *
 * A claim may bring several neighbours of a stream: its head and the messages behind it in the order of work
 * ids, as long as each could be handed out by itself. While a message of a stream is leased, no other one can
 * be claimed. So the head stands for the whole stream, and a stream of a million messages costs no more than
 * the few that are taken.
 *
 * A registered worker is preferred for the streams of its partitions: other claimers leave them alone for a
 * moment. The order in streams does not depend on this. */
#include "boxcar/instance.h"
#include "claim.h"
#include "core/partition.h"
#include "store/sqlite/admin/setting.h"
#include "store/sqlite/message/park.h"

/* One was buried, which may have halted the stream: what is behind it waits for another claim. */
#define RUN_OVER INT64_MAX
#define PATIENCE_US (INT64_C(1000) * 1000) /* after this time any claimer may take a stream */

/* ---- preferred streams ---- */

static boxcar_status ownership_load(struct sqlite_store *store, struct claim *claim, boxcar_error *err) {
    struct ownership *ownership = &claim->ownership;
    const struct sqlite_settings *settings = &store->settings;
    if (ownership->loaded)
        return BOXCAR_OK;
    TRY(sqlite_settings_load(store, err));
    AUTO_QUERY struct query query =
        query_with(store, S_INSTANCE_RANK, Q_ID(claim->owner.uuid.bytes),
                   Q_INT(store->now - settings->instance_timeout_ms * 1000), Q_INT(claim->box));
    if (query_next(&query)) {
        ownership->workers = query_get_int(&query, 0);
        ownership->rank = query_get_int(&query, 1);
        ownership->registered = query_get_int(&query, 2) != 0;
    }
    TRY(query_status(&query, err));
    ownership->loaded = true;
    if (ownership->registered)
        ownership->own = partition_range_of(ownership->rank, ownership->workers, settings->partition_count,
                                            settings->partitions_max);
    return BOXCAR_OK;
}

boxcar_status sqlite_claim_right(struct sqlite_store *store, struct claim *claim, int partition,
                                 boxcar_time available_at, enum claim_right *ret_right, boxcar_error *err) {
    const struct ownership *ownership = &claim->ownership;
    TRY(ownership_load(store, claim, err));
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
    TRY(ownership_load(store, claim, err));
    if (claim->ownership.registered)
        TRY(sqlite_claim_right(store, claim, boxcar_stream_partition(stream, store->settings.partition_count),
                               created_at, &right, err));
    *ret_prefers = right == RIGHT_OWN;
    return BOXCAR_OK;
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
    int64_t *ids = arena_alloc_array(&store->scratch, wanted, sizeof(*ids));
    size_t count = 0;
    if (ids == NULL)
        return error_no_memory(err);
    AUTO_QUERY struct query query =
        query_with(store, S_STREAM_FOLLOWERS, Q_INT(claim->box), Q_TEXT(run->stream), Q_INT(run->last_id));
    while (count < wanted && query_next(&query) && can_follow(store, claim, &query))
        ids[count++] = query_get_int(&query, 0);
    run->ended = count < wanted;
    *ret_ids = ids;
    *ret_count = count;
    return query_status(&query, err);
}

static boxcar_status follow(struct sqlite_store *store, struct claim *claim, struct run *run, size_t wanted,
                            boxcar_error *err) {
    size_t limit = sqlite_claim_size(claim), room = limit - claim->result->claimed_count, count = 0;
    int64_t *ids = NULL;
    if (wanted > room)
        wanted = room;
    if (wanted == 0)
        return BOXCAR_OK;
    TRY(find_followers(store, claim, run, wanted, &ids, &count, err));
    for (size_t i = 0; i < count && run->last_id < RUN_OVER && !sqlite_claim_is_full(claim, limit); i++) {
        boxcar_message *taken;
        TRY(sqlite_claim_take(store, claim, ids[i], PARKED_BEHIND, &taken, err));
        run->last_id = taken != NULL ? ids[i] : RUN_OVER;
    }
    return BOXCAR_OK;
}

boxcar_status sqlite_claim_run_begin(struct sqlite_store *store, struct claim *claim,
                                     const boxcar_message *head, size_t count, boxcar_error *err) {
    struct run_list *runs = &claim->runs;
    struct run *items =
        arena_make_room(&store->scratch, runs->items, runs->count, &runs->capacity, sizeof(*items));
    if (items == NULL)
        return error_no_memory(err);
    runs->items = items;
    items[runs->count] = (struct run){.stream = head->stream, .last_id = head->work_id.value};
    return follow(store, claim, &items[runs->count++], count, err);
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
    size_t limit = sqlite_claim_size(claim), open;
    reopen_runs(claim);
    while (!sqlite_claim_is_full(claim, limit) && (open = count_open(&claim->runs)) > 0) {
        size_t share = (limit - claim->result->claimed_count) / open;
        for (size_t i = 0; i < claim->runs.count; i++) {
            if (!claim->runs.items[i].ended && !sqlite_claim_is_full(claim, limit))
                TRY(follow(store, claim, &claim->runs.items[i], share > 0 ? share : 1, err));
        }
    }
    return BOXCAR_OK;
}
