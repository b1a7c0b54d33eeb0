/* Both boxes at once. As in actions.h the call must succeed, and what it returns is for the test to judge. */
#ifndef BOXCAR_TESTS_BOXES_H
#define BOXCAR_TESTS_BOXES_H

#include "conformance.h"

#define BOXES BOXCAR_BOXES

/* Puts a message into a box, with a new key into the inbox; its stream may be NULL. */
boxcar_work_id put_into(struct fixture *f, boxcar_box box, const char *topic, const char *payload,
                        const char *stream);
/* Of a message of the inbox that comes from "bank" with this id, which is borrowed. */
void come_from(boxcar_new_message *message, const char *id);
/* Claims exactly this message, the only one that can be had, from the box. */
struct taken take_from(struct fixture *f, boxcar_box box, boxcar_owner owner, boxcar_work_id wanted);
boxcar_message_status status_in(struct fixture *f, boxcar_box box, boxcar_work_id work_id);

/* A request with a part for each box. The caller frees the answer. */
struct batch {
    boxcar_request request;
    boxcar_request_part parts[BOXES];
};
struct batch batch_for(boxcar_owner owner);
boxcar_result *send_batch(struct fixture *f, struct batch *batch);

#endif
