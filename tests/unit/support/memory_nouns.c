/* Everything but requests: remembers what was asked and says what the script wants. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "core/fanout.h"
#include "memory_store.h"

static boxcar_status answer(struct memory_store *memory, boxcar_error *err) {
    memory->asked.calls++;
    return memory->down == BOXCAR_OK ? BOXCAR_OK : error_set(err, memory->down, "the store is down");
}

/* An empty list. */
static boxcar_status give_list(struct memory_store *memory, size_t size, void *ret_list, boxcar_error *err) {
    TRY(answer(memory, err));
    void *list = calloc(1, size);
    memcpy(ret_list, &list, sizeof(list));
    return list ? BOXCAR_OK : error_no_memory(err);
}

/* ---- the store as a whole ---- */

static void close_store(struct boxcar_store *store) {
    memory_of(store)->asked.calls++;
    atomic_fetch_add(&memory_of(store)->closed, 1);
}

static boxcar_status deploy(struct boxcar_store *store, boxcar_deployment *ret, boxcar_error *err) {
    *ret = (boxcar_deployment){.schema_version = STORE_SCHEMA_VERSION, .applied = 1};
    return answer(memory_of(store), err);
}

/* As a borrowed store. */
static boxcar_status transaction(struct boxcar_store *store, enum transaction_step step, boxcar_error *err) {
    (void)store, (void)step;
    return error_set(err, BOXCAR_E_UNSUPPORTED, "no transactions");
}

static void sleep_a_little(struct boxcar_store *store, const struct nap *nap) {
    struct pollfd wake = {.fd = nap->wake_fd, .events = POLLIN};

    (void)store;
    (void)poll(&wake, 1, (int)nap->longest_ms);
}

static boxcar_status is_drained(struct boxcar_store *store, boxcar_box box, const boxcar_str *topics,
                                size_t topic_count, boxcar_str wait_topic, int64_t horizon_ms,
                                bool *ret_drained, boxcar_error *err) {
    struct memory_store *memory = memory_of(store);
    bool drained = true;

    (void)box, (void)topics, (void)topic_count, (void)wait_topic, (void)horizon_ms, (void)err;
    for (size_t i = 0; i < memory->count; i++)
        drained = drained && memory->messages[i].settled > 0;
    *ret_drained = drained;
    return BOXCAR_OK;
}

static boxcar_status maintain(struct boxcar_store *store, enum upkeep_task task, struct upkeep_done *ret_done,
                              boxcar_error *err) {
    struct memory_store *memory = memory_of(store);

    ret_done->round.reaped = memory->reaped;
    ret_done->audit = (boxcar_audit){.lost = 1, .repaired = task == UPKEEP_REPAIR};
    if (task != UPKEEP_WAITS)
        return answer(memory, err);
    ret_done->waits = memory->waits_due;
    if (!memory->waits_never_end)
        memory->waits_due = 0;
    memory->wait_looks++;
    return BOXCAR_OK;
}

static boxcar_status facts(struct boxcar_store *store, struct store_facts *ret_facts, boxcar_error *err) {
    *ret_facts = (struct store_facts){.upkeep = {.has_run = true, .seconds = 5}, .violations = 3};
    return answer(memory_of(store), err);
}

/* Also of a store that is down: workers read them first of all. */
static boxcar_status settings_read(struct boxcar_store *store, struct setting_value_list *ret_list,
                                   boxcar_error *err) {
    struct memory_store *memory = memory_of(store);
    struct setting_value *items = arena_alloc(&ret_list->arena, sizeof(*items));

    if (!items)
        return error_no_memory(err);
    *items = memory->setting;
    ret_list->items = items;
    ret_list->count = memory->setting.name.data ? 1 : 0;
    return BOXCAR_OK;
}

static boxcar_status setting_write(struct boxcar_store *store, const struct setting_value *value,
                                   boxcar_error *err) {
    memory_of(store)->asked.setting = *value;
    return answer(memory_of(store), err);
}

static boxcar_status instances(struct boxcar_store *store, struct instance_rows **ret_list,
                               boxcar_error *err) {
    return give_list(memory_of(store), sizeof(**ret_list), ret_list, err);
}

/* ---- messages ---- */

static boxcar_status message_read(struct boxcar_store *store, const struct message_choice *choice,
                                  struct message_rows **ret_list, boxcar_error *err) {
    struct memory_store *memory = memory_of(store);

    if (choice->filter)
        memory->asked.message_filter = *choice->filter;
    if (choice->dead)
        memory->asked.dead_filter = *choice->dead;
    TRY(give_list(memory, sizeof(**ret_list), ret_list, err));
    if (choice->filter || choice->dead)
        return BOXCAR_OK;
    memory->asked.box = choice->box;
    memory->asked.ref = choice->ref;
    (*ret_list)->items = &memory->found;
    (*ret_list)->count = 1;
    return BOXCAR_OK;
}

static boxcar_status message_change(struct boxcar_store *store, const struct message_choice *choice,
                                    enum message_action action, boxcar_str note,
                                    struct message_change *ret_change, boxcar_error *err) {
    struct memory_store *memory = memory_of(store);

    if (action == MESSAGE_CANCEL)
        return answer(memory, err);
    memory->asked.dead_filter = *choice->dead;
    memory->asked.note = note;
    memory->asked.dead_calls++;
    ret_change->count = memory->dead_left < choice->limit ? memory->dead_left : choice->limit;
    memory->dead_left -= ret_change->count;
    ret_change->oldest.value = memory->dead_left; /* ids count down from the number of dead letters */
    return answer(memory, err);
}

static boxcar_status work_ids(struct boxcar_store *store, boxcar_box box, const boxcar_message_id *ids,
                              size_t count, boxcar_work_id *ret_ids, boxcar_error *err) {
    struct memory_store *memory = memory_of(store);

    pthread_mutex_lock(&memory->mutex);
    memory->id_looks++;
    memory->asked.box = box;
    for (size_t i = 0; memory->down == BOXCAR_OK && i < count; i++) {
        size_t at = memory_find(memory, ids[i]);

        ret_ids[i].value = at < memory->count && memory->messages[at].box == box ? (int64_t)at + 1 : 0;
    }
    pthread_mutex_unlock(&memory->mutex);
    return answer(memory, err);
}

static boxcar_status attempts(struct boxcar_store *store, boxcar_box reader, boxcar_work_id work_id,
                              struct attempt_rows **ret_list, boxcar_error *err) {
    (void)reader, (void)work_id;
    return give_list(memory_of(store), sizeof(**ret_list), ret_list, err);
}

static boxcar_status stats(struct boxcar_store *store, boxcar_box box, bool by_topic,
                           struct stats_rows **ret_list, boxcar_error *err) {
    (void)box, (void)by_topic;
    return give_list(memory_of(store), sizeof(**ret_list), ret_list, err);
}

/* ---- joins ---- */

static boxcar_status join_start(struct boxcar_store *store, const boxcar_new_join *join, boxcar_error *err) {
    memory_of(store)->asked.join = *join;
    return answer(memory_of(store), err);
}

static boxcar_status join_attach(struct boxcar_store *store, boxcar_join_id join_id,
                                 const boxcar_message_id *message_ids, size_t count,
                                 boxcar_attached *ret_attached, boxcar_error *err) {
    struct memory_store *memory = memory_of(store);

    memory->asked.join_id = join_id;
    memory->asked.message_id = message_ids[count - 1];
    memory->asked.attach_count = count;
    TRY(answer(memory, err));
    for (size_t i = 0; i < count; i++)
        ret_attached[i] = memory->attached[i % MEMORY_ROOM];
    return BOXCAR_OK;
}

static boxcar_status change_join(struct memory_store *memory, boxcar_join_id join_id,
                                 struct join_change *ret_change, boxcar_error *err) {
    memory->asked.join_id = join_id;
    TRY(answer(memory, err));
    *ret_change = memory->change;
    return BOXCAR_OK;
}

static boxcar_status join_end(struct boxcar_store *store, boxcar_join_id join_id, const struct step_end *step,
                              struct join_change *ret_change, boxcar_error *err) {
    struct memory_asked *asked = &memory_of(store)->asked;

    if (step) {
        asked->message_id = step->message_id;
        asked->outcome = step->outcome;
    }
    return change_join(memory_of(store), join_id, ret_change, err);
}

static boxcar_status join_wait(struct boxcar_store *store, boxcar_join_id join_id,
                               const boxcar_new_message *message, boxcar_enqueued *ret_enqueued,
                               struct join_change *ret_change, boxcar_error *err) {
    struct memory_asked *asked = &memory_of(store)->asked;

    asked->messages[0] = *message;
    snprintf(asked->wait_payload, sizeof(asked->wait_payload), "%.*s", (int)message->payload.len,
             message->payload.data);
    TRY(change_join(memory_of(store), join_id, ret_change, err));
    *ret_enqueued = (boxcar_enqueued){.work_id = {1}, .message_id = message->message_id};
    return BOXCAR_OK;
}

static boxcar_status join_page(struct boxcar_store *store, const boxcar_join_filter *filter,
                               boxcar_join_id join_id, struct join_rows **ret_list, boxcar_error *err) {
    memory_of(store)->asked.join_id = join_id;
    memory_of(store)->asked.join_filter = *filter;
    return give_list(memory_of(store), sizeof(**ret_list), ret_list, err);
}

static boxcar_status join_members(struct boxcar_store *store, boxcar_join_id join_id, boxcar_message_id after,
                                  int limit, struct join_member_rows **ret_list, boxcar_error *err) {
    struct memory_asked *asked = &memory_of(store)->asked;

    asked->join_id = join_id;
    asked->message_id = after;
    asked->member_limit = limit;
    return give_list(memory_of(store), sizeof(**ret_list), ret_list, err);
}

/* ---- the inbox ---- */

static boxcar_status inbox_ask(struct boxcar_store *store, const struct inbox_origin *origin,
                               enum inbox_question question, bool *ret_answer, bool *ret_hash_mismatch,
                               boxcar_error *err) {
    struct memory_store *memory = memory_of(store);

    memory->asked.question = question;
    memory->asked.origin = *origin;
    TRY(answer(memory, err));
    *ret_answer = memory->inbox_answer;
    *ret_hash_mismatch = memory->hash_mismatch;
    return BOXCAR_OK;
}

static boxcar_status inbox_find(struct boxcar_store *store, boxcar_inbox_key key,
                                struct inbox_receipt_rows **ret_list, boxcar_error *err) {
    memory_of(store)->asked.origin =
        (struct inbox_origin){.source = key.source, .external_id = key.external_id};
    return give_list(memory_of(store), sizeof(**ret_list), ret_list, err);
}

/* ---- events ---- */

static boxcar_status event_append(struct boxcar_store *store, boxcar_str stream, int64_t expected_version,
                                  const boxcar_new_event *events, size_t count, boxcar_appended *ret_appended,
                                  boxcar_error *err) {
    struct memory_store *memory = memory_of(store);

    memory->asked.stream = stream;
    memory->asked.version = expected_version;
    memory->asked.event_count = count;
    memcpy(memory->asked.events, events, (count < MEMORY_ROOM ? count : MEMORY_ROOM) * sizeof(*events));
    TRY(answer(memory, err));
    for (size_t i = 0; i < count; i++)
        ret_appended[i] = (boxcar_appended){
            .event_id = events[i].event_id, .version = (int64_t)i + 1, .duplicate = memory->knows_events};
    return BOXCAR_OK;
}

static boxcar_status event_read(struct boxcar_store *store, const boxcar_event_filter *filter,
                                int64_t from_version, struct event_rows **ret_list, boxcar_error *err) {
    memory_of(store)->asked.event_filter = *filter;
    memory_of(store)->asked.version = from_version;
    return give_list(memory_of(store), sizeof(**ret_list), ret_list, err);
}

/* ---- streams ---- */

static boxcar_status stream_page(struct boxcar_store *store, const boxcar_stream_filter *filter,
                                 boxcar_str stream, struct stream_rows **ret_list, boxcar_error *err) {
    struct memory_store *memory = memory_of(store);

    memory->asked.stream_filter = *filter;
    memory->asked.stream = stream;
    TRY(give_list(memory, sizeof(**ret_list), ret_list, err));
    (*ret_list)->items = arena_alloc_array(&(*ret_list)->arena, memory->stream_count, sizeof(boxcar_stream));
    (*ret_list)->count = memory->stream_count;
    return BOXCAR_OK;
}

static boxcar_status stream_change(struct boxcar_store *store, boxcar_box box, boxcar_str stream,
                                   enum stream_action action, boxcar_work_id *ret_work_id,
                                   boxcar_error *err) {
    struct memory_store *memory = memory_of(store);

    memory->asked.box = box;
    memory->asked.stream = stream;
    memory->asked.action = action;
    TRY(answer(memory, err));
    if (action == STREAM_SKIP)
        ret_work_id->value = 55;
    return BOXCAR_OK;
}

static boxcar_status stream_rule_write(struct boxcar_store *store, boxcar_str pattern,
                                       boxcar_stream_policy policy, boxcar_error *err) {
    memory_of(store)->asked.stream = pattern;
    memory_of(store)->asked.policy = policy;
    return answer(memory_of(store), err);
}

static boxcar_status stream_rules(struct boxcar_store *store, struct stream_rule_rows **ret_list,
                                  boxcar_error *err) {
    return give_list(memory_of(store), sizeof(**ret_list), ret_list, err);
}

/* ---- subscriptions ---- */

static boxcar_status subscription_change(struct boxcar_store *store, const struct subscription_change *change,
                                         boxcar_box *ret_reader, int64_t *ret_count, boxcar_error *err) {
    struct memory_store *memory = memory_of(store);

    memory->asked.subscription = *change;
    TRY(answer(memory, err));
    *ret_reader = 2;
    *ret_count = 7;
    return BOXCAR_OK;
}

static bool is_of_policy(const boxcar_subscription *subscription, boxcar_str name) {
    boxcar_str policy, destination;

    return subscription->destination_count > 0 &&
           (str_is_absent(name) ||
            (fanout_split_name(subscription->name, &policy, &destination) && str_equal(policy, name)));
}

static bool is_chosen(const boxcar_subscription *subscription, const struct subscription_choice *choice) {
    if (subscription->reader == 0)
        return false;
    return choice->of_policy ? is_of_policy(subscription, choice->name)
                             : str_is_absent(choice->name) || str_equal(choice->name, subscription->name);
}

/* Only the one that the test has put there. */
static boxcar_status subscription_read(struct boxcar_store *store, const struct subscription_choice *choice,
                                       struct subscription_rows **ret_list, boxcar_error *err) {
    struct memory_store *memory = memory_of(store);

    pthread_mutex_lock(&memory->mutex);
    boxcar_subscription only = memory->subscription;
    memory->asked.subscriptions = *choice;
    pthread_mutex_unlock(&memory->mutex);
    bool chosen = is_chosen(&only, choice);
    if (!str_is_absent(choice->name) && !chosen)
        return choice->of_policy ? store_refuse_policy(choice->name, err)
                                 : store_refuse_subscription(choice->name, err);
    TRY(give_list(memory, sizeof(**ret_list), ret_list, err));
    if (!chosen)
        return BOXCAR_OK;
    boxcar_subscription *item = list_add(*ret_list, sizeof(*item));
    if (!item) {
        list_free(*ret_list);
        return error_no_memory(err);
    }
    *item = only;
    return BOXCAR_OK;
}

/* ---- schedules ---- */

static bool is_schedule(const struct memory_store *memory, boxcar_str topic, boxcar_str work_key) {
    return !str_is_absent(memory->schedule.topic) && str_equal(memory->schedule.topic, topic) &&
           str_equal(memory->schedule.work_key, work_key);
}

static boxcar_status schedule_change(struct boxcar_store *store, const struct schedule_change *change,
                                     bool *ret_changed, boxcar_error *err) {
    struct memory_store *memory = memory_of(store);

    memory->asked.schedule = *change;
    if (change->given)
        memory->asked.new_schedule = *change->given;
    TRY(answer(memory, err));
    *ret_changed = memory->schedule_changed;
    return BOXCAR_OK;
}

static boxcar_status schedule_plan(struct boxcar_store *store, const boxcar_plan *plan,
                                   boxcar_planned *ret_planned, boxcar_error *err) {
    struct memory_store *memory = memory_of(store);

    memory->asked.plan = *plan;
    TRY(answer(memory, err));
    *ret_planned = memory->planned;
    return BOXCAR_OK;
}

/* As with subscriptions. */
static boxcar_status schedule_read(struct boxcar_store *store, boxcar_str topic, boxcar_str work_key,
                                   struct schedule_rows **ret_list, boxcar_error *err) {
    struct memory_store *memory = memory_of(store);
    bool all = str_is_absent(topic), there = !str_is_absent(memory->schedule.topic);

    memory->asked.topic = topic;
    memory->asked.work_key = work_key;
    if (!all && !is_schedule(memory, topic, work_key))
        return store_refuse_schedule(topic, work_key, err);
    TRY(give_list(memory, sizeof(**ret_list), ret_list, err));
    boxcar_schedule *item = there ? list_add(*ret_list, sizeof(*item)) : NULL;
    if (item)
        *item = memory->schedule;
    return BOXCAR_OK;
}

static boxcar_status schedule_slices(struct boxcar_store *store, boxcar_str topic, boxcar_str work_key,
                                     struct slice_rows **ret_list, boxcar_error *err) {
    struct memory_store *memory = memory_of(store);

    memory->asked.topic = topic;
    memory->asked.work_key = work_key;
    if (!is_schedule(memory, topic, work_key))
        return store_refuse_schedule(topic, work_key, err);
    TRY(give_list(memory, sizeof(**ret_list), ret_list, err));
    boxcar_slice *item = list_add(*ret_list, sizeof(*item));
    if (item)
        *item = memory->slice;
    return BOXCAR_OK;
}

const struct store_ops MEMORY_OPS = {
    .kind = "memory",
    .close = close_store,
    .deploy = deploy,
    .process = memory_process,
    .transaction = transaction,
    .sleep = sleep_a_little,
    .is_drained = is_drained,
    .message_read = message_read,
    .message_change = message_change,
    .work_ids = work_ids,
    .attempts = attempts,
    .stats = stats,
    .join_start = join_start,
    .join_attach = join_attach,
    .join_end = join_end,
    .join_wait = join_wait,
    .join_page = join_page,
    .join_members = join_members,
    .inbox_ask = inbox_ask,
    .inbox_find = inbox_find,
    .event_append = event_append,
    .event_read = event_read,
    .stream_page = stream_page,
    .stream_change = stream_change,
    .stream_rule_write = stream_rule_write,
    .stream_rules = stream_rules,
    .subscription_change = subscription_change,
    .subscription_read = subscription_read,
    .schedule_change = schedule_change,
    .schedule_plan = schedule_plan,
    .schedule_read = schedule_read,
    .schedule_slices = schedule_slices,
    .instances = instances,
    .maintain = maintain,
    .facts = facts,
    .settings_read = settings_read,
    .setting_write = setting_write,
};
