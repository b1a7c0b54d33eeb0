/* Making, changing and listing subscriptions. */
#include "subscription.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "base/utf8.h"
#include "core/names.h"
#include "store/postgres/connection/error.h"
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

static void add_texts(struct pg_params *params, const boxcar_str *texts, size_t count) {
    struct buf *array = pg_params_array_begin(params, PG_TEXT_ARRAY, count);

    for (size_t i = 0; i < count; i++)
        pg_array_text(array, texts[i]);
}

static boxcar_status add(struct pg_store *pg, const boxcar_new_subscription *given, boxcar_box *ret_reader,
                         boxcar_error *err) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;
    AUTO_RESULT PGresult *result = NULL;
    const boxcar_place place = {.start = given->start, .time = given->start_time};
    char text[BOXCAR_TIME_TEXT_SIZE];

    pg_params_add(&params, P_TEXT(given->name));
    add_texts(&params, given->patterns, given->pattern_count);
    pg_params_add(&params, P_TEXT(boxcar_str_of(boxcar_box_name(given->box))),
                  P_TEXT(place_text(&place, text)), P_BOOL(given->only), P_MS_OR_NULL(given->max_lag_ms),
                  P_INT8_OR_NULL(given->max_lag_count));
    TRY(pg_query(pg, PG_SUBSCRIPTION_ADD, &params, &result, err));
    *ret_reader = pg_get_int4(result, 0, 0);
    return BOXCAR_OK;
}

static boxcar_status add_policy(struct pg_store *pg, const boxcar_new_fanout *given, boxcar_error *err) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;
    AUTO_RESULT PGresult *result = NULL;
    const boxcar_place place = {.start = given->start, .time = given->start_time};
    char text[BOXCAR_TIME_TEXT_SIZE];

    pg_params_add(&params, P_TEXT(given->name));
    add_texts(&params, given->patterns, given->pattern_count);
    add_texts(&params, given->destinations, given->destination_count);
    pg_params_add(&params, P_TEXT(boxcar_str_of(boxcar_box_name(given->box))),
                  P_TEXT(place_text(&place, text)), P_BOOL(given->only), P_TEXT(given->then_topic),
                  P_TEXT(given->else_topic));
    return pg_query(pg, PG_FANOUT_ADD, &params, &result, err);
}

static boxcar_status alter(struct pg_store *pg, boxcar_str name, const boxcar_subscription_changes *changes,
                           boxcar_error *err) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;
    AUTO_RESULT PGresult *result = NULL;

    pg_params_add(&params, P_TEXT(name));
    if (changes->pattern_count > 0)
        add_texts(&params, changes->patterns, changes->pattern_count);
    else
        pg_params_add(&params, P_NULL(PG_TEXT_ARRAY));
    pg_params_add(
        &params, changes->max_lag_ms == BOXCAR_UNCHANGED ? P_NULL(PG_INTERVAL) : P_MS(changes->max_lag_ms),
        changes->max_lag_count == BOXCAR_UNCHANGED ? P_NULL(PG_INT8) : P_INT8(changes->max_lag_count));
    return pg_query(pg, PG_SUBSCRIPTION_CHANGE, &params, &result, err);
}

static boxcar_status rewind_to(struct pg_store *pg, const struct subscription_change *change,
                               int64_t *ret_count, boxcar_error *err) {
    AUTO_RESULT PGresult *result = NULL;
    char text[BOXCAR_TIME_TEXT_SIZE];

    TRY(pg_ask(pg, change->of_policy ? PG_FANOUT_REWIND : PG_SUBSCRIPTION_REWIND, &result, err,
               P_TEXT(change->name), P_TEXT(place_text(&change->place, text))));
    *ret_count = pg_get_int8(result, 0, 0);
    return BOXCAR_OK;
}

/* A second try, when the answer to the first was lost, may find that the first has removed it. */
static boxcar_status remove_it(struct pg_store *pg, const struct subscription_change *change,
                               boxcar_error *err) {
    boxcar_error why = BOXCAR_ERROR_INIT;
    boxcar_status status = pg_do(pg, change->of_policy ? PG_FANOUT_REMOVE : PG_SUBSCRIPTION_REMOVE, &why,
                                 P_TEXT(change->name), P_BOOL(change->force));

    return status == BOXCAR_E_NOT_FOUND && why.outcome_unknown ? BOXCAR_OK : pg_error_pass(status, &why, err);
}

boxcar_status pg_subscription_change(struct boxcar_store *store, const struct subscription_change *change,
                                     boxcar_box *ret_reader, int64_t *ret_count, boxcar_error *err) {
    struct pg_store *pg = pg_store_of(store);

    switch (change->action) {
    case SUBSCRIPTION_ADD:
        return add(pg, change->given, ret_reader, err);
    case SUBSCRIPTION_ADD_POLICY:
        return add_policy(pg, change->policy, err);
    case SUBSCRIPTION_PAUSE:
        return pg_do(pg, change->of_policy ? PG_FANOUT_PAUSE : PG_SUBSCRIPTION_PAUSE, err,
                     P_TEXT(change->name));
    case SUBSCRIPTION_RESUME:
        return pg_do(pg, change->of_policy ? PG_FANOUT_RESUME : PG_SUBSCRIPTION_RESUME, err,
                     P_TEXT(change->name));
    case SUBSCRIPTION_ALTER:
        return alter(pg, change->name, change->changes, err);
    case SUBSCRIPTION_REWIND:
        return rewind_to(pg, change, ret_count, err);
    default:
        return remove_it(pg, change, err);
    }
}

/* ---- looking ---- */

/* Without its lists: they are read once there is an arena. */
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
    s->then_topic = pg_get_text(r, row, 18);
    s->else_topic = pg_get_text(r, row, 19);
}

/* The next of several texts in one: its length, a colon, and the text; false = there is none. */
static bool next_text(boxcar_str *rest, boxcar_str *ret_text) {
    size_t len = 0, i = 0;

    while (i < rest->len && rest->data[i] >= '0' && rest->data[i] <= '9' && len < rest->len)
        len = len * 10 + (size_t)(rest->data[i++] - '0');
    if (i == 0 || i >= rest->len || rest->data[i] != ':' || len > rest->len - i - 1)
        return false;
    *ret_text = (boxcar_str){rest->data + i + 1, len};
    *rest = (boxcar_str){rest->data + i + 1 + len, rest->len - i - 1 - len};
    return true;
}

static boxcar_status split_texts(boxcar_str all, struct arena *arena, const boxcar_str **ret_texts,
                                 size_t *ret_count, boxcar_error *err) {
    boxcar_str rest = all, text;
    size_t count = 0;

    while (next_text(&rest, &text))
        count++;
    boxcar_str *texts = arena_alloc_array(arena, count, sizeof(*texts));
    if (!texts)
        return error_no_memory(err);
    for (size_t i = 0; i < count; i++)
        (void)next_text(&all, &texts[i]);
    *ret_texts = texts;
    *ret_count = count;
    return BOXCAR_OK;
}

static boxcar_status read_texts(const PGresult *r, int row, struct arena *arena, boxcar_subscription *s,
                                boxcar_error *err) {
    TRY(split_texts(pg_get_text(r, row, 3), arena, &s->patterns, &s->pattern_count, err));
    return split_texts(pg_get_text(r, row, 17), arena, &s->destinations, &s->destination_count, err);
}

static boxcar_status refuse(const struct subscription_choice *choice, boxcar_error *err) {
    return choice->of_policy ? store_refuse_policy(choice->name, err)
                             : store_refuse_subscription(choice->name, err);
}

boxcar_status pg_subscription_read(struct boxcar_store *store, const struct subscription_choice *choice,
                                   struct subscription_rows **ret_list, boxcar_error *err) {
    AUTO_PARAMS struct pg_params params = PG_PARAMS_INIT;
    PGresult *result;
    struct subscription_rows *list;

    pg_params_add(&params, P_TEXT(choice->name), P_BOOL(choice->of_policy));
    TRY(pg_query(pg_store_of(store), choice->is_brief ? PG_SUBSCRIPTIONS_BRIEF : PG_SUBSCRIPTIONS, &params,
                 &result, err));
    TRY(pg_rows_into_list(result, PG_LIST_KIND(read_subscription, &list), &list, err));
    for (size_t i = 0; i < list->count; i++) { /* the list has the result */
        boxcar_status status = read_texts(result, (int)i, &list->arena, &list->items[i], err);

        if (status != BOXCAR_OK) {
            list_free(list);
            return status;
        }
    }
    if (list->count == 0 && !str_is_absent(choice->name)) {
        list_free(list);
        return refuse(choice, err);
    }
    *ret_list = list;
    return BOXCAR_OK;
}
