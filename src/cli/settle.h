/* What ack, abandon, defer, fail and renew have in common. */
#ifndef BOXCAR_CLI_SETTLE_H
#define BOXCAR_CLI_SETTLE_H

#include "cli.h"
#include "options.h"

/* The library's call, all five in one shape; lease_ms counts for renew only. */
typedef boxcar_status settle_fn(boxcar_store *store, boxcar_box box, boxcar_owner owner,
                                const boxcar_settlement *settlements, size_t count, int64_t lease_ms,
                                boxcar_work_id *ret_affected, size_t *ret_affected_count, boxcar_error *err);

/* What the command was given, as typed; NULL where it has no such option. */
struct settle_given {
    const char *owner;
    const char *box;
    const char *delay;
    const char *error;
    const char *lease;
};

int settle_run(struct cli *cli, settle_fn *settle, const struct settle_given *given, const char *const *args);

#define SETTLE_OPTION_OWNER(given) \
    { "owner", 0, POPT_ARG_STRING, &(given).owner, 0, "who holds the lease", "UUID" }
#define SETTLE_OUTPUT \
    "Prints the work ids that were affected, one a line; with -o json an array of numbers, with\n" \
    "-o jsonl {\"work_id\": N} a line. An id that is not leased to this owner, or under another\n" \
    "epoch, is passed over: exit status 0 also when none was affected.\n"

#endif
