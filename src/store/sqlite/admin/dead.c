/* Dead letters: list, replay, remove; and cancel, which makes one. */
#include "dead.h"

#include <inttypes.h>
#include <string.h>

#include "base/utf8.h"
#include "store/sqlite/connection/transaction.h"
#include "store/sqlite/join/join.h"
#include "store/sqlite/message/key.h"
#include "store/sqlite/message/park.h"
#include "store/sqlite/message/read.h"
#include "store/sqlite/message/tally.h"
#include "store/sqlite/settle/release.h"
#include "store/sqlite/stream/stream.h"

static void bind_filter(struct query *query, const boxcar_dead_filter *filter, struct topic_range range,
                        int limit) {
    query_int(query, filter->box);
    query_text(query, range.low);
    query_text(query, range.high);
    query_int(query, filter->reason);
    query_time(query, filter->before);
    query_int(query, limit);
}

static int64_t below(const struct message_choice *choice) {
    return choice->after.value > 0 ? choice->after.value : INT64_MAX;
}

static boxcar_status choose_by_condition(struct sqlite_store *store, const struct message_choice *choice,
                                         struct topic_range range, int64_t **ret_ids, size_t *ret_count,
                                         boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_DEAD_PAGE);

    bind_filter(&query, choice->dead, range, choice->limit);
    query_int(&query, below(choice));
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
    AUTO_QUERY struct query query = query_on(store, S_DEAD_READ);
    struct dead_row row = {0};
    bool found = false;
    boxcar_status status;

    query_int(&query, work_id);
    status = query_step(&query, &found, err);
    if (status == BOXCAR_OK && found) {
        row.box = (int)query_get_int(&query, 0);
        row.reason = (boxcar_reason)query_get_int(&query, 2);
        row.died_at = query_get_int(&query, 3);
        row.due_at = query_get_time(&query, 6);
        status = query_copy_text(&query, 1, &store->scratch, &row.topic, err);
        if (status == BOXCAR_OK)
            status = query_copy_text(&query, 4, &store->scratch, &row.last_error, err);
        if (status == BOXCAR_OK)
            status = query_copy_text(&query, 5, &store->scratch, &row.stream, err);
    }
    if (status != BOXCAR_OK)
        return status;
    *ret_row = row;
    *ret_found = found;
    return BOXCAR_OK;
}

static int compare_bytes(boxcar_str a, boxcar_str b) {
    int order = memcmp(a.data, b.data, a.len < b.len ? a.len : b.len);

    return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

static bool matches(const struct dead_row *row, const boxcar_dead_filter *filter, struct topic_range range) {
    return row->box == (int)filter->box && compare_bytes(row->topic, range.low) >= 0 &&
           compare_bytes(row->topic, range.high) < 0 &&
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
    size_t count = 0;

    if (ids == NULL)
        return error_no_memory(err);
    for (size_t i = 0; i < filter->ref_count; i++) {
        struct dead_row row;
        bool found;
        boxcar_status status =
            sqlite_ref_resolve(store, filter->box, filter->refs[i], &ids[count], &found, err);
        if (status == BOXCAR_OK && found)
            status = read_dead(store, ids[count], &row, &found, err);
        if (status != BOXCAR_OK)
            return status;
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
    boxcar_status status = sqlite_topic_range(store, choice->dead->topic, &range, err);

    if (status != BOXCAR_OK)
        return status;
    if (choice->dead->ref_count > 0)
        return choose_by_ref(store, choice, range, ret_ids, ret_count, err);
    return choose_by_condition(store, choice, range, ret_ids, ret_count, err);
}

/* ---- list ---- */

boxcar_status sqlite_dead_list(struct sqlite_store *store, const struct message_choice *choice,
                               struct message_rows *list, boxcar_error *err) {
    int64_t *ids;
    size_t count;
    boxcar_status status = choose(store, choice, &ids, &count, err);

    return status == BOXCAR_OK ? sqlite_read_list(store, ids, count, list, err) : status;
}

/* ---- replay and remove ---- */

static boxcar_status delete_dead(struct sqlite_store *store, int64_t work_id, const struct dead_row *row,
                                 boxcar_error *err) {
    struct query query = query_on(store, S_DEAD_DELETE);

    query_int(&query, work_id);
    sqlite_tally_add(store, row->box, row->topic, TALLY_DEAD, -1);
    return query_run(&query, err);
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
    boxcar_status status = delete_dead(store, work_id, row, err);

    if (status == BOXCAR_OK)
        status = sqlite_stream_note_replay(store, (struct stream_key){row->box, row->stream}, work_id, err);
    if (status == BOXCAR_OK)
        status = sqlite_park(store, &parked, err);
    if (status == BOXCAR_OK)
        status = sqlite_join_replay(store, work_id, ret_counted, err);
    return status == BOXCAR_OK ? sqlite_attempt_write(store, &attempt, err) : status;
}

static boxcar_status run_on_range(struct sqlite_store *store, enum statement statement, int64_t first,
                                  int64_t last, boxcar_error *err) {
    struct query query = query_on(store, statement);

    query_int(&query, first);
    query_int(&query, last);
    return query_run(&query, err);
}

boxcar_status sqlite_message_remove(struct sqlite_store *store, int64_t first, int64_t last,
                                    boxcar_error *err) {
    struct query removed = query_on(store, S_REMOVED_NOTE);
    boxcar_status status = sqlite_join_settle_range(store, first, last, err);

    if (status == BOXCAR_OK)
        status = run_on_range(store, S_ATTEMPT_DELETE, first, last, err);
    if (status == BOXCAR_OK)
        status = run_on_range(store, S_STAGE_DELETE, first, last, err);
    if (status == BOXCAR_OK)
        status = run_on_range(store, S_MESSAGE_DELETE, first, last, err);
    query_int(&removed, last);
    return status == BOXCAR_OK ? query_run(&removed, err) : status;
}

static boxcar_status remove_dead(struct sqlite_store *store, int64_t work_id, const struct dead_row *row,
                                 boxcar_error *err) {
    /* The message first: its key in the inbox remembers when it died. */
    boxcar_status status = sqlite_message_remove(store, work_id, work_id, err);

    return status == BOXCAR_OK ? delete_dead(store, work_id, row, err) : status;
}

boxcar_status sqlite_dead_remove(struct sqlite_store *store, int64_t work_id, bool *ret_removed,
                                 boxcar_error *err) {
    struct dead_row row;
    bool found;
    boxcar_status status = read_dead(store, work_id, &row, &found, err);

    if (status == BOXCAR_OK && found)
        status = remove_dead(store, work_id, &row, err);
    if (status == BOXCAR_OK)
        *ret_removed = found;
    return status;
}

/* One that has lost its unique key stays dead: an error where it was named, else it is passed over. */
static boxcar_status may_replay(struct sqlite_store *store, int64_t work_id, bool named, bool *ret_may,
                                boxcar_error *err) {
    boxcar_status status = sqlite_key_take_back(store, work_id, ret_may, err);

    if (status == BOXCAR_OK && !*ret_may && named)
        return error_set(err, BOXCAR_E_CONFLICT,
                         "message %" PRId64 " cannot be replayed: its unique key belongs to a newer message. "
                         "Replay it once that message has ended, or enqueue it anew",
                         work_id);
    return status;
}

boxcar_status sqlite_dead_replay_one(struct sqlite_store *store, int64_t work_id, bool *ret_found,
                                     bool *ret_counted, boxcar_error *err) {
    struct dead_row row;
    bool may;
    boxcar_status status = read_dead(store, work_id, &row, ret_found, err);

    if (status == BOXCAR_OK && *ret_found)
        status = may_replay(store, work_id, true, &may, err);
    return status == BOXCAR_OK && *ret_found ? replay(store, work_id, &row, BOXCAR_NO_STR, ret_counted, err)
                                             : status;
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
    boxcar_status status = read_dead(store, work_id, &row, &found, err);

    if (status == BOXCAR_OK && found && acting->action == MESSAGE_REPLAY)
        status = may_replay(store, work_id, acting->choice->dead->ref_count > 0, &found, err);
    if (status != BOXCAR_OK || !found)
        return status;
    acting->change.count++;
    if (acting->action == MESSAGE_PURGE)
        return remove_dead(store, work_id, &row, err);
    status = replay(store, work_id, &row, acting->note, &counted, err);
    acting->counted += counted;
    return status;
}

static boxcar_status act(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct acting *acting = context;
    int64_t *ids;
    size_t count;
    boxcar_status status = choose(store, acting->choice, &ids, &count, err);

    acting->counted = 0;
    acting->change =
        (struct message_change){.oldest = {status == BOXCAR_OK && count > 0 ? ids[count - 1] : 0}};
    for (size_t i = 0; status == BOXCAR_OK && i < count; i++)
        status = act_on(store, acting, ids[i], err);
    return status;
}

/* ---- cancel ---- */

struct place {
    boxcar_str topic;
    bool parked, leased, dead, fresh;
};

static boxcar_status find_place(struct sqlite_store *store, boxcar_box box, int64_t work_id,
                                struct place *ret_place, bool *ret_found, boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_MESSAGE_PLACE);
    boxcar_status status;

    query_int(&query, work_id);
    query_int(&query, box);
    status = query_step(&query, ret_found, err);
    if (status != BOXCAR_OK || !*ret_found)
        return status;
    ret_place->parked = !query_is_null(&query, 1);
    ret_place->leased = query_get_int(&query, 2) != 0;
    ret_place->dead = query_get_int(&query, 3) != 0;
    ret_place->fresh = query_get_int(&query, 4) != 0;
    return query_copy_text(&query, 0, &store->scratch, &ret_place->topic, err);
}

/* A fresh message is set aside, so that no claim meets it in the log. */
static boxcar_status cancel_fresh(struct sqlite_store *store, boxcar_box box, int64_t work_id,
                                  boxcar_str topic, boxcar_error *err) {
    struct burial burial = {.work_id = work_id,
                            .box = (int)box,
                            .topic = topic,
                            .reason = BOXCAR_REASON_CANCELLED,
                            .outcome = "cancelled"};
    struct query query = query_on(store, S_MESSAGE_SET_ASIDE);
    boxcar_status status;

    query_int(&query, work_id);
    status = query_run(&query, err);
    sqlite_tally_add(store, burial.box, topic, TALLY_FRESH, -1);
    return status == BOXCAR_OK ? sqlite_bury(store, &burial, err) : status;
}

static boxcar_status cancel_parked(struct sqlite_store *store, int64_t work_id, boxcar_error *err) {
    struct parked row;
    bool found;
    boxcar_status status = sqlite_parked_read(store, work_id, &row, &found, err);

    if (status != BOXCAR_OK || !found)
        return status;
    return sqlite_bury_parked(store, &row, BOXCAR_REASON_CANCELLED, "cancelled", err);
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
    int64_t work_id = 0;
    bool found;
    boxcar_status status = sqlite_ref_resolve(store, box, acting->choice->ref, &work_id, &found, err);

    if (status == BOXCAR_OK && found)
        status = find_place(store, box, work_id, &place, &found, err);
    if (status != BOXCAR_OK)
        return status;
    if (!found)
        return error_set(err, BOXCAR_E_NOT_FOUND, "there is no such message in the %s", boxcar_box_name(box));
    acting->change = (struct message_change){.count = 1};
    return cancel_at(store, box, work_id, &place, err);
}

/* ---- the seam ---- */

boxcar_status sqlite_message_change(struct boxcar_store *store, const struct message_choice *choice,
                                    enum message_action action, boxcar_str note,
                                    struct message_change *ret_change, boxcar_error *err) {
    struct acting acting = {.choice = choice, .action = action, .note = note};
    sqlite_work_fn work = action == MESSAGE_CANCEL ? cancel : act;
    boxcar_status status = sqlite_transaction(sqlite_of(store), ACCESS_WRITE, work, &acting, err);

    if (status != BOXCAR_OK)
        return status;
    store_log_replayed_steps(store, acting.counted);
    sqlite_join_log_ended(sqlite_of(store));
    *ret_change = acting.change;
    return BOXCAR_OK;
}
