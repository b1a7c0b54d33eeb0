/* Making, changing and removing subscriptions. */
#include "subscription.h"

#include <jansson.h>
#include <stdio.h>

#include "base/utf8.h"
#include "reader.h"
#include "store/sqlite/connection/transaction.h"

#define ADMITS_SINCE 15 /* the schema version whose programs keep messages for subscriptions */

struct changing {
    const struct subscription_change *change;
    int64_t reader, count;
};

/* ---- making ---- */

/* A JSON array; NULL = out of memory. */
static char *format_patterns(const boxcar_str *patterns, size_t count) {
    json_t *array = json_array();
    bool made = array != NULL;
    for (size_t i = 0; made && i < count; i++)
        made = json_array_append_new(array, json_stringn(patterns[i].data, patterns[i].len)) == 0;
    char *text = made ? json_dumps(array, JSON_COMPACT) : NULL;
    json_decref(array);
    return text;
}

static boxcar_status check_name(struct sqlite_store *store, boxcar_str name, boxcar_error *err) {
    int64_t number = 0;
    TRY(query_find_int(store, S_READER_BY_NAME, &number, err, Q_TEXT(name)));
    if (number == 0)
        return BOXCAR_OK;
    boxcar_str shown = utf8_cut(name, 100);
    error_set(err, BOXCAR_E_CONFLICT,
              "there is a subscription \"%.*s\" already: choose another name, or remove that one",
              (int)shown.len, shown.data);
    if (err != NULL)
        snprintf(err->argument, sizeof(err->argument), "name");
    return BOXCAR_E_CONFLICT;
}

/* Its join would wait for a step that the main reader never ends. */
static boxcar_status check_members(struct sqlite_store *store, boxcar_box box, const char *patterns,
                                   boxcar_error *err) {
    int64_t taken = 0;
    TRY(query_find_int(store, S_MEMBER_TAKEN, &taken, err, Q_INT(box), Q_TEXT(boxcar_str_of(patterns))));
    return taken == 0 ? BOXCAR_OK
                      : error_set(err, BOXCAR_E_CONFLICT,
                                  "a message with one of these topics is a member of an open join, and the "
                                  "main reader has not read it yet: wait until it has, or leave out only");
}

/* What the main reader has not read, and the subscription does not read either, would be nobody's. */
static boxcar_status check_unread(struct sqlite_store *store, boxcar_box box, int64_t number,
                                  const char *patterns, boxcar_error *err) {
    int64_t lost = 0;
    TRY(query_find_int(store, S_UNREAD_TAKEN, &lost, err, Q_INT(box), Q_TEXT(boxcar_str_of(patterns)),
                       Q_INT(number)));
    return lost == 0
               ? BOXCAR_OK
               : error_set(err, BOXCAR_E_CONFLICT,
                           "the main reader has not read all messages with these topics, and the "
                           "subscription would not read them: wait until it has, or start at the beginning, "
                           "or at a time before the oldest of them");
}

static boxcar_status insert(struct sqlite_store *store, const boxcar_new_subscription *given,
                            const boxcar_place *place, const char *patterns, int64_t *ret_number,
                            boxcar_error *err) {
    char start[PLACE_TEXT_SIZE];
    sqlite_place_format(place, start);
    AUTO_QUERY struct query query =
        query_with(store, S_READER_INSERT, Q_TEXT(given->name), Q_INT(given->box),
                   Q_TEXT(boxcar_str_of(patterns)), Q_INT(given->only), Q_INT(store->now),
                   Q_TEXT(boxcar_str_of(start)), Q_INT(given->max_lag_ms), Q_INT(given->max_lag_count));
    bool found;
    TRY(query_step(&query, &found, err));
    *ret_number = found ? query_get_int(&query, 0) : 0;
    if (*ret_number > BOXCAR_READER_MAX)
        return error_set(err, BOXCAR_E_UNSUPPORTED,
                         "this store has had %d subscriptions, and numbers are never used again: start a new "
                         "store",
                         BOXCAR_READER_MAX - BOXCAR_INBOX);
    return BOXCAR_OK;
}

static boxcar_status add(struct sqlite_store *store, struct changing *changing, boxcar_error *err) {
    const boxcar_new_subscription *given = changing->change->given;
    const boxcar_place place = {.start = given->start, .time = given->start_time};
    AUTO_FREE char *patterns = format_patterns(given->patterns, given->pattern_count);
    int64_t position;
    if (patterns == NULL)
        return error_no_memory(err);
    TRY(check_name(store, given->name, err));
    if (given->only)
        TRY(check_members(store, given->box, patterns, err));
    TRY(sqlite_place_find(store, given->box, &place, false, &position, err));
    TRY(insert(store, given, &place, patterns, &changing->reader, err));
    TRY(query_do(store, S_READER_FRONTIER, err, Q_INT(changing->reader), Q_INT(position)));
    if (given->only)
        TRY(check_unread(store, given->box, changing->reader, patterns, err));
    return query_do(store, S_READER_ADMIT, err, Q_INT(ADMITS_SINCE));
}

/* ---- changing ---- */

static boxcar_status alter(struct sqlite_store *store, const boxcar_subscription_changes *changes,
                           boxcar_error *err) {
    AUTO_FREE char *patterns =
        changes->pattern_count > 0 ? format_patterns(changes->patterns, changes->pattern_count) : NULL;
    if (changes->pattern_count > 0 && patterns == NULL)
        return error_no_memory(err);
    if (patterns != NULL && store->reader->only) {
        TRY(check_members(store, store->reader->box, patterns, err));
        TRY(check_unread(store, store->reader->box, store->reader->number, patterns, err));
    }
    return query_do(
        store, S_READER_ALTER, err, Q_INT(store->reader->number),
        Q_TEXT(patterns != NULL ? boxcar_str_of(patterns) : BOXCAR_NO_STR),
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
                               "messages of the subscription are leased: stop its workers, or force it, "
                               "which ends these leases");
}

/* Nothing is claimed for it from now on. Rows that may be many go with maintenance. */
static boxcar_status end(struct sqlite_store *store, bool force, boxcar_error *err) {
    static const enum statement statements[] = {S_REMOVE_LEASES,    S_REMOVE_HALTS,   S_REMOVE_FRONTIER,
                                                S_REMOVE_INSTANCES, S_REMOVE_TALLIES, S_REMOVE_VIOLATIONS,
                                                S_REMOVE_REWINDS,   S_REMOVE_SKIPS,   S_REMOVE_MARK};
    if (!force)
        TRY(check_leases(store, err));
    for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]); i++)
        TRY(query_do(store, statements[i], err, Q_INT(store->reader->number)));
    return BOXCAR_OK;
}

/* ---- all of them ---- */

static boxcar_status enter_by_name(struct sqlite_store *store, struct changing *changing, boxcar_error *err) {
    changing->reader = 0;
    TRY(query_find_int(store, S_READER_BY_NAME, &changing->reader, err, Q_TEXT(changing->change->name)));
    if (changing->reader == 0)
        return store_refuse_subscription(changing->change->name, err);
    return sqlite_reader_enter(store, (boxcar_box)changing->reader, err);
}

static boxcar_status change(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct changing *changing = context;
    const struct subscription_change *change = changing->change;
    changing->count = 0;
    if (change->action == SUBSCRIPTION_ADD_POLICY)
        return error_set(err, BOXCAR_E_UNSUPPORTED, "policies are not available");
    if (change->action == SUBSCRIPTION_ADD)
        return add(store, changing, err);
    TRY(enter_by_name(store, changing, err));
    struct query_value number = Q_INT(changing->reader);
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
        return sqlite_rewind(store, &change->place, &changing->count, err);
    case SUBSCRIPTION_REMOVE:
        return end(store, change->force, err);
    }
    return BOXCAR_OK;
}

boxcar_status sqlite_subscription_change(struct boxcar_store *store, const struct subscription_change *given,
                                         boxcar_box *ret_reader, int64_t *ret_count, boxcar_error *err) {
    struct changing changing = {.change = given};
    TRY(sqlite_transaction(sqlite_of(store), ACCESS_WRITE, change, &changing, err));
    *ret_reader = (boxcar_box)changing.reader;
    *ret_count = changing.count;
    return BOXCAR_OK;
}
