/* The steps that conformance tests are made of. All of them assert that the call itself
 * succeeded (the message of the error is shown otherwise), so main thread only; what they return
 * is for the test to judge. Lists are the caller's to free. */
#ifndef BOXCAR_TESTS_ACTIONS_H
#define BOXCAR_TESTS_ACTIONS_H

#include "fixture.h"

#define ASSERT_OK(f, call)                                                                                   \
    do {                                                                                                     \
        boxcar_status status_ = (call);                                                                      \
        if (status_ != BOXCAR_OK)                                                                            \
            fail_msg("%s: %s (%s)", #call, (f)->err.message, boxcar_status_name(status_));                   \
    } while (0)

/* The call fails in just this way, and says so in the error struct too. */
#define ASSERT_FAILS(f, wanted, call)                                                                        \
    do {                                                                                                     \
        (f)->err = BOXCAR_ERROR_INIT;                                                                        \
        assert_string_equal(boxcar_status_name(call), boxcar_status_name(wanted));                           \
        assert_int_equal((f)->err.status, wanted);                                                           \
        assert_true((f)->err.message[0] != '\0');                                                            \
    } while (0)

/* BOXCAR_E_INVALID, naming the argument. */
#define ASSERT_INVALID(f, wanted_argument, call)                                                             \
    do {                                                                                                     \
        ASSERT_FAILS(f, BOXCAR_E_INVALID, call);                                                             \
        assert_string_equal((f)->err.argument, wanted_argument);                                             \
    } while (0)

void assert_text(boxcar_str actual, const char *wanted);
void assert_absent(boxcar_str actual);
void assert_same_message_id(boxcar_message_id a, boxcar_message_id b);
void assert_same_owner(boxcar_owner a, boxcar_owner b);

/* Enqueue. */
boxcar_new_message new_message(const char *topic, const char *payload);
boxcar_enqueued enqueue_message(struct fixture *f, const boxcar_new_message *message);
boxcar_enqueued enqueue(struct fixture *f, const char *topic, const char *payload);
boxcar_enqueued enqueue_streamed(struct fixture *f, const char *stream, const char *payload);
/* `count` messages in one call; their ids in order. ret_ids may be NULL. */
void enqueue_many(struct fixture *f, const char *topic, size_t count, boxcar_work_id *ret_ids);

/* Claim. The lease is 30 s unless named. */
boxcar_message_list *claim(struct fixture *f, boxcar_owner owner, int batch_size);
boxcar_message_list *claim_for(struct fixture *f, boxcar_owner owner, int batch_size, int64_t lease_ms);
boxcar_message_list *claim_topic(struct fixture *f, boxcar_owner owner, int batch_size, const char *topic);
/* Claims again and again, for some seconds at most, until something comes. */
boxcar_message_list *claim_wait(struct fixture *f, boxcar_owner owner, int batch_size, int64_t lease_ms);
/* Exactly nothing is claimable. */
void assert_nothing_claimable(struct fixture *f);

/* One claimed message, small enough to keep. */
struct taken {
    boxcar_work_id work_id;
    boxcar_epoch epoch;
    int retry_count, crash_count;
};
/* Claims exactly one message and asserts that it is this one. */
struct taken take(struct fixture *f, boxcar_owner owner, boxcar_work_id wanted);
struct taken take_for(struct fixture *f, boxcar_owner owner, boxcar_work_id wanted, int64_t lease_ms);
/* The same, waiting until it can be had. */
struct taken take_wait(struct fixture *f, boxcar_owner owner, boxcar_work_id wanted, int64_t lease_ms);
/* Claims until a claim comes back empty (suspects come one at a time) or `max` are taken. */
size_t take_all(struct fixture *f, boxcar_owner owner, int64_t lease_ms, struct taken *ret_taken, size_t max);

/* Settle one; true = it was affected. */
boxcar_settlement settlement_of(struct taken taken);
bool settle_in_box(struct fixture *f, boxcar_box box, boxcar_settle_kind how, boxcar_owner owner,
                   const boxcar_settlement *settlement);
bool settle(struct fixture *f, boxcar_settle_kind how, boxcar_owner owner,
            const boxcar_settlement *settlement);
bool ack(struct fixture *f, boxcar_owner owner, struct taken taken);
bool abandon(struct fixture *f, boxcar_owner owner, struct taken taken, int64_t delay_ms);
bool defer(struct fixture *f, boxcar_owner owner, struct taken taken, int64_t delay_ms);
bool bury(struct fixture *f, boxcar_owner owner, struct taken taken, const char *error);
bool renew(struct fixture *f, boxcar_owner owner, struct taken taken, int64_t lease_ms);
int64_t reap(struct fixture *f);
/* Reaps, for some seconds at most, until `count` messages were released. */
void reap_wait(struct fixture *f, int64_t count);

/* Look. find() returns a list of one; look() its only message. */
boxcar_message_list *find(struct fixture *f, boxcar_work_id work_id);
const boxcar_message *look(const boxcar_message_list *list);
void assert_status(struct fixture *f, boxcar_work_id work_id, boxcar_message_status wanted);
void assert_dead(struct fixture *f, boxcar_work_id work_id, boxcar_reason reason);
int retry_count_of(struct fixture *f, boxcar_work_id work_id);
boxcar_stats stats_of(struct fixture *f); /* the row about all topics */
/* A message that died by fail(). */
boxcar_enqueued enqueue_dead(struct fixture *f, const char *topic, const char *error);
boxcar_enqueued enqueue_done(struct fixture *f, const char *topic);

/* A heartbeat: registers the owner in a box on these topics (none = all). It removes nobody. */
boxcar_status say_alive(boxcar_store *store, boxcar_owner owner, boxcar_box box, const char *host,
                        const boxcar_str *topics, size_t topic_count, boxcar_error *err);

void set_setting(struct fixture *f, const char *name, const char *value);
int64_t audit_lost(struct fixture *f);

/* The clock of the database. wait_out() returns once it is this much further: what was given that long before
 * the call, as a lease or a time to live, has ended then. */
boxcar_time database_now(struct fixture *f);
void wait_out(struct fixture *f, int64_t ms);
/* A pause of a few milliseconds, for loops that wait until something is so. A test that has to let time pass
 * because nothing would show what it waits for says why. */
void pause_ms(int64_t ms);

#endif
