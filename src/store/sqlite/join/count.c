/* Counting: messages that have ended become steps of their joins.
 *
 * A call gathers the members among the messages that it has ended, sorts them by join, and reads and writes
 * each join once. So a thousand acks of one join write their own thousand rows and two more: the join's
 * counters and the outcome of the run. For messages that are in no join this is one look into an index for
 * each run of neighbouring numbers. core/join.h decides what an outcome means for the join. Here members get
 * an outcome only while the join has room for it, the oldest messages first, so that counters and members
 * always agree. */
#include <string.h>

#include "base/uuid.h"
#include "join.h"

#define SETTLE_CHUNK 1000 /* members gathered at a time, and settled in a round of upkeep */

struct step {
    int64_t work_id;
    boxcar_join_id join_id;
    boxcar_message_id message_id;
    boxcar_member_status outcome;
};

struct step_list {
    struct step *items; /* in the scratch arena */
    size_t count, capacity;
};

static struct step *add_step(struct sqlite_store *store, struct step_list *list) {
    struct step *items =
        arena_make_room(&store->scratch, list->items, list->count, &list->capacity, sizeof(*items));
    if (items == NULL)
        return NULL;
    list->items = items;
    return &list->items[list->count++];
}

/* Reads members: work_id, join_id, message_id, and the outcome unless it is the same for all. */
static boxcar_status gather(struct sqlite_store *store, struct query members, boxcar_member_status outcome,
                            struct step_list *list, boxcar_error *err) {
    AUTO_QUERY struct query query = members;
    while (query_next(&query)) {
        struct step *step = add_step(store, list);
        if (step == NULL)
            return error_no_memory(err);
        step->work_id = query_get_int(&query, 0);
        query_get_id(&query, 1, step->join_id.uuid.bytes);
        query_get_id(&query, 2, step->message_id.uuid.bytes);
        step->outcome = outcome;
        if (outcome == BOXCAR_MEMBER_PENDING)
            step->outcome = query_get_int(&query, 3) == 1 ? BOXCAR_MEMBER_COMPLETED : BOXCAR_MEMBER_FAILED;
    }
    return query_status(&query, err);
}

/* ---- joins, one after the other ---- */

/* How many of the steps, from the first on, are neighbours with one outcome. */
static size_t run_length(const struct step *steps, size_t count) {
    size_t length = 1;
    while (length < count && steps[length].work_id == steps[length - 1].work_id + 1 &&
           steps[length].outcome == steps[0].outcome)
        length++;
    return length;
}

/* Counts members until the join is full. Those that had an outcome before are passed over. */
static boxcar_status count_members(struct sqlite_store *store, boxcar_join *join, const struct step *steps,
                                   size_t count, int64_t *ret_counted, boxcar_error *err) {
    int64_t counted[] = {[BOXCAR_MEMBER_COMPLETED] = 0, [BOXCAR_MEMBER_FAILED] = 0};
    int64_t total = 0, room = join_remaining(join);
    struct outcome_walk walk = {.join_id = join->join_id};
    for (size_t i = 0, length; i < count && total < room; i += length) {
        length = run_length(&steps[i], count - i);
        struct member_run run = {steps[i].work_id, steps[i + length - 1].work_id, steps[i].outcome};
        int64_t added;
        TRY(sqlite_join_outcome_add(store, &walk, &run, room - total, &added, err));
        counted[run.outcome] += added;
        total += added;
    }
    join_count(join, BOXCAR_MEMBER_COMPLETED, counted[BOXCAR_MEMBER_COMPLETED], store->now);
    join_count(join, BOXCAR_MEMBER_FAILED, counted[BOXCAR_MEMBER_FAILED], store->now);
    *ret_counted += total;
    return total > 0 ? sqlite_join_row_write(store, join, err) : BOXCAR_OK;
}

static boxcar_status time_out(struct sqlite_store *store, boxcar_join *join, boxcar_error *err) {
    join_time_out(join, store->now);
    return sqlite_join_row_write(store, join, err);
}

/* The steps of one join. One that comes after the deadline is not counted any more. */
static boxcar_status count_in_join(struct sqlite_store *store, const struct step *steps, size_t count,
                                   int64_t *ret_counted, boxcar_error *err) {
    boxcar_join join;
    bool found;
    TRY(sqlite_join_row_read(store, steps[0].join_id, &join, &found, err));
    if (!found || join.status != BOXCAR_JOIN_PENDING)
        return BOXCAR_OK;
    if (join_is_overdue(&join, store->now))
        return time_out(store, &join, err);
    return count_members(store, &join, steps, count, ret_counted, err);
}

static int compare_steps(const void *a, const void *b) {
    const struct step *left = a, *right = b;
    int order = memcmp(&left->join_id, &right->join_id, sizeof(left->join_id));
    return order != 0 ? order : (left->work_id > right->work_id) - (left->work_id < right->work_id);
}

static bool is_same_join(const struct step *a, const struct step *b) {
    return memcmp(&a->join_id, &b->join_id, sizeof(a->join_id)) == 0;
}

static boxcar_status count_steps(struct sqlite_store *store, struct step_list *list, int64_t *ret_counted,
                                 boxcar_error *err) {
    *ret_counted = 0;
    if (list->count > 1)
        qsort(list->items, list->count, sizeof(*list->items), compare_steps);
    for (size_t start = 0, i = 0; i < list->count; i++) {
        if (i + 1 < list->count && is_same_join(&list->items[i + 1], &list->items[start]))
            continue;
        TRY(count_in_join(store, &list->items[start], i + 1 - start, ret_counted, err));
        start = i + 1;
    }
    return BOXCAR_OK;
}

/* ---- messages that end now ---- */

/* `ids` rise. */
static boxcar_status count_ids(struct sqlite_store *store, const int64_t *ids, size_t count,
                               boxcar_member_status outcome, boxcar_error *err) {
    struct step_list list = {0};
    for (size_t start = 0, i = 0; i < count; i++) {
        if (i + 1 < count && ids[i + 1] == ids[i] + 1)
            continue;
        struct query_value first = Q_INT(ids[start]), last = Q_INT(ids[i]);
        TRY(query_do(store, S_WAITS_FORGET, err, first, last)); /* a message that has ended waits no longer */
        TRY(gather(store, query_with(store, S_MEMBERS_OF_RANGE, first, last), outcome, &list, err));
        start = i + 1;
    }
    int64_t counted;
    return count_steps(store, &list, &counted, err);
}

boxcar_status sqlite_join_count_done(struct sqlite_store *store, const int64_t *ids, size_t count,
                                     boxcar_error *err) {
    return count_ids(store, ids, count, BOXCAR_MEMBER_COMPLETED, err);
}

boxcar_status sqlite_join_note_burial(struct sqlite_store *store, int64_t work_id, boxcar_error *err) {
    struct burial_list *list = &store->buried;
    int64_t *ids = arena_make_room(&store->scratch, list->ids, list->count, &list->capacity, sizeof(*ids));
    if (ids == NULL)
        return error_no_memory(err);
    list->ids = ids;
    list->ids[list->count++] = work_id;
    return BOXCAR_OK;
}

static int compare_ids(const void *a, const void *b) {
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

boxcar_status sqlite_join_count_buried(struct sqlite_store *store, boxcar_error *err) {
    struct burial_list list = store->buried;
    if (list.count == 0)
        return BOXCAR_OK;
    store->buried.count = 0;
    qsort(list.ids, list.count, sizeof(*list.ids), compare_ids);
    return count_ids(store, list.ids, list.count, BOXCAR_MEMBER_FAILED, err);
}

/* ---- messages that had ended before ---- */

/* Counted or not: what could not be counted belongs to a join that has ended. */
static boxcar_status unmark(struct sqlite_store *store, const struct step_list *list, boxcar_error *err) {
    for (size_t i = 0; i < list->count; i++)
        TRY(query_do(store, S_MEMBER_UNMARK, err, Q_ID(list->items[i].join_id.uuid.bytes),
                     Q_ID(list->items[i].message_id.uuid.bytes)));
    return BOXCAR_OK;
}

boxcar_status sqlite_join_settle(struct sqlite_store *store, boxcar_join *join, int64_t *ret_settled,
                                 boxcar_error *err) {
    *ret_settled = 0;
    if (join_is_overdue(join, store->now))
        return time_out(store, join, err);
    for (size_t seen = SETTLE_CHUNK; join->status == BOXCAR_JOIN_PENDING && seen == SETTLE_CHUNK;) {
        struct query query =
            query_with(store, S_MEMBERS_TO_SETTLE, Q_ID(join->join_id.uuid.bytes), Q_INT(SETTLE_CHUNK));
        struct step_list list = {0};
        TRY(gather(store, query, BOXCAR_MEMBER_PENDING, &list, err));
        TRY(count_members(store, join, list.items, list.count, ret_settled, err));
        TRY(unmark(store, &list, err));
        seen = list.count;
    }
    return BOXCAR_OK;
}

static boxcar_status settle_members(struct sqlite_store *store, struct query members,
                                    struct join_upkeep *ret_upkeep, boxcar_error *err) {
    struct step_list list = {0};
    TRY(gather(store, members, BOXCAR_MEMBER_PENDING, &list, err));
    TRY(count_steps(store, &list, &ret_upkeep->count, err));
    ret_upkeep->more = list.count == SETTLE_CHUNK;
    return unmark(store, &list, err);
}

boxcar_status sqlite_join_settle_step(struct sqlite_store *store, struct join_upkeep *ret_upkeep,
                                      boxcar_error *err) {
    return settle_members(store, query_with(store, S_MEMBERS_TO_SETTLE_ALL, Q_INT(SETTLE_CHUNK)), ret_upkeep,
                          err);
}

boxcar_status sqlite_join_settle_range(struct sqlite_store *store, int64_t first, int64_t last,
                                       boxcar_error *err) {
    struct join_upkeep done;
    return settle_members(store, query_with(store, S_MEMBERS_TO_SETTLE_RANGE, Q_INT(first), Q_INT(last)),
                          &done, err);
}
