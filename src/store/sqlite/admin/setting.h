/* Settings of the store, and the limits that they set. */
#ifndef BOXCAR_STORE_SQLITE_ADMIN_SETTING_H
#define BOXCAR_STORE_SQLITE_ADMIN_SETTING_H

#include "store/sqlite/state.h"

/* A number kept among the settings that is none of them. */
#define SQLITE_PARTITIONS_IN_USE "partitions_in_use"

boxcar_status sqlite_settings_read(struct boxcar_store *store, struct setting_value_list *ret_list,
                                   boxcar_error *err);
boxcar_status sqlite_setting_write(struct boxcar_store *store, const struct setting_value *value,
                                   boxcar_error *err);
/* The settings that rule messages; read once a transaction. */
boxcar_status sqlite_settings_load(struct sqlite_store *store, boxcar_error *err);
/* The store must have `count` partitions: it adopts this number, or refuses it. */
boxcar_status sqlite_want_partitions(struct sqlite_store *store, int count, boxcar_error *err);
/* Refuses the metadata of a message that is larger than the settings allow. */
boxcar_status sqlite_check_message_metadata(struct sqlite_store *store, boxcar_str metadata,
                                            boxcar_error *err);
/* The same for a payload and headers. */
boxcar_status sqlite_check_sizes(struct sqlite_store *store, boxcar_str payload, boxcar_str headers,
                                 boxcar_error *err);
/* The same for the metadata of a join, which may be as large as a payload. */
boxcar_status sqlite_check_metadata(struct sqlite_store *store, boxcar_str metadata, boxcar_error *err);

#endif
