/* No two leases on a message at once, none after it was done, none before its time. */
#include <string.h>

#include "story.h"

/* What is known while going through the leases of one message in the order of their epochs. */
struct walk {
    int64_t held_until; /* by any lease so far, for sure */
    int64_t held_epoch;
    const struct record *last_claim;
    int64_t done_epoch;
    int64_t not_before; /* the last one gave it back with a delay */
    bool replayed;
};

static bool was_replayed(const struct ledger *ledger, int64_t work_id) {
    size_t first, end = ledger_pasts(ledger, work_id, &first);
    for (; first < end; first++)
        if (strcmp(ledger->pasts[first].outcome, "replayed") == 0)
            return true;
    return false;
}

static void check_against_earlier(struct ledger *ledger, const struct story *story, const struct walk *walk) {
    long long id = story->work_id, epoch = story->epoch;
    if (walk->done_epoch > 0)
        offend(ledger, "work id %lld was leased (epoch %lld) after it was done (epoch %lld)", id, epoch,
               (long long)walk->done_epoch);
    if (!story->claim)
        return;
    if (story->from < walk->held_until && story->from < story->to)
        offend(ledger, "work id %lld was leased at %lld (epoch %lld) while held until %lld (epoch %lld)", id,
               (long long)story->from, epoch, (long long)walk->held_until, (long long)walk->held_epoch);
    if (walk->last_claim && story->claim->after < walk->last_claim->before)
        offend(ledger, "work id %lld: epoch %lld was given out before epoch %lld", id, epoch,
               (long long)walk->last_claim->epoch);
    if (!walk->replayed && story->claim->after < walk->not_before)
        offend(ledger, "work id %lld was leased (epoch %lld) %lld us before its time", id, epoch,
               (long long)(walk->not_before - story->claim->after));
}

static void remember(const struct story *story, struct walk *walk) {
    if (story->claim)
        walk->last_claim = story->claim;
    if (story->claim && story->to > walk->held_until) {
        walk->held_until = story->to;
        walk->held_epoch = story->epoch;
    }
    walk->not_before = 0;
    if (!story->ended)
        return;
    if (story->verb == VERB_ACK)
        walk->done_epoch = story->epoch;
    if ((story->verb == VERB_ABANDON || story->verb == VERB_DEFER) && story->end->ms > 0)
        walk->not_before = story->end->before + (int64_t)story->end->ms * 1000 - CLOCK_SLACK_US;
}

static void check_work(struct ledger *ledger, size_t first, size_t end) {
    int64_t work_id = ledger->acts[first].work_id;
    const struct fate *fate = ledger_fate(ledger, work_id);
    struct walk walk = {.replayed = was_replayed(ledger, work_id)};
    struct story story;
    if (fate && fate->intent && fate->intent->ms > 0)
        walk.not_before = fate->intent->before + (int64_t)fate->intent->ms * 1000 - CLOCK_SLACK_US;
    while (story_next(ledger, &first, end, &story)) {
        if (!fate && story.claim)
            offend(ledger, "work id %lld was leased but does not exist", (long long)work_id);
        if (story.offence)
            offend(ledger, "work id %lld %s (epoch %lld, at %lld)", (long long)work_id, story.offence,
                   (long long)story.epoch, (long long)story.offence_at);
        check_against_earlier(ledger, &story, &walk);
        remember(&story, &walk);
    }
    if (fate && walk.done_epoch > 0 && fate->status != BOXCAR_DONE)
        offend(ledger, "work id %lld was acked and is %s", (long long)work_id,
               boxcar_message_status_name(fate->status));
}

void check_leases(struct ledger *ledger, struct verdict *verdict) {
    for (size_t first = 0; first < ledger->act_count;) {
        size_t begin, end = ledger_acts(ledger, ledger->acts[first].work_id, &begin);
        check_work(ledger, begin, end);
        first = end;
    }
    conclude(ledger, verdict,
             "no message was leased to two at once, leased or settled after it was done, or early");
}
