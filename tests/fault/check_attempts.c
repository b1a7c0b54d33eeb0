/* Every lease ended in exactly one way, and every bad end is counted. */
#include <string.h>

#include "story.h"

static bool is(const struct past *past, const char *outcome) { return strcmp(past->outcome, outcome) == 0; }

static bool is_counted(const struct past *past) { return is(past, "abandoned") || is(past, "lease_expired"); }

/* The bad end of one lease in the history of its message, or NULL; *ret_count: how many there are. */
static const struct past *find_end(const struct ledger *ledger, const struct story *story, int *ret_count) {
    size_t first, end = ledger_pasts(ledger, story->work_id, &first);
    const struct past *found = NULL;
    *ret_count = 0;
    for (; first < end; first++)
        if (ledger->pasts[first].epoch == story->epoch) {
            found = &ledger->pasts[first];
            ++*ret_count;
        }
    return found;
}

/* What the history must say about a lease that the holder ended so. NULL: nothing. */
static const char *trace_of(enum verb verb) {
    return verb == VERB_ABANDON ? "abandoned" : verb == VERB_FAIL ? "failed" : NULL;
}

static bool agrees(const struct story *story, const struct past *past) {
    const char *trace = trace_of(story->verb);
    if (story->ended)
        return trace ? past && is(past, trace) : !past;
    if (story->unknown)
        return !past || is(past, "lease_expired") || (trace && is(past, trace));
    /* Nobody settled it: it expired, unless it was still being claimed when the server crashed. */
    if (!past)
        return !story->claim || story->may_be_lost;
    return is(past, "lease_expired");
}

/* How the holder says that it ended. */
static const char *said(const struct story *story) {
    static const char *const SURELY[VERBS] = {"acked", "abandoned", "deferred", "failed", "renewed"};
    static const char *const PERHAPS[VERBS] = {"perhaps acked", "perhaps abandoned", "perhaps deferred",
                                               "perhaps failed", "perhaps renewed"};
    if (story->ended)
        return SURELY[story->verb];
    return story->unknown ? PERHAPS[story->verb] : "not settled";
}

static void check_story(struct ledger *ledger, const struct story *story) {
    int ends;
    const struct past *past = find_end(ledger, story, &ends);
    long long id = story->work_id, epoch = story->epoch;
    if (ends > 1)
        offend(ledger, "work id %lld: the lease of epoch %lld ended %d times", id, epoch, ends);
    if (!agrees(story, past))
        offend(ledger, "work id %lld, epoch %lld: %s by its holder, %s in the history", id, epoch,
               said(story), past ? past->outcome : "nothing");
    if (past && story->claim && memcmp(past->owner, story->claim->id, sizeof(past->owner)) != 0)
        offend(ledger, "work id %lld, epoch %lld: another owner in the history", id, epoch);
}

/* A claim says how many attempts were spent before it. */
static void check_claimed_count(struct ledger *ledger, const struct story *story) {
    size_t first, end = ledger_pasts(ledger, story->work_id, &first);
    int spent = 0;
    for (; first < end; first++) {
        if (is(&ledger->pasts[first], "replayed"))
            return;
        spent += is_counted(&ledger->pasts[first]) && ledger->pasts[first].epoch < story->epoch;
    }
    if (story->claim && story->claim->max_attempts != spent)
        offend(ledger, "work id %lld, epoch %lld: claimed with retry_count %d after %d attempts",
               (long long)story->work_id, (long long)story->epoch, story->claim->max_attempts, spent);
}

static void check_stories(struct ledger *ledger) {
    for (size_t first = 0; first < ledger->act_count;) {
        size_t end = ledger_acts(ledger, ledger->acts[first].work_id, &first);
        struct story story;
        while (story_next(ledger, &first, end, &story)) {
            check_story(ledger, &story);
            check_claimed_count(ledger, &story);
        }
        first = end;
    }
}

static void check_limit(struct ledger *ledger, const struct fate *fate) {
    int own = fate->intent ? fate->intent->max_attempts : 0;
    int limit = own > 0 ? own : ledger->storm->max_attempts;
    bool exhausted = fate->status == BOXCAR_FAILED && fate->reason == BOXCAR_REASON_EXHAUSTED;
    if (exhausted ? fate->retry_count != limit : fate->retry_count >= limit)
        offend(ledger, "work id %lld is %s (%s) after %d of %d attempts", (long long)fate->work_id,
               boxcar_message_status_name(fate->status), boxcar_reason_name(fate->reason), fate->retry_count,
               limit);
}

/* The counter after each bad end, and in the end. */
static void check_history(struct ledger *ledger, const struct fate *fate) {
    size_t first, end = ledger_pasts(ledger, fate->work_id, &first);
    int retries = 0, crashes = 0;
    for (; first < end; first++) {
        const struct past *past = &ledger->pasts[first];
        retries = is(past, "replayed") ? 0 : retries + is_counted(past);
        crashes = is(past, "replayed") ? 0 : crashes + is(past, "lease_expired");
        if (past->retry_count != retries)
            offend(ledger, "work id %lld: %s left retry_count %d, should be %d", (long long)fate->work_id,
                   past->outcome, past->retry_count, retries);
    }
    if (fate->retry_count != retries)
        offend(ledger, "work id %lld ended with retry_count %d after %d attempts", (long long)fate->work_id,
               fate->retry_count, retries);
    if (fate->status == BOXCAR_FAILED && fate->crash_count != crashes)
        offend(ledger, "work id %lld ended with crash_count %d after %d crashes", (long long)fate->work_id,
               fate->crash_count, crashes);
}

/* Every cancellation that was reported is on record. */
static void check_cancels(struct ledger *ledger) {
    for (size_t i = 0; i < ledger->act_count; i++) {
        size_t first, end = ledger_pasts(ledger, ledger->acts[i].work_id, &first);
        bool found = false;
        if (ledger->acts[i].kind != RECORD_CANCELLED)
            continue;
        for (; first < end; first++)
            found = found || is(&ledger->pasts[first], "cancelled");
        if (!found)
            offend(ledger, "work id %lld was cancelled, but not on record",
                   (long long)ledger->acts[i].work_id);
    }
}

void check_attempts(struct ledger *ledger, struct verdict *verdict) {
    check_stories(ledger);
    conclude(ledger, verdict, "every lease ended once, and the history has every bad end");
    for (size_t i = 0; i < ledger->fate_count; i++)
        check_history(ledger, &ledger->fates[i]);
    conclude(ledger, verdict, "retry_count is what the history says");
    for (size_t i = 0; i < ledger->fate_count; i++)
        check_limit(ledger, &ledger->fates[i]);
    conclude(ledger, verdict, "nothing died before its attempts were used up, nothing lived on after");
    check_cancels(ledger);
    conclude(ledger, verdict, "every cancellation is on record");
}
