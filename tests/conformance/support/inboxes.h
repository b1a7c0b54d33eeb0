/* The steps that tests of the inbox are made of; as in actions.h, they assert that the call itself succeeded.
 */
#ifndef BOXCAR_TESTS_INBOXES_H
#define BOXCAR_TESTS_INBOXES_H

#include "conformance.h"

boxcar_inbox_key key_of(const char *source, const char *id);
boxcar_new_message delivery(const char *source, const char *id, const char *payload);
boxcar_enqueued deliver_message(struct fixture *f, const boxcar_new_message *message);
boxcar_enqueued deliver(struct fixture *f, const char *source, const char *id);
boxcar_enqueued deliver_hashed(struct fixture *f, const char *source, const char *id, const char *hash);

bool is_processed(struct fixture *f, const char *source, const char *id);
bool accept_key(struct fixture *f, const char *source, const char *id);

/* What is known about a key; its texts are not kept but for the hash. */
struct receipt {
    boxcar_inbox_receipt is;
    char hash[64]; /* "" = none */
};
struct receipt receipt_of(struct fixture *f, const char *source, const char *id);
void assert_state(struct fixture *f, const char *source, const char *id, boxcar_inbox_state wanted);
void assert_unknown(struct fixture *f, const char *source, const char *id);

/* Claims exactly one message of the inbox, this one; for 30 s. */
struct taken inbox_take(struct fixture *f, boxcar_owner owner, boxcar_work_id wanted);
void assert_inbox_empty(struct fixture *f); /* nothing is claimable */
bool inbox_ack(struct fixture *f, struct taken taken);
bool inbox_bury(struct fixture *f, struct taken taken);
/* One that was acked, or failed. */
boxcar_enqueued deliver_done(struct fixture *f, const char *source, const char *id);
boxcar_enqueued deliver_dead(struct fixture *f, const char *source, const char *id);
boxcar_message_list *inbox_message(struct fixture *f, boxcar_work_id work_id);
void assert_inbox_status(struct fixture *f, boxcar_work_id work_id, boxcar_message_status wanted);

/* As often as there is something to do; the sums. */
boxcar_maintenance maintain_inbox(struct fixture *f);
int64_t count_keys(struct fixture *f);
int64_t count_messages(struct fixture *f);

#endif
