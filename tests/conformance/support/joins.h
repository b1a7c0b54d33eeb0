/* The steps that the tests of joins are made of. As in actions.h the call itself must succeed, and
 * what it returns is for the test to judge. Messages that are steps have the topic STEP. */
#ifndef BOXCAR_TESTS_JOINS_H
#define BOXCAR_TESTS_JOINS_H

#include "conformance.h"
#include "core/wait.h"

#define STEP "step"
#define WAIT "join.wait"

/* Start and fill. */
boxcar_new_join new_join(int64_t expected_steps);
boxcar_join_id start_this(struct fixture *f, const boxcar_new_join *join);
boxcar_join_id start_join(struct fixture *f, int64_t expected_steps);
boxcar_join_id unknown_join(void); /* an id that no join has */
boxcar_attached attach(struct fixture *f, boxcar_join_id join_id, boxcar_message_id message_id);
/* A message that is enqueued as a member of the join; the second form also leases it to f->owner. */
boxcar_enqueued enqueue_step(struct fixture *f, boxcar_join_id join_id);
struct taken take_step(struct fixture *f, boxcar_join_id join_id);
/* `count` (at most 100) members in one call, leased to f->owner by one claim, by work id. */
void take_steps(struct fixture *f, boxcar_join_id join_id, struct taken *ret_taken, size_t count);
/* A message that has ended, whatever else is in the store. */
boxcar_enqueued enqueue_ended(struct fixture *f, bool failed);
/* Leases the oldest message of this topic, which is this one. */
struct taken take_topic(struct fixture *f, boxcar_owner owner, const char *topic, boxcar_work_id wanted);
/* Acks, or buries, all of these (at most 100) in one call; they are all affected. */
void settle_all(struct fixture *f, boxcar_settle_kind how, const struct taken *taken, size_t count);
boxcar_status cancel_message(struct fixture *f, boxcar_work_id work_id);

/* By hand. True = counted. */
bool report(struct fixture *f, boxcar_join_id join_id, boxcar_message_id message_id,
            boxcar_member_status outcome);

/* Waits. This one wants the topic "completed" with the payload "yes", or "failed" with "no". */
boxcar_new_wait new_wait(boxcar_join_id join_id);
boxcar_enqueued enqueue_this_wait(struct fixture *f, const boxcar_new_wait *wait);
boxcar_enqueued enqueue_wait(struct fixture *f, boxcar_join_id join_id);
/* Evaluates a wait that f->owner holds, as a worker does, through this store. */
enum wait_outcome resolve_in(struct fixture *f, boxcar_store *store, struct taken taken);
enum wait_outcome resolve(struct fixture *f, struct taken taken);
/* Leases the wait and evaluates it, unless the end of its join has done that. */
enum wait_outcome evaluate(struct fixture *f, boxcar_enqueued wait);

/* Look. Texts of a join are gone with the list they came from: join_of() leaves them out. */
boxcar_join join_of(struct fixture *f, boxcar_join_id join_id);
void assert_join(struct fixture *f, boxcar_join_id join_id, boxcar_join_status status, int64_t completed,
                 int64_t failed);
void assert_timed_out(struct fixture *f, boxcar_join_id join_id, int64_t completed, int64_t failed);
void assert_no_join(struct fixture *f, boxcar_join_id join_id);
boxcar_join_member member_of(struct fixture *f, boxcar_join_id join_id, boxcar_message_id message_id);
void assert_member(struct fixture *f, boxcar_join_id join_id, boxcar_message_id message_id,
                   boxcar_member_status wanted);
size_t count_members(struct fixture *f, boxcar_join_id join_id, boxcar_member_status status);
/* Every number of the join agrees with every other, and with its members (JOIN-023, JOIN-040). */
void assert_consistent(struct fixture *f, boxcar_join_id join_id);
boxcar_time available_at_of(struct fixture *f, boxcar_work_id work_id);
bool is_enqueued(struct fixture *f, boxcar_message_id message_id);
/* The continuation of a wait is there, and says this. */
void assert_continuation(struct fixture *f, boxcar_enqueued wait, const char *topic, const char *payload);
void assert_no_continuation(struct fixture *f, boxcar_enqueued wait);

/* All upkeep there is to do, in as many rounds as it takes. */
boxcar_maintenance maintain_joins(struct fixture *f);

/* The deadlines of all joins that have one have just passed, or come within a tenth of a second. */
void make_overdue(struct fixture *f);
void make_due_soon(struct fixture *f);

#endif
