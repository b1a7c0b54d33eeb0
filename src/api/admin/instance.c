#include <stdlib.h>
#include <string.h>

#include "api/check.h"
#include "base/uuid.h"
#include "store/store.h"

bool boxcar_instance_is(const boxcar_instance *instance, boxcar_owner owner) {
    char text[BOXCAR_UUID_TEXT_SIZE];
    boxcar_owner veiled;

    if (memcmp(instance->owner.uuid.bytes, owner.uuid.bytes, sizeof(owner.uuid.bytes)) == 0)
        return true;
    boxcar_uuid_format(owner.uuid, text);
    uuid_derive("boxcar:owner:", boxcar_str_of(text), veiled.uuid.bytes); /* as _veil in sql/postgres */
    return memcmp(instance->owner.uuid.bytes, veiled.uuid.bytes, sizeof(veiled.uuid.bytes)) == 0;
}

boxcar_status boxcar_instance_read(boxcar_store *store, boxcar_instance_list **ret_list, boxcar_error *err) {
    struct instance_rows *rows = NULL;
    boxcar_status status = check_given(store, "store", err);

    if (status == BOXCAR_OK)
        status = check_given(ret_list, "ret_list", err);
    if (status == BOXCAR_OK)
        status = store->ops->instances(store, &rows, err);
    return status == BOXCAR_OK ? LIST_GIVE(rows, ret_list, err) : status;
}
