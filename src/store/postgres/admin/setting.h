/* Settings of the store: the seam. */
#ifndef BOXCAR_STORE_POSTGRES_ADMIN_SETTING_H
#define BOXCAR_STORE_POSTGRES_ADMIN_SETTING_H

#include "store/postgres/state.h"

boxcar_status pg_settings_read(struct boxcar_store *store, struct setting_value_list *ret_list,
                               boxcar_error *err);
boxcar_status pg_setting_write(struct boxcar_store *store, const struct setting_value *value,
                               boxcar_error *err);

#endif
