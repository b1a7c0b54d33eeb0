#include "prepare.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "base/uuid.h"
#include "boxcar/inbox.h"
#include "core/event_type.h"

#define IDS_AT_ONCE 256 /* so that the system is not asked for each */

static boxcar_str empty_is_absent(boxcar_str text) { return str_is_empty(text) ? BOXCAR_NO_STR : text; }

static void prepare_texts(boxcar_new_message *message) {
    message->correlation_id = empty_is_absent(message->correlation_id);
    message->stream = empty_is_absent(message->stream);
    message->content_hash = empty_is_absent(message->content_hash);
    message->causation_id = empty_is_absent(message->causation_id);
    message->event_type = event_type_of(message);
}

bool prepare_message(boxcar_box box, boxcar_new_message *message, struct message_key *ret_key) {
    boxcar_message_id id;

    prepare_texts(message);
    *ret_key = (struct message_key){.unique = message->unique};
    if (box == BOXCAR_INBOX) {
        message->message_id =
            boxcar_inbox_message_id((boxcar_inbox_key){message->source, message->external_id});
        return !boxcar_uuid_is_none(message->message_id.uuid);
    }
    if (str_is_absent(message->key))
        return true;
    id = boxcar_message_id_of_topic_key(message->topic, message->key);
    ret_key->id = ret_key->unique ? id : boxcar_message_id_of_key(message->key);
    if (!ret_key->unique)
        message->message_id = id;
    message->key = BOXCAR_NO_STR;
    return !boxcar_uuid_is_none(id.uuid) && !boxcar_uuid_is_none(ret_key->id.uuid);
}

boxcar_status prepare_ids(boxcar_new_message *messages, size_t count, size_t missing, boxcar_error *err) {
    struct uuid_series series = {.begun = false};
    uint8_t ids[IDS_AT_ONCE][16];
    size_t used = 0, made = 0;

    for (size_t i = 0; i < count && missing > 0; i++) {
        if (!boxcar_uuid_is_none(messages[i].message_id.uuid))
            continue;
        if (used == made) {
            made = missing < IDS_AT_ONCE ? missing : IDS_AT_ONCE;
            used = 0;
            if (!(count == 1 ? uuid_new_v7(ids, made) : uuid_series_next(&series, ids, made)))
                return error_set(err, BOXCAR_E_UNAVAILABLE, "the system gives no randomness for message ids");
        }
        memcpy(messages[i].message_id.uuid.bytes, ids[used++], sizeof(ids[0]));
        missing--;
    }
    return BOXCAR_OK;
}

boxcar_status prepare_messages(struct arena *arena, struct request *request, boxcar_box box,
                               boxcar_new_message_list messages, boxcar_error *err) {
    boxcar_new_message *copies = arena_alloc_array(arena, messages.count, sizeof(*copies));
    struct message_key *keys = arena_alloc_array(arena, messages.count, sizeof(*keys));
    bool has_keys = false;
    size_t missing = 0;

    if (!copies || !keys)
        return error_no_memory(err);
    memcpy(copies, messages.items, messages.count * sizeof(*copies));
    for (size_t i = 0; i < messages.count; i++) {
        if (!prepare_message(box, &copies[i], &keys[i]))
            return error_no_memory(err);
        missing += boxcar_uuid_is_none(copies[i].message_id.uuid);
        has_keys = has_keys || !boxcar_uuid_is_none(keys[i].id.uuid);
    }
    request->base.messages[box] = (boxcar_new_message_list){copies, messages.count};
    request->own[box].keys = has_keys ? keys : NULL;
    request->own[box].fresh_ids = missing == messages.count && !has_keys;
    return prepare_ids(copies, messages.count, missing, err);
}

/* ---- message ids ---- */

static bool needs_work_id(const boxcar_settlement *settlement) {
    return settlement->work_id.value == 0 && !boxcar_uuid_is_none(settlement->message_id.uuid);
}

static size_t count_named(const boxcar_settlement *items, size_t count) {
    size_t named = 0;

    for (size_t i = 0; i < count; i++)
        named += needs_work_id(&items[i]);
    return named;
}

static void collect_ids(const struct settlements *settlements, boxcar_message_id *ids) {
    for (int kind = 0; kind < BOXCAR_SETTLE_KINDS; kind++)
        for (size_t i = 0; i < settlements->lists[kind].count; i++)
            if (needs_work_id(&settlements->lists[kind].items[i]))
                *ids++ = settlements->lists[kind].items[i].message_id;
}

static void fill_in_work_ids(const struct settlements *settlements, const boxcar_work_id *work_ids) {
    for (int kind = 0; kind < BOXCAR_SETTLE_KINDS; kind++)
        for (size_t i = 0; i < settlements->lists[kind].count; i++)
            if (needs_work_id(&settlements->lists[kind].items[i]))
                settlements->lists[kind].items[i].work_id = *work_ids++;
}

boxcar_status prepare_work_ids(struct boxcar_store *store, boxcar_box box,
                               const struct settlements *settlements, boxcar_error *err) {
    AUTO_ARENA struct arena arena = ARENA_INIT;
    boxcar_message_id *ids;
    boxcar_work_id *work_ids;
    boxcar_status status;
    size_t count = 0;

    for (int kind = 0; kind < BOXCAR_SETTLE_KINDS; kind++)
        count += count_named(settlements->lists[kind].items, settlements->lists[kind].count);
    if (count == 0)
        return BOXCAR_OK;
    ids = arena_alloc_array(&arena, count, sizeof(*ids));
    work_ids = arena_alloc_array(&arena, count, sizeof(*work_ids));
    if (!ids || !work_ids)
        return error_no_memory(err);
    collect_ids(settlements, ids);
    status = store->ops->work_ids(store, box, ids, count, work_ids, err);
    if (status == BOXCAR_OK)
        fill_in_work_ids(settlements, work_ids);
    return status;
}

/* Copies of the lists in which a message is named by its id. */
static boxcar_status copy_named(struct arena *arena, boxcar_request_part *part,
                                struct settlements *ret_settlements, boxcar_error *err) {
    *ret_settlements = (struct settlements){.lists = {{NULL, 0}}};
    for (int kind = 0; kind < BOXCAR_SETTLE_KINDS; kind++) {
        boxcar_settlement_list *list = &part->settle[kind];
        boxcar_settlement *copies;

        if (count_named(list->items, list->count) == 0)
            continue;
        copies = arena_alloc_array(arena, list->count, sizeof(*copies));
        if (!copies)
            return error_no_memory(err);
        memcpy(copies, list->items, list->count * sizeof(*copies));
        list->items = ret_settlements->lists[kind].items = copies;
        ret_settlements->lists[kind].count = list->count;
    }
    return BOXCAR_OK;
}

boxcar_status prepare_request_work_ids(struct arena *arena, struct boxcar_store *store,
                                       struct request *request, boxcar_error *err) {
    boxcar_status status = BOXCAR_OK;

    for (int box = 0; status == BOXCAR_OK && box < BOXES; box++) {
        struct settlements settlements;

        status = copy_named(arena, &request->parts[box], &settlements, err);
        if (status == BOXCAR_OK)
            status = prepare_work_ids(store, (boxcar_box)box, &settlements, err);
    }
    return status;
}

/* ---- what a way does not want ---- */

static bool is_needed(boxcar_settle_kind kind, const boxcar_settlement *settlement) {
    return settlement->error.len > BOXCAR_ERROR_TEXT_MAX ||
           (kind == BOXCAR_DEFER && settlement->delay_ms == BOXCAR_BACKOFF);
}

void prepare_settlement(boxcar_settle_kind kind, boxcar_settlement *settlement) {
    settlement->error = utf8_cut(settlement->error, BOXCAR_ERROR_TEXT_MAX);
    if (kind == BOXCAR_DEFER && settlement->delay_ms == BOXCAR_BACKOFF)
        settlement->delay_ms = 0;
}

static boxcar_status prepare_list(struct arena *arena, boxcar_settle_kind kind, boxcar_settlement_list *list,
                                  boxcar_error *err) {
    boxcar_settlement *copies;
    size_t i = 0;

    while (i < list->count && !is_needed(kind, &list->items[i]))
        i++;
    if (i == list->count)
        return BOXCAR_OK;
    copies = arena_alloc_array(arena, list->count, sizeof(*copies));
    if (!copies)
        return error_no_memory(err);
    memcpy(copies, list->items, list->count * sizeof(*copies));
    for (; i < list->count; i++)
        prepare_settlement(kind, &copies[i]);
    list->items = copies;
    return BOXCAR_OK;
}

/* ---- stages ---- */

static const boxcar_settle_kind RESULTS[] = {BOXCAR_ACK, BOXCAR_ABANDON, BOXCAR_DEFER, BOXCAR_FAIL};
#define RESULT_KINDS (sizeof(RESULTS) / sizeof(RESULTS[0]))

static size_t count_stages(const boxcar_request_part *part) {
    size_t count = 0;

    for (size_t k = 0; k < RESULT_KINDS; k++)
        for (size_t i = 0; i < part->settle[RESULTS[k]].count; i++)
            count += part->settle[RESULTS[k]].items[i].stages != 0;
    return count;
}

/* Stages that come with a result: recorded before it, in addition to the records of the part. */
static boxcar_status add_stages(struct arena *arena, boxcar_request_part *part, boxcar_error *err) {
    boxcar_settlement_list *records = &part->settle[BOXCAR_RECORD];
    size_t more = count_stages(part), count = records->count;
    boxcar_settlement *all;

    if (more == 0)
        return BOXCAR_OK;
    all = arena_alloc_array(arena, count + more, sizeof(*all));
    if (!all)
        return error_no_memory(err);
    if (count > 0)
        memcpy(all, records->items, count * sizeof(*all));
    for (size_t k = 0; k < RESULT_KINDS; k++)
        for (size_t i = 0; i < part->settle[RESULTS[k]].count; i++)
            if (part->settle[RESULTS[k]].items[i].stages != 0)
                all[count++] = part->settle[RESULTS[k]].items[i];
    *records = (boxcar_settlement_list){all, count};
    return BOXCAR_OK;
}

boxcar_status prepare_settlements(struct arena *arena, struct request *request, boxcar_error *err) {
    boxcar_status status = BOXCAR_OK;

    for (int box = 0; status == BOXCAR_OK && box < BOXES; box++) {
        status = add_stages(arena, &request->parts[box], err);
        for (int kind = 0; status == BOXCAR_OK && kind < BOXCAR_SETTLE_KINDS; kind++)
            status = prepare_list(arena, (boxcar_settle_kind)kind, &request->parts[box].settle[kind], err);
    }
    return status;
}
