/* Subscriptions: which of them stand still, and which keep messages from being removed. */
#include "checkup.h"

#define LAG_WARNING_SECONDS (24 * 3600)

static const char *plural(int64_t count) { return count == 1 ? "" : "s"; }

static bool is_far_behind(const boxcar_subscription *subscription) {
    return subscription->held_messages > 0 && subscription->lag_seconds > LAG_WARNING_SECONDS;
}

static void append_held(struct buf *text, const boxcar_subscription *subscription) {
    if (subscription->held_messages > 0)
        buf_append_format(text, "; %lld message%s kept only for it", (long long)subscription->held_messages,
                          subscription->held_messages == 1 ? " is" : "s are");
}

static void append_state(struct buf *text, const boxcar_subscription *subscription) {
    buf_append_format(text, "\"%.*s\" %s: %lld message%s ahead", FINDING_TEXT(subscription->name),
                      subscription->paused_at == BOXCAR_TIME_NONE ? "runs" : "is paused",
                      (long long)subscription->ready, plural(subscription->ready));
    if (subscription->lag_seconds > 0)
        buf_append_format(text, ", the oldest unfinished one stored %s ago",
                          CHECKUP_AGE(subscription->lag_seconds));
    append_held(text, subscription);
}

static void add_remedy(struct findings *findings, const boxcar_subscription *subscription) {
    if (subscription->paused_at != BOXCAR_TIME_NONE)
        findings_remedy(findings, "boxcar subscription resume, or boxcar subscription rm");
    else if (is_far_behind(subscription))
        findings_remedy(findings, "run boxcar worker --subscription for it; boxcar subscription change "
                                  "--max-lag lets it lose its oldest messages; boxcar subscription rm "
                                  "removes it");
}

static void judge(struct findings *findings, const boxcar_subscription *subscription) {
    AUTO_BUF struct buf text = BUF_INIT;
    boxcar_severity severity = is_far_behind(subscription)                   ? BOXCAR_SEVERITY_WARNING
                               : subscription->paused_at != BOXCAR_TIME_NONE ? BOXCAR_SEVERITY_NOTE
                                                                             : BOXCAR_SEVERITY_OK;

    append_state(&text, subscription);
    findings_add_text(findings, "subscriptions", severity, &text);
    add_remedy(findings, subscription);
}

void checkup_subscriptions(struct findings *findings, boxcar_box box, const struct subscription_rows *rows) {
    for (size_t i = 0; i < rows->count; i++)
        if (rows->items[i].box == box)
            judge(findings, &rows->items[i]);
}
