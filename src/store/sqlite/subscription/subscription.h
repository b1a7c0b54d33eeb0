/* Subscriptions: the seam. */
#ifndef BOXCAR_STORE_SQLITE_SUBSCRIPTION_SUBSCRIPTION_H
#define BOXCAR_STORE_SQLITE_SUBSCRIPTION_SUBSCRIPTION_H

#include "store/sqlite/state.h"

boxcar_status sqlite_subscription_change(struct boxcar_store *store, const struct subscription_change *change,
                                         boxcar_box *ret_reader, int64_t *ret_count, boxcar_error *err);
boxcar_status sqlite_subscription_read(struct boxcar_store *store, const struct subscription_choice *choice,
                                       struct subscription_rows **ret_list, boxcar_error *err);

/* ---- rewind.c ---- */
/* How far a reader of the box has come that starts at this place. `given`: it is to go back there, and the
 * place must not lie before what is kept. */
boxcar_status sqlite_place_find(struct sqlite_store *store, boxcar_box box, const boxcar_place *place,
                                bool given, int64_t *ret_position, boxcar_error *err);
/* Looks ahead of the transaction for where a place is, so that nobody waits for its lock meanwhile. `back`:
 * as `given`. BOXCAR_E_INVALID: a time in the future. */
boxcar_status sqlite_place_survey(struct sqlite_store *store, const boxcar_place *place, bool back,
                                  boxcar_error *err);
/* "end", "beginning", a time, "work id 7". */
#define PLACE_TEXT_SIZE 64
void sqlite_place_format(const boxcar_place *place, char ret_text[PLACE_TEXT_SIZE]);
/* Sends the subscription that was entered back. *ret_count: how many messages are ahead, as far as that is
 * known. */
boxcar_status sqlite_rewind(struct sqlite_store *store, const boxcar_place *place, int64_t *ret_count,
                            boxcar_error *err);
/* Which messages are ahead of it: counted to a limit, then estimated. */
boxcar_status sqlite_unread_count(struct sqlite_store *store, int number, int64_t *ret_count,
                                  boxcar_error *err);

#endif
