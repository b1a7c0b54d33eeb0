/* Streams for people: list, resume, skip; and their policies.
 *
 * A listing goes from key to key along the indexes and looks at the first messages of each stream, however
 * many it has. */
#include "admin.h"

#include "base/utf8.h"
#include "boxcar/instance.h"
#include "store/sqlite/admin/dead.h"
#include "store/sqlite/admin/setting.h"
#include "store/sqlite/connection/transaction.h"
#include "store/sqlite/join/join.h"
#include "store/sqlite/message/park.h"
#include "store/sqlite/settle/lease.h"
#include "store/sqlite/settle/release.h"
#include "store/sqlite/subscription/reader.h"
#include "stream.h"

/* ---- one stream ---- */

/* The unfinished messages of a stream, wherever they are. */
struct stream_state {
    struct stream_places places; /* on the lot */
    int64_t straight, fresh;     /* the first message leased straight from the log; the first one not met by a
                                    claim */
};

static boxcar_status read_state(struct sqlite_store *store, struct stream_key key,
                                struct stream_state *ret_state, boxcar_error *err) {
    TRY(sqlite_stream_places(store, key, &ret_state->places, err));
    TRY(sqlite_stream_first_straight(store, key, INT64_MAX, &ret_state->straight, err));
    return sqlite_stream_first_fresh(store, key, &ret_state->fresh, err);
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
    AUTO_QUERY struct query query = query_with(store, S_MESSAGE_HEAD, Q_INT(stream->head.value));
    if (!query_next(&query))
        return query_status(&query, err);
    if (stream->state == BOXCAR_STREAM_READY)
        stream->available_at = query_get_int(&query, 1);
    return query_copy_text(&query, 0, arena, &stream->topic, err);
}

static boxcar_status describe_head(struct sqlite_store *store, const struct stream_state *state,
                                   struct arena *arena, boxcar_stream *stream, boxcar_error *err) {
    stream->head.value = earliest_of(state);
    if (stream->head.value == 0)
        return BOXCAR_OK;
    if (sqlite_stream_earliest(&state->places) == 0)
        return describe_logged_head(store, arena, stream, err);
    struct parked row;
    bool found;
    TRY(sqlite_parked_read(store, stream->head.value, &row, &found, err));
    if (!found)
        return BOXCAR_OK;
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
    bool found;
    if (leased == 0)
        return BOXCAR_OK;
    if (stream->state != BOXCAR_STREAM_HALTED)
        stream->state = BOXCAR_STREAM_IN_PROGRESS;
    TRY(sqlite_lease_read(store, leased, &lease, &found, err));
    if (found)
        stream->owner = lease.owner;
    return BOXCAR_OK;
}

/* *ret_found: it has unfinished messages, or is halted. */
static boxcar_status describe(struct sqlite_store *store, struct stream_key key, struct arena *arena,
                              boxcar_stream *ret_stream, bool *ret_found, boxcar_error *err) {
    struct stream_state state;
    struct stream_halt halt;
    TRY(read_state(store, key, &state, err));
    TRY(sqlite_stream_halt_read(store, key, &halt, err));
    TRY(sqlite_settings_load(store, err));
    *ret_found = halt.found || earliest_of(&state) != 0;
    if (!*ret_found)
        return BOXCAR_OK;
    boxcar_stream stream = {.box = (boxcar_box)key.box,
                            .state = halt.found ? BOXCAR_STREAM_HALTED : BOXCAR_STREAM_READY,
                            .available_at = BOXCAR_TIME_NONE,
                            .halted_at = halt.at,
                            .halted_by.value = halt.by,
                            .partition = boxcar_stream_partition(key.text, store->settings.partition_count)};
    TRY(describe_owner(store, &state, &stream, err));
    TRY(describe_head(store, &state, arena, &stream, err));
    TRY(query_find_int(store, S_STREAM_PENDING, &stream.pending, err, Q_INT(key.box), Q_TEXT(key.text),
                       Q_INT(BOXCAR_STREAM_PENDING_MAX)));
    if (!arena_copy_str(arena, key.text, &stream.stream))
        return error_no_memory(err);
    *ret_stream = stream;
    return BOXCAR_OK;
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
    AUTO_QUERY struct query query =
        query_with(store, statements[filter->halted][inclusive], Q_INT(filter->box), Q_TEXT(from));
    *ret_key = BOXCAR_NO_STR;
    return query_next(&query) ? query_copy_text(&query, 0, &store->scratch, ret_key, err)
                              : query_status(&query, err);
}

static boxcar_status add_stream(struct sqlite_store *store, struct stream_paging *paging, boxcar_str key,
                                boxcar_error *err) {
    struct stream_rows *list = paging->list;
    bool found;
    boxcar_stream *items =
        arena_make_room(&list->arena, list->items, list->count, &paging->capacity, sizeof(*items));
    if (items == NULL)
        return error_no_memory(err);
    list->items = items;
    TRY(describe(store, (struct stream_key){(int)paging->filter->box, key}, &list->arena,
                 &list->items[list->count], &found, err));
    list->count += found;
    return BOXCAR_OK;
}

static boxcar_status page(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct stream_paging *paging = context;
    const boxcar_stream_filter *filter = paging->filter;
    boxcar_str after = str_is_empty(filter->after) ? BOXCAR_STR("") : filter->after;
    boxcar_str prefix = str_is_empty(filter->prefix) ? BOXCAR_STR("") : filter->prefix;
    bool inclusive = str_compare(prefix, after) > 0;
    boxcar_str key = inclusive ? prefix : after;
    arena_release(&paging->list->arena);
    *paging->list = (struct stream_rows){.arena = ARENA_INIT};
    paging->capacity = 0;
    TRY(sqlite_reader_enter(store, filter->box, err));
    if (paging->stream.data != NULL)
        return add_stream(store, paging, paging->stream, err);
    while (paging->list->count < (size_t)filter->limit) {
        TRY(next_key(store, filter, key, inclusive, &key, err));
        if (key.data == NULL || !str_starts_with(key, prefix))
            return BOXCAR_OK;
        inclusive = false;
        TRY(add_stream(store, paging, key, err));
    }
    return BOXCAR_OK;
}

boxcar_status sqlite_stream_page(struct boxcar_store *store, const boxcar_stream_filter *filter,
                                 boxcar_str stream, struct stream_rows **ret_list, boxcar_error *err) {
    struct stream_paging paging = {
        .filter = filter, .stream = stream, .list = calloc(1, sizeof(*paging.list))};
    if (paging.list == NULL)
        return error_no_memory(err);
    boxcar_status status = sqlite_transaction(sqlite_of(store), ACCESS_READ, page, &paging, err);
    if (status == BOXCAR_OK)
        *ret_list = paging.list;
    else
        list_free(paging.list);
    return status;
}

/* ---- resume and skip ---- */

struct deciding {
    struct stream_key key;
    enum stream_action action;
    boxcar_work_id work_id; /* the one that was given up */
    bool counted;           /* what is replayed is a step that a join has counted */
};

static boxcar_status error_no_stream(const struct sqlite_store *store, const struct deciding *deciding,
                                     boxcar_error *err) {
    return error_set(err, BOXCAR_E_NOT_FOUND, "the %s has no such stream: nothing of it is unfinished",
                     sqlite_reader_kind(store, (boxcar_box)deciding->key.box));
}

static boxcar_status error_not_halted(struct sqlite_store *store, const struct deciding *deciding,
                                      boxcar_error *err) {
    struct stream_state state;
    TRY(read_state(store, deciding->key, &state, err));
    if (earliest_of(&state) == 0)
        return error_no_stream(store, deciding, err);
    return error_set(err, BOXCAR_E_CONFLICT, "the stream is not halted: there is nothing to resume");
}

static boxcar_status replay_killer(struct sqlite_store *store, struct deciding *deciding, int64_t work_id,
                                   boxcar_error *err) {
    bool found;
    TRY(sqlite_dead_replay_one(store, work_id, &found, &deciding->counted, err));
    return found ? BOXCAR_OK
                 : error_set(err, BOXCAR_E_NOT_FOUND,
                             "the dead letter that halted the stream is gone: resume it without replay");
}

static boxcar_status bury_head(struct sqlite_store *store, struct deciding *deciding, boxcar_error *err) {
    struct stream_state state;
    struct parked row;
    bool found;
    TRY(read_state(store, deciding->key, &state, err));
    deciding->work_id.value = earliest_of(&state);
    if (deciding->work_id.value == 0)
        return error_no_stream(store, deciding, err);
    if (state.straight != 0 || state.places.first[PARKED_LEASED] != 0)
        return error_set(err, BOXCAR_E_CONFLICT,
                         "a message of the stream is in progress: only its owner can settle it");
    if (sqlite_stream_earliest(&state.places) == 0) /* then only this one has to go aside */
        TRY(sqlite_stream_enter_lot(store, deciding->key, deciding->work_id.value + 1, err));
    TRY(sqlite_parked_read(store, deciding->work_id.value, &row, &found, err));
    if (!found && store->reader != NULL)
        return sqlite_cancel_unread(store, deciding->work_id.value, err);
    return found ? sqlite_bury_parked(store, &row, BOXCAR_REASON_CANCELLED, "cancelled", err) : BOXCAR_OK;
}

static boxcar_status decide(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct deciding *deciding = context;
    struct stream_halt halt;
    deciding->counted = false;
    TRY(sqlite_reader_enter(store, (boxcar_box)deciding->key.box, err));
    TRY(sqlite_stream_halt_read(store, deciding->key, &halt, err));
    if (!halt.found)
        return deciding->action == STREAM_SKIP ? bury_head(store, deciding, err)
                                               : error_not_halted(store, deciding, err);
    if (deciding->action == STREAM_REPLAY)
        return replay_killer(store, deciding, halt.by, err);
    if (deciding->action == STREAM_SKIP)
        deciding->work_id.value = halt.by;
    TRY(sqlite_stream_halt_end(store, deciding->key, err));
    return sqlite_stream_settle_head(store, deciding->key, err);
}

boxcar_status sqlite_stream_change(struct boxcar_store *store, boxcar_box box, boxcar_str stream,
                                   enum stream_action action, boxcar_work_id *ret_work_id,
                                   boxcar_error *err) {
    struct deciding deciding = {.key = {(int)box, stream}, .action = action};
    TRY(sqlite_transaction(sqlite_of(store), ACCESS_WRITE, decide, &deciding, err));
    store_log_replayed_steps(store, deciding.counted);
    sqlite_join_log_ended(sqlite_of(store));
    *ret_work_id = deciding.work_id;
    return BOXCAR_OK;
}

/* ---- policies ---- */

static boxcar_status write_rule(struct sqlite_store *store, void *context, boxcar_error *err) {
    const boxcar_stream_rule *rule = context;
    if (rule->policy != BOXCAR_STREAM_DEFAULT)
        return query_do(store, S_RULE_WRITE, err, Q_TEXT(rule->pattern), Q_INT(rule->policy));
    TRY(query_do(store, S_RULE_DELETE, err, Q_TEXT(rule->pattern)));
    return sqlite3_changes(store->db) > 0
               ? BOXCAR_OK
               : error_set(err, BOXCAR_E_NOT_FOUND, "there is no rule for this pattern");
}

boxcar_status sqlite_stream_rule_write(struct boxcar_store *store, boxcar_str pattern,
                                       boxcar_stream_policy policy, boxcar_error *err) {
    boxcar_stream_rule rule = {pattern, policy};
    return sqlite_transaction(sqlite_of(store), ACCESS_WRITE, write_rule, &rule, err);
}

static boxcar_status list_rules(struct sqlite_store *store, void *context, boxcar_error *err) {
    struct stream_rule_rows *list = context;
    arena_release(&list->arena);
    *list = (struct stream_rule_rows){.arena = ARENA_INIT};
    TRY(sqlite_stream_rules_load(store, err));
    list->items = arena_alloc_array(&list->arena, store->rules.count, sizeof(*list->items));
    if (list->items == NULL)
        return error_no_memory(err);
    for (; list->count < store->rules.count; list->count++) {
        const boxcar_stream_rule *rule = &store->rules.items[list->count];
        list->items[list->count].policy = rule->policy;
        if (!arena_copy_str(&list->arena, rule->pattern, &list->items[list->count].pattern))
            return error_no_memory(err);
    }
    return BOXCAR_OK;
}

boxcar_status sqlite_stream_rules(struct boxcar_store *store, struct stream_rule_rows **ret_list,
                                  boxcar_error *err) {
    struct stream_rule_rows *list = calloc(1, sizeof(*list));
    if (list == NULL)
        return error_no_memory(err);
    boxcar_status status = sqlite_transaction(sqlite_of(store), ACCESS_READ, list_rules, list, err);
    if (status == BOXCAR_OK)
        *ret_list = list;
    else
        list_free(list);
    return status;
}
