/* Looking at joins. Nothing changes by it, not even a join whose deadline has passed. */
#include <string.h>

#include "base/utf8.h"
#include "join.h"
#include "store/sqlite/connection/transaction.h"

/* ---- lists that grow in their arena ---- */

static boxcar_join *add_join(struct join_rows *list, size_t *capacity) {
    boxcar_join *items = arena_make_room(&list->arena, list->items, list->count, capacity, sizeof(*items));
    if (items == NULL)
        return NULL;
    list->items = items;
    return &list->items[list->count++];
}

static boxcar_join_member *add_member(struct join_member_rows *list, size_t *capacity) {
    boxcar_join_member *items =
        arena_make_room(&list->arena, list->items, list->count, capacity, sizeof(*items));
    if (items == NULL)
        return NULL;
    list->items = items;
    return &list->items[list->count++];
}

static boxcar_status read_join(struct query *query, struct join_rows *list, size_t *capacity,
                               boxcar_error *err) {
    boxcar_join *join = add_join(list, capacity);
    boxcar_status status;

    if (join == NULL)
        return error_no_memory(err);
    sqlite_join_from_row(query, join);
    status = query_copy_text(query, JOIN_ROW_GROUPING_KEY, &list->arena, &join->grouping_key, err);
    if (status == BOXCAR_OK)
        status = query_copy_text(query, JOIN_ROW_METADATA, &list->arena, &join->metadata, err);
    return status;
}

/* ---- joins ---- */

struct join_look {
    boxcar_join_id join_id;
    const boxcar_join_filter *filter; /* NULL = just the one with join_id */
    struct join_rows *list;
};

static boxcar_status read_joins(struct query *query, struct join_rows *list, boxcar_error *err) {
    size_t capacity = 0;
    bool row = true;
    boxcar_status status = BOXCAR_OK;

    arena_release(&list->arena); /* it may be the second try */
    list->count = 0;
    while (status == BOXCAR_OK && (status = query_step(query, &row, err)) == BOXCAR_OK && row)
        status = read_join(query, list, &capacity, err);
    return status;
}

static boxcar_status find(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct join_look *look = context;
    AUTO_QUERY struct query query = query_on(store, S_JOIN_FIND);
    boxcar_join join;
    boxcar_status status = sqlite_join_row_need(store, look->join_id, &join, err);

    if (status != BOXCAR_OK)
        return status;
    query_id(&query, look->join_id.uuid.bytes);
    return read_joins(&query, look->list, err);
}

/* Where a page begins: only joins that come before this one in (created_at, join_id). */
struct place {
    boxcar_time created_at;
    boxcar_join_id join_id;
};

static boxcar_status find_place(struct sqlite_store *store, const boxcar_join_filter *filter,
                                struct place *ret_place, boxcar_error *err) {
    boxcar_join join;
    boxcar_status status;

    *ret_place = (struct place){.created_at = INT64_MAX};
    if (!boxcar_uuid_is_none(filter->after.uuid)) {
        status = sqlite_join_row_need(store, filter->after, &join, err);
        if (status != BOXCAR_OK)
            return status;
        *ret_place = (struct place){join.created_at, join.join_id};
    }
    if (filter->before != BOXCAR_TIME_NONE && filter->before <= ret_place->created_at)
        *ret_place = (struct place){.created_at = filter->before};
    return BOXCAR_OK;
}

static bool is_of_message(const boxcar_join_filter *filter) {
    return !boxcar_uuid_is_none(filter->message_id.uuid);
}

static enum statement page_statement(const boxcar_join_filter *filter) {
    if (is_of_message(filter))
        return S_JOIN_PAGE_MESSAGE;
    if (str_is_absent(filter->grouping_key))
        return filter->by_status ? S_JOIN_PAGE_STATUS : S_JOIN_PAGE;
    return filter->by_status ? S_JOIN_PAGE_GROUPING_STATUS : S_JOIN_PAGE_GROUPING;
}

static boxcar_status page(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct join_look *look = context;
    const boxcar_join_filter *filter = look->filter;
    AUTO_QUERY struct query query = query_on(store, page_statement(filter));
    struct place place;
    boxcar_status status = find_place(store, filter, &place, err);

    if (status != BOXCAR_OK)
        return status;
    query_int(&query, place.created_at);
    query_id(&query, place.join_id.uuid.bytes);
    query_int(&query, filter->limit);
    if (is_of_message(filter) || filter->by_status || !str_is_absent(filter->grouping_key))
        query_int(&query, filter->by_status ? (int64_t)filter->status : -1);
    if (is_of_message(filter) || !str_is_absent(filter->grouping_key))
        query_text(&query, filter->grouping_key);
    if (is_of_message(filter))
        query_id(&query, filter->message_id.uuid.bytes);
    return read_joins(&query, look->list, err);
}

static boxcar_status look_at(struct boxcar_store *store, struct join_look *look, struct join_rows **ret_list,
                             boxcar_error *err) {
    boxcar_status status;

    look->list = calloc(1, sizeof(*look->list));
    if (look->list == NULL)
        return error_no_memory(err);
    status = sqlite_transaction(sqlite_of(store), ACCESS_READ, look->filter != NULL ? page : find, look, err);
    if (status == BOXCAR_OK) {
        *ret_list = look->list;
        return BOXCAR_OK;
    }
    arena_release(&look->list->arena);
    free(look->list);
    return status;
}

boxcar_status sqlite_join_page(struct boxcar_store *store, const boxcar_join_filter *filter,
                               boxcar_join_id join_id, struct join_rows **ret_list, boxcar_error *err) {
    struct join_look look = {.filter = boxcar_uuid_is_none(join_id.uuid) ? filter : NULL, .join_id = join_id};

    return look_at(store, &look, ret_list, err);
}

/* ---- members ---- */

struct member_look {
    boxcar_join_id join_id;
    boxcar_message_id after;
    int limit;
    struct join_member_rows *list;
};

static boxcar_status read_member(struct query *query, struct join_member_rows *list, size_t *capacity,
                                 boxcar_error *err) {
    boxcar_join_member *member = add_member(list, capacity);

    if (member == NULL)
        return error_no_memory(err);
    query_get_id(query, 0, member->message_id.uuid.bytes);
    member->work_id.value = query_get_int(query, 1);
    member->status = (boxcar_member_status)query_get_int(query, 2);
    member->created_at = query_get_int(query, 3);
    return BOXCAR_OK;
}

static boxcar_status look_at_members(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct member_look *look = context;
    AUTO_QUERY struct query query = query_on(store, S_MEMBERS_PAGE);
    size_t capacity = 0;
    boxcar_join join;
    bool row = true;
    boxcar_status status = sqlite_join_row_need(store, look->join_id, &join, err);

    arena_release(&look->list->arena);
    look->list->count = 0;
    query_id(&query, look->join_id.uuid.bytes);
    query_id(&query, look->after.uuid.bytes);
    query_int(&query, look->limit);
    while (status == BOXCAR_OK && (status = query_step(&query, &row, err)) == BOXCAR_OK && row)
        status = read_member(&query, look->list, &capacity, err);
    return status;
}

boxcar_status sqlite_join_members(struct boxcar_store *store, boxcar_join_id join_id, boxcar_message_id after,
                                  int limit, struct join_member_rows **ret_list, boxcar_error *err) {
    struct member_look look = {
        .join_id = join_id, .after = after, .limit = limit, .list = calloc(1, sizeof(*look.list))};
    boxcar_status status;

    if (look.list == NULL)
        return error_no_memory(err);
    status = sqlite_transaction(sqlite_of(store), ACCESS_READ, look_at_members, &look, err);
    if (status == BOXCAR_OK) {
        *ret_list = look.list;
        return BOXCAR_OK;
    }
    arena_release(&look.list->arena);
    free(look.list);
    return status;
}
