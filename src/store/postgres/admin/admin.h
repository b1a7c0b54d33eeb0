/* Looking after a store: the seam, and parts of it that others use, too. */
#ifndef BOXCAR_STORE_POSTGRES_ADMIN_ADMIN_H
#define BOXCAR_STORE_POSTGRES_ADMIN_ADMIN_H

#include "store/postgres/state.h"
#include "store/postgres/statement/params.h"

/* ---- dead.c ---- */
boxcar_status pg_message_change(struct boxcar_store *store, const struct message_choice *choice,
                                enum message_action action, boxcar_str note,
                                struct message_change *ret_change, boxcar_error *err);
boxcar_status pg_dead_page(struct boxcar_store *store, const struct message_choice *choice,
                           struct message_rows **ret_list, boxcar_error *err);
boxcar_status pg_cancel(struct boxcar_store *store, boxcar_box box, boxcar_message_ref ref,
                        boxcar_error *err);

/* ---- instance.c ---- */
void pg_params_for_instance(struct pg_params *params, const struct instance *instance);
boxcar_status pg_instances(struct boxcar_store *store, struct instance_rows **ret_list, boxcar_error *err);
boxcar_status pg_is_drained(struct boxcar_store *store, boxcar_box box, const boxcar_str *topics,
                            size_t topic_count, boxcar_str wait_topic, int64_t horizon_ms, bool *ret_drained,
                            boxcar_error *err);

/* ---- maintain.c ---- */
boxcar_status pg_maintain(struct boxcar_store *store, enum upkeep_task task, struct upkeep_done *ret_done,
                          boxcar_error *err);
boxcar_status pg_facts(struct boxcar_store *store, struct store_facts *ret_facts, boxcar_error *err);
/* When upkeep ran last. */
boxcar_status pg_upkeep(struct pg_store *pg, boxcar_upkeep *ret_upkeep, boxcar_error *err);

/* ---- setting.c, stats.c, diagnose.c ---- */
boxcar_status pg_settings_read(struct boxcar_store *store, struct setting_value_list *ret_list,
                               boxcar_error *err);
boxcar_status pg_setting_write(struct boxcar_store *store, const struct setting_value *value,
                               boxcar_error *err);
boxcar_status pg_stats(struct boxcar_store *store, boxcar_box box, bool by_topic,
                       struct stats_rows **ret_list, boxcar_error *err);
boxcar_status pg_diagnose(struct boxcar_store *store, boxcar_box box, bool tries_claim,
                          struct finding_rows **ret_list, boxcar_error *err);

#endif
