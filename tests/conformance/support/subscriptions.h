/* The steps that tests of subscriptions are made of, in addition to actions.h and streams.h. A reader is the
 * number of a subscription, or a box for its main reader. */
#ifndef BOXCAR_TESTS_SUBSCRIPTIONS_H
#define BOXCAR_TESTS_SUBSCRIPTIONS_H

#include "boxcar/subscription.h"
#include "conformance.h"
#include "streams.h"

/* Of the outbox, from the end, with this one pattern, which is borrowed. */
boxcar_new_subscription new_subscription(const char *name, const boxcar_str *pattern);
boxcar_box subscribe_this(struct fixture *f, const boxcar_new_subscription *subscription);
boxcar_box subscribe(struct fixture *f, const char *name, const char *pattern);
boxcar_box subscribe_from(struct fixture *f, const char *name, const char *pattern, boxcar_start start);

/* What one claim brings. */
struct batch_taken claim_as(struct fixture *f, boxcar_box reader, boxcar_owner owner, int size);
struct batch_taken claim_as_for(struct fixture *f, boxcar_box reader, boxcar_owner owner, int size,
                                int64_t lease_ms);
/* Claims until a claim comes back empty: exactly these, in this order. All stay leased to f->owner. */
struct batch_taken take_as(struct fixture *f, boxcar_box reader, const boxcar_work_id *ids, size_t count);
struct taken take_one_as(struct fixture *f, boxcar_box reader, boxcar_work_id wanted);
void assert_nothing_for(struct fixture *f, boxcar_box reader);
/* f->owner settles one; true = it was affected. */
bool settle_as(struct fixture *f, boxcar_box reader, boxcar_settle_kind how, struct taken taken);
/* Claims these and acks them. */
void finish_as(struct fixture *f, boxcar_box reader, const boxcar_work_id *ids, size_t count);

/* Look, as the reader sees it. */
void assert_status_as(struct fixture *f, boxcar_box reader, boxcar_work_id work_id,
                      boxcar_message_status wanted);
void assert_unknown_to(struct fixture *f, boxcar_box reader, boxcar_work_id work_id);
boxcar_stats stats_as(struct fixture *f, boxcar_box reader);
/* One subscription; its texts are left out. */
boxcar_subscription subscription_of(struct fixture *f, const char *name);

void pause_subscription(struct fixture *f, const char *name);
void resume_subscription(struct fixture *f, const char *name);
/* How many messages are ahead then. */
int64_t rewind_to(struct fixture *f, const char *name, boxcar_work_id work_id);
int64_t rewind_all(struct fixture *f, const char *name);
/* All upkeep there is to do; the sum of what it did. */
boxcar_maintenance maintain_readers(struct fixture *f);

#endif
