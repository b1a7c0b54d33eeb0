/* What workers ask of a store and the public API does not offer, for tests whose subject is something else.
 * Which other files may ask a store past the public API, and why, is in tests/layers/inside. */
#ifndef BOXCAR_TESTS_SEAM_H
#define BOXCAR_TESTS_SEAM_H

#include <stdatomic.h>

#include "conformance.h"

/* The transaction of a handler. */
boxcar_status seam_begin(boxcar_store *store, boxcar_error *err);
boxcar_status seam_commit(boxcar_store *store, boxcar_error *err);
void seam_roll_back(boxcar_store *store);

/* Buries a message as one that nobody handles; true = it was affected. */
bool seam_fail_unhandled(struct fixture *f, struct taken taken);
/* Whether a worker for these topics (none = all) that drains may stop:
 * boxcar_worker_options.drain_horizon_ms. */
boxcar_status seam_is_drained(boxcar_store *store, boxcar_box box, const boxcar_str *topics, size_t count,
                              int64_t horizon_ms, bool *ret_drained, boxcar_error *err);
/* Sleeps at most so long, until there is work in the outbox if that is awaited. */
void seam_sleep(boxcar_store *store, boxcar_owner owner, bool is_awaited, int64_t longest_ms);
boxcar_status seam_farewell(boxcar_store *store, boxcar_owner owner, boxcar_error *err);

/* From now on a lost connection is reported at once, and no call takes longer than call_ms (0 = as the
 * options say). */
void seam_hurry(boxcar_store *store, int64_t call_ms);
/* A round of upkeep, which may take longer than that until *is_over (NULL = never). */
boxcar_status seam_upkeep(boxcar_store *store, const _Atomic bool *is_over, boxcar_error *err);

#endif
