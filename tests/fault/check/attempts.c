/* Every lease ended in exactly one way, and every bad end is counted. */
#include <string.h>

#include "lease.h"

static bool is(const struct bad_end *bad_end, const char *outcome) {
    return strcmp(bad_end->outcome, outcome) == 0;
}

static bool is_counted(const struct bad_end *bad_end) {
    return is(bad_end, "abandoned") || is(bad_end, "lease_expired");
}

/* The bad end of one lease in the history of its message, or NULL; *ret_count: how many there are. */
static const struct bad_end *find_end(const struct ledger *ledger, const struct lease *lease,
                                      int *ret_count) {
    size_t first, end = ledger_bad_ends(ledger, lease->work_id, &first);
    const struct bad_end *found = NULL;
    *ret_count = 0;
    for (; first < end; first++)
        if (ledger->bad_ends[first].epoch == lease->epoch) {
            found = &ledger->bad_ends[first];
            ++*ret_count;
        }
    return found;
}

/* What the history must say about a lease that the holder ended so. NULL: nothing. */
static const char *trace_of(enum verb verb) {
    return verb == VERB_ABANDON ? "abandoned" : verb == VERB_FAIL ? "failed" : NULL;
}

static bool agrees(const struct lease *lease, const struct bad_end *bad_end) {
    const char *trace = trace_of(lease->verb);
    if (lease->ended)
        return trace ? bad_end && is(bad_end, trace) : !bad_end;
    if (lease->unknown)
        return !bad_end || is(bad_end, "lease_expired") || (trace && is(bad_end, trace));
    /* Nobody settled it: it expired, unless it was still being claimed when the server crashed. */
    if (!bad_end)
        return !lease->claim || lease->may_be_lost;
    return is(bad_end, "lease_expired");
}

/* How the holder says that it ended. */
static const char *end_in_journal(const struct lease *lease) {
    static const char *const SURELY[VERBS] = {"acked", "abandoned", "deferred", "failed", "renewed"};
    static const char *const PERHAPS[VERBS] = {"perhaps acked", "perhaps abandoned", "perhaps deferred",
                                               "perhaps failed", "perhaps renewed"};
    if (lease->ended)
        return SURELY[lease->verb];
    return lease->unknown ? PERHAPS[lease->verb] : "not settled";
}

static void check_lease(struct ledger *ledger, const struct lease *lease) {
    int ends;
    const struct bad_end *bad_end = find_end(ledger, lease, &ends);
    long long id = lease->work_id, epoch = lease->epoch;
    if (ends > 1)
        offend(ledger, "work id %lld: the lease of epoch %lld ended %d times", id, epoch, ends);
    if (!agrees(lease, bad_end))
        offend(ledger, "work id %lld, epoch %lld: %s by its holder, %s in the history", id, epoch,
               end_in_journal(lease), bad_end ? bad_end->outcome : "nothing");
    if (bad_end && lease->claim && memcmp(bad_end->owner, lease->claim->id, sizeof(bad_end->owner)) != 0)
        offend(ledger, "work id %lld, epoch %lld: another owner in the history", id, epoch);
}

/* A claim says how many attempts were spent before it. */
static void check_claimed_count(struct ledger *ledger, const struct lease *lease) {
    size_t first, end = ledger_bad_ends(ledger, lease->work_id, &first);
    int spent = 0;
    for (; first < end; first++) {
        if (is(&ledger->bad_ends[first], "replayed"))
            return;
        spent += is_counted(&ledger->bad_ends[first]) && ledger->bad_ends[first].epoch < lease->epoch;
    }
    if (lease->claim && lease->claim->max_attempts != spent)
        offend(ledger, "work id %lld, epoch %lld: claimed with retry_count %d after %d attempts",
               (long long)lease->work_id, (long long)lease->epoch, lease->claim->max_attempts, spent);
}

static void check_stories(struct ledger *ledger) {
    for (size_t first = 0; first < ledger->act_count;) {
        size_t end = ledger_acts(ledger, ledger->acts[first].work_id, &first);
        struct lease lease;
        while (lease_next(ledger, &first, end, &lease)) {
            check_lease(ledger, &lease);
            check_claimed_count(ledger, &lease);
        }
        first = end;
    }
}

static void check_limit(struct ledger *ledger, const struct end_state *end_state) {
    int own = end_state->intent ? end_state->intent->max_attempts : 0;
    int limit = own > 0 ? own : ledger->storm->max_attempts;
    bool exhausted = end_state->status == BOXCAR_FAILED && end_state->reason == BOXCAR_REASON_EXHAUSTED;
    if (exhausted ? end_state->retry_count != limit : end_state->retry_count >= limit)
        offend(ledger, "work id %lld is %s (%s) after %d of %d attempts", (long long)end_state->work_id,
               boxcar_message_status_name(end_state->status), boxcar_reason_name(end_state->reason),
               end_state->retry_count, limit);
}

/* The counter after each bad end, and in the end. */
static void check_history(struct ledger *ledger, const struct end_state *end_state) {
    size_t first, end = ledger_bad_ends(ledger, end_state->work_id, &first);
    int retries = 0, crashes = 0;
    for (; first < end; first++) {
        const struct bad_end *bad_end = &ledger->bad_ends[first];
        retries = is(bad_end, "replayed") ? 0 : retries + is_counted(bad_end);
        crashes = is(bad_end, "replayed") ? 0 : crashes + is(bad_end, "lease_expired");
        if (bad_end->retry_count != retries)
            offend(ledger, "work id %lld: %s left retry_count %d, should be %d",
                   (long long)end_state->work_id, bad_end->outcome, bad_end->retry_count, retries);
    }
    if (end_state->retry_count != retries)
        offend(ledger, "work id %lld ended with retry_count %d after %d attempts",
               (long long)end_state->work_id, end_state->retry_count, retries);
    if (end_state->status == BOXCAR_FAILED && end_state->crash_count != crashes)
        offend(ledger, "work id %lld ended with crash_count %d after %d crashes",
               (long long)end_state->work_id, end_state->crash_count, crashes);
}

/* Every cancellation that was reported is on record. */
static void check_cancels(struct ledger *ledger) {
    for (size_t i = 0; i < ledger->act_count; i++) {
        size_t first, end = ledger_bad_ends(ledger, ledger->acts[i].work_id, &first);
        bool found = false;
        if (ledger->acts[i].kind != RECORD_CANCELLED)
            continue;
        for (; first < end; first++)
            found = found || is(&ledger->bad_ends[first], "cancelled");
        if (!found)
            offend(ledger, "work id %lld was cancelled, but not on record",
                   (long long)ledger->acts[i].work_id);
    }
}

void check_attempts(struct ledger *ledger, struct verdict *verdict) {
    check_stories(ledger);
    conclude(ledger, verdict, "every lease ended once, and the history has every bad end");
    for (size_t i = 0; i < ledger->end_state_count; i++)
        check_history(ledger, &ledger->end_states[i]);
    conclude(ledger, verdict, "retry_count is what the history says");
    for (size_t i = 0; i < ledger->end_state_count; i++)
        check_limit(ledger, &ledger->end_states[i]);
    conclude(ledger, verdict, "nothing died before its attempts were used up, nothing lived on after");
    check_cancels(ledger);
    conclude(ledger, verdict, "every cancellation is on record");
}
