/* Values never change their size while the SONAME stays (decision 42). Compiled against the headers of
 * tests/abi/headers and against today's. */
#include <boxcar/inspect.h>
#include <boxcar/log.h>
#include <boxcar/types.h>

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
