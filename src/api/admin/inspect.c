#include "api/check.h"
#include "base/options.h"
#include "core/limits/limits.h"
#include "store/store.h"

static boxcar_status check_store_and_output(const boxcar_store *store, const void *ret_list,
                                            boxcar_error *err) {
    boxcar_status status = check_given(store, "store", err);

    return status == BOXCAR_OK ? check_given(ret_list, "ret_list", err) : status;
}

boxcar_status boxcar_message_find(boxcar_store *store, boxcar_box box, boxcar_message_ref ref,
                                  boxcar_message_list **ret_list, boxcar_error *err) {
    const struct message_choice choice = {.box = box, .ref = ref};
    struct message_rows *list = NULL;
    boxcar_status status = check_store_and_output(store, ret_list, err);

    if (status == BOXCAR_OK)
        status = limits_check_box(box, err);
    if (status == BOXCAR_OK)
        status = limits_check_ref(ref, "ref", err);
    if (status == BOXCAR_OK)
        status = store->ops->message_read(store, &choice, &list, err);
    return status == BOXCAR_OK ? LIST_GIVE(list, ret_list, err) : status;
}

boxcar_status boxcar_message_page(boxcar_store *store, const boxcar_message_filter *options,
                                  boxcar_message_list **ret_list, boxcar_error *err) {
    boxcar_message_filter checked = BOXCAR_MESSAGE_FILTER_INIT;
    const struct message_choice choice = {.filter = &checked};
    struct message_rows *list = NULL;
    boxcar_status status = check_store_and_output(store, ret_list, err);

    if (status == BOXCAR_OK)
        status = options_read(&checked, sizeof(checked), options, "options", err);
    if (status == BOXCAR_OK)
        status = limits_check_list(&checked, err);
    if (status == BOXCAR_OK)
        status = store->ops->message_read(store, &choice, &list, err);
    return status == BOXCAR_OK ? LIST_GIVE(list, ret_list, err) : status;
}

boxcar_status boxcar_attempt_read(boxcar_store *store, boxcar_work_id work_id, boxcar_attempt_list **ret_list,
                                  boxcar_error *err) {
    struct attempt_rows *rows = NULL;
    boxcar_status status = check_store_and_output(store, ret_list, err);

    if (status == BOXCAR_OK && work_id.value < 1)
        status = error_invalid(err, "work_id", "work_id is out of range: work ids begin at 1");
    if (status == BOXCAR_OK)
        status = store->ops->attempts(store, work_id, &rows, err);
    return status == BOXCAR_OK ? LIST_GIVE(rows, ret_list, err) : status;
}

boxcar_status boxcar_stats_read(boxcar_store *store, boxcar_box box, bool by_topic,
                                boxcar_stats_list **ret_list, boxcar_error *err) {
    struct stats_rows *rows = NULL;
    boxcar_status status = check_store_and_output(store, ret_list, err);

    if (status == BOXCAR_OK)
        status = limits_check_box(box, err);
    if (status == BOXCAR_OK)
        status = store->ops->stats(store, box, by_topic, &rows, err);
    return status == BOXCAR_OK ? LIST_GIVE(rows, ret_list, err) : status;
}
