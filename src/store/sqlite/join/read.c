/* Looking at joins. Nothing changes by it, not even a join whose deadline has passed. */
#include "base/utf8.h"
#include "join.h"
#include "store/sqlite/connection/transaction.h"

/* ---- joins ---- */

struct join_look {
    boxcar_join_id join_id;
    const boxcar_join_filter *filter; /* NULL = just the one with join_id */
    struct join_rows *list;
};

static boxcar_status read_joins(struct query *query, struct join_rows *list, boxcar_error *err) {
    list_clear(list); /* it may be the second try */
    while (query_next(query)) {
        boxcar_join *join = list_add(list, sizeof(*join));
        if (join == NULL)
            return error_no_memory(err);
        sqlite_join_from_row(query, join);
        TRY(query_copy_text(query, JOIN_ROW_GROUPING_KEY, &list->arena, &join->grouping_key, err));
        TRY(query_copy_text(query, JOIN_ROW_METADATA, &list->arena, &join->metadata, err));
    }
    return query_status(query, err);
}

static boxcar_status find(struct sqlite_store *store, struct join_look *look, boxcar_error *err) {
    AUTO_QUERY struct query query = query_with(store, S_JOIN_FIND, Q_ID(look->join_id.uuid.bytes));
    boxcar_join join;
    TRY(sqlite_join_row_need(store, look->join_id, &join, err));
    return read_joins(&query, look->list, err);
}

/* Where a page begins: only joins that come before this one in (created_at, join_id). */
struct place {
    boxcar_time created_at;
    boxcar_join_id join_id;
};

static boxcar_status find_place(struct sqlite_store *store, const boxcar_join_filter *filter,
                                struct place *ret_place, boxcar_error *err) {
    *ret_place = (struct place){.created_at = INT64_MAX};
    if (!boxcar_uuid_is_none(filter->after.uuid)) {
        boxcar_join join;
        TRY(sqlite_join_row_need(store, filter->after, &join, err));
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

static boxcar_status page(struct sqlite_store *store, struct join_look *look, boxcar_error *err) {
    const boxcar_join_filter *filter = look->filter;
    struct place place;
    TRY(find_place(store, filter, &place, err));
    AUTO_QUERY struct query query = query_with(store, page_statement(filter), Q_INT(place.created_at),
                                               Q_ID(place.join_id.uuid.bytes), Q_INT(filter->limit));
    if (is_of_message(filter) || filter->by_status || !str_is_absent(filter->grouping_key))
        query_int(&query, filter->by_status ? (int64_t)filter->status : -1);
    if (is_of_message(filter) || !str_is_absent(filter->grouping_key))
        query_text(&query, filter->grouping_key);
    if (is_of_message(filter))
        query_id(&query, filter->message_id.uuid.bytes);
    return read_joins(&query, look->list, err);
}

static boxcar_status look_at_joins(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct join_look *look = context;
    return look->filter != NULL ? page(store, look, err) : find(store, look, err);
}

boxcar_status sqlite_join_page(struct boxcar_store *store, const boxcar_join_filter *filter,
                               boxcar_join_id join_id, struct join_rows **ret_list, boxcar_error *err) {
    struct join_look look = {.join_id = join_id,
                             .filter = boxcar_uuid_is_none(join_id.uuid) ? filter : NULL,
                             .list = calloc(1, sizeof(*look.list))};
    if (look.list == NULL)
        return error_no_memory(err);
    boxcar_status status = sqlite_transaction(sqlite_of(store), ACCESS_READ, look_at_joins, &look, err);
    if (status == BOXCAR_OK)
        *ret_list = look.list;
    else
        list_free(look.list);
    return status;
}

/* ---- members ---- */

struct member_look {
    boxcar_join_id join_id;
    boxcar_message_id after;
    int limit;
    struct join_member_rows *list;
};

static boxcar_status look_at_members(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct member_look *look = context;
    AUTO_QUERY struct query query = query_with(store, S_MEMBERS_PAGE, Q_ID(look->join_id.uuid.bytes),
                                               Q_ID(look->after.uuid.bytes), Q_INT(look->limit));
    boxcar_join join;
    TRY(sqlite_join_row_need(store, look->join_id, &join, err));
    list_clear(look->list);
    while (query_next(&query)) {
        boxcar_join_member *member = list_add(look->list, sizeof(*member));
        if (member == NULL)
            return error_no_memory(err);
        query_get_id(&query, 0, member->message_id.uuid.bytes);
        member->work_id.value = query_get_int(&query, 1);
        member->status = (boxcar_member_status)query_get_int(&query, 2);
        member->created_at = query_get_int(&query, 3);
    }
    return query_status(&query, err);
}

boxcar_status sqlite_join_members(struct boxcar_store *store, boxcar_join_id join_id, boxcar_message_id after,
                                  int limit, struct join_member_rows **ret_list, boxcar_error *err) {
    struct member_look look = {
        .join_id = join_id, .after = after, .limit = limit, .list = calloc(1, sizeof(*look.list))};
    if (look.list == NULL)
        return error_no_memory(err);
    boxcar_status status = sqlite_transaction(sqlite_of(store), ACCESS_READ, look_at_members, &look, err);
    if (status == BOXCAR_OK)
        *ret_list = look.list;
    else
        list_free(look.list);
    return status;
}
