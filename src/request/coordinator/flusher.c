#include "flusher.h"

#include <stdlib.h>

#include "base/error.h"
#include "request/prepare.h"
#include "request/request.h"

/* ---- the results ---- */

struct flush *flush_new(uint64_t first, size_t room) {
    struct flush *flush = calloc(1, sizeof(*flush));
    if (!flush)
        return NULL;
    flush->first = first;
    flush->room = room;
    flush->items = arena_alloc_array(&flush->arena, room, sizeof(*flush->items));
    if (flush->items)
        flush->base.items = list_pointers(&flush->arena, flush->items, room, sizeof(*flush->items));
    if (!flush->base.items) {
        boxcar_flush_free(&flush->base);
        return NULL;
    }
    for (int box = 0; box < BOXES; box++) {
        flush->base.claimed[box] = &flush->claimed[box];
        flush->base.returned[box] = &flush->returned[box];
    }
    return flush;
}

void boxcar_flush_free(boxcar_flush *flush) {
    struct flush *memory = (struct flush *)flush;
    if (!memory)
        return;
    arena_release(&memory->arena);
    free(memory);
}

const boxcar_flushed *boxcar_flush_find(const boxcar_flush *flush, uint64_t ticket) {
    uint64_t first = flush && flush->count > 0 ? flush->items[0]->ticket : 0;
    return first > 0 && ticket >= first && ticket - first < flush->count ? flush->items[ticket - first]
                                                                         : NULL;
}

/* ---- decisions ---- */

static void log_refused(const struct flusher *flusher, const boxcar_flushed *refused) {
    store_log(flusher->store, BOXCAR_LOG_ERROR, "refused", NULL, 0,
              "the store refuses an operation (%s, ticket %llu), it is dropped: %s",
              refused->enqueues ? "enqueue" : boxcar_settle_kind_name(refused->kind),
              (unsigned long long)refused->ticket, refused->error->message);
}

/* Everything up to where `generation` has come is done with. */
static void decide(struct flusher *flusher, struct generation *generation) {
    for (struct generation *g = flusher->head;; g = g->next) {
        g->decided = g->search.from;
        if (g == generation)
            break;
    }
    struct flush *flush = flusher->flush;
    size_t decided = (size_t)(generation->first - flush->first) + generation->search.from;
    for (; flush->base.count < decided; flush->base.count++) {
        if (flush->items[flush->base.count].outcome != BOXCAR_OUTCOME_REFUSED)
            continue;
        flush->base.refused_count++;
        log_refused(flusher, &flush->items[flush->base.count]);
    }
    flusher->undecided = 0;
}

static struct generation *next_of(const struct flusher *flusher, const struct generation *generation) {
    return generation == flusher->last ? NULL : generation->next;
}

/* Operations that are undecided in the end are not skipped: the next flush sends them first, and alone. */
static void rewind_undecided(struct flusher *flusher) {
    for (struct generation *g = flusher->head; g; g = next_of(flusher, g))
        if (g->search.from > g->decided)
            refusal_rewind(&g->search, g->decided);
}

static boxcar_flushed *result_at(const struct flusher *flusher, const struct generation *generation) {
    return &flusher->flush->items[generation->first - flusher->flush->first + generation->search.from];
}

/* ---- one request ---- */

/* What the earlier requests of this flush have renewed is found among all that the owner holds now. */
static boxcar_return returns_of(const struct flusher *flusher, int box) {
    boxcar_return asked = flusher->asked->returns[box];
    return asked == BOXCAR_RETURN_RENEWED && flusher->proven ? BOXCAR_RETURN_OWNED : asked;
}

static void fill_asked(const struct flusher *flusher, struct request *request) {
    for (int box = 0; box < BOXES; box++) {
        if (flusher->asked->claims[box])
            request_set_claim(request, flusher->asked->claims[box]);
        request->parts[box].claim_stored = flusher->asked->claim_stored;
        request->parts[box].returns = returns_of(flusher, box);
    }
    request->base.stale_threshold_ms = flusher->stale_threshold_ms;
    request->remove_stale = flusher->stale_threshold_ms > 0;
}

/* Leaves those that this flush has renewed. Without memory none: they are still the owner's. */
static void keep_renewed(const struct flusher *flusher, int box, struct part_result *part) {
    struct flush *flush = flusher->flush;
    struct work_id_list renewed = {arena_alloc_array(&flush->arena, flush->room, sizeof(*renewed.items)), 0};
    for (size_t i = 0; renewed.items && i < flush->room; i++) {
        const boxcar_flushed *item = &flush->items[i];
        if (item->kind == BOXCAR_RENEW && item->outcome == BOXCAR_OUTCOME_SETTLED && (int)item->box == box)
            renewed.items[renewed.count++] = item->work_id;
    }
    part->settled[BOXCAR_RENEW] = renewed;
    request_part_trim_returned(&(boxcar_request_part){.returns = BOXCAR_RETURN_RENEWED}, part);
}

/* After the results of the operations were taken. */
static void take_asked(struct flusher *flusher, const struct request *request, struct result *answer) {
    struct flush *flush = flusher->flush;
    for (int box = 0; box < BOXES; box++) {
        struct part_result *part = &answer->parts[box];
        if (request->parts[box].returns != flusher->asked->returns[box])
            keep_renewed(flusher, box, part);
        flush->claimed[box] = result_lend(answer, part->claimed, part->claimed_count);
        flush->returned[box] = result_lend(answer, part->returned, part->returned_count);
    }
    arena_adopt(&flush->arena, &answer->arena);
    flusher->answered = true;
}

/* Sends `count` operations (none: generation is NULL), with what is asked for if it is the end. */
static boxcar_status send(struct flusher *flusher, struct generation *generation, size_t count, bool is_end,
                          boxcar_error *err) {
    AUTO_ARENA struct arena arena = ARENA_INIT;
    AUTO_RESULT struct result answer = {.arena = ARENA_INIT};
    struct request request = {.base.owner = flusher->owner};
    bool asks = is_end && flusher->asked != NULL;
    if (generation)
        generation_fill(generation, generation->search.from, count, &request);
    TRY(prepare_stages(&arena, &request, err));
    if (asks)
        fill_asked(flusher, &request);
    TRY(request_send(flusher->store, &request, &answer, err));
    flusher->proven = true;
    if (generation)
        generation_take_answer(generation, generation->search.from, count, &answer,
                               result_at(flusher, generation));
    if (asks)
        take_asked(flusher, &request, &answer);
    return BOXCAR_OK;
}

/* BOXCAR_OK = go on. */
static boxcar_status take_refusal(struct flusher *flusher, struct generation *generation, size_t count,
                                  const boxcar_error *refusal, boxcar_error *err) {
    bool certain = refusal_of(refusal->status) == REFUSAL_CERTAIN && flusher->undecided == 0;
    if (count == 1) {
        boxcar_error *copy = arena_alloc(&flusher->flush->arena, sizeof(*copy));
        if (!copy)
            return error_no_memory(err);
        *copy = *refusal;
        generation_take_refusal(generation, generation->search.from, copy, result_at(flusher, generation));
    }
    if (!refusal_refused(&generation->search, count))
        return BOXCAR_OK;
    if (certain || flusher->proven) {
        decide(flusher, generation);
        return BOXCAR_OK;
    }
    if (++flusher->undecided < flusher->patience)
        return BOXCAR_OK;
    *err = *refusal;
    return refusal->status;
}

/* If the caller's own transaction has failed, nothing else can be tried: the caller has to roll it back. */
static boxcar_status send_some(struct flusher *flusher, struct generation *generation, size_t count,
                               boxcar_error *err) {
    bool is_end = generation == flusher->last && generation->search.from + count == generation->count;
    boxcar_error why = BOXCAR_ERROR_INIT;
    boxcar_status status = send(flusher, generation, count, is_end, &why);
    if (status == BOXCAR_OK) {
        refusal_taken(&generation->search, count);
        decide(flusher, generation);
        return BOXCAR_OK;
    }
    generation->sent_before = generation->sent_before || why.outcome_unknown;
    if (refusal_of(status) != REFUSAL_NONE && !why.must_roll_back)
        return take_refusal(flusher, generation, count, &why, err);
    *err = why;
    return status;
}

/* ---- all of them ---- */

static boxcar_status send_all(struct flusher *flusher, boxcar_error *err) {
    for (struct generation *g = flusher->head; g; g = next_of(flusher, g)) {
        TRY(generation_prepare(g, flusher->store, err));
        for (size_t count; (count = refusal_next(&g->search)) > 0;)
            TRY(send_some(flusher, g, count, err));
    }
    if (flusher->asked && !flusher->answered)
        TRY(send(flusher, NULL, 0, true, err));
    if (flusher->undecided == 0)
        return BOXCAR_OK;
    if (flusher->proven) { /* by what was asked for */
        decide(flusher, flusher->last);
        return BOXCAR_OK;
    }
    *err = *flusher->flush->items[flusher->flush->base.count].error;
    return err->status;
}

boxcar_status flusher_run(struct flusher *flusher, boxcar_error *err) {
    boxcar_error why = BOXCAR_ERROR_INIT;
    boxcar_status status = send_all(flusher, &why);
    if (status == BOXCAR_OK)
        return BOXCAR_OK;
    rewind_undecided(flusher);
    why.status = status;
    flusher->flush->error = why;
    flusher->flush->base.error = &flusher->flush->error;
    if (err)
        *err = why;
    return status;
}
