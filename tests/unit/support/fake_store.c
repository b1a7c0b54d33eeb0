#include "fake_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static struct fake_store *fake_of(struct boxcar_store *store) { return (struct fake_store *)store; }

static boxcar_status answer(struct fake_store *fake, boxcar_error *err) {
    fake->calls++;
    return fake->answer == BOXCAR_OK ? BOXCAR_OK : error_set(err, fake->answer, "the store says so");
}

static void fake_close(struct boxcar_store *store) { fake_of(store)->calls++; }

static boxcar_status fake_deploy(struct boxcar_store *store, boxcar_deployment *ret, boxcar_error *err) {
    *ret = (boxcar_deployment){.schema_version = STORE_SCHEMA_VERSION, .applied = 1};
    return answer(fake_of(store), err);
}

static void remember_origins(struct fake_store *fake, boxcar_new_message_list messages) {
    fake->origin_count = messages.count;
    for (size_t i = 0; i < messages.count && i < FAKE_ROOM; i++)
        fake->origins[i] = inbox_origin_of(&messages.items[i]);
}

static void remember(struct fake_store *fake, const struct request *batch) {
    fake->batch = *batch;
    for (int box = 0; box < BOXES; box++) {
        const boxcar_request_part *part = &batch->parts[box];

        boxcar_new_message_list messages = batch->base.messages[box];

        for (size_t i = 0; i < messages.count && i < FAKE_ROOM; i++)
            fake->messages[i] = messages.items[i];
        if (box == BOXCAR_INBOX && messages.count > 0)
            remember_origins(fake, messages);
        for (int kind = 0; kind < BOXCAR_SETTLE_KINDS; kind++) {
            for (size_t i = 0; i < part->settle[kind].count && i < FAKE_ROOM; i++)
                fake->settlements[i] = part->settle[kind].items[i];
        }
    }
}

static bool answer_enqueued(const struct fake_store *fake, const struct request *batch, int box,
                            struct arena *arena, struct part_result *result) {
    boxcar_new_message_list messages = batch->base.messages[box];

    result->enqueued = arena_alloc_array(arena, messages.count, sizeof(*result->enqueued));
    if (!result->enqueued)
        return false;
    for (size_t i = 0; i < messages.count; i++) {
        result->enqueued[i] =
            (boxcar_enqueued){.work_id = {(int64_t)i + 1}, .message_id = messages.items[i].message_id};
        if (box == BOXCAR_INBOX)
            result->enqueued[i] = fake->delivered[i];
    }
    return true;
}

static bool answer_settled(const boxcar_request_part *part, int kind, struct arena *arena,
                           struct part_result *result) {
    struct work_id_list *list = &result->settled[kind];
    size_t count = part->settle[kind].count;

    list->items = arena_alloc_array(arena, count, sizeof(*list->items));
    if (!list->items)
        return false;
    for (; list->count + 1 < count; list->count++)
        list->items[list->count] = part->settle[kind].items[list->count].work_id;
    return true;
}

static bool answer_claimed(size_t count, struct arena *arena, struct part_result *result) {
    result->claimed = arena_alloc_array(arena, count, sizeof(*result->claimed));
    if (!result->claimed)
        return false;
    result->claimed_count = count;
    for (size_t i = 0; i < count; i++)
        result->claimed[i].work_id.value = (int64_t)i + 1;
    return true;
}

static bool answer_part(struct fake_store *fake, const struct request *batch, int box, struct arena *arena,
                        struct part_result *result) {
    const boxcar_request_part *part = &batch->parts[box];
    bool ok = batch->base.messages[box].count == 0 || answer_enqueued(fake, batch, box, arena, result);

    for (int kind = 0; ok && kind < BOXCAR_SETTLE_KINDS; kind++)
        ok = answer_settled(part, kind, arena, result);
    result->reaped = part->reap ? fake->reaped : 0;
    return ok && answer_claimed(part->claim_size > 0 ? fake->claimed_count : 0, arena, result);
}

static boxcar_status fake_process(struct boxcar_store *store, const struct request *batch,
                                  struct result *ret_result, boxcar_error *err) {
    struct fake_store *fake = fake_of(store);
    struct result result = {.arena = ARENA_INIT};
    boxcar_status status = answer(fake, err);
    bool ok = true;

    remember(fake, batch);
    if (status != BOXCAR_OK)
        return status;
    for (int box = 0; ok && box < BOXES; box++)
        ok = answer_part(fake, batch, box, &result.arena, &result.parts[box]);
    result.ended = fake->ended;
    result.ended_count = fake->ended_count;
    if (!ok) {
        result_release(&result);
        return error_no_memory(err);
    }
    *ret_result = result;
    return BOXCAR_OK;
}

/* As a borrowed store. */
static boxcar_status fake_transaction(struct boxcar_store *store, enum transaction_step step,
                                      boxcar_error *err) {
    (void)store, (void)step;
    return error_set(err, BOXCAR_E_UNSUPPORTED, "no transactions");
}

static boxcar_status give_list(struct fake_store *fake, struct message_rows **ret_list, boxcar_error *err) {
    boxcar_status status = answer(fake, err);

    if (status != BOXCAR_OK)
        return status;
    *ret_list = calloc(1, sizeof(**ret_list));
    return *ret_list ? BOXCAR_OK : error_no_memory(err);
}

static boxcar_status fake_message_read(struct boxcar_store *store, const struct message_choice *choice,
                                       struct message_rows **ret_list, boxcar_error *err) {
    struct fake_store *fake = fake_of(store);
    boxcar_status status = give_list(fake, ret_list, err);

    if (choice->filter)
        fake->list_options = *choice->filter;
    if (choice->dead)
        fake->filter = *choice->dead;
    if (choice->filter || choice->dead)
        return status;
    fake->box = choice->box;
    fake->ref = choice->ref;
    if (status != BOXCAR_OK)
        return status;
    (*ret_list)->items = &fake->found;
    (*ret_list)->count = 1;
    return BOXCAR_OK;
}

/* The last byte of an id is the work id. */
static boxcar_status fake_work_ids(struct boxcar_store *store, boxcar_box box, const boxcar_message_id *ids,
                                   size_t count, boxcar_work_id *ret_ids, boxcar_error *err) {
    struct fake_store *fake = fake_of(store);

    fake->box = box;
    for (size_t i = 0; i < count; i++)
        ret_ids[i].value = ids[i].uuid.bytes[15];
    return answer(fake, err);
}

static boxcar_status fake_attempts(struct boxcar_store *store, boxcar_work_id work_id,
                                   struct attempt_rows **ret_list, boxcar_error *err) {
    (void)work_id;
    *ret_list = calloc(1, sizeof(**ret_list));
    return *ret_list ? answer(fake_of(store), err) : error_no_memory(err);
}

static boxcar_status fake_stats(struct boxcar_store *store, boxcar_box box, bool by_topic,
                                struct stats_rows **ret_list, boxcar_error *err) {
    (void)box, (void)by_topic;
    *ret_list = calloc(1, sizeof(**ret_list));
    return *ret_list ? answer(fake_of(store), err) : error_no_memory(err);
}

static boxcar_status fake_message_change(struct boxcar_store *store, const struct message_choice *choice,
                                         enum message_action action, boxcar_str note,
                                         struct message_change *ret_change, boxcar_error *err) {
    struct fake_store *fake = fake_of(store);

    if (action == MESSAGE_CANCEL)
        return answer(fake, err);
    fake->filter = *choice->dead;
    fake->note = note;
    fake->dead_calls++;
    ret_change->count = fake->dead_left < choice->limit ? fake->dead_left : choice->limit;
    fake->dead_left -= ret_change->count;
    ret_change->oldest.value = fake->dead_left; /* ids count down from the number of dead letters */
    return answer(fake, err);
}

static boxcar_status fake_join_start(struct boxcar_store *store, const boxcar_new_join *join,
                                     boxcar_error *err) {
    fake_of(store)->join = *join;
    return answer(fake_of(store), err);
}

static boxcar_status fake_join_attach(struct boxcar_store *store, boxcar_join_id join_id,
                                      const boxcar_message_id *message_ids, size_t count,
                                      boxcar_attached *ret_attached, boxcar_error *err) {
    struct fake_store *fake = fake_of(store);
    boxcar_status status = answer(fake, err);

    fake->join_id = join_id;
    fake->message_id = message_ids[count - 1];
    fake->attach_count = count;
    for (size_t i = 0; status == BOXCAR_OK && i < count; i++)
        ret_attached[i] = fake->attached[i % FAKE_ROOM];
    return status;
}

static boxcar_status answer_change(struct fake_store *fake, boxcar_join_id join_id,
                                   struct join_change *ret_change, boxcar_error *err) {
    boxcar_status status = answer(fake, err);

    fake->join_id = join_id;
    if (status == BOXCAR_OK)
        *ret_change = fake->change;
    return status;
}

static boxcar_status fake_join_end(struct boxcar_store *store, boxcar_join_id join_id,
                                   const struct step_end *step, struct join_change *ret_change,
                                   boxcar_error *err) {
    if (step) {
        fake_of(store)->message_id = step->message_id;
        fake_of(store)->outcome = step->outcome;
    }
    return answer_change(fake_of(store), join_id, ret_change, err);
}

static boxcar_status fake_join_wait(struct boxcar_store *store, boxcar_join_id join_id,
                                    const boxcar_new_message *message, boxcar_enqueued *ret_enqueued,
                                    struct join_change *ret_change, boxcar_error *err) {
    struct fake_store *fake = fake_of(store);
    boxcar_status status = answer_change(fake, join_id, ret_change, err);

    fake->messages[0] = *message;
    snprintf(fake->wait_payload, sizeof(fake->wait_payload), "%.*s", (int)message->payload.len,
             message->payload.data);
    if (status == BOXCAR_OK)
        *ret_enqueued = (boxcar_enqueued){.work_id = {1}, .message_id = message->message_id};
    return status;
}

static boxcar_status give_joins(struct fake_store *fake, struct join_rows **ret_list, boxcar_error *err) {
    boxcar_status status = answer(fake, err);

    if (status != BOXCAR_OK)
        return status;
    *ret_list = calloc(1, sizeof(**ret_list));
    return *ret_list ? BOXCAR_OK : error_no_memory(err);
}

static boxcar_status fake_join_page(struct boxcar_store *store, const boxcar_join_filter *filter,
                                    boxcar_join_id join_id, struct join_rows **ret_list, boxcar_error *err) {
    fake_of(store)->join_id = join_id;
    fake_of(store)->join_filter = *filter;
    return give_joins(fake_of(store), ret_list, err);
}

static boxcar_status fake_join_members(struct boxcar_store *store, boxcar_join_id join_id,
                                       boxcar_message_id after, int limit, struct join_member_rows **ret_list,
                                       boxcar_error *err) {
    struct fake_store *fake = fake_of(store);
    boxcar_status status = answer(fake, err);

    fake->join_id = join_id;
    fake->message_id = after;
    fake->member_limit = limit;
    if (status != BOXCAR_OK)
        return status;
    *ret_list = calloc(1, sizeof(**ret_list));
    return *ret_list ? BOXCAR_OK : error_no_memory(err);
}

static boxcar_status fake_inbox_ask(struct boxcar_store *store, const struct inbox_origin *origin,
                                    enum inbox_question question, bool *ret_answer, bool *ret_hash_mismatch,
                                    boxcar_error *err) {
    struct fake_store *fake = fake_of(store);

    fake->question = question;
    fake->origins[0] = *origin;
    fake->origin_count = 1;
    if (fake->answer == BOXCAR_OK) {
        *ret_answer = fake->inbox_answer;
        *ret_hash_mismatch = fake->hash_mismatch;
    }
    return answer(fake, err);
}

static boxcar_status fake_inbox_find(struct boxcar_store *store, boxcar_inbox_key key,
                                     struct inbox_receipt_rows **ret_list, boxcar_error *err) {
    struct fake_store *fake = fake_of(store);
    boxcar_status status = answer(fake, err);

    fake->origins[0] = (struct inbox_origin){.source = key.source, .external_id = key.external_id};
    if (status != BOXCAR_OK)
        return status;
    *ret_list = calloc(1, sizeof(**ret_list));
    return *ret_list ? BOXCAR_OK : error_no_memory(err);
}

static boxcar_status fake_event_append(struct boxcar_store *store, boxcar_str stream,
                                       int64_t expected_version, const boxcar_new_event *events, size_t count,
                                       boxcar_appended *ret_appended, boxcar_error *err) {
    struct fake_store *fake = fake_of(store);
    boxcar_status status = answer(fake, err);

    fake->stream = stream;
    fake->version = expected_version;
    fake->event_count = count;
    memcpy(fake->events, events, (count < FAKE_ROOM ? count : FAKE_ROOM) * sizeof(*events));
    for (size_t i = 0; status == BOXCAR_OK && i < count; i++)
        ret_appended[i] = (boxcar_appended){
            .event_id = events[i].event_id, .version = (int64_t)i + 1, .duplicate = fake->knows_events};
    return status;
}

static boxcar_status give_events(struct fake_store *fake, struct event_rows **ret_list, boxcar_error *err) {
    boxcar_status status = answer(fake, err);

    if (status != BOXCAR_OK)
        return status;
    *ret_list = calloc(1, sizeof(**ret_list));
    return *ret_list ? BOXCAR_OK : error_no_memory(err);
}

static boxcar_status fake_event_read(struct boxcar_store *store, const boxcar_event_filter *filter,
                                     int64_t from_version, struct event_rows **ret_list, boxcar_error *err) {
    fake_of(store)->event_filter = *filter;
    fake_of(store)->version = from_version;
    return give_events(fake_of(store), ret_list, err);
}

static boxcar_status fake_maintain(struct boxcar_store *store, enum upkeep_task task,
                                   struct upkeep_done *ret_done, boxcar_error *err) {
    ret_done->round.reaped = fake_of(store)->reaped;
    ret_done->audit = (boxcar_audit){.lost = 1, .repaired = task == UPKEEP_REPAIR};
    return answer(fake_of(store), err);
}

static boxcar_status fake_facts(struct boxcar_store *store, struct store_facts *ret_facts,
                                boxcar_error *err) {
    *ret_facts = (struct store_facts){.upkeep = {.has_run = true, .seconds = 5}, .violations = 3};
    return answer(fake_of(store), err);
}

static boxcar_status fake_settings_read(struct boxcar_store *store, struct setting_value_list *ret_list,
                                        boxcar_error *err) {
    struct fake_store *fake = fake_of(store);
    struct setting_value *items = arena_alloc(&ret_list->arena, sizeof(*items));

    if (!items)
        return error_no_memory(err);
    *items = fake->setting;
    ret_list->items = items;
    ret_list->count = fake->setting.name.data ? 1 : 0;
    return answer(fake, err);
}

static boxcar_status fake_setting_write(struct boxcar_store *store, const struct setting_value *value,
                                        boxcar_error *err) {
    fake_of(store)->setting_name = value->name;
    fake_of(store)->setting_was_reset = value->is_default;
    fake_of(store)->setting_number = value->number;
    fake_of(store)->setting_text = value->text;
    return answer(fake_of(store), err);
}

static boxcar_status fake_stream_page(struct boxcar_store *store, const boxcar_stream_filter *filter,
                                      boxcar_str stream, struct stream_rows **ret_list, boxcar_error *err) {
    struct fake_store *fake = fake_of(store);
    boxcar_status status = answer(fake, err);

    fake->stream_filter = *filter;
    fake->stream = stream;
    if (status != BOXCAR_OK)
        return status;
    *ret_list = calloc(1, sizeof(**ret_list));
    if (!*ret_list)
        return error_no_memory(err);
    (*ret_list)->items = arena_alloc_array(&(*ret_list)->arena, fake->stream_count, sizeof(boxcar_stream));
    (*ret_list)->count = fake->stream_count;
    return BOXCAR_OK;
}

static boxcar_status fake_stream_change(struct boxcar_store *store, boxcar_box box, boxcar_str stream,
                                        enum stream_action action, boxcar_work_id *ret_work_id,
                                        boxcar_error *err) {
    fake_of(store)->box = box;
    fake_of(store)->stream = stream;
    fake_of(store)->action = action;
    if (fake_of(store)->answer == BOXCAR_OK && action == STREAM_SKIP)
        ret_work_id->value = 55;
    return answer(fake_of(store), err);
}

static boxcar_status fake_stream_rule_write(struct boxcar_store *store, boxcar_str pattern,
                                            boxcar_stream_policy policy, boxcar_error *err) {
    fake_of(store)->stream = pattern;
    fake_of(store)->policy = policy;
    return answer(fake_of(store), err);
}

static boxcar_status fake_stream_rules(struct boxcar_store *store, struct stream_rule_rows **ret_list,
                                       boxcar_error *err) {
    boxcar_status status = answer(fake_of(store), err);

    if (status != BOXCAR_OK)
        return status;
    *ret_list = calloc(1, sizeof(**ret_list));
    return *ret_list ? BOXCAR_OK : error_no_memory(err);
}

static boxcar_status fake_instances(struct boxcar_store *store, struct instance_rows **ret_list,
                                    boxcar_error *err) {
    boxcar_status status = answer(fake_of(store), err);

    if (status != BOXCAR_OK)
        return status;
    *ret_list = calloc(1, sizeof(**ret_list));
    return *ret_list ? BOXCAR_OK : error_no_memory(err);
}

static const struct store_ops FAKE_OPS = {
    .kind = "fake",
    .close = fake_close,
    .deploy = fake_deploy,
    .process = fake_process,
    .transaction = fake_transaction,
    .message_read = fake_message_read,
    .work_ids = fake_work_ids,
    .message_change = fake_message_change,
    .attempts = fake_attempts,
    .stats = fake_stats,
    .join_start = fake_join_start,
    .join_attach = fake_join_attach,
    .join_end = fake_join_end,
    .join_wait = fake_join_wait,
    .join_page = fake_join_page,
    .join_members = fake_join_members,
    .inbox_ask = fake_inbox_ask,
    .inbox_find = fake_inbox_find,
    .event_append = fake_event_append,
    .event_read = fake_event_read,
    .stream_page = fake_stream_page,
    .stream_change = fake_stream_change,
    .stream_rule_write = fake_stream_rule_write,
    .stream_rules = fake_stream_rules,
    .instances = fake_instances,
    .maintain = fake_maintain,
    .facts = fake_facts,
    .settings_read = fake_settings_read,
    .setting_write = fake_setting_write,
};

static void keep_record(void *context, const boxcar_log_record *record) {
    struct fake_store *fake = context;
    size_t used = 0;

    fake->records++;
    fake->level = record->level;
    snprintf(fake->event, sizeof(fake->event), "%s", record->event);
    snprintf(fake->text, sizeof(fake->text), "%s", record->text);
    snprintf(fake->store_id, sizeof(fake->store_id), "%s", record->store_id);
    fake->fields[0] = '\0';
    for (size_t i = 0; i < record->field_count && used < sizeof(fake->fields); i++) {
        boxcar_str value = record->fields[i].value;
        used += (size_t)snprintf(fake->fields + used, sizeof(fake->fields) - used, "%s=%.*s ",
                                 record->fields[i].name, (int)value.len, value.data ? value.data : "");
    }
}

void fake_store_init(struct fake_store *fake) {
    static char id[] = "fake:1";

    *fake =
        (struct fake_store){.store = {.ops = &FAKE_OPS, .log = keep_record, .log_context = fake, .id = id}};
}
