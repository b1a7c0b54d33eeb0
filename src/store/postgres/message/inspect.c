/* Looking at messages: one, a page, a history. Pages of dead letters: admin/dead.c. */
#include "inspect.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "store/postgres/admin/admin.h"
#include "store/postgres/connection/query.h"

boxcar_status pg_find(struct boxcar_store *store, boxcar_box box, boxcar_message_ref ref,
                      struct message_rows **ret_list, boxcar_error *err) {
    struct message_rows *list;

    TRY(pg_ask_list(pg_store_of(store), PG_FIND, pg_read_message, &list, err, P_INT2(box), P_REF(ref)));
    if (list->count == 0) {
        list_free(list);
        return error_set(err, BOXCAR_E_NOT_FOUND, "no such message in the %s", boxcar_box_name(box));
    }
    *ret_list = list;
    return BOXCAR_OK;
}

bool pg_glance(struct boxcar_store *store, boxcar_box box, boxcar_message_ref ref,
               boxcar_message *ret_message) {
    struct message_rows *list;

    if (pg_find(store, box, ref, &list, NULL) != BOXCAR_OK)
        return false;
    *ret_message = list->items[0];
    list_free(list);
    return true;
}

boxcar_status pg_work_ids(struct boxcar_store *store, boxcar_box box, const boxcar_message_id *ids,
                          size_t count, boxcar_work_id *ret_ids, boxcar_error *err) {
    struct pg_store *pg = pg_store_of(store);
    AUTO_ARENA struct arena arena = ARENA_INIT;
    AUTO_RESULT PGresult *result = NULL;
    struct work_id_list found;

    TRY(pg_ask(pg, PG_WORK_IDS, &result, err, P_INT2(box), P_COLUMN(PG_UUID_ARRAY, ids, count, uuid)));
    TRY(pg_get_work_ids(result, 0, 0, &arena, &found, err));
    if (found.count != count)
        return pg_malformed(pg, "it has not one work id for each message id", err);
    memcpy(ret_ids, found.items, count * sizeof(*ret_ids));
    return BOXCAR_OK;
}

/* _page knows two more words than there are statuses. */
static boxcar_str status_word(const boxcar_message_filter *filter) {
    if (!filter->by_status)
        return BOXCAR_NO_STR;
    if (filter->readiness == BOXCAR_CLAIMABLE)
        return BOXCAR_STR("claimable");
    if (filter->readiness == BOXCAR_WAITING)
        return BOXCAR_STR("waiting");
    return boxcar_str_of(boxcar_message_status_name(filter->status));
}

boxcar_status pg_message_read(struct boxcar_store *store, const struct message_choice *choice,
                              struct message_rows **ret_list, boxcar_error *err) {
    const boxcar_message_filter *filter = choice->filter;

    if (filter)
        return pg_ask_list(pg_store_of(store), PG_PAGE, pg_read_message, ret_list, err, P_INT2(filter->box),
                           P_TEXT(status_word(filter)), P_TOPIC(filter->topic),
                           P_INT8_OR_NULL(filter->after.value), P_INT4(filter->limit));
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

boxcar_status pg_attempts(struct boxcar_store *store, boxcar_box reader, boxcar_work_id work_id,
                          struct attempt_rows **ret_list, boxcar_error *err) {
    if (reader > BOXCAR_INBOX)
        return pg_ask_list(pg_store_of(store), PG_DELIVERY_ATTEMPTS, read_attempt, ret_list, err,
                           P_INT2(reader), P_INT8(work_id.value));
    return pg_ask_list(pg_store_of(store), PG_ATTEMPTS, read_attempt, ret_list, err, P_INT8(work_id.value));
}
