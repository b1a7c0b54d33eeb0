/* Subscriptions as readers: who they are, and what they want. */
#include "reader.h"

#include "base/utf8.h"
#include "core/json.h"
#include "core/topic.h"

/* ---- patterns ---- */

static boxcar_status copy_patterns(const json_t *array, size_t count, struct arena *arena,
                                   boxcar_str *patterns, boxcar_error *err) {
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_array_get(array, i);
        boxcar_str text = {json_string_value(item), json_string_length(item)};
        if (!arena_copy_str(arena, text, &patterns[i]))
            return error_no_memory(err);
    }
    return BOXCAR_OK;
}

static bool are_texts(const json_t *array) {
    bool texts = json_is_array(array);
    for (size_t i = 0; texts && i < json_array_size(array); i++)
        texts = json_is_string(json_array_get(array, i));
    return texts;
}

boxcar_status sqlite_patterns_parse(boxcar_str json, struct arena *arena, boxcar_str **ret_patterns,
                                    size_t *ret_count, boxcar_error *err) {
    bool no_memory = false;
    json_t *array = json.data != NULL ? json_read(json, 0, &no_memory) : NULL;
    if (no_memory)
        return error_no_memory(err);
    size_t count = are_texts(array) ? json_array_size(array) : 0;
    boxcar_str *patterns = arena_alloc_array(arena, count, sizeof(*patterns));
    boxcar_status status =
        patterns != NULL ? copy_patterns(array, count, arena, patterns, err) : error_no_memory(err);
    json_decref(array);
    TRY(status);
    *ret_patterns = patterns;
    *ret_count = count;
    return BOXCAR_OK;
}

static bool match_any(const boxcar_str *patterns, size_t count, boxcar_str topic) {
    for (size_t i = 0; i < count; i++) {
        if (topic_matches(patterns[i], topic))
            return true;
    }
    return false;
}

bool sqlite_reader_wants(const struct reader *reader, boxcar_str topic) {
    return match_any(reader->patterns, reader->pattern_count, topic);
}

/* ---- whose turn it is ---- */

static boxcar_status read_reader(struct sqlite_store *store, int number, struct reader *reader,
                                 boxcar_error *err) {
    AUTO_QUERY struct query query = query_with(store, S_READER_READ, Q_INT(number));
    bool found;
    TRY(query_step(&query, &found, err));
    if (!found)
        return store_refuse_reader(number, err);
    *reader = (struct reader){.number = number,
                              .box = (boxcar_box)query_get_int(&query, 0),
                              .paused = !query_is_null(&query, 2),
                              .only = query_get_int(&query, 5) != 0,
                              .max_lag_ms = query_get_int(&query, 3),
                              .max_lag_count = query_get_int(&query, 4)};
    return sqlite_patterns_parse(query_get_text(&query, 1), &store->scratch, &reader->patterns,
                                 &reader->pattern_count, err);
}

boxcar_status sqlite_reader_enter(struct sqlite_store *store, boxcar_box number, boxcar_error *err) {
    if (store->reader != NULL && store->reader->number == (int)number)
        return BOXCAR_OK;
    sqlite_reader_leave(store);
    if (number <= BOXCAR_INBOX)
        return BOXCAR_OK;
    struct reader *reader = arena_alloc(&store->scratch, sizeof(*reader));
    if (reader == NULL)
        return error_no_memory(err);
    TRY(read_reader(store, (int)number, reader, err));
    store->reader = reader;
    return BOXCAR_OK;
}

boxcar_status sqlite_reader_next(struct sqlite_store *store, int *number, bool *ret_found,
                                 boxcar_error *err) {
    int64_t next = 0;
    sqlite_reader_leave(store);
    TRY(query_find_int(store, S_READER_NEXT, &next, err,
                       Q_INT(*number > BOXCAR_INBOX ? *number : BOXCAR_INBOX)));
    *ret_found = next != 0;
    if (!*ret_found)
        return BOXCAR_OK;
    *number = (int)next;
    return sqlite_reader_enter(store, (boxcar_box)next, err);
}

/* ---- what is taken from a main reader ---- */

static boxcar_status add_taken(struct sqlite_store *store, struct taken *taken, boxcar_str json,
                               boxcar_error *err) {
    boxcar_str *patterns;
    size_t count;
    TRY(sqlite_patterns_parse(json, &store->scratch, &patterns, &count, err));
    for (size_t i = 0; i < count; i++) {
        boxcar_str *all =
            arena_make_room(&store->scratch, taken->patterns, taken->count, &taken->capacity, sizeof(*all));
        if (all == NULL)
            return error_no_memory(err);
        taken->patterns = all;
        taken->patterns[taken->count++] = patterns[i];
    }
    return BOXCAR_OK;
}

static boxcar_status load_taken(struct sqlite_store *store, boxcar_box box, struct taken *taken,
                                boxcar_error *err) {
    AUTO_QUERY struct query query = query_with(store, S_READERS_TAKING, Q_INT(box));
    while (query_next(&query))
        TRY(add_taken(store, taken, query_get_text(&query, 0), err));
    taken->loaded = true;
    return query_status(&query, err);
}

boxcar_status sqlite_reader_takes(struct sqlite_store *store, boxcar_box box, boxcar_str topic,
                                  bool *ret_takes, boxcar_error *err) {
    struct taken *taken = &store->taken[box];
    if (!taken->loaded)
        TRY(load_taken(store, box, taken, err));
    *ret_takes = match_any(taken->patterns, taken->count, topic);
    return BOXCAR_OK;
}
