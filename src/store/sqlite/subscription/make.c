/* Making subscriptions: one that somebody asked for, or one of a policy. */
#include "make.h"

#include <jansson.h>
#include <stdio.h>

#include "base/utf8.h"
#include "subscription.h"

#define ADMITS_SINCE 15 /* the schema version whose programs keep messages for subscriptions */

/* NULL = out of memory. */
static char *dump_texts(const boxcar_str *texts, size_t count) {
    json_t *array = json_array();
    bool made = array != NULL;
    for (size_t i = 0; made && i < count; i++)
        made = json_array_append_new(array, json_stringn(texts[i].data, texts[i].len)) == 0;
    char *text = made ? json_dumps(array, JSON_COMPACT) : NULL;
    json_decref(array);
    return text;
}

boxcar_status sqlite_texts_format(struct sqlite_store *store, const boxcar_str *texts, size_t count,
                                  boxcar_str *ret_json, boxcar_error *err) {
    AUTO_FREE char *json = dump_texts(texts, count);
    bool copied = json != NULL && arena_copy_str(&store->scratch, boxcar_str_of(json), ret_json);
    return copied ? BOXCAR_OK : error_no_memory(err);
}

/* ---- checks ---- */

boxcar_status sqlite_reader_check_name(struct sqlite_store *store, boxcar_str name, boxcar_error *err) {
    AUTO_QUERY struct query query = query_with(store, S_READER_NAME_TAKEN, Q_TEXT(name));
    bool taken;
    TRY(query_step(&query, &taken, err));
    if (!taken)
        return BOXCAR_OK;
    boxcar_str shown = utf8_cut(name, 100);
    bool of_policy = query_get_int(&query, 0) != 0;
    error_set(err, BOXCAR_E_CONFLICT,
              "there is a %s \"%.*s\" already: choose another name, or remove that one",
              of_policy ? "policy" : "subscription", (int)shown.len, shown.data);
    if (err != NULL)
        snprintf(err->argument, sizeof(err->argument), "name");
    return BOXCAR_E_CONFLICT;
}

/* Its join would wait for a step that the main reader never ends. */
boxcar_status sqlite_reader_check_taking(struct sqlite_store *store, boxcar_box box,
                                         const boxcar_str *patterns, size_t count, boxcar_error *err) {
    int64_t taken = 0;
    boxcar_str json;
    TRY(sqlite_texts_format(store, patterns, count, &json, err));
    TRY(query_find_int(store, S_MEMBER_TAKEN, &taken, err, Q_INT(box), Q_TEXT(json)));
    return taken == 0 ? BOXCAR_OK
                      : error_set(err, BOXCAR_E_CONFLICT,
                                  "a message with one of these topics is a member of an open join, and the "
                                  "main reader has not read it yet: wait until it has, or leave out only");
}

/* What the main reader has not read, and the subscription does not read either, would be nobody's. */
boxcar_status sqlite_reader_check_unread(struct sqlite_store *store, boxcar_box box, int64_t number,
                                         const boxcar_str *patterns, size_t count, boxcar_error *err) {
    int64_t lost = 0;
    boxcar_str json;
    TRY(sqlite_texts_format(store, patterns, count, &json, err));
    TRY(query_find_int(store, S_UNREAD_TAKEN, &lost, err, Q_INT(box), Q_TEXT(json), Q_INT(number)));
    return lost == 0
               ? BOXCAR_OK
               : error_set(err, BOXCAR_E_CONFLICT,
                           "the main reader has not read all messages with these topics, and the "
                           "subscription would not read them: wait until it has, or start at the beginning, "
                           "or at a time before the oldest of them");
}

/* ---- making ---- */

static boxcar_status insert(struct sqlite_store *store, const struct new_reader *reader,
                            const boxcar_place *place, int64_t *ret_number, boxcar_error *err) {
    const boxcar_new_subscription *given = &reader->given;
    char start[PLACE_TEXT_SIZE];
    boxcar_str patterns, destinations = BOXCAR_NO_STR;
    bool found;
    sqlite_place_format(place, start);
    TRY(sqlite_texts_format(store, given->patterns, given->pattern_count, &patterns, err));
    if (reader->destination_count > 0)
        TRY(sqlite_texts_format(store, reader->destinations, reader->destination_count, &destinations, err));
    AUTO_QUERY struct query query =
        query_with(store, S_READER_INSERT, Q_TEXT(given->name), Q_INT(given->box), Q_TEXT(patterns),
                   Q_INT(given->only), Q_INT(store->now), Q_TEXT(boxcar_str_of(start)),
                   Q_INT(given->max_lag_ms), Q_INT(given->max_lag_count), Q_TEXT(destinations),
                   Q_TEXT(reader->then_topic), Q_TEXT(reader->else_topic));
    TRY(query_step(&query, &found, err));
    *ret_number = found ? query_get_int(&query, 0) : 0;
    if (*ret_number > BOXCAR_READER_MAX)
        return error_set(err, BOXCAR_E_UNSUPPORTED,
                         "this store has had %d subscriptions, and numbers are never used again: start a new "
                         "store",
                         BOXCAR_READER_MAX - BOXCAR_INBOX);
    return BOXCAR_OK;
}

boxcar_status sqlite_reader_make(struct sqlite_store *store, const struct new_reader *reader,
                                 int64_t *ret_number, boxcar_error *err) {
    const boxcar_place place = {.start = reader->given.start, .time = reader->given.start_time};
    int64_t position;
    TRY(sqlite_place_find(store, reader->given.box, &place, false, &position, err));
    TRY(insert(store, reader, &place, ret_number, err));
    TRY(query_do(store, S_READER_FRONTIER, err, Q_INT(*ret_number), Q_INT(position)));
    return query_do(store, S_READER_ADMIT, err, Q_INT(ADMITS_SINCE));
}
