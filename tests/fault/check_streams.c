/* Within a stream: in one hand at a time, in the order of arrival. Neighbours may come together, by one claim. */
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "draft.h"
#include "story.h"

/* One streamed message. */
struct bead {
    const struct fate *fate;
    int64_t acked;        /* when the ack that counted began; 0 = not known, or it was ever dead */
    int64_t first_before; /* its first lease */
    int64_t first_after;
    int64_t first_epoch;
};

struct span {
    int64_t from;
    int64_t to;
    int64_t work_id;
    int64_t epoch;
};

struct string {
    struct bead *beads;
    size_t bead_count;
    struct span *spans;
    size_t span_count;
};

static bool was_replayed(const struct ledger *ledger, int64_t work_id) {
    size_t first, end = ledger_pasts(ledger, work_id, &first);
    for (; first < end; first++)
        if (strcmp(ledger->pasts[first].outcome, "replayed") == 0)
            return true;
    return false;
}

static void *more(void *rows, size_t count, size_t size) {
    if ((count & (count - 1)) != 0)
        return rows;
    rows = realloc(rows, (count > 0 ? 2 * count : 1) * size);
    if (!rows)
        err(99, "streams");
    return rows;
}

static void add_span(struct string *string, const struct story *story) {
    if (!story->claim || story->from >= story->to)
        return;
    string->spans = more(string->spans, string->span_count, sizeof(*string->spans));
    string->spans[string->span_count++] = (struct span){story->from, story->to, story->work_id, story->epoch};
}

static void add_bead(const struct ledger *ledger, struct string *string, const struct fate *fate) {
    struct bead bead = {.fate = fate};
    struct story story;
    size_t first, end = ledger_acts(ledger, fate->work_id, &first);
    while (story_next(ledger, &first, end, &story)) {
        add_span(string, &story);
        if (story.claim && bead.first_after == 0) {
            bead.first_before = story.claim->before;
            bead.first_after = story.claim->after;
            bead.first_epoch = story.epoch;
        }
        if (story.ended && story.verb == VERB_ACK)
            bead.acked = story.end->before;
    }
    if (was_replayed(ledger, fate->work_id))
        bead.acked = 0;
    string->beads = more(string->beads, string->bead_count, sizeof(*string->beads));
    string->beads[string->bead_count++] = bead;
}

static bool was_claimed_by(const struct ledger *ledger, int64_t work_id, int64_t epoch) {
    struct story story;
    size_t first, end = ledger_acts(ledger, work_id, &first);
    while (story_next(ledger, &first, end, &story))
        if (story.epoch == epoch)
            return true;
    return false;
}

/* An earlier message that was there for sure when a later one was claimed must have been finished, or have come with
 * it. */
static void check_order(struct ledger *ledger, const struct string *string) {
    for (size_t i = 0; i < string->bead_count; i++)
        for (size_t k = 0; k < i; k++) {
            const struct bead *early = &string->beads[k], *late = &string->beads[i];
            if (late->first_after == 0 || early->acked == 0 || early->fate->stored_after == 0)
                continue;
            if (early->fate->stored_after < late->first_before && early->acked > late->first_after &&
                !was_claimed_by(ledger, early->fate->work_id, late->first_epoch))
                offend(ledger, "stream %d: work id %lld was leased (epoch after %lld) before %lld was done",
                       late->fate->stream, (long long)late->fate->work_id, (long long)late->first_after,
                       (long long)early->fate->work_id);
        }
}

static int compare_spans(const void *left, const void *right) {
    const struct span *a = left, *b = right;
    return (a->from > b->from) - (a->from < b->from);
}

static void check_alone(struct ledger *ledger, const struct string *string, int stream) {
    if (string->span_count == 0)
        return;
    qsort(string->spans, string->span_count, sizeof(*string->spans), compare_spans);
    const struct span *longest = &string->spans[0];
    for (size_t i = 1; i < string->span_count; i++) {
        const struct span *span = &string->spans[i];
        if (span->from < longest->to && span->work_id != longest->work_id && span->epoch != longest->epoch)
            offend(ledger, "stream %d: work id %lld was leased while %lld was held", stream,
                   (long long)span->work_id, (long long)longest->work_id);
        if (span->to > longest->to)
            longest = span;
    }
}

void check_streams(struct ledger *ledger, struct verdict *verdict) {
    static struct string strings[STREAMS + 1];
    for (size_t i = 0; i < ledger->fate_count; i++)
        if (ledger->fates[i].stream > 0 && ledger->fates[i].stream <= STREAMS)
            add_bead(ledger, &strings[ledger->fates[i].stream], &ledger->fates[i]);
    for (int stream = 1; stream <= STREAMS; stream++)
        check_order(ledger, &strings[stream]);
    conclude(ledger, verdict, "streams were handed out in order");
    for (int stream = 1; stream <= STREAMS; stream++)
        check_alone(ledger, &strings[stream], stream);
    conclude(ledger, verdict, "streams were handed out to one at a time");
    for (int stream = 1; stream <= STREAMS; stream++) {
        free(strings[stream].beads);
        free(strings[stream].spans);
    }
}
