/* Making, changing and listing subscriptions. */
#include "subscription.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "base/utf8.h"
#include "core/names.h"
#include "store/postgres/connection/query.h"

/* ---- changes ---- */

/* A place as the functions take it. */
static boxcar_str place_text(const boxcar_place *place, char text[BOXCAR_TIME_TEXT_SIZE]) {
    switch (place->start) {
    case BOXCAR_START_END:
        return BOXCAR_STR("end");
    case BOXCAR_START_BEGINNING:
        return BOXCAR_STR("beginning");
    case BOXCAR_START_TIME:
        boxcar_time_format(place->time, text);
        return boxcar_str_of(text);
    default:
        snprintf(text, BOXCAR_TIME_TEXT_SIZE, "%" PRId64, place->work_id.value);
        return boxcar_str_of(text);
    }
}

static void add_patterns(struct pg_params *params, const boxcar_str *patterns, size_t count) {
    struct buf *array = pg_params_array_begin(params, PG_TEXT_ARRAY, count);

    for (size_t i = 0; i < count; i++)
        pg_array_text(array, patterns[i]);
}

static boxcar_status add(struct pg_store *pg, const boxcar_new_subscription *given, boxcar_box *ret_reader,
                         boxcar_error *err) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;
    AUTO_RESULT PGresult *result = NULL;
    const boxcar_place place = {.start = given->start, .time = given->start_time};
    char text[BOXCAR_TIME_TEXT_SIZE];

    pg_params_add(&params, P_TEXT(given->name));
    add_patterns(&params, given->patterns, given->pattern_count);
    pg_params_add(&params, P_TEXT(boxcar_str_of(boxcar_box_name(given->box))),
                  P_TEXT(place_text(&place, text)), P_BOOL(given->only), P_MS_OR_NULL(given->max_lag_ms),
                  P_INT8_OR_NULL(given->max_lag_count));
    TRY(pg_query(pg, PG_SUBSCRIPTION_ADD, &params, &result, err));
    *ret_reader = pg_get_int4(result, 0, 0);
    return BOXCAR_OK;
}

static boxcar_status alter(struct pg_store *pg, boxcar_str name, const boxcar_subscription_changes *changes,
                           boxcar_error *err) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;
    AUTO_RESULT PGresult *result = NULL;

    pg_params_add(&params, P_TEXT(name));
    if (changes->pattern_count > 0)
        add_patterns(&params, changes->patterns, changes->pattern_count);
    else
        pg_params_add(&params, P_NULL(PG_TEXT_ARRAY));
    pg_params_add(
        &params, changes->max_lag_ms == BOXCAR_UNCHANGED ? P_NULL(PG_INTERVAL) : P_MS(changes->max_lag_ms),
        changes->max_lag_count == BOXCAR_UNCHANGED ? P_NULL(PG_INT8) : P_INT8(changes->max_lag_count));
    return pg_query(pg, PG_SUBSCRIPTION_CHANGE, &params, &result, err);
}

static boxcar_status rewind_to(struct pg_store *pg, boxcar_str name, const boxcar_place *place,
                               int64_t *ret_count, boxcar_error *err) {
    AUTO_RESULT PGresult *result = NULL;
    char text[BOXCAR_TIME_TEXT_SIZE];

    TRY(pg_ask(pg, PG_SUBSCRIPTION_REWIND, &result, err, P_TEXT(name), P_TEXT(place_text(place, text))));
    *ret_count = pg_get_int8(result, 0, 0);
    return BOXCAR_OK;
}

boxcar_status pg_subscription_change(struct boxcar_store *store, const struct subscription_change *change,
                                     boxcar_box *ret_reader, int64_t *ret_count, boxcar_error *err) {
    struct pg_store *pg = pg_store_of(store);

    switch (change->action) {
    case SUBSCRIPTION_ADD:
        return add(pg, change->given, ret_reader, err);
    case SUBSCRIPTION_ADD_POLICY:
        return error_set(err, BOXCAR_E_UNSUPPORTED, "policies are not available");
    case SUBSCRIPTION_PAUSE:
        return pg_do(pg, PG_SUBSCRIPTION_PAUSE, err, P_TEXT(change->name));
    case SUBSCRIPTION_RESUME:
        return pg_do(pg, PG_SUBSCRIPTION_RESUME, err, P_TEXT(change->name));
    case SUBSCRIPTION_ALTER:
        return alter(pg, change->name, change->changes, err);
    case SUBSCRIPTION_REWIND:
        return rewind_to(pg, change->name, &change->place, ret_count, err);
    default:
        return pg_do(pg, PG_SUBSCRIPTION_REMOVE, err, P_TEXT(change->name), P_BOOL(change->force));
    }
}

/* ---- looking ---- */

/* The patterns, all in one text: the length of each, a colon, and the pattern. They are read once the list
 * has an arena. */
static void read_subscription(const PGresult *r, int row, void *item) {
    boxcar_subscription *s = item;

    s->name = pg_get_text(r, row, 0);
    s->reader = pg_get_int4(r, row, 1);
    (void)box_parse(pg_get_text(r, row, 2), &s->box);
    s->only = pg_get_bool(r, row, 4);
    s->created_at = pg_get_time(r, row, 5);
    s->start_at = pg_get_text(r, row, 6);
    s->paused_at = pg_get_time(r, row, 7);
    s->rewound_at = pg_get_time(r, row, 8);
    s->max_lag_ms = pg_get_int8(r, row, 9);
    s->max_lag_count = pg_get_int8(r, row, 10);
    s->ready = pg_get_int8(r, row, 11);
    s->in_progress = pg_get_int8(r, row, 12);
    s->failed = pg_get_int8(r, row, 13);
    s->oldest_unread_at = pg_get_time(r, row, 14);
    s->lag_seconds = pg_get_float8(r, row, 15);
    s->held_messages = pg_get_int8(r, row, 16);
    s->patterns = NULL;
}

/* The next pattern; false = there is none. */
static bool next_pattern(boxcar_str *rest, boxcar_str *ret_pattern) {
    size_t len = 0, i = 0;

    while (i < rest->len && rest->data[i] >= '0' && rest->data[i] <= '9' && len < rest->len)
        len = len * 10 + (size_t)(rest->data[i++] - '0');
    if (i == 0 || i >= rest->len || rest->data[i] != ':' || len > rest->len - i - 1)
        return false;
    *ret_pattern = (boxcar_str){rest->data + i + 1, len};
    *rest = (boxcar_str){rest->data + i + 1 + len, rest->len - i - 1 - len};
    return true;
}

static boxcar_status split_patterns(boxcar_subscription *s, boxcar_str all, struct arena *arena,
                                    boxcar_error *err) {
    boxcar_str rest = all, pattern;

    while (next_pattern(&rest, &pattern))
        s->pattern_count++;
    boxcar_str *patterns = arena_alloc_array(arena, s->pattern_count, sizeof(*patterns));
    if (!patterns)
        return error_no_memory(err);
    for (size_t i = 0; i < s->pattern_count; i++)
        (void)next_pattern(&all, &patterns[i]);
    s->patterns = patterns;
    return BOXCAR_OK;
}

boxcar_status pg_subscription_read(struct boxcar_store *store, const struct subscription_choice *choice,
                                   struct subscription_rows **ret_list, boxcar_error *err) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;
    PGresult *result;
    struct subscription_rows *list;

    pg_params_add(&params, P_TEXT(choice->name));
    TRY(pg_query(pg_store_of(store), PG_SUBSCRIPTIONS, &params, &result, err));
    TRY(pg_rows_into_list(result, PG_LIST_KIND(read_subscription, &list), &list, err));
    for (size_t i = 0; i < list->count; i++) { /* the list has the result */
        boxcar_status status =
            split_patterns(&list->items[i], pg_get_text(result, (int)i, 3), &list->arena, err);

        if (status != BOXCAR_OK) {
            list_free(list);
            return status;
        }
    }
    if (list->count == 0 && !str_is_absent(choice->name)) {
        list_free(list);
        return store_refuse_subscription(choice->name, err);
    }
    *ret_list = list;
    return BOXCAR_OK;
}
