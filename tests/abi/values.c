/* Values never change their size while the SONAME stays (decision 42). Compiled against the headers of
 * tests/abi/headers and against today's. */
#include <boxcar/backoff.h>
#include <boxcar/inbox.h>
#include <boxcar/inspect.h>
#include <boxcar/log.h>
#include <boxcar/request.h>
#include <boxcar/types.h>
#include <boxcar/worker.h>

#define HAS_SIZE(type, size) _Static_assert(sizeof(type) == (size), #type)

HAS_SIZE(boxcar_str, sizeof(char *) + sizeof(size_t));
HAS_SIZE(boxcar_uuid, 16);
HAS_SIZE(boxcar_message_id, 16);
HAS_SIZE(boxcar_owner, 16);
HAS_SIZE(boxcar_join_id, 16);
HAS_SIZE(boxcar_event_id, 16);
HAS_SIZE(boxcar_work_id, 8);
HAS_SIZE(boxcar_epoch, 8);
HAS_SIZE(boxcar_time, 8);
HAS_SIZE(boxcar_message_ref, 24);
HAS_SIZE(boxcar_enqueued, 32);
HAS_SIZE(boxcar_error, 592);
HAS_SIZE(boxcar_log_field, sizeof(char *) + sizeof(boxcar_str));
HAS_SIZE(boxcar_inbox_key, 2 * sizeof(boxcar_str));
HAS_SIZE(boxcar_backoff_curve, 32);
HAS_SIZE(boxcar_backoff_topic, sizeof(boxcar_str) + 32);

/* Neither do arrays in the middle of structs: more ways to settle come at the end of theirs. */
_Static_assert(BOXCAR_SETTLE_KINDS <= BOXCAR_SETTLE_MAX, "room for every way to settle");
HAS_SIZE(((boxcar_request_part *)0)->settle, 16 * sizeof(boxcar_settlement_list));
HAS_SIZE(((boxcar_result *)0)->settled, 2 * 16 * sizeof(boxcar_work_id_list));
HAS_SIZE(((boxcar_request *)0)->messages, 2 * sizeof(boxcar_new_message_list));
HAS_SIZE(((boxcar_handler_stats *)0)->buckets, 15 * sizeof(int64_t));
