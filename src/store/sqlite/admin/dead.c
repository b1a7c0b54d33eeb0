/* Dead letters: list, replay, remove; and cancel, which makes one. */
#include "dead.h"

#include <inttypes.h>

#include "base/utf8.h"
#include "store/sqlite/connection/transaction.h"
#include "store/sqlite/join/join.h"
#include "store/sqlite/message/key.h"
#include "store/sqlite/message/park.h"
#include "store/sqlite/message/read.h"
#include "store/sqlite/message/tally.h"
#include "store/sqlite/schedule/schedule.h"
#include "store/sqlite/settle/release.h"
#include "store/sqlite/stream/stream.h"
#include "store/sqlite/subscription/keep.h"
#include "store/sqlite/subscription/reader.h"

static int64_t below(const struct message_choice *choice) {
    return choice->after.value > 0 ? choice->after.value : INT64_MAX;
}

static boxcar_status choose_by_condition(struct sqlite_store *store, const struct message_choice *choice,
                                         struct topic_range range, int64_t **ret_ids, size_t *ret_count,
                                         boxcar_error *err) {
    const boxcar_dead_filter *filter = choice->dead;
    AUTO_QUERY struct query query =
        query_with(store, S_DEAD_PAGE, Q_INT(filter->box), Q_TEXT(range.low), Q_TEXT(range.high),
                   Q_INT(filter->reason), Q_TIME(filter->before), Q_INT(choice->limit), Q_INT(below(choice)));
    return sqlite_collect_ids(store, &query, ret_ids, ret_count, err);
}

struct dead_row {
    int box;
    boxcar_str topic, stream, last_error;
    boxcar_reason reason;
    boxcar_time died_at, due_at;
};

static boxcar_status read_dead(struct sqlite_store *store, int64_t work_id, struct dead_row *ret_row,
                               bool *ret_found, boxcar_error *err) {
    AUTO_QUERY struct query query = query_with(store, S_DEAD_READ, Q_INT(work_id));
    *ret_found = query_next(&query);
    if (!*ret_found)
        return query_status(&query, err);
    *ret_row = (struct dead_row){.box = (int)query_get_int(&query, 0),
                                 .reason = (boxcar_reason)query_get_int(&query, 2),
                                 .died_at = query_get_int(&query, 3),
                                 .due_at = query_get_time(&query, 6)};
    TRY(query_copy_text(&query, 1, &store->scratch, &ret_row->topic, err));
    TRY(query_copy_text(&query, 4, &store->scratch, &ret_row->last_error, err));
    return query_copy_text(&query, 5, &store->scratch, &ret_row->stream, err);
}

static bool matches(const struct dead_row *row, const boxcar_dead_filter *filter, struct topic_range range) {
    return row->box == (int)filter->box && str_compare(row->topic, range.low) >= 0 &&
           str_compare(row->topic, range.high) < 0 &&
           (filter->reason == BOXCAR_REASON_NONE || row->reason == filter->reason) &&
           (filter->before == BOXCAR_TIME_NONE || row->died_at < filter->before);
}

static int compare_descending(const void *a, const void *b) {
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left < right) - (left > right);
}

/* Newest first, each once, as many as asked for. */
static size_t order_ids(const struct message_choice *choice, int64_t *ids, size_t count) {
    size_t kept = 0;
    qsort(ids, count, sizeof(*ids), compare_descending);
    for (size_t i = 0; i < count && kept < (size_t)choice->limit; i++) {
        if (ids[i] < below(choice) && (kept == 0 || ids[kept - 1] != ids[i]))
            ids[kept++] = ids[i];
    }
    return kept;
}

static boxcar_status choose_by_ref(struct sqlite_store *store, const struct message_choice *choice,
                                   struct topic_range range, int64_t **ret_ids, size_t *ret_count,
                                   boxcar_error *err) {
    const boxcar_dead_filter *filter = choice->dead;
    int64_t *ids = arena_alloc_array(&store->scratch, filter->ref_count, sizeof(*ids));
    if (ids == NULL)
        return error_no_memory(err);
    size_t count = 0;
    for (size_t i = 0; i < filter->ref_count; i++) {
        struct dead_row row;
        bool found;
        TRY(sqlite_ref_resolve(store, filter->box, filter->refs[i], &ids[count], &found, err));
        if (found)
            TRY(read_dead(store, ids[count], &row, &found, err));
        if (found && matches(&row, filter, range))
            count++;
    }
    *ret_count = order_ids(choice, ids, count);
    *ret_ids = ids;
    return BOXCAR_OK;
}

static boxcar_status choose(struct sqlite_store *store, const struct message_choice *choice,
                            int64_t **ret_ids, size_t *ret_count, boxcar_error *err) {
    struct topic_range range;
    TRY(sqlite_topic_range(store, choice->dead->topic, &range, err));
    if (choice->dead->ref_count > 0)
        return choose_by_ref(store, choice, range, ret_ids, ret_count, err);
    return choose_by_condition(store, choice, range, ret_ids, ret_count, err);
}

/* ---- list ---- */

boxcar_status sqlite_dead_list(struct sqlite_store *store, const struct message_choice *choice,
                               struct message_rows *list, boxcar_error *err) {
    int64_t *ids;
    size_t count;
    TRY(choose(store, choice, &ids, &count, err));
    return sqlite_read_list(store, ids, count, list, err);
}

/* ---- replay and remove ---- */

static boxcar_status delete_dead(struct sqlite_store *store, int64_t work_id, const struct dead_row *row,
                                 boxcar_error *err) {
    sqlite_tally_add(store, row->box, row->topic, TALLY_DEAD, -1);
    return query_do(store, S_DEAD_DELETE, err, Q_INT(work_id));
}

/* Ready now, or when it is due, as if new, but for its history; its time to live ends it no more. A join that
 * has counted its death stays as it is; *ret_counted says so. */
static boxcar_status replay(struct sqlite_store *store, int64_t work_id, const struct dead_row *row,
                            boxcar_str note, bool *ret_counted, boxcar_error *err) {
    bool is_due = row->due_at == BOXCAR_TIME_NONE || row->due_at <= store->now;
    struct parked parked = {.work_id = work_id,
                            .box = row->box,
                            .topic = row->topic,
                            .stream = row->stream,
                            .available_at = is_due ? store->now : row->due_at,
                            .expires_at = BOXCAR_TIME_NONE,
                            .last_error = row->last_error};
    struct attempt attempt = {
        .work_id = work_id, .outcome = "replayed", .error = utf8_cut(note, BOXCAR_ERROR_TEXT_MAX)};
    TRY(delete_dead(store, work_id, row, err));
    TRY(sqlite_stream_note_replay(store, (struct stream_key){row->box, row->stream}, work_id, err));
    TRY(sqlite_park(store, &parked, err));
    *ret_counted = false;
    if (store->reader == NULL)
        TRY(sqlite_join_replay(store, work_id, ret_counted, err));
    return sqlite_attempt_write(store, &attempt, err);
}

boxcar_status sqlite_message_remove(struct sqlite_store *store, int64_t first, int64_t last,
                                    boxcar_error *err) {
    TRY(sqlite_join_settle_range(store, first, last, err));
    TRY(sqlite_slices_settle_range(store, first, last, err));
    TRY(query_do(store, S_ATTEMPT_DELETE, err, Q_INT(first), Q_INT(last)));
    TRY(query_do(store, S_STAGE_DELETE, err, Q_INT(first), Q_INT(last)));
    TRY(query_do(store, S_MESSAGE_DELETE, err, Q_INT(first), Q_INT(last)));
    return query_do(store, S_REMOVED_NOTE, err, Q_INT(last));
}

/* A subscription wants the message, so it stays; for the main reader it is as if it were gone. */
static boxcar_status leave_to_others(struct sqlite_store *store, int64_t work_id, const struct dead_row *row,
                                     boxcar_error *err) {
    TRY(query_do(store, S_ATTEMPT_DELETE, err, Q_INT(work_id), Q_INT(work_id)));
    TRY(query_do(store, S_KEY_BURY, err, Q_INT(work_id), Q_INT(row->died_at)));
    TRY(sqlite_join_settle_range(store, work_id, work_id, err));
    TRY(sqlite_slice_give_up(store, work_id, err));
    return sqlite_pass(store, work_id, err);
}

/* The message first: its key in the inbox remembers when it died. */
static boxcar_status remove_message(struct sqlite_store *store, int64_t work_id, const struct dead_row *row,
                                    boxcar_error *err) {
    int64_t *kept;
    size_t count = 0;
    bool any;
    TRY(sqlite_keep_any(store, &any, err));
    if (any)
        TRY(sqlite_keep_ids(store, work_id, work_id, &kept, &count, err));
    return count > 0 ? leave_to_others(store, work_id, row, err)
                     : sqlite_message_remove(store, work_id, work_id, err);
}

/* A subscription only forgets it. If it has not met the message, it must not meet it any more. */
static boxcar_status forget(struct sqlite_store *store, int64_t work_id, boxcar_error *err) {
    TRY(query_do(store, S_ATTEMPT_DELETE, err, Q_INT(work_id), Q_INT(work_id)));
    if (store->reader->only)
        TRY(sqlite_slice_give_up(store, work_id, err));
    return query_do(store, S_SKIP_NOTE, err, Q_INT(store->reader->number), Q_INT(work_id));
}

static boxcar_status remove_dead(struct sqlite_store *store, int64_t work_id, const struct dead_row *row,
                                 boxcar_error *err) {
    TRY(store->reader == NULL ? remove_message(store, work_id, row, err) : forget(store, work_id, err));
    return delete_dead(store, work_id, row, err);
}

boxcar_status sqlite_dead_remove(struct sqlite_store *store, int64_t work_id, bool *ret_removed,
                                 boxcar_error *err) {
    struct dead_row row;
    TRY(read_dead(store, work_id, &row, ret_removed, err));
    return *ret_removed ? remove_dead(store, work_id, &row, err) : BOXCAR_OK;
}

/* One that has lost its unique key stays dead: an error where it was named, else it is passed over. */
static boxcar_status may_replay(struct sqlite_store *store, int64_t work_id, bool named, bool *ret_may,
                                boxcar_error *err) {
    *ret_may = true;
    if (store->reader != NULL) /* keys are the main reader's */
        return BOXCAR_OK;
    TRY(sqlite_key_take_back(store, work_id, ret_may, err));
    if (!*ret_may && named)
        return error_set(err, BOXCAR_E_CONFLICT,
                         "message %" PRId64 " cannot be replayed: its unique key belongs to a newer message. "
                         "Replay it once that message has ended, or enqueue it anew",
                         work_id);
    return BOXCAR_OK;
}

boxcar_status sqlite_dead_replay_one(struct sqlite_store *store, int64_t work_id, bool *ret_found,
                                     bool *ret_counted, boxcar_error *err) {
    struct dead_row row;
    bool may;
    TRY(read_dead(store, work_id, &row, ret_found, err));
    if (!*ret_found)
        return BOXCAR_OK;
    TRY(may_replay(store, work_id, true, &may, err));
    return replay(store, work_id, &row, BOXCAR_NO_STR, ret_counted, err);
}

struct acting {
    const struct message_choice *choice;
    enum message_action action;
    boxcar_str note;
    struct message_change change;
    int64_t counted; /* of those replayed, how many joins have counted already */
};

static boxcar_status act_on(struct sqlite_store *store, struct acting *acting, int64_t work_id,
                            boxcar_error *err) {
    struct dead_row row;
    bool found, counted = false;
    TRY(read_dead(store, work_id, &row, &found, err));
    if (found && acting->action == MESSAGE_REPLAY)
        TRY(may_replay(store, work_id, acting->choice->dead->ref_count > 0, &found, err));
    if (!found)
        return BOXCAR_OK;
    acting->change.count++;
    if (acting->action == MESSAGE_PURGE)
        return remove_dead(store, work_id, &row, err);
    TRY(replay(store, work_id, &row, acting->note, &counted, err));
    acting->counted += counted;
    return BOXCAR_OK;
}

static boxcar_status act(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct acting *acting = context;
    int64_t *ids;
    size_t count;
    TRY(sqlite_reader_enter(store, acting->choice->dead->box, err));
    TRY(choose(store, acting->choice, &ids, &count, err));
    acting->counted = 0;
    acting->change = (struct message_change){.oldest = {count > 0 ? ids[count - 1] : 0}};
    for (size_t i = 0; i < count; i++)
        TRY(act_on(store, acting, ids[i], err));
    return BOXCAR_OK;
}

/* ---- cancel ---- */

struct place {
    boxcar_str topic;
    bool parked, leased, dead, fresh;
};

static boxcar_status find_place(struct sqlite_store *store, boxcar_box box, int64_t work_id,
                                struct place *ret_place, bool *ret_found, boxcar_error *err) {
    AUTO_QUERY struct query query = query_with(store, S_MESSAGE_PLACE, Q_INT(work_id), Q_INT(box));
    *ret_found = query_next(&query);
    if (!*ret_found)
        return query_status(&query, err);
    ret_place->parked = !query_is_null(&query, 1);
    ret_place->leased = query_get_int(&query, 2) != 0;
    ret_place->dead = query_get_int(&query, 3) != 0;
    ret_place->fresh = query_get_int(&query, 4) != 0;
    return query_copy_text(&query, 0, &store->scratch, &ret_place->topic, err);
}

/* A fresh message is set aside, so that no claim meets it in the log. What a subscription has not met, it
 * knows from its dead letter. */
static boxcar_status cancel_fresh(struct sqlite_store *store, boxcar_box box, int64_t work_id,
                                  boxcar_str topic, boxcar_error *err) {
    struct burial burial = {.work_id = work_id,
                            .box = (int)box,
                            .topic = topic,
                            .reason = BOXCAR_REASON_CANCELLED,
                            .outcome = "cancelled"};
    if (store->reader != NULL)
        return sqlite_bury(store, &burial, err);
    TRY(query_do(store, S_MESSAGE_SET_ASIDE, err, Q_INT(work_id)));
    sqlite_tally_add(store, burial.box, topic, TALLY_FRESH, -1);
    return sqlite_bury(store, &burial, err);
}

boxcar_status sqlite_cancel_unread(struct sqlite_store *store, int64_t work_id, boxcar_error *err) {
    AUTO_QUERY struct query query =
        query_with(store, S_UNREAD_MESSAGE, Q_INT(store->reader->number), Q_INT(work_id));
    boxcar_str topic;
    bool found;
    TRY(query_step(&query, &found, err));
    if (!found)
        return BOXCAR_OK;
    TRY(query_copy_text(&query, 0, &store->scratch, &topic, err));
    query_end(&query);
    return cancel_fresh(store, (boxcar_box)store->reader->number, work_id, topic, err);
}

static boxcar_status cancel_parked(struct sqlite_store *store, int64_t work_id, boxcar_error *err) {
    struct parked row;
    bool found;
    TRY(sqlite_parked_read(store, work_id, &row, &found, err));
    return found ? sqlite_bury_parked(store, &row, BOXCAR_REASON_CANCELLED, "cancelled", err) : BOXCAR_OK;
}

static boxcar_status cancel_at(struct sqlite_store *store, boxcar_box box, int64_t work_id,
                               const struct place *place, boxcar_error *err) {
    if (place->leased)
        return error_set(err, BOXCAR_E_CONFLICT, "the message is in progress: only its owner can settle it");
    if (place->dead)
        return error_set(err, BOXCAR_E_CONFLICT, "the message is dead already");
    if (place->fresh)
        return cancel_fresh(store, box, work_id, place->topic, err);
    if (place->parked)
        return cancel_parked(store, work_id, err);
    return error_set(err, BOXCAR_E_CONFLICT, "the message is done already");
}

static boxcar_status cancel(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct acting *acting = context;
    boxcar_box box = acting->choice->box;
    struct place place;
    int64_t work_id;
    bool found;
    TRY(sqlite_reader_enter(store, box, err));
    TRY(sqlite_ref_resolve(store, box, acting->choice->ref, &work_id, &found, err));
    if (found)
        TRY(find_place(store, box, work_id, &place, &found, err));
    if (!found)
        return error_set(err, BOXCAR_E_NOT_FOUND, "there is no such message in the %s",
                         sqlite_reader_kind(store, box));
    acting->change = (struct message_change){.count = 1};
    return cancel_at(store, box, work_id, &place, err);
}

/* ---- the seam ---- */

boxcar_status sqlite_message_change(struct boxcar_store *store, const struct message_choice *choice,
                                    enum message_action action, boxcar_str note,
                                    struct message_change *ret_change, boxcar_error *err) {
    struct acting acting = {.choice = choice, .action = action, .note = note};
    sqlite_work_fn work = action == MESSAGE_CANCEL ? cancel : act;
    TRY(sqlite_transaction(sqlite_of(store), ACCESS_WRITE, work, &acting, err));
    store_log_replayed_steps(store, acting.counted);
    sqlite_join_log_ended(sqlite_of(store));
    *ret_change = acting.change;
    return BOXCAR_OK;
}
