/* Policies: subscriptions with destinations that belong together. */
#ifndef BOXCAR_STORE_SQLITE_SUBSCRIPTION_POLICY_H
#define BOXCAR_STORE_SQLITE_SUBSCRIPTION_POLICY_H

#include "store/sqlite/state.h"

/* *ret_number: one of its subscriptions. */
boxcar_status sqlite_policy_add(struct sqlite_store *store, const boxcar_new_fanout *policy,
                                int64_t *ret_number, boxcar_error *err);
/* The numbers of its subscriptions, in the scratch arena. BOXCAR_E_NOT_FOUND: there is no such policy. */
boxcar_status sqlite_policy_numbers(struct sqlite_store *store, boxcar_str name, int64_t **ret_numbers,
                                    size_t *ret_count, boxcar_error *err);
/* BOXCAR_E_CONFLICT: it is one of a policy. */
boxcar_status sqlite_policy_check_free(struct sqlite_store *store, int64_t number, boxcar_error *err);
/* The destinations of the reader with that name, of its row. BOXCAR_E_STORE: they are damaged. */
boxcar_status sqlite_destinations_parse(struct sqlite_store *store, struct query *row, int column,
                                        boxcar_str name, struct arena *arena, boxcar_str **ret_destinations,
                                        size_t *ret_count, boxcar_error *err);

#endif
