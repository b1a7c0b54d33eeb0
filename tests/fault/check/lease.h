/* One lease of a message, as its holder wrote it down. */
#ifndef BOXCAR_TESTS_LEASE_H
#define BOXCAR_TESTS_LEASE_H

#include "ledger.h"

/* Clocks of the database and of ours may drift apart by this much within a lease. */
#define CLOCK_SLACK_US 20000
/* A claim need not survive a crash of the server that comes this soon after it. */
#define CLAIM_FLUSH_US 5000000

struct lease {
    int64_t work_id;
    int64_t epoch;
    const struct record *claim; /* NULL: nobody lived to write it down */
    /* The holder certainly held the message from `from` to `to`; from >= to: never for sure. */
    int64_t from;
    int64_t to;
    int64_t promised_until; /* as far as the leases granted reached at least */
    bool may_be_lost;       /* the claim was followed by a crash too soon */
    bool unknown;           /* a call that may have ended it got no answer */
    bool passed_over;       /* a call found that it had ended */
    bool ended;             /* by the holder, for sure */
    enum verb verb;         /* how, when ended; or how perhaps, when unknown */
    const struct record *end;
    const char *offence; /* something in it cannot be */
    int64_t offence_at;
};

/* Reads the lease that begins at act *first of one work id, whose acts end at `end`; moves *first
 * to the next lease. False: there is none left. */
bool lease_next(const struct ledger *ledger, size_t *first, size_t end, struct lease *ret_lease);

#endif
