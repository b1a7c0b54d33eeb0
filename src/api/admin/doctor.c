#include <stdlib.h>

#include "api/check.h"
#include "boxcar/doctor.h"
#include "core/limits/limits.h"
#include "store/store.h"

boxcar_status boxcar_doctor_run(boxcar_store *store, boxcar_box box, boxcar_finding_list **ret_list,
                                boxcar_error *err) {
    struct finding_rows *rows = NULL;
    boxcar_status status = check_given(store, "store", err);

    if (status == BOXCAR_OK)
        status = check_given(ret_list, "ret_list", err);
    if (status == BOXCAR_OK)
        status = limits_check_box(box, err);
    if (status == BOXCAR_OK)
        status = store->ops->diagnose(store, box, true, &rows, err);
    return status == BOXCAR_OK ? LIST_GIVE(rows, ret_list, err) : status;
}
