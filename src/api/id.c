/* New ids. The rest of the id functions are pure and live in core/text.c. */
#include <string.h>

#include "base/uuid.h"
#include "boxcar/types.h"

/* Without randomness the ids stay nil, which every call that takes one refuses. */
static void new_uuid(uint8_t ret_uuid[16]) {
    uint8_t uuid[1][16] = {{0}};

    if (!uuid_new_v7(uuid, 1))
        memset(uuid, 0, sizeof(uuid));
    memcpy(ret_uuid, uuid[0], sizeof(uuid[0]));
}

boxcar_message_id boxcar_message_id_new(void) {
    boxcar_message_id id;

    new_uuid(id.bytes);
    return id;
}

boxcar_owner boxcar_owner_new(void) {
    boxcar_owner owner;

    new_uuid(owner.bytes);
    return owner;
}

boxcar_join_id boxcar_join_id_new(void) {
    boxcar_join_id id;

    new_uuid(id.bytes);
    return id;
}
