/* Stores as lists and by name, without a worker. */
#include "boxcar/fleet.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/options.h"
#include "check.h"
#include "store/open.h"
#include "worker/discovery/discovery.h"

boxcar_status boxcar_store_identify(boxcar_str url, boxcar_str schema, char *ret_id, size_t size,
                                    boxcar_error *err) {
    AUTO_FREE char *id = NULL;

    TRY(check_given(ret_id, "ret_id", err));
    TRY(store_identify(url, schema, &id, err));
    if (strlen(id) >= size)
        return error_invalid(err, "size", "size is %zu: the identifier has %zu bytes and a NUL", size,
                             strlen(id));
    memcpy(ret_id, id, strlen(id) + 1);
    return BOXCAR_OK;
}

boxcar_status boxcar_discovered_add(boxcar_discovered *list, const boxcar_store_entry *given,
                                    boxcar_error *err) {
    boxcar_store_entry entry = BOXCAR_STORE_ENTRY_INIT;

    TRY(check_given(list, "list", err));
    TRY(options_read(&entry, sizeof(entry), given, "entry", err));
    return discovered_add(list, &entry, err);
}

boxcar_status boxcar_store_discover(const boxcar_fleet_options *options, boxcar_str default_schema,
                                    boxcar_found_store_list **ret_list, boxcar_error *err) {
    struct discovery *discovery;
    struct boxcar_discovered *found;

    TRY(check_given(ret_list, "ret_list", err));
    TRY(limits_check_schema_name(default_schema, err));
    if (!default_schema.data)
        default_schema = BOXCAR_STR(STORE_DEFAULT_SCHEMA);
    TRY(discovery_new(options, default_schema, &discovery, err));
    boxcar_status status = discovery_run(discovery, &found, err);
    discovery_free(discovery);
    return status == BOXCAR_OK ? LIST_GIVE(found, ret_list, err) : status;
}
