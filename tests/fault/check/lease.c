#include "lease.h"

/* Whether the server was crashed so soon after the claim that it may be forgotten. */
static const struct record *crash_after(const struct ledger *ledger, const struct record *claim) {
    for (size_t i = 0; i < ledger->crash_count; i++) {
        const struct record *crash = &ledger->crashes[i];
        if (crash->after >= claim->before && crash->before <= claim->after + CLAIM_FLUSH_US)
            return crash;
    }
    return NULL;
}

static void begin(const struct ledger *ledger, struct lease *lease, const struct record *claim) {
    if (lease->claim) {
        lease->offence = "was leased twice under one epoch";
        lease->offence_at = claim->after;
        return;
    }
    lease->claim = claim;
    lease->from = claim->after;
    lease->promised_until = claim->before + (int64_t)claim->ms * 1000;
    lease->may_be_lost = crash_after(ledger, claim) != NULL;
}

static void accuse(struct lease *lease, const struct record *call, const char *offence) {
    if (lease->offence)
        return;
    lease->offence = offence;
    lease->offence_at = call->before;
}

static void shorten(struct lease *lease, int64_t to) {
    if (lease->to == 0 || to < lease->to)
        lease->to = to;
}

/* Whether the library may have repeated a call that had taken effect and reports only the repetition. */
static bool may_be_repeated(const struct record *call) { return call->shaky; }

static void hear_renewal(struct lease *lease, const struct record *call) {
    int64_t until = call->before + (int64_t)call->ms * 1000;
    if (call->outcome != OUTCOME_AFFECTED)
        return;
    if (lease->ended && !may_be_repeated(call))
        accuse(lease, call, "was renewed after its lease had ended");
    if (until > lease->promised_until)
        lease->promised_until = until;
}

static void hear_affected(struct lease *lease, const struct record *call) {
    if (lease->ended && (!may_be_repeated(call) || lease->verb != call->verb))
        accuse(lease, call, "was settled twice under one lease");
    if (lease->passed_over)
        accuse(lease, call, "was settled after a call had found its lease gone");
    if (lease->ended)
        return;
    lease->ended = true;
    lease->verb = (enum verb)call->verb;
    lease->end = call;
    lease->to = call->before;
}

static void hear_passed_over(struct lease *lease, const struct record *call) {
    bool early = lease->claim && call->after + CLOCK_SLACK_US < lease->promised_until;
    if (lease->ended)
        return;
    /* A deferral leaves no trace by which its repetition could recognize it, and a call without epochs, other
     * than an ack, cannot tell its own from that of an attempt before. */
    if (may_be_repeated(call) && (call->verb == VERB_DEFER || (call->shaky == 2 && call->verb != VERB_ACK))) {
        lease->unknown = true;
        lease->verb = (enum verb)call->verb;
    } else {
        if (early && !lease->unknown && !lease->may_be_lost)
            accuse(lease, call, "lost its lease before its time");
        lease->passed_over = true;
    }
    shorten(lease, call->before);
}

static void hear_call(struct lease *lease, const struct record *call) {
    if (call->outcome == OUTCOME_UNDONE)
        return;
    if (call->verb == VERB_RENEW)
        return hear_renewal(lease, call);
    if (call->outcome == OUTCOME_AFFECTED)
        return hear_affected(lease, call);
    if (call->outcome == OUTCOME_PASSED_OVER)
        return hear_passed_over(lease, call);
    lease->unknown = true;
    if (!lease->ended)
        lease->verb = (enum verb)call->verb;
    shorten(lease, call->before);
}

/* An announcement is followed by its answer; one without is a call of unknown outcome. */
static bool is_answered(const struct record *announcement, const struct record *next) {
    return next && next->kind == RECORD_SETTLED && next->before == announcement->before &&
           next->verb == announcement->verb && next->client == announcement->client;
}

static void finish(const struct ledger *ledger, struct lease *lease) {
    if (!lease->claim || lease->ended)
        return;
    shorten(lease, lease->promised_until - CLOCK_SLACK_US);
    const struct record *crash = crash_after(ledger, lease->claim);
    if (crash)
        shorten(lease, crash->before);
}

bool lease_next(const struct ledger *ledger, size_t *first, size_t end, struct lease *ret_lease) {
    while (*first < end && ledger->acts[*first].epoch == 0)
        ++*first; /* cancellations belong to no lease */
    if (*first >= end)
        return false;
    struct lease lease = {.work_id = ledger->acts[*first].work_id, .epoch = ledger->acts[*first].epoch};
    for (; *first < end && ledger->acts[*first].epoch == lease.epoch; ++*first) {
        const struct record *act = &ledger->acts[*first];
        const struct record *next = *first + 1 < end && act[1].epoch == lease.epoch ? act + 1 : NULL;
        if (act->kind == RECORD_CLAIMED)
            begin(ledger, &lease, act);
        else if (act->kind == RECORD_SETTLED || !is_answered(act, next))
            hear_call(&lease, act);
    }
    finish(ledger, &lease);
    *ret_lease = lease;
    return true;
}
