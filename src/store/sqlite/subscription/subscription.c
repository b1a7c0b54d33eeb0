/* Making, changing and removing subscriptions. */
#include "subscription.h"

#include "make.h"
#include "policy.h"
#include "reader.h"
#include "store/sqlite/connection/transaction.h"
#include "store/sqlite/schedule/schedule.h"

struct changing {
    const struct subscription_change *change;
    int64_t reader, count;
};

/* ---- making ---- */

static boxcar_status add(struct sqlite_store *store, struct changing *changing, boxcar_error *err) {
    const struct new_reader reader = {.given = *changing->change->given};
    const boxcar_new_subscription *given = &reader.given;
    TRY(sqlite_reader_check_name(store, given->name, err));
    if (given->only)
        TRY(sqlite_reader_check_taking(store, given->box, given->patterns, given->pattern_count, err));
    TRY(sqlite_reader_make(store, &reader, &changing->reader, err));
    return given->only ? sqlite_reader_check_unread(store, given->box, changing->reader, given->patterns,
                                                    given->pattern_count, err)
                       : BOXCAR_OK;
}

/* ---- changing ---- */

static boxcar_status check_patterns(struct sqlite_store *store, const boxcar_subscription_changes *changes,
                                    boxcar_error *err) {
    const struct reader *reader = store->reader;
    TRY(sqlite_policy_check_free(store, reader->number, err));
    if (!reader->only)
        return BOXCAR_OK;
    TRY(sqlite_reader_check_taking(store, reader->box, changes->patterns, changes->pattern_count, err));
    return sqlite_reader_check_unread(store, reader->box, reader->number, changes->patterns,
                                      changes->pattern_count, err);
}

static boxcar_status alter(struct sqlite_store *store, const boxcar_subscription_changes *changes,
                           boxcar_error *err) {
    boxcar_str patterns = BOXCAR_NO_STR;
    if (changes->pattern_count > 0) {
        TRY(check_patterns(store, changes, err));
        TRY(sqlite_texts_format(store, changes->patterns, changes->pattern_count, &patterns, err));
    }
    return query_do(
        store, S_READER_ALTER, err, Q_INT(store->reader->number), Q_TEXT(patterns),
        Q_TIME(changes->max_lag_ms == BOXCAR_UNCHANGED ? BOXCAR_TIME_NONE : changes->max_lag_ms),
        Q_TIME(changes->max_lag_count == BOXCAR_UNCHANGED ? BOXCAR_TIME_NONE : changes->max_lag_count));
}

/* ---- removing ---- */

static boxcar_status check_leases(struct sqlite_store *store, boxcar_error *err) {
    AUTO_QUERY struct query query = query_with(store, S_READER_LEASED, Q_INT(store->reader->number));
    bool leased;
    TRY(query_step(&query, &leased, err));
    return !leased ? BOXCAR_OK
                   : error_set(err, BOXCAR_E_CONFLICT,
                               "messages of the subscription are leased: pause it and try again in a moment, "
                               "or force it, "
                               "which ends these leases");
}

/* Nothing is claimed for it from now on. Rows that may be many go with maintenance. */
static boxcar_status end(struct sqlite_store *store, bool force, boxcar_error *err) {
    static const enum statement statements[] = {S_REMOVE_LEASES,    S_REMOVE_HALTS,   S_REMOVE_FRONTIER,
                                                S_REMOVE_INSTANCES, S_REMOVE_TALLIES, S_REMOVE_VIOLATIONS,
                                                S_REMOVE_REWINDS,   S_REMOVE_SKIPS,   S_REMOVE_MARK};
    if (!force)
        TRY(check_leases(store, err));
    if (store->reader->only)
        TRY(sqlite_slices_complete(store, err));
    for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]); i++)
        TRY(query_do(store, statements[i], err, Q_INT(store->reader->number)));
    return store->reader->only ? sqlite_slices_give_up_passed(store, err) : BOXCAR_OK;
}

static boxcar_status remove_reader(struct sqlite_store *store, const struct subscription_change *change,
                                   boxcar_error *err) {
    if (!change->of_policy)
        TRY(sqlite_policy_check_free(store, store->reader->number, err));
    return end(store, change->force, err);
}

/* ---- all of them ---- */

/* What is done to the one that is entered. */
static boxcar_status apply(struct sqlite_store *store, struct changing *changing, boxcar_error *err) {
    const struct subscription_change *change = changing->change;
    struct query_value number = Q_INT(changing->reader);
    int64_t count = 0;
    switch (change->action) {
    case SUBSCRIPTION_ADD:
    case SUBSCRIPTION_ADD_POLICY:
        break;
    case SUBSCRIPTION_PAUSE:
        return query_do(store, S_READER_PAUSE, err, number, Q_INT(store->now));
    case SUBSCRIPTION_RESUME:
        return query_do(store, S_READER_RESUME, err, number);
    case SUBSCRIPTION_ALTER:
        return alter(store, change->changes, err);
    case SUBSCRIPTION_REWIND:
        TRY(sqlite_rewind(store, &change->place, &count, err));
        changing->count += count;
        break;
    case SUBSCRIPTION_REMOVE:
        return remove_reader(store, change, err);
    }
    return BOXCAR_OK;
}

static boxcar_status change_one(struct sqlite_store *store, struct changing *changing, boxcar_error *err) {
    changing->reader = 0;
    TRY(query_find_int(store, S_READER_BY_NAME, &changing->reader, err, Q_TEXT(changing->change->name)));
    if (changing->reader == 0)
        return store_refuse_subscription(changing->change->name, err);
    TRY(sqlite_reader_enter(store, (boxcar_box)changing->reader, err));
    return apply(store, changing, err);
}

static boxcar_status change_policy(struct sqlite_store *store, struct changing *changing, boxcar_error *err) {
    int64_t *numbers;
    size_t count;
    TRY(sqlite_policy_numbers(store, changing->change->name, &numbers, &count, err));
    for (size_t i = 0; i < count; i++) {
        changing->reader = numbers[i];
        TRY(sqlite_reader_enter(store, (boxcar_box)numbers[i], err));
        TRY(apply(store, changing, err));
    }
    return BOXCAR_OK;
}

static boxcar_status change(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct changing *changing = context;
    const struct subscription_change *change = changing->change;
    changing->count = 0;
    if (change->action == SUBSCRIPTION_ADD)
        return add(store, changing, err);
    if (change->action == SUBSCRIPTION_ADD_POLICY)
        return sqlite_policy_add(store, change->policy, &changing->reader, err);
    return change->of_policy ? change_policy(store, changing, err) : change_one(store, changing, err);
}

/* Where it begins or goes back to. */
static boxcar_place place_of(const struct subscription_change *change) {
    boxcar_place place = BOXCAR_PLACE_INIT;
    if (change->action == SUBSCRIPTION_REWIND)
        return change->place;
    if (change->action == SUBSCRIPTION_ADD) {
        place.start = change->given->start;
        place.time = change->given->start_time;
    } else if (change->action == SUBSCRIPTION_ADD_POLICY) {
        place.start = change->policy->start;
        place.time = change->policy->start_time;
    }
    return place;
}

boxcar_status sqlite_subscription_change(struct boxcar_store *store, const struct subscription_change *given,
                                         boxcar_box *ret_reader, int64_t *ret_count, boxcar_error *err) {
    struct changing changing = {.change = given};
    struct sqlite_store *sqlite = sqlite_of(store);
    const boxcar_place place = place_of(given);
    TRY(sqlite_place_survey(sqlite, &place, given->action == SUBSCRIPTION_REWIND, err));
    boxcar_status status = sqlite_transaction(sqlite, ACCESS_WRITE, change, &changing, err);
    sqlite->survey = (struct survey){0};
    TRY(status);
    *ret_reader = (boxcar_box)changing.reader;
    *ret_count = changing.count;
    return BOXCAR_OK;
}
