#include "prepare.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "base/uuid.h"
#include "boxcar/inbox.h"
#include "core/event_type.h"

#define IDS_AT_ONCE 256 /* so that the system is not asked for each */

/* ---- messages ---- */

static boxcar_str empty_is_absent(boxcar_str text) { return str_is_empty(text) ? BOXCAR_NO_STR : text; }

bool prepare_message(boxcar_box box, boxcar_new_message *message, struct message_key *ret_key) {
    message->correlation_id = empty_is_absent(message->correlation_id);
    message->stream = empty_is_absent(message->stream);
    message->content_hash = empty_is_absent(message->content_hash);
    message->causation_id = empty_is_absent(message->causation_id);
    message->event_type = event_type_of(message);
    *ret_key = (struct message_key){.unique = message->unique};
    if (box == BOXCAR_INBOX) {
        message->message_id =
            boxcar_inbox_message_id((boxcar_inbox_key){message->source, message->external_id});
        return !boxcar_uuid_is_none(message->message_id.uuid);
    }
    if (str_is_absent(message->key))
        return true;
    boxcar_message_id id = boxcar_message_id_of_topic_key(message->topic, message->key);
    ret_key->id = ret_key->unique ? id : boxcar_message_id_of_key(message->key);
    if (!ret_key->unique)
        message->message_id = id;
    message->key = BOXCAR_NO_STR;
    return !boxcar_uuid_is_none(id.uuid) && !boxcar_uuid_is_none(ret_key->id.uuid);
}

boxcar_status prepare_ids(boxcar_new_message *messages, size_t count, boxcar_error *err) {
    struct uuid_series series = {.begun = false};
    uint8_t ids[IDS_AT_ONCE][16];
    size_t used = 0, made = 0;
    for (size_t i = 0; i < count; i++) {
        if (!boxcar_uuid_is_none(messages[i].message_id.uuid))
            continue;
        if (used == made) {
            made = count - i < IDS_AT_ONCE ? count - i : IDS_AT_ONCE;
            used = 0;
            if (!(count == 1 ? uuid_new_v7(ids, made) : uuid_series_next(&series, ids, made)))
                return error_set(err, BOXCAR_E_UNAVAILABLE, "the system gives no randomness for message ids");
        }
        memcpy(messages[i].message_id.uuid.bytes, ids[used++], sizeof(ids[0]));
    }
    return BOXCAR_OK;
}

boxcar_status prepare_messages(struct arena *arena, struct request *request, boxcar_box box,
                               boxcar_new_message_list messages, boxcar_error *err) {
    boxcar_new_message *copies = arena_alloc_array(arena, messages.count, sizeof(*copies));
    struct message_key *keys = arena_alloc_array(arena, messages.count, sizeof(*keys));
    if (!copies || !keys)
        return error_no_memory(err);
    memcpy(copies, messages.items, messages.count * sizeof(*copies));
    bool has_ids = false, has_keys = false;
    for (size_t i = 0; i < messages.count; i++) {
        if (!prepare_message(box, &copies[i], &keys[i]))
            return error_no_memory(err);
        has_ids = has_ids || !boxcar_uuid_is_none(copies[i].message_id.uuid);
        has_keys = has_keys || !boxcar_uuid_is_none(keys[i].id.uuid);
    }
    request->base.messages[box] = (boxcar_new_message_list){copies, messages.count};
    request->own[box].keys = has_keys ? keys : NULL;
    request->own[box].fresh_ids = !has_ids && !has_keys;
    return prepare_ids(copies, messages.count, err);
}

/* ---- settlements ---- */

static bool needs_work_id(const boxcar_settlement *settlement) {
    return settlement->work_id.value == 0 && !boxcar_uuid_is_none(settlement->message_id.uuid);
}

static bool is_defer_with_backoff(boxcar_settle_kind kind, const boxcar_settlement *settlement) {
    return kind == BOXCAR_DEFER && settlement->delay_ms == BOXCAR_BACKOFF;
}

void prepare_settlement(boxcar_settle_kind kind, boxcar_settlement *settlement) {
    settlement->error = utf8_cut(settlement->error, BOXCAR_ERROR_TEXT_MAX);
    if (is_defer_with_backoff(kind, settlement))
        settlement->delay_ms = 0;
}

boxcar_status prepare_work_ids(struct boxcar_store *store, boxcar_box box,
                               const struct gather_list lists[BOXCAR_SETTLE_KINDS], boxcar_error *err) {
    size_t most = 0, count = 0;
    for (int kind = 0; kind < BOXCAR_SETTLE_KINDS; kind++)
        most += lists[kind].count;
    if (most == 0)
        return BOXCAR_OK;
    AUTO_ARENA struct arena arena = ARENA_INIT;
    boxcar_settlement **named = arena_alloc_array(&arena, most, sizeof(boxcar_settlement *));
    boxcar_message_id *ids = arena_alloc_array(&arena, most, sizeof(*ids));
    boxcar_work_id *work_ids = arena_alloc_array(&arena, most, sizeof(*work_ids));
    if (!named || !ids || !work_ids)
        return error_no_memory(err);
    for (int kind = 0; kind < BOXCAR_SETTLE_KINDS; kind++)
        for (size_t i = 0; i < lists[kind].count; i++)
            if (needs_work_id(&lists[kind].items[i])) {
                ids[count] = lists[kind].items[i].message_id;
                named[count++] = &lists[kind].items[i];
            }
    if (count == 0)
        return BOXCAR_OK;
    TRY(store->ops->work_ids(store, box, ids, count, work_ids, err));
    for (size_t i = 0; i < count; i++)
        named[i]->work_id = work_ids[i];
    return BOXCAR_OK;
}

static bool has_to_change(boxcar_settle_kind kind, const boxcar_settlement *settlement) {
    return needs_work_id(settlement) || settlement->error.len > BOXCAR_ERROR_TEXT_MAX ||
           is_defer_with_backoff(kind, settlement);
}

/* *ret_copy has what became a copy. */
static boxcar_status prepare_list(struct arena *arena, boxcar_settle_kind kind, boxcar_settlement_list *list,
                                  struct gather_list *ret_copy, boxcar_error *err) {
    size_t i = 0;
    while (i < list->count && !has_to_change(kind, &list->items[i]))
        i++;
    if (i == list->count)
        return BOXCAR_OK;
    boxcar_settlement *copies = arena_alloc_array(arena, list->count, sizeof(*copies));
    if (!copies)
        return error_no_memory(err);
    memcpy(copies, list->items, list->count * sizeof(*copies));
    for (; i < list->count; i++)
        prepare_settlement(kind, &copies[i]);
    list->items = copies;
    *ret_copy = (struct gather_list){.items = copies, .count = list->count};
    return BOXCAR_OK;
}

boxcar_status prepare_settlements(struct arena *arena, struct boxcar_store *store, struct request *request,
                                  boxcar_error *err) {
    for (int box = 0; box < BOXES; box++) {
        struct gather_list copies[BOXCAR_SETTLE_KINDS] = {{0}};
        for (int kind = 0; kind < BOXCAR_SETTLE_KINDS; kind++)
            TRY(prepare_list(arena, (boxcar_settle_kind)kind, &request->parts[box].settle[kind],
                             &copies[kind], err));
        TRY(prepare_work_ids(store, request_reader(request, box), copies, err));
    }
    return BOXCAR_OK;
}

/* ---- stages ---- */

static const boxcar_settle_kind RESULTS[] = {BOXCAR_ACK, BOXCAR_ABANDON, BOXCAR_DEFER, BOXCAR_FAIL};
#define RESULT_KINDS (sizeof(RESULTS) / sizeof(RESULTS[0]))

/* Copies the results that come with stages, unless `into` is NULL, and returns how many there are. */
static size_t copy_results_with_stages(const boxcar_request_part *part, boxcar_settlement *into) {
    size_t count = 0;
    for (size_t k = 0; k < RESULT_KINDS; k++)
        for (size_t i = 0; i < part->settle[RESULTS[k]].count; i++) {
            const boxcar_settlement *result = &part->settle[RESULTS[k]].items[i];
            if (result->stages == 0)
                continue;
            if (into)
                into[count] = *result;
            count++;
        }
    return count;
}

boxcar_status prepare_stages(struct arena *arena, struct request *request, boxcar_error *err) {
    for (int box = 0; box < BOXES; box++) {
        boxcar_settlement_list *records = &request->parts[box].settle[BOXCAR_RECORD];
        size_t more = copy_results_with_stages(&request->parts[box], NULL);
        if (more == 0)
            continue;
        boxcar_settlement *all = arena_alloc_array(arena, records->count + more, sizeof(*all));
        if (!all)
            return error_no_memory(err);
        if (records->count > 0)
            memcpy(all, records->items, records->count * sizeof(*all));
        copy_results_with_stages(&request->parts[box], all + records->count);
        *records = (boxcar_settlement_list){all, records->count + more};
    }
    return BOXCAR_OK;
}
