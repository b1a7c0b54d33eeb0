/* Looking at messages: one, a page, a history. Pages of dead letters: admin/dead.c. */
#include "inspect.h"

#include "read.h"
#include "store/sqlite/admin/dead.h"
#include "store/sqlite/connection/transaction.h"
#include "store/sqlite/subscription/reader.h"

/* ---- one ---- */

struct reading {
    const struct message_choice *choice;
    struct message_rows *list;
};

static boxcar_status read_one(struct sqlite_store *store, const struct reading *reading, int64_t work_id,
                              bool *ret_found, boxcar_error *err) {
    AUTO_QUERY struct query query = query_with(store, S_FIND_WITH_PAYLOAD, Q_INT(work_id));
    struct message_rows *list = reading->list;
    TRY(query_step(&query, ret_found, err));
    *ret_found =
        *ret_found && query_get_int(&query, M_BOX) == (int64_t)sqlite_reader_box(store, reading->choice->box);
    if (!*ret_found)
        return BOXCAR_OK;
    list->items = arena_alloc(&list->arena, sizeof(*list->items));
    if (list->items == NULL)
        return error_no_memory(err);
    list->count = 1;
    return sqlite_read_found(&query, true, &list->arena, list->items, err);
}

static boxcar_status find(struct sqlite_store *store, const struct reading *reading, boxcar_error *err) {
    const struct message_choice *choice = reading->choice;
    int64_t work_id;
    bool found;
    TRY(sqlite_ref_resolve(store, choice->box, choice->ref, &work_id, &found, err));
    if (found)
        TRY(read_one(store, reading, work_id, &found, err));
    return found ? BOXCAR_OK
                 : error_set(err, BOXCAR_E_NOT_FOUND, "there is no such message in the %s",
                             sqlite_reader_kind(store, choice->box));
}

/* ---- work ids ---- */

struct naming {
    boxcar_box box;
    const boxcar_message_id *ids;
    size_t count;
    boxcar_work_id *work_ids;
};

static boxcar_status find_work_ids(struct sqlite_store *store, void *context, boxcar_error *err) {
    const struct naming *naming = context;
    TRY(sqlite_reader_enter(store, naming->box, err));
    for (size_t i = 0; i < naming->count; i++) {
        const boxcar_message_ref ref = {.message_id = naming->ids[i]};
        bool found;
        naming->work_ids[i].value = 0;
        TRY(sqlite_ref_resolve(store, naming->box, ref, &naming->work_ids[i].value, &found, err));
    }
    return BOXCAR_OK;
}

boxcar_status sqlite_work_ids(struct boxcar_store *store, boxcar_box box, const boxcar_message_id *ids,
                              size_t count, boxcar_work_id *ret_ids, boxcar_error *err) {
    struct naming naming = {box, ids, count, ret_ids};
    return sqlite_transaction(sqlite_of(store), ACCESS_READ, find_work_ids, &naming, err);
}

/* ---- a page ---- */

static enum statement page_statement(const boxcar_message_filter *options) {
    static const enum statement by_status[] = {[BOXCAR_IN_PROGRESS] = S_PAGE_IN_PROGRESS,
                                               [BOXCAR_DONE] = S_PAGE_DONE,
                                               [BOXCAR_FAILED] = S_PAGE_FAILED};
    static const enum statement by_readiness[] = {[BOXCAR_READINESS_ANY] = S_PAGE_READY,
                                                  [BOXCAR_CLAIMABLE] = S_PAGE_CLAIMABLE,
                                                  [BOXCAR_WAITING] = S_PAGE_WAITING};
    if (options->by_status && options->status == BOXCAR_READY)
        return by_readiness[options->readiness];
    return options->by_status ? by_status[options->status] : S_PAGE_ALL;
}

static boxcar_status page(struct sqlite_store *store, const boxcar_message_filter *options,
                          struct message_rows *list, boxcar_error *err) {
    struct topic_range range;
    TRY(sqlite_topic_range(store, options->topic, &range, err));
    AUTO_QUERY struct query query =
        query_with(store, page_statement(options), Q_INT(options->box), Q_TEXT(range.low), Q_TEXT(range.high),
                   Q_INT(options->after.value > 0 ? options->after.value : INT64_MAX), Q_INT(options->limit));
    if (options->readiness != BOXCAR_READINESS_ANY)
        query_int(&query, store->now);
    int64_t *ids;
    size_t count;
    TRY(sqlite_collect_ids(store, &query, &ids, &count, err));
    return sqlite_read_list(store, ids, count, list, err);
}

/* ---- whichever is chosen ---- */

static boxcar_box reader_of(const struct message_choice *choice) {
    if (choice->filter != NULL)
        return choice->filter->box;
    return choice->dead != NULL ? choice->dead->box : choice->box;
}

static boxcar_status read_choice(struct sqlite_store *store, void *context, boxcar_error *err) {
    const struct reading *reading = context;
    const struct message_choice *choice = reading->choice;
    arena_release(&reading->list->arena); /* it may be the second try */
    reading->list->count = 0;
    TRY(sqlite_reader_enter(store, reader_of(choice), err));
    if (choice->filter != NULL)
        return page(store, choice->filter, reading->list, err);
    return choice->dead != NULL ? sqlite_dead_list(store, choice, reading->list, err)
                                : find(store, reading, err);
}

boxcar_status sqlite_message_read(struct boxcar_store *store, const struct message_choice *choice,
                                  struct message_rows **ret_list, boxcar_error *err) {
    struct reading reading = {.choice = choice, .list = calloc(1, sizeof(*reading.list))};
    if (reading.list == NULL)
        return error_no_memory(err);
    boxcar_status status = sqlite_transaction(sqlite_of(store), ACCESS_READ, read_choice, &reading, err);
    if (status == BOXCAR_OK)
        *ret_list = reading.list;
    else
        list_free(reading.list);
    return status;
}

/* ---- a history ---- */

struct recalling {
    boxcar_box reader;
    boxcar_work_id work_id;
    struct attempt_rows *list;
};

static boxcar_status read_attempt(struct query *query, struct arena *arena, boxcar_attempt *attempt,
                                  boxcar_error *err) {
    attempt->at = query_get_int(query, 0);
    attempt->retry_count = (int)query_get_int(query, 1);
    query_get_id(query, 3, attempt->owner.uuid.bytes);
    attempt->epoch.value = query_get_int(query, 4);
    TRY(query_copy_text(query, 2, arena, &attempt->outcome, err));
    return query_copy_text(query, 5, arena, &attempt->error, err);
}

static boxcar_status recall(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct recalling *recalling = context;
    struct attempt_rows *list = recalling->list;
    size_t capacity = 0;
    arena_release(&list->arena); /* it may be the second try */
    list->count = 0;
    TRY(sqlite_reader_enter(store, recalling->reader, err));
    AUTO_QUERY struct query query = query_with(store, S_ATTEMPTS, Q_INT(recalling->work_id.value));
    while (query_next(&query)) {
        boxcar_attempt *items =
            arena_make_room(&list->arena, list->items, list->count, &capacity, sizeof(*items));
        if (items == NULL)
            return error_no_memory(err);
        list->items = items;
        TRY(read_attempt(&query, &list->arena, &list->items[list->count++], err));
    }
    return query_status(&query, err);
}

boxcar_status sqlite_attempts(struct boxcar_store *store, boxcar_box reader, boxcar_work_id work_id,
                              struct attempt_rows **ret_list, boxcar_error *err) {
    struct recalling recalling = {
        .reader = reader, .work_id = work_id, .list = calloc(1, sizeof(*recalling.list))};
    if (recalling.list == NULL)
        return error_no_memory(err);
    boxcar_status status = sqlite_transaction(sqlite_of(store), ACCESS_READ, recall, &recalling, err);
    if (status == BOXCAR_OK)
        *ret_list = recalling.list;
    else
        list_free(recalling.list);
    return status;
}
