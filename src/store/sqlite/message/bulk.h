/* Many messages into the log by one statement. */
#ifndef BOXCAR_STORE_SQLITE_MESSAGE_BULK_H
#define BOXCAR_STORE_SQLITE_MESSAGE_BULK_H

#include "store/sqlite/state.h"

/* Rows that go into the log as they are: nothing is known of them but what the message says. */
struct bulk {
    const boxcar_new_message *messages;
    size_t count;
    boxcar_box box;
    int64_t first_id; /* the work id of the first; the others follow */
    boxcar_time now;
};

/* Makes the messages of a bulk readable as a table, on a connection of our own. */
boxcar_status sqlite_bulk_register(struct sqlite_store *store, boxcar_error *err);
/* *ret_stored false: a message id is there already, and nothing was stored. */
boxcar_status sqlite_bulk_insert(struct sqlite_store *store, const struct bulk *bulk, bool *ret_stored,
                                 boxcar_error *err);

#endif
