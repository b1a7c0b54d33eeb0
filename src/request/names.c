#include "boxcar/coordinator.h"

static const char *const STRATEGIES[] = {
    [BOXCAR_STRATEGY_IMMEDIATE] = "immediate",
    [BOXCAR_STRATEGY_SCOPED] = "scoped",
    [BOXCAR_STRATEGY_INTERVAL] = "interval",
    [BOXCAR_STRATEGY_SIZE] = "size",
};

static const char *const SETTLE_KINDS[BOXCAR_SETTLE_KINDS] = {
    [BOXCAR_ACK] = "ack",       [BOXCAR_ABANDON] = "abandon", [BOXCAR_DEFER] = "defer",
    [BOXCAR_FAIL] = "fail",     [BOXCAR_RESOLVE] = "resolve", [BOXCAR_RENEW] = "renew",
    [BOXCAR_RECORD] = "record",
};

static const char *const OUTCOMES[] = {
    [BOXCAR_OUTCOME_ENQUEUED] = "enqueued", [BOXCAR_OUTCOME_DUPLICATE] = "duplicate",
    [BOXCAR_OUTCOME_SETTLED] = "settled",   [BOXCAR_OUTCOME_LOST] = "lost",
    [BOXCAR_OUTCOME_REFUSED] = "refused",
};

#define NAME_OF(table, i) ((unsigned)(i) < sizeof(table) / sizeof((table)[0]) ? (table)[i] : "?")

const char *boxcar_strategy_name(boxcar_strategy strategy) { return NAME_OF(STRATEGIES, strategy); }
const char *boxcar_settle_kind_name(boxcar_settle_kind kind) { return NAME_OF(SETTLE_KINDS, kind); }
const char *boxcar_outcome_name(boxcar_outcome outcome) { return NAME_OF(OUTCOMES, outcome); }
