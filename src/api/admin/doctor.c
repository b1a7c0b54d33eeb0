#include <stdlib.h>

#include "api/check.h"
#include "boxcar/doctor.h"
#include "core/limits.h"
#include "store/store.h"

size_t boxcar_finding_list_count(const boxcar_finding_list *list) { return list ? list->count : 0; }

const boxcar_finding *boxcar_finding_list_get(const boxcar_finding_list *list, size_t i) {
    return i < boxcar_finding_list_count(list) ? &list->items[i] : NULL;
}

void boxcar_finding_list_free(boxcar_finding_list *list) {
    if (!list)
        return;
    arena_release(&list->arena);
    free(list);
}

boxcar_status boxcar_diagnose(boxcar_store *store, boxcar_box box, boxcar_finding_list **ret_list,
                              boxcar_error *err) {
    boxcar_status status = check_given(store, "store", err);

    if (status == BOXCAR_OK)
        status = check_given(ret_list, "ret_list", err);
    if (status == BOXCAR_OK)
        status = limits_check_box(box, err);
    return status == BOXCAR_OK ? store->ops->diagnose(store, box, true, ret_list, err) : status;
}
