/* What people look at: messages, attempts, figures, instances and what the doctor finds. */
#include <string.h>

#include "api/check.h"
#include "base/options.h"
#include "base/uuid.h"
#include "store/checkup.h"
#include "store/store.h"

boxcar_status boxcar_message_find(boxcar_store *store, boxcar_box box, boxcar_message_ref ref,
                                  boxcar_message_list **ret_list, boxcar_error *err) {
    const struct message_choice choice = {.box = box, .ref = ref};
    struct message_rows *rows;

    TRY(check_read(store, ret_list, err));
    TRY(limits_check_reader(box, "box", err));
    TRY(limits_check_ref(ref, "ref", err));
    TRY(message_rows_read(store, &choice, &rows, err));
    return LIST_GIVE(rows, ret_list, err);
}

boxcar_status boxcar_message_page(boxcar_store *store, const boxcar_message_filter *options,
                                  boxcar_message_list **ret_list, boxcar_error *err) {
    boxcar_message_filter checked = BOXCAR_MESSAGE_FILTER_INIT;
    const struct message_choice choice = {.filter = &checked};
    struct message_rows *rows;

    TRY(check_read(store, ret_list, err));
    TRY(options_read(&checked, sizeof(checked), options, "options", err));
    TRY(limits_check_list(&checked, err));
    TRY(message_rows_read(store, &choice, &rows, err));
    return LIST_GIVE(rows, ret_list, err);
}

boxcar_status boxcar_attempt_read(boxcar_store *store, boxcar_work_id work_id, boxcar_attempt_list **ret_list,
                                  boxcar_error *err) {
    struct attempt_rows *rows;

    TRY(check_read(store, ret_list, err));
    if (work_id.value < 1)
        return error_invalid(err, "work_id", "work_id is out of range: work ids begin at 1");
    TRY(store->ops->attempts(store, BOXCAR_OUTBOX, work_id, &rows, err));
    return LIST_GIVE(rows, ret_list, err);
}

boxcar_status boxcar_stats_read(boxcar_store *store, boxcar_box box, bool by_topic,
                                boxcar_stats_list **ret_list, boxcar_error *err) {
    struct stats_rows *rows;

    TRY(check_read(store, ret_list, err));
    TRY(limits_check_reader(box, "box", err));
    TRY(store->ops->stats(store, box, by_topic, &rows, err));
    return LIST_GIVE(rows, ret_list, err);
}

/* Main readers are told what else reads their box. Where that cannot be seen, the rest still counts. */
static boxcar_status add_subscriptions(boxcar_store *store, boxcar_box box, struct finding_rows **list,
                                       boxcar_error *err) {
    static const char *const CHECKS[] = {"subscriptions", NULL};
    struct findings findings = {.list = *list, .capacity = (*list)->count};
    boxcar_error why = BOXCAR_ERROR_INIT;
    struct subscription_rows *rows;

    boxcar_status status =
        store->ops->subscription_read(store, &(struct subscription_choice){0}, &rows, &why);
    if (status == BOXCAR_OK) {
        checkup_subscriptions(&findings, box, rows);
        list_free(rows);
    } else {
        findings_add_unchecked(&findings, CHECKS, why.message, "boxcar subscription ls may tell more");
    }
    if (status != BOXCAR_E_NO_MEMORY)
        return findings_end(&findings, BOXCAR_OK, list, err);
    (void)findings_end(&findings, status, list, err);
    return error_no_memory(err);
}

boxcar_status boxcar_doctor_run(boxcar_store *store, boxcar_box box, boxcar_finding_list **ret_list,
                                boxcar_error *err) {
    struct finding_rows *rows;

    TRY(check_read(store, ret_list, err));
    TRY(limits_check_reader(box, "box", err));
    TRY(store->ops->diagnose(store, box, true, &rows, err));
    if (box <= BOXCAR_INBOX)
        TRY(add_subscriptions(store, box, &rows, err));
    return LIST_GIVE(rows, ret_list, err);
}

/* ---- instances ---- */

boxcar_status boxcar_instance_read(boxcar_store *store, boxcar_instance_list **ret_list, boxcar_error *err) {
    struct instance_rows *rows;

    TRY(check_read(store, ret_list, err));
    TRY(store->ops->instances(store, &rows, err));
    return LIST_GIVE(rows, ret_list, err);
}

bool boxcar_instance_is(const boxcar_instance *instance, boxcar_owner owner) {
    char text[BOXCAR_UUID_TEXT_SIZE];
    boxcar_owner veiled;

    boxcar_uuid_format(owner.uuid, text);
    uuid_derive("boxcar:owner:", boxcar_str_of(text), veiled.uuid.bytes); /* as _veil in sql/postgres */
    return memcmp(&instance->owner, &owner, sizeof(owner)) == 0 ||
           memcmp(&instance->owner, &veiled, sizeof(veiled)) == 0;
}
