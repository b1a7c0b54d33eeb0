#include <inttypes.h>

#include "api/check.h"
#include "base/options.h"
#include "base/utf8.h"
#include "store/store.h"

/* Dead letters handled in one transaction: enough to be fast, too few to be in the way. */
#define CHUNK_SIZE 1000

/* *filter: the defaults. */
static boxcar_status read_filter(const boxcar_dead_filter *given, boxcar_dead_filter *filter,
                                 boxcar_error *err) {
    TRY(options_read(filter, sizeof(*filter), given, "filter", err));
    return limits_check_dead_filter(filter, err);
}

static bool has_condition(const boxcar_dead_filter *filter) {
    return !str_is_absent(filter->topic) || filter->reason != BOXCAR_REASON_NONE ||
           filter->before != BOXCAR_TIME_NONE || filter->ref_count > 0;
}

boxcar_status boxcar_dead_page(boxcar_store *store, const boxcar_dead_filter *filter, int limit,
                               boxcar_work_id after, boxcar_message_list **ret_list, boxcar_error *err) {
    boxcar_dead_filter checked = BOXCAR_DEAD_FILTER_INIT;
    struct message_choice choice = {.dead = &checked, .limit = limit, .after = after};
    struct message_rows *rows;

    TRY(check_read(store, ret_list, err));
    TRY(read_filter(filter, &checked, err));
    TRY(limits_check_page(limit, after, err));
    TRY(message_rows_read(store, &choice, &rows, err));
    return LIST_GIVE(rows, ret_list, err);
}

static boxcar_status act_in_chunks(boxcar_store *store, const boxcar_dead_filter *filter,
                                   enum message_action action, boxcar_str note, int64_t *ret_count,
                                   boxcar_error *err) {
    struct message_choice choice = {.dead = filter, .limit = CHUNK_SIZE};
    struct message_change done;
    int64_t total = 0;

    do {
        TRY(store->ops->message_change(store, &choice, action, note, &done, err));
        total += done.count;
        choice.after = done.oldest;
    } while (choice.after.value > 0);
    *ret_count = total;
    return BOXCAR_OK;
}

static boxcar_status act(boxcar_store *store, const boxcar_dead_filter *filter, enum message_action action,
                         boxcar_str note, int64_t *ret_count, boxcar_error *err) {
    static const char *const events[] = {[MESSAGE_REPLAY] = "replay", [MESSAGE_PURGE] = "purge"};
    boxcar_dead_filter checked = BOXCAR_DEAD_FILTER_INIT;
    int64_t count;

    TRY(check_given(store, "store", err));
    TRY(read_filter(filter, &checked, err));
    if (!has_condition(&checked) && !checked.all)
        return error_invalid(err, "filter", "filter has no condition: give one, or set `all`");
    TRY(limits_check_text(note, "note", SIZE_MAX, err));
    TRY(act_in_chunks(store, &checked, action, utf8_cut(note, BOXCAR_ERROR_TEXT_MAX), &count, err));
    store_log(store, BOXCAR_LOG_INFO, events[action], NULL, 0, "%s: %" PRId64 " dead letters", events[action],
              count);
    if (ret_count)
        *ret_count = count;
    return BOXCAR_OK;
}

boxcar_status boxcar_dead_replay(boxcar_store *store, const boxcar_dead_filter *filter, boxcar_str note,
                                 int64_t *ret_count, boxcar_error *err) {
    return act(store, filter, MESSAGE_REPLAY, note, ret_count, err);
}

boxcar_status boxcar_dead_purge(boxcar_store *store, const boxcar_dead_filter *filter, int64_t *ret_count,
                                boxcar_error *err) {
    return act(store, filter, MESSAGE_PURGE, BOXCAR_NO_STR, ret_count, err);
}

boxcar_status boxcar_message_cancel(boxcar_store *store, boxcar_box box, boxcar_message_ref ref,
                                    boxcar_error *err) {
    struct message_choice choice = {.box = box, .ref = ref};
    struct message_change done;

    TRY(check_store_and_reader(store, box, err));
    TRY(limits_check_ref(ref, "ref", err));
    TRY(store->ops->message_change(store, &choice, MESSAGE_CANCEL, BOXCAR_NO_STR, &done, err));
    store_log(store, BOXCAR_LOG_INFO, "cancel", NULL, 0, "cancelled a message");
    return BOXCAR_OK;
}
