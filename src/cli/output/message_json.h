/* Messages, attempts and other answers of the library as JSON objects with the names of the
 * views. Each function returns a new object; NULL = out of memory. */
#ifndef BOXCAR_CLI_OUTPUT_MESSAGE_JSON_H
#define BOXCAR_CLI_OUTPUT_MESSAGE_JSON_H

#include <boxcar.h>
#include <jansson.h>

enum message_part { MESSAGE_WITHOUT_PAYLOAD, MESSAGE_WITH_PAYLOAD };

json_t *message_json(const boxcar_message *message, enum message_part part);
json_t *attempt_list_json(const boxcar_attempt_list *list);
json_t *enqueued_json(const boxcar_enqueued *enqueued);

/* Values; absent ones become null. */
json_t *json_from_message_id(boxcar_message_id id);
json_t *json_from_owner(boxcar_owner owner);
json_t *json_from_number(int64_t number); /* one that starts at 1: 0 means none */
json_t *json_from_time(boxcar_time time);

/* Sets a field and takes `value` over; a NULL value (out of memory) makes it false. */
bool json_put(json_t *object, const char *name, json_t *value);
/* A text; an absent one becomes null. One that is not UTF-8, which only other programs write, is shown with
 * \xNN for its bytes, and the field JSON_DAMAGED of the object has the names of all such fields. */
#define JSON_DAMAGED "damaged"
bool json_put_text(json_t *object, const char *name, boxcar_str text);
/* The same for the text of a JSON object, which is put as that object. */
bool json_put_headers(json_t *object, const char *name, boxcar_str headers);
/* `object` when `good`, else NULL, releasing it. */
json_t *json_finish(json_t *object, bool good);

#endif
