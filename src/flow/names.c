#include "boxcar/coordinator.h"

static const char *const STRATEGIES[] = {
    [BOXCAR_STRATEGY_IMMEDIATE] = "immediate",
    [BOXCAR_STRATEGY_SCOPED] = "scoped",
    [BOXCAR_STRATEGY_INTERVAL] = "interval",
    [BOXCAR_STRATEGY_SIZE] = "size",
};

static const char *const OPERATIONS[] = {
    [BOXCAR_OPERATION_ENQUEUE] = "enqueue", [BOXCAR_OPERATION_ACK] = "ack",
    [BOXCAR_OPERATION_ABANDON] = "abandon", [BOXCAR_OPERATION_DEFER] = "defer",
    [BOXCAR_OPERATION_FAIL] = "fail",       [BOXCAR_OPERATION_RENEW] = "renew",
    [BOXCAR_OPERATION_RECORD] = "record",
};

static const char *const OUTCOMES[] = {
    [BOXCAR_OUTCOME_ENQUEUED] = "enqueued", [BOXCAR_OUTCOME_DUPLICATE] = "duplicate",
    [BOXCAR_OUTCOME_SETTLED] = "settled",   [BOXCAR_OUTCOME_LOST] = "lost",
    [BOXCAR_OUTCOME_REFUSED] = "refused",
};

#define NAME_OF(table, i) ((unsigned)(i) < sizeof(table) / sizeof((table)[0]) ? (table)[i] : "?")

const char *boxcar_strategy_name(boxcar_strategy strategy) { return NAME_OF(STRATEGIES, strategy); }

const char *boxcar_operation_name(boxcar_operation operation) { return NAME_OF(OPERATIONS, operation); }

const char *boxcar_outcome_name(boxcar_outcome outcome) { return NAME_OF(OUTCOMES, outcome); }
