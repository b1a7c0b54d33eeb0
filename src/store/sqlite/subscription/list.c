/* Listing subscriptions, with their figures. */
#include "base/utf8.h"
#include "policy.h"
#include "reader.h"
#include "store/sqlite/admin/setting.h"
#include "store/sqlite/connection/transaction.h"
#include "subscription.h"

#define COUNT_MAX 10000

struct listing {
    const struct subscription_choice *choice;
    struct subscription_rows *list;
};

static boxcar_status read_destinations(struct sqlite_store *store, struct query *query, struct arena *arena,
                                       boxcar_subscription *row, boxcar_error *err) {
    boxcar_str *destinations;
    TRY(query_copy_text(query, 12, arena, &row->then_topic, err));
    TRY(query_copy_text(query, 13, arena, &row->else_topic, err));
    if (query_is_null(query, 11))
        return BOXCAR_OK;
    TRY(sqlite_destinations_parse(store, query, 11, row->name, arena, &destinations, &row->destination_count,
                                  err));
    row->destinations = destinations;
    return BOXCAR_OK;
}

static boxcar_status read_row(struct sqlite_store *store, struct query *query, struct arena *arena,
                              boxcar_subscription *row, boxcar_error *err) {
    boxcar_str *patterns;
    *row = (boxcar_subscription){.reader = (boxcar_box)query_get_int(query, 1),
                                 .box = (boxcar_box)query_get_int(query, 2),
                                 .only = query_get_int(query, 4) != 0,
                                 .created_at = query_get_int(query, 5),
                                 .paused_at = query_get_time(query, 7),
                                 .rewound_at = query_get_time(query, 8),
                                 .oldest_unread_at = BOXCAR_TIME_NONE,
                                 .max_lag_ms = query_get_int(query, 9),
                                 .max_lag_count = query_get_int(query, 10)};
    TRY(query_copy_text(query, 0, arena, &row->name, err));
    TRY(query_copy_text(query, 6, arena, &row->start_at, err));
    TRY(sqlite_patterns_parse(query_get_text(query, 3), arena, &patterns, &row->pattern_count, err));
    row->patterns = patterns;
    return read_destinations(store, query, arena, row, err);
}

static boxcar_status read_figures(struct sqlite_store *store, boxcar_subscription *row, boxcar_error *err) {
    AUTO_QUERY struct query query = query_with(store, S_SUBSCRIPTION_FIGURES, Q_INT(row->reader));
    int64_t unread;
    TRY(sqlite_unread_count(store, (int)row->reader, &unread, err));
    if (query_next(&query)) {
        row->ready = unread + query_get_int(&query, 0);
        row->in_progress = query_get_int(&query, 1);
        row->failed = query_get_int(&query, 2);
    }
    return query_status(&query, err);
}

static boxcar_status read_lag(struct sqlite_store *store, boxcar_subscription *row, boxcar_error *err) {
    struct query_value number = Q_INT(row->reader);
    TRY(query_find_int(store, S_SUBSCRIPTION_OLDEST, &row->oldest_unread_at, err, number));
    if (row->oldest_unread_at != BOXCAR_TIME_NONE && row->oldest_unread_at < store->now)
        row->lag_seconds = (double)(store->now - row->oldest_unread_at) / 1e6;
    return query_find_int(store, S_SUBSCRIPTION_HELD, &row->held_messages, err, number,
                          Q_INT(store->now - store->settings.retention_done_ms * 1000),
                          Q_INT(store->now - store->settings.retention_dead_ms * 1000), Q_INT(COUNT_MAX));
}

static struct query query_choice(struct sqlite_store *store, const struct subscription_choice *choice) {
    if (!choice->of_policy)
        return query_with(store, S_SUBSCRIPTIONS, Q_TEXT(choice->name));
    return str_is_absent(choice->name) ? query_on(store, S_SUBSCRIPTIONS_OF_POLICIES)
                                       : query_with(store, S_SUBSCRIPTIONS_OF_POLICY, Q_TEXT(choice->name));
}

static boxcar_status refuse(const struct subscription_choice *choice, boxcar_error *err) {
    return choice->of_policy ? store_refuse_policy(choice->name, err)
                             : store_refuse_subscription(choice->name, err);
}

static boxcar_status list(struct sqlite_store *store, void *context, boxcar_error *err) {
    const struct listing *listing = context;
    const struct subscription_choice *choice = listing->choice;
    AUTO_QUERY struct query query = query_choice(store, choice);
    if (!choice->is_brief)
        TRY(sqlite_settings_load(store, err));
    list_clear(listing->list);
    while (query_next(&query)) {
        boxcar_subscription *row = list_add(listing->list, sizeof(*row));
        if (row == NULL)
            return error_no_memory(err);
        TRY(read_row(store, &query, &listing->list->arena, row, err));
        if (choice->is_brief)
            continue;
        TRY(read_figures(store, row, err));
        TRY(read_lag(store, row, err));
    }
    TRY(query_status(&query, err));
    return !str_is_absent(choice->name) && listing->list->count == 0 ? refuse(choice, err) : BOXCAR_OK;
}

boxcar_status sqlite_subscription_read(struct boxcar_store *store, const struct subscription_choice *choice,
                                       struct subscription_rows **ret_list, boxcar_error *err) {
    struct listing listing = {.choice = choice, .list = calloc(1, sizeof(*listing.list))};
    if (listing.list == NULL)
        return error_no_memory(err);
    boxcar_status status = sqlite_transaction(sqlite_of(store), ACCESS_READ, list, &listing, err);
    if (status == BOXCAR_OK)
        *ret_list = listing.list;
    else
        list_free(listing.list);
    return status;
}
