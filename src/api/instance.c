#include <stdlib.h>

#include "api/check.h"
#include "store/store.h"

size_t boxcar_instance_list_count(const boxcar_instance_list *list) { return list ? list->count : 0; }

const boxcar_instance *boxcar_instance_list_get(const boxcar_instance_list *list, size_t i) {
    return i < boxcar_instance_list_count(list) ? &list->items[i] : NULL;
}

void boxcar_instance_list_free(boxcar_instance_list *list) {
    if (!list)
        return;
    arena_release(&list->arena);
    free(list);
}

boxcar_status boxcar_instances_read(boxcar_store *store, boxcar_instance_list **ret_list, boxcar_error *err) {
    boxcar_status status = check_given(store, "store", err);

    if (status == BOXCAR_OK)
        status = check_given(ret_list, "ret_list", err);
    return status == BOXCAR_OK ? store->ops->instances(store, ret_list, err) : status;
}
