#include "store/open.h"

#include "check.h"

boxcar_status boxcar_store_open(const boxcar_store_options *options, boxcar_store **ret_store,
                                boxcar_error *err) {
    boxcar_status status = check_given(ret_store, "ret_store", err);

    return status == BOXCAR_OK ? store_open(options, ret_store, err) : status;
}

void boxcar_store_close(boxcar_store *store) {
    if (store)
        store->ops->close(store);
}

boxcar_status boxcar_store_deploy(boxcar_store *store, boxcar_error *err) {
    boxcar_deployment deployment = {0};
    boxcar_status status = check_given(store, "store", err);

    if (status == BOXCAR_OK)
        status = store->ops->deploy(store, &deployment, err);
    if (status == BOXCAR_OK)
        store->deployment = deployment;
    return status;
}

const boxcar_deployment *boxcar_store_deployment(const boxcar_store *store) {
    static const boxcar_deployment none = {0};

    return store ? &store->deployment : &none;
}

const char *boxcar_store_id(const boxcar_store *store) { return store && store->id ? store->id : ""; }

const char *boxcar_store_kind(const boxcar_store *store) { return store ? store->ops->kind : ""; }
