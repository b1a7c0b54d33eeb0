/* Looking at messages: one, a page, a history. Pages of dead letters: admin/dead.c. */
#include "inspect.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "store/postgres/admin/dead.h"
#include "store/postgres/connection/query.h"
#include "store/postgres/statement/choice.h"
#include "store/postgres/statement/params.h"
#include "store/postgres/statement/rows.h"
#include "store/postgres/statement/shape.h"

boxcar_status pg_find(struct boxcar_store *store, boxcar_box box, boxcar_message_ref ref,
                      struct message_rows **ret_list, boxcar_error *err) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;
    PGresult *result;
    boxcar_status status;

    pg_params_int2(&params, box);
    pg_params_ref(&params, ref);
    status = pg_query(pg_store_of(store), PG_FIND, &params, &result, err);
    if (status != BOXCAR_OK)
        return status;
    if (PQntuples(result) == 0) {
        PQclear(result);
        return error_set(err, BOXCAR_E_NOT_FOUND, "no such message in the %s", boxcar_box_name(box));
    }
    return pg_items_into_list(result, ret_list, err);
}

boxcar_status pg_work_ids(struct boxcar_store *store, boxcar_box box, const boxcar_message_id *ids,
                          size_t count, boxcar_work_id *ret_ids, boxcar_error *err) {
    struct pg_store *pg = pg_store_of(store);
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;
    AUTO_ARENA struct arena arena = ARENA_INIT;
    AUTO_RESULT PGresult *result = NULL;
    struct work_id_list found;
    struct buf *array;
    boxcar_status status;

    pg_params_int2(&params, box);
    array = pg_params_array_begin(&params, PG_UUID_ARRAY, count);
    for (size_t i = 0; i < count; i++)
        pg_array_uuid(array, ids[i].uuid.bytes);
    status = pg_query(pg, PG_WORK_IDS, &params, &result, err);
    if (status == BOXCAR_OK)
        status = pg_get_work_ids(result, 0, 0, &arena, &found, err);
    if (status != BOXCAR_OK)
        return status;
    if (found.count != count)
        return pg_malformed(pg, "it has not one work id for each message id", err);
    memcpy(ret_ids, found.items, count * sizeof(*ret_ids));
    return BOXCAR_OK;
}

/* _page knows two more words than there are statuses. */
static boxcar_str status_word(const boxcar_message_filter *options) {
    if (!options->by_status)
        return BOXCAR_NO_STR;
    if (options->readiness == BOXCAR_CLAIMABLE)
        return BOXCAR_STR("claimable");
    if (options->readiness == BOXCAR_WAITING)
        return BOXCAR_STR("waiting");
    return boxcar_str_of(boxcar_message_status_name(options->status));
}

static boxcar_status page(struct boxcar_store *store, const boxcar_message_filter *options,
                          struct message_rows **ret_list, boxcar_error *err) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;
    PGresult *result;
    boxcar_status status;

    pg_params_int2(&params, options->box);
    pg_params_text(&params, status_word(options));
    pg_params_topic(&params, options->topic);
    pg_params_after(&params, options->after);
    pg_params_int4(&params, options->limit);
    status = pg_query(pg_store_of(store), PG_PAGE, &params, &result, err);
    return status == BOXCAR_OK ? pg_items_into_list(result, ret_list, err) : status;
}

boxcar_status pg_message_read(struct boxcar_store *store, const struct message_choice *choice,
                              struct message_rows **ret_list, boxcar_error *err) {
    if (choice->filter)
        return page(store, choice->filter, ret_list, err);
    if (choice->dead)
        return pg_dead_page(store, choice, ret_list, err);
    return pg_find(store, choice->box, choice->ref, ret_list, err);
}

static void read_attempt(const PGresult *r, int row, void *item) {
    boxcar_attempt *attempt = item;

    attempt->at = pg_get_time(r, row, 0);
    attempt->retry_count = pg_get_int4(r, row, 1);
    attempt->outcome = pg_get_text(r, row, 2);
    pg_get_uuid(r, row, 3, attempt->owner.uuid.bytes);
    attempt->epoch.value = pg_get_int8(r, row, 4);
    attempt->error = pg_get_text(r, row, 5);
}

boxcar_status pg_attempts(struct boxcar_store *store, boxcar_work_id work_id, struct attempt_rows **ret_list,
                          boxcar_error *err) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;
    PGresult *result;
    boxcar_status status;

    pg_params_int8(&params, work_id.value);
    status = pg_query(pg_store_of(store), PG_ATTEMPTS, &params, &result, err);
    return status == BOXCAR_OK ? PG_INTO_LIST(result, read_attempt, ret_list, err) : status;
}
