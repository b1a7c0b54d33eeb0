/* No two leases on a message at once, none after it was done, none before its time. */
#include <string.h>

#include "lease.h"

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
    size_t first, end = ledger_bad_ends(ledger, work_id, &first);
    for (; first < end; first++)
        if (strcmp(ledger->bad_ends[first].outcome, "replayed") == 0)
            return true;
    return false;
}

static void check_against_earlier(struct ledger *ledger, const struct lease *lease, const struct walk *walk) {
    long long id = lease->work_id, epoch = lease->epoch;
    if (walk->done_epoch > 0)
        offend(ledger, "work id %lld was leased (epoch %lld) after it was done (epoch %lld)", id, epoch,
               (long long)walk->done_epoch);
    if (!lease->claim)
        return;
    if (lease->from < walk->held_until && lease->from < lease->to)
        offend(ledger, "work id %lld was leased at %lld (epoch %lld) while held until %lld (epoch %lld)", id,
               (long long)lease->from, epoch, (long long)walk->held_until, (long long)walk->held_epoch);
    if (walk->last_claim && lease->claim->after < walk->last_claim->before)
        offend(ledger, "work id %lld: epoch %lld was given out before epoch %lld", id, epoch,
               (long long)walk->last_claim->epoch);
    if (!walk->replayed && lease->claim->after < walk->not_before)
        offend(ledger, "work id %lld was leased (epoch %lld) %lld us before its time", id, epoch,
               (long long)(walk->not_before - lease->claim->after));
}

static void remember(const struct lease *lease, struct walk *walk) {
    if (lease->claim)
        walk->last_claim = lease->claim;
    if (lease->claim && lease->to > walk->held_until) {
        walk->held_until = lease->to;
        walk->held_epoch = lease->epoch;
    }
    walk->not_before = 0;
    if (!lease->ended)
        return;
    if (lease->verb == VERB_ACK)
        walk->done_epoch = lease->epoch;
    if ((lease->verb == VERB_ABANDON || lease->verb == VERB_DEFER) && lease->end->ms > 0)
        walk->not_before = lease->end->before + (int64_t)lease->end->ms * 1000 - CLOCK_SLACK_US;
}

static void check_work(struct ledger *ledger, size_t first, size_t end) {
    int64_t work_id = ledger->acts[first].work_id;
    const struct end_state *end_state = ledger_end_state(ledger, work_id);
    struct walk walk = {.replayed = was_replayed(ledger, work_id)};
    struct lease lease;
    if (end_state && end_state->intent && end_state->intent->ms > 0)
        walk.not_before = end_state->intent->before + (int64_t)end_state->intent->ms * 1000 - CLOCK_SLACK_US;
    while (lease_next(ledger, &first, end, &lease)) {
        if (!end_state && lease.claim)
            offend(ledger, "work id %lld was leased but does not exist", (long long)work_id);
        if (lease.offence)
            offend(ledger, "work id %lld %s (epoch %lld, at %lld)", (long long)work_id, lease.offence,
                   (long long)lease.epoch, (long long)lease.offence_at);
        check_against_earlier(ledger, &lease, &walk);
        remember(&lease, &walk);
    }
    if (end_state && walk.done_epoch > 0 && end_state->status != BOXCAR_DONE)
        offend(ledger, "work id %lld was acked and is %s", (long long)work_id,
               boxcar_message_status_name(end_state->status));
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
