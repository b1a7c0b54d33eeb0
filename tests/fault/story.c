#include "story.h"

/* Whether the server was crashed so soon after the claim that it may be forgotten. */
static const struct record *crash_after(const struct ledger *ledger, const struct record *claim) {
    for (size_t i = 0; i < ledger->crash_count; i++) {
        const struct record *crash = &ledger->crashes[i];
        if (crash->after >= claim->before && crash->before <= claim->after + CLAIM_FLUSH_US)
            return crash;
    }
    return NULL;
}

static void begin(const struct ledger *ledger, struct story *story, const struct record *claim) {
    if (story->claim) {
        story->offence = "was leased twice under one epoch";
        story->offence_at = claim->after;
        return;
    }
    story->claim = claim;
    story->from = claim->after;
    story->promised_until = claim->before + (int64_t)claim->ms * 1000;
    story->may_be_lost = crash_after(ledger, claim) != NULL;
}

static void accuse(struct story *story, const struct record *call, const char *offence) {
    if (story->offence)
        return;
    story->offence = offence;
    story->offence_at = call->before;
}

static void shorten(struct story *story, int64_t to) {
    if (story->to == 0 || to < story->to)
        story->to = to;
}

/* Whether the library may have repeated a call that had taken effect and reports only the repetition. */
static bool may_be_repeated(const struct record *call) { return call->shaky; }

static void hear_renewal(struct story *story, const struct record *call) {
    int64_t until = call->before + (int64_t)call->ms * 1000;
    if (call->outcome != OUTCOME_AFFECTED)
        return;
    if (story->ended && !may_be_repeated(call))
        accuse(story, call, "was renewed after its lease had ended");
    if (until > story->promised_until)
        story->promised_until = until;
}

static void hear_affected(struct story *story, const struct record *call) {
    if (story->ended && (!may_be_repeated(call) || story->verb != call->verb))
        accuse(story, call, "was settled twice under one lease");
    if (story->passed_over)
        accuse(story, call, "was settled after a call had found its lease gone");
    if (story->ended)
        return;
    story->ended = true;
    story->verb = (enum verb)call->verb;
    story->end = call;
    story->to = call->before;
}

static void hear_passed_over(struct story *story, const struct record *call) {
    bool early = story->claim && call->after + CLOCK_SLACK_US < story->promised_until;
    if (story->ended)
        return;
    /* A deferral leaves no trace by which its repetition could recognize it, and a call without epochs, other than an ack,
     * cannot tell its own from that of an attempt before. */
    if (may_be_repeated(call) && (call->verb == VERB_DEFER || (call->shaky == 2 && call->verb != VERB_ACK))) {
        story->unknown = true;
        story->verb = (enum verb)call->verb;
    } else {
        if (early && !story->unknown && !story->may_be_lost)
            accuse(story, call, "lost its lease before its time");
        story->passed_over = true;
    }
    shorten(story, call->before);
}

static void hear_call(struct story *story, const struct record *call) {
    if (call->outcome == OUTCOME_UNDONE)
        return;
    if (call->verb == VERB_RENEW)
        return hear_renewal(story, call);
    if (call->outcome == OUTCOME_AFFECTED)
        return hear_affected(story, call);
    if (call->outcome == OUTCOME_PASSED_OVER)
        return hear_passed_over(story, call);
    story->unknown = true;
    if (!story->ended)
        story->verb = (enum verb)call->verb;
    shorten(story, call->before);
}

/* An announcement is followed by its answer; one without is a call of unknown outcome. */
static bool is_answered(const struct record *announcement, const struct record *next) {
    return next && next->kind == RECORD_SETTLED && next->before == announcement->before &&
           next->verb == announcement->verb && next->client == announcement->client;
}

static void finish(const struct ledger *ledger, struct story *story) {
    if (!story->claim || story->ended)
        return;
    shorten(story, story->promised_until - CLOCK_SLACK_US);
    const struct record *crash = crash_after(ledger, story->claim);
    if (crash)
        shorten(story, crash->before);
}

bool story_next(const struct ledger *ledger, size_t *first, size_t end, struct story *ret_story) {
    while (*first < end && ledger->acts[*first].epoch == 0)
        ++*first; /* cancellations belong to no lease */
    if (*first >= end)
        return false;
    struct story story = {.work_id = ledger->acts[*first].work_id, .epoch = ledger->acts[*first].epoch};
    for (; *first < end && ledger->acts[*first].epoch == story.epoch; ++*first) {
        const struct record *act = &ledger->acts[*first];
        const struct record *next = *first + 1 < end && act[1].epoch == story.epoch ? act + 1 : NULL;
        if (act->kind == RECORD_CLAIMED)
            begin(ledger, &story, act);
        else if (act->kind == RECORD_SETTLED || !is_answered(act, next))
            hear_call(&story, act);
    }
    finish(ledger, &story);
    *ret_story = story;
    return true;
}
