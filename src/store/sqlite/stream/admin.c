/* Streams for people: list, resume, skip; and their policies.
 *
 * A listing goes from key to key along the indexes and looks at the first messages of each stream, however
 * many it has. */
#include "admin.h"

#include <string.h>

#include "base/utf8.h"
#include "boxcar/instance.h"
#include "store/sqlite/admin/dead.h"
#include "store/sqlite/admin/setting.h"
#include "store/sqlite/connection/transaction.h"
#include "store/sqlite/join/join.h"
#include "store/sqlite/message/park.h"
#include "store/sqlite/settle/lease.h"
#include "store/sqlite/settle/release.h"
#include "stream.h"

/* ---- one stream ---- */

static boxcar_status count_pending(struct sqlite_store *store, struct stream_key key, int64_t *ret_count,
                                   boxcar_error *err) {
    return query_find_int(store, S_STREAM_PENDING, ret_count, err, Q_INT(key.box), Q_TEXT(key.text),
                          Q_INT(BOXCAR_STREAM_PENDING_MAX));
}

/* The unfinished messages of a stream, wherever they are. */
struct stream_state {
    struct stream_places places; /* on the lot */
    int64_t straight, fresh;     /* the first message leased straight from the log; the first one not met by a
                                    claim */
};

static boxcar_status read_state(struct sqlite_store *store, struct stream_key key,
                                struct stream_state *ret_state, boxcar_error *err) {
    boxcar_status status = sqlite_stream_places(store, key, &ret_state->places, err);

    if (status == BOXCAR_OK)
        status = sqlite_stream_first_straight(store, key, INT64_MAX, &ret_state->straight, err);
    return status == BOXCAR_OK ? sqlite_stream_first_fresh(store, key, &ret_state->fresh, err) : status;
}

/* Fresh messages come after all that claims have met. None is on the lot while one is leased from the log. */
static int64_t earliest_of(const struct stream_state *state) {
    int64_t parked = sqlite_stream_earliest(&state->places);

    if (parked != 0)
        return parked;
    return state->straight != 0 ? state->straight : state->fresh;
}

static boxcar_status describe_logged_head(struct sqlite_store *store, struct arena *arena,
                                          boxcar_stream *stream, boxcar_error *err) {
    AUTO_QUERY struct query query = query_on(store, S_MESSAGE_HEAD);
    bool found = false;
    boxcar_status status;

    query_int(&query, stream->head.value);
    status = query_step(&query, &found, err);
    if (status != BOXCAR_OK || !found)
        return status;
    if (stream->state == BOXCAR_STREAM_READY)
        stream->available_at = query_get_int(&query, 1);
    return query_copy_text(&query, 0, arena, &stream->topic, err);
}

static boxcar_status describe_head(struct sqlite_store *store, const struct stream_state *state,
                                   struct arena *arena, boxcar_stream *stream, boxcar_error *err) {
    struct parked row;
    bool found = false;
    boxcar_status status;

    stream->head.value = earliest_of(state);
    if (stream->head.value == 0)
        return BOXCAR_OK;
    if (sqlite_stream_earliest(&state->places) == 0)
        return describe_logged_head(store, arena, stream, err);
    status = sqlite_parked_read(store, stream->head.value, &row, &found, err);
    if (status != BOXCAR_OK || !found)
        return status;
    stream->retry_count = row.retry_count;
    if (stream->state == BOXCAR_STREAM_READY) { /* until now: neither halted nor leased */
        stream->available_at = row.available_at;
        if (row.available_at > store->now)
            stream->state = BOXCAR_STREAM_WAITING;
    }
    return arena_copy_str(arena, row.topic, &stream->topic) ? BOXCAR_OK : error_no_memory(err);
}

/* The owner is the one of the first leased message. */
static boxcar_status describe_owner(struct sqlite_store *store, const struct stream_state *state,
                                    boxcar_stream *stream, boxcar_error *err) {
    int64_t leased = state->straight != 0 ? state->straight : state->places.first[PARKED_LEASED];
    struct lease lease;
    bool found = false;
    boxcar_status status;

    if (leased == 0)
        return BOXCAR_OK;
    if (stream->state != BOXCAR_STREAM_HALTED)
        stream->state = BOXCAR_STREAM_IN_PROGRESS;
    status = sqlite_lease_read(store, leased, &lease, &found, err);
    if (status == BOXCAR_OK && found)
        stream->owner = lease.owner;
    return status;
}

/* *ret_found: it has unfinished messages, or is halted. */
static boxcar_status describe(struct sqlite_store *store, struct stream_key key, struct arena *arena,
                              boxcar_stream *ret_stream, bool *ret_found, boxcar_error *err) {
    boxcar_stream stream = {.box = (boxcar_box)key.box, .available_at = BOXCAR_TIME_NONE};
    struct stream_state state;
    struct stream_halt halt;
    boxcar_status status = read_state(store, key, &state, err);

    if (status == BOXCAR_OK)
        status = sqlite_stream_halt_read(store, key, &halt, err);
    if (status == BOXCAR_OK)
        status = sqlite_settings_load(store, err);
    if (status != BOXCAR_OK)
        return status;
    *ret_found = halt.found || earliest_of(&state) != 0;
    if (!*ret_found)
        return BOXCAR_OK;
    stream.state = halt.found ? BOXCAR_STREAM_HALTED : BOXCAR_STREAM_READY;
    stream.halted_at = halt.at;
    stream.halted_by.value = halt.by;
    stream.partition = boxcar_stream_partition(key.text, store->settings.partition_count);
    status = describe_owner(store, &state, &stream, err);
    if (status == BOXCAR_OK)
        status = describe_head(store, &state, arena, &stream, err);
    if (status == BOXCAR_OK)
        status = count_pending(store, key, &stream.pending, err);
    if (status == BOXCAR_OK && !arena_copy_str(arena, key.text, &stream.stream))
        status = error_no_memory(err);
    if (status == BOXCAR_OK)
        *ret_stream = stream;
    return status;
}

/* ---- a page of them ---- */

struct stream_paging {
    const boxcar_stream_filter *filter;
    boxcar_str stream; /* just this one */
    struct stream_rows *list;
    size_t capacity;
};

/* The next key: behind `from`, or from it on. Absent when there is none. */
static boxcar_status next_key(struct sqlite_store *store, const boxcar_stream_filter *filter, boxcar_str from,
                              bool inclusive, boxcar_str *ret_key, boxcar_error *err) {
    static const enum statement statements[2][2] = {{S_STREAM_NEXT, S_STREAM_NEXT_FROM},
                                                    {S_HALT_NEXT, S_HALT_NEXT_FROM}};
    AUTO_QUERY struct query query = query_on(store, statements[filter->halted][inclusive]);
    bool row = false;
    boxcar_status status;

    query_int(&query, filter->box);
    query_text(&query, from);
    status = query_step(&query, &row, err);
    *ret_key = BOXCAR_NO_STR;
    return status == BOXCAR_OK && row ? query_copy_text(&query, 0, &store->scratch, ret_key, err) : status;
}

static boxcar_status add_stream(struct sqlite_store *store, struct stream_paging *paging, boxcar_str key,
                                boxcar_error *err) {
    struct stream_rows *list = paging->list;
    bool found = false;
    boxcar_status status;

    boxcar_stream *items =
        arena_make_room(&list->arena, list->items, list->count, &paging->capacity, sizeof(*items));
    if (items == NULL)
        return error_no_memory(err);
    list->items = items;
    status = describe(store, (struct stream_key){(int)paging->filter->box, key}, &list->arena,
                      &list->items[list->count], &found, err);
    list->count += found;
    return status;
}

static bool is_behind(boxcar_str key, boxcar_str other) {
    size_t shorter = key.len < other.len ? key.len : other.len;
    int order = shorter > 0 ? memcmp(key.data, other.data, shorter) : 0;

    return order != 0 ? order > 0 : key.len > other.len;
}

static boxcar_status page(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct stream_paging *paging = context;
    const boxcar_stream_filter *filter = paging->filter;
    boxcar_str after = str_is_empty(filter->after) ? BOXCAR_STR("") : filter->after;
    boxcar_str prefix = str_is_empty(filter->prefix) ? BOXCAR_STR("") : filter->prefix;
    bool inclusive = is_behind(prefix, after);
    boxcar_str key = inclusive ? prefix : after;
    boxcar_status status = BOXCAR_OK;

    arena_release(&paging->list->arena);
    *paging->list = (struct stream_rows){.arena = ARENA_INIT};
    paging->capacity = 0;
    if (paging->stream.data != NULL)
        return add_stream(store, paging, paging->stream, err);
    while (status == BOXCAR_OK && paging->list->count < (size_t)filter->limit) {
        status = next_key(store, filter, key, inclusive, &key, err);
        if (status != BOXCAR_OK || key.data == NULL || !str_starts_with(key, prefix))
            break;
        inclusive = false;
        status = add_stream(store, paging, key, err);
    }
    return status;
}

boxcar_status sqlite_stream_page(struct boxcar_store *store, const boxcar_stream_filter *filter,
                                 boxcar_str stream, struct stream_rows **ret_list, boxcar_error *err) {
    struct stream_paging paging = {
        .filter = filter, .stream = stream, .list = calloc(1, sizeof(*paging.list))};
    boxcar_status status;

    if (paging.list == NULL)
        return error_no_memory(err);
    status = sqlite_transaction(sqlite_of(store), ACCESS_READ, page, &paging, err);
    if (status == BOXCAR_OK)
        *ret_list = paging.list;
    else
        list_free(paging.list);
    return status;
}

/* ---- resume and skip ---- */

struct deciding {
    struct stream_key key;
    bool replay;
    boxcar_work_id work_id; /* the one that was given up */
    bool counted;           /* what is replayed is a step that a join has counted */
};

static boxcar_status error_no_stream(const struct deciding *deciding, boxcar_error *err) {
    return error_set(err, BOXCAR_E_NOT_FOUND, "the %s has no such stream: nothing of it is unfinished",
                     boxcar_box_name((boxcar_box)deciding->key.box));
}

static boxcar_status error_not_halted(struct sqlite_store *store, const struct deciding *deciding,
                                      boxcar_error *err) {
    struct stream_state state;
    boxcar_status status = read_state(store, deciding->key, &state, err);

    if (status != BOXCAR_OK)
        return status;
    if (earliest_of(&state) == 0)
        return error_no_stream(deciding, err);
    return error_set(err, BOXCAR_E_CONFLICT, "the stream is not halted: there is nothing to resume");
}

static boxcar_status replay_killer(struct sqlite_store *store, struct deciding *deciding, int64_t work_id,
                                   boxcar_error *err) {
    bool found;
    boxcar_status status = sqlite_dead_replay_one(store, work_id, &found, &deciding->counted, err);

    if (status == BOXCAR_OK && !found)
        return error_set(err, BOXCAR_E_NOT_FOUND,
                         "the dead letter that halted the stream is gone: resume it without replay");
    return status;
}

static boxcar_status end_halt(struct sqlite_store *store, const struct deciding *deciding,
                              boxcar_error *err) {
    boxcar_status status = sqlite_stream_halt_end(store, deciding->key, err);

    return status == BOXCAR_OK ? sqlite_stream_settle_head(store, deciding->key, err) : status;
}

static boxcar_status resume(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct deciding *deciding = context;
    struct stream_halt halt;
    boxcar_status status = sqlite_stream_halt_read(store, deciding->key, &halt, err);

    deciding->counted = false;
    if (status != BOXCAR_OK)
        return status;
    if (!halt.found)
        return error_not_halted(store, deciding, err);
    return deciding->replay ? replay_killer(store, deciding, halt.by, err) : end_halt(store, deciding, err);
}

static boxcar_status bury_head(struct sqlite_store *store, struct deciding *deciding, boxcar_error *err) {
    struct stream_state state;
    struct parked row;
    bool found = false;
    boxcar_status status = read_state(store, deciding->key, &state, err);

    if (status != BOXCAR_OK)
        return status;
    deciding->work_id.value = earliest_of(&state);
    if (deciding->work_id.value == 0)
        return error_no_stream(deciding, err);
    if (sqlite_stream_earliest(&state.places) == 0 &&
        state.straight == 0) /* then only this one has to go aside */
        status = sqlite_stream_enter_lot(store, deciding->key, deciding->work_id.value + 1, err);
    if (status != BOXCAR_OK)
        return status;
    if (state.straight != 0 || state.places.first[PARKED_LEASED] != 0)
        return error_set(err, BOXCAR_E_CONFLICT,
                         "a message of the stream is in progress: only its owner can settle it");
    status = sqlite_parked_read(store, deciding->work_id.value, &row, &found, err);
    if (status != BOXCAR_OK || !found)
        return status;
    return sqlite_bury_parked(store, &row, BOXCAR_REASON_CANCELLED, "cancelled", err);
}

static boxcar_status skip(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct deciding *deciding = context;
    struct stream_halt halt;
    boxcar_status status = sqlite_stream_halt_read(store, deciding->key, &halt, err);

    if (status != BOXCAR_OK)
        return status;
    if (!halt.found)
        return bury_head(store, deciding, err);
    deciding->work_id.value = halt.by;
    return end_halt(store, deciding, err);
}

boxcar_status sqlite_stream_change(struct boxcar_store *store, boxcar_box box, boxcar_str stream,
                                   enum stream_action action, boxcar_work_id *ret_work_id,
                                   boxcar_error *err) {
    struct deciding deciding = {.key = {(int)box, stream}, .replay = action == STREAM_REPLAY};
    sqlite_work_fn work = action == STREAM_SKIP ? skip : resume;
    boxcar_status status = sqlite_transaction(sqlite_of(store), ACCESS_WRITE, work, &deciding, err);

    if (status != BOXCAR_OK)
        return status;
    store_log_replayed_steps(store, deciding.counted);
    sqlite_join_log_ended(sqlite_of(store));
    *ret_work_id = deciding.work_id;
    return BOXCAR_OK;
}

/* ---- policies ---- */

static boxcar_status write_rule(struct sqlite_store *store, void *context, boxcar_error *err) {
    const boxcar_stream_rule *rule = context;
    struct query query = query_on(store, S_RULE_WRITE);

    query_text(&query, rule->pattern);
    query_int(&query, rule->policy);
    return query_run(&query, err);
}

static boxcar_status remove_rule(struct sqlite_store *store, void *context, boxcar_error *err) {
    const boxcar_str *pattern = context;
    struct query query = query_on(store, S_RULE_DELETE);
    boxcar_status status;

    query_text(&query, *pattern);
    status = query_run(&query, err);
    if (status == BOXCAR_OK && sqlite3_changes(store->db) == 0)
        return error_set(err, BOXCAR_E_NOT_FOUND, "there is no rule for this pattern");
    return status;
}

boxcar_status sqlite_stream_rule_write(struct boxcar_store *store, boxcar_str pattern,
                                       boxcar_stream_policy policy, boxcar_error *err) {
    boxcar_stream_rule rule = {pattern, policy};

    if (policy == BOXCAR_STREAM_DEFAULT)
        return sqlite_transaction(sqlite_of(store), ACCESS_WRITE, remove_rule, &pattern, err);
    return sqlite_transaction(sqlite_of(store), ACCESS_WRITE, write_rule, &rule, err);
}

static boxcar_status list_rules(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct stream_rule_rows *list = context;
    boxcar_status status;

    arena_release(&list->arena);
    *list = (struct stream_rule_rows){.arena = ARENA_INIT};
    status = sqlite_stream_rules_load(store, err);
    if (status != BOXCAR_OK)
        return status;
    list->items = arena_alloc_array(&list->arena, store->rules.count, sizeof(*list->items));
    if (list->items == NULL)
        return error_no_memory(err);
    for (; list->count < store->rules.count; list->count++) {
        list->items[list->count].policy = store->rules.items[list->count].policy;
        if (!arena_copy_str(&list->arena, store->rules.items[list->count].pattern,
                            &list->items[list->count].pattern))
            return error_no_memory(err);
    }
    return BOXCAR_OK;
}

boxcar_status sqlite_stream_rules(struct boxcar_store *store, struct stream_rule_rows **ret_list,
                                  boxcar_error *err) {
    struct stream_rule_rows *list = calloc(1, sizeof(*list));
    boxcar_status status;

    if (list == NULL)
        return error_no_memory(err);
    status = sqlite_transaction(sqlite_of(store), ACCESS_READ, list_rules, list, err);
    if (status == BOXCAR_OK)
        *ret_list = list;
    else
        list_free(list);
    return status;
}
