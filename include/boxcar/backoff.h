/* boxcar/backoff.h: how long to wait before the next attempt.
 *
 * The store has a default (settings backoff_base, backoff_factor, backoff_cap,
 * backoff_jitter), used when a message is abandoned with delay BOXCAR_BACKOFF. A program
 * with a policy of its own computes the delay here and passes it to boxcar_settle().
 * Pure functions; any thread. */
#ifndef BOXCAR_BACKOFF_H
#define BOXCAR_BACKOFF_H

#include "message.h"
#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct boxcar_backoff_curve {
    int64_t base_ms; /* delay = min(base * factor^attempts, cap), where attempts is 1 after the first */
    double factor;
    int64_t cap_ms;
    double jitter; /* 0 to 1: the part of the delay that may be cut at random */
} boxcar_backoff_curve;

/* 2 s after the first attempt, then 4 s, 8 s, ... 60 s; no jitter */
#ifdef __cplusplus
#define BOXCAR_BACKOFF_CURVE_INIT (boxcar_backoff_curve{1000, 2.0, 60000, 0.0})
#else
#define BOXCAR_BACKOFF_CURVE_INIT ((boxcar_backoff_curve){1000, 2.0, 60000, 0.0})
#endif

/* A policy: a curve, other curves for some topics (exact or prefix*, longest match wins),
 * or a function that decides by itself. */
typedef struct boxcar_backoff_topic {
    boxcar_str topic;
    boxcar_backoff_curve curve;
} boxcar_backoff_topic;

/* Returns the delay in milliseconds for a message that has ended badly `attempts` times. */
typedef int64_t (*boxcar_backoff_fn)(void *context, const boxcar_message *message, int attempts);

typedef struct boxcar_backoff_policy {
    size_t struct_size;
    boxcar_backoff_curve curve;
    const boxcar_backoff_topic *topics;
    size_t topic_count;
    boxcar_backoff_fn decide; /* NULL = use the curves */
    void *decide_context;
} boxcar_backoff_policy;

#ifdef __cplusplus
#define BOXCAR_BACKOFF_POLICY_INIT (boxcar_backoff_policy{sizeof(boxcar_backoff_policy), \
    {1000, 2.0, 60000, 0.0}, 0, 0, 0, 0})
#else
#define BOXCAR_BACKOFF_POLICY_INIT ((boxcar_backoff_policy){ \
    .struct_size = sizeof(boxcar_backoff_policy), .curve = {1000, 2.0, 60000, 0.0}})
#endif

/* The delay for a claimed message that is about to be abandoned, after its retry_count + 1 bad attempts. `chance` is
 * a number in [0, 1) that the caller draws; it only matters with jitter. Never negative, never above the cap,
 * never overflows. Values of a curve that make no sense (factor below 1, NaN, negative times) are clamped.
 * Use the result as boxcar_settlement.delay_ms. */
BOXCAR_API int64_t boxcar_backoff_delay_ms(const boxcar_backoff_policy *policy,
                                           const boxcar_message *message, double chance);

#ifdef __cplusplus
}
#endif
#endif
