#include "boxcar/version.h"
#include "check.h"
#include "store/open.h"

const char *boxcar_version(void) { return BOXCAR_VERSION; }

int boxcar_schema_version(void) { return STORE_SCHEMA_VERSION; }

boxcar_status boxcar_store_open(const boxcar_store_options *options, boxcar_store **ret_store,
                                boxcar_error *err) {
    TRY(check_given(ret_store, "ret_store", err));
    return store_open(options, ret_store, err);
}

void boxcar_store_close(boxcar_store *store) {
    if (store)
        store->ops->close(store);
}

boxcar_status boxcar_store_deploy(boxcar_store *store, boxcar_error *err) {
    boxcar_deployment deployment = {0};

    TRY(check_given(store, "store", err));
    TRY(store->ops->deploy(store, &deployment, err));
    store->deployment = deployment;
    return BOXCAR_OK;
}

const boxcar_deployment *boxcar_store_deployment(const boxcar_store *store) {
    static const boxcar_deployment none = {0};

    return store ? &store->deployment : &none;
}

const char *boxcar_store_id(const boxcar_store *store) { return store && store->id ? store->id : ""; }

const char *boxcar_store_kind(const boxcar_store *store) { return store ? store->ops->kind : ""; }
