#include "backoff.h"

#include "base/options.h"
#include "boxcar/message.h"
#include "topic.h"

static double clamp(double value, double low, double high) {
    if (!(value > low)) /* NaN as well */
        return low;
    return value < high ? value : high;
}

/* factor^exponent by squaring: at most 31 steps, whatever the number of attempts. */
static double power(double factor, int exponent) {
    double result = 1.0;

    for (; exponent > 0; exponent >>= 1) {
        if (exponent & 1)
            result *= factor;
        factor *= factor;
    }
    return result;
}

static int64_t without_jitter(const boxcar_backoff_curve *curve, int attempts) {
    int64_t cap = curve->cap_ms > 0 ? curve->cap_ms : 0;
    double factor = curve->factor > 1.0 ? curve->factor : 1.0;

    if (curve->base_ms <= 0)
        return 0;
    double delay = (double)curve->base_ms * power(factor, attempts);
    return delay < (double)cap ? (int64_t)delay : cap;
}

int64_t backoff_curve_delay_ms(const boxcar_backoff_curve *curve, int attempts, double chance) {
    int64_t delay = without_jitter(curve, attempts);
    double share = clamp(curve->jitter, 0.0, 1.0) * clamp(chance, 0.0, 1.0);
    double less = (double)delay * share;

    return less < (double)delay ? delay - (int64_t)less : 0;
}

static const boxcar_backoff_curve *choose_curve(const boxcar_backoff_policy *policy, boxcar_str topic) {
    ptrdiff_t best = -1;

    if (policy->topic_count > 0)
        best = topic_best_match(&policy->topics->topic, policy->topic_count, sizeof(*policy->topics), topic);
    return best < 0 ? &policy->curve : &policy->topics[best].curve;
}

int64_t boxcar_backoff_delay_ms(const boxcar_backoff_policy *policy, const boxcar_message *message,
                                double chance) {
    boxcar_backoff_policy whole = BOXCAR_BACKOFF_POLICY_INIT;
    int attempts = message->retry_count < INT32_MAX ? message->retry_count + 1 : INT32_MAX;
    int64_t delay;

    if (policy)
        options_read(&whole, sizeof(whole), policy, "policy", NULL);
    if (whole.decide)
        delay = whole.decide(whole.decide_context, message, attempts);
    else
        delay = backoff_curve_delay_ms(choose_curve(&whole, message->topic), attempts, chance);
    if (delay < 0)
        return 0;
    return delay < BOXCAR_DELAY_MS_MAX ? delay : BOXCAR_DELAY_MS_MAX;
}
