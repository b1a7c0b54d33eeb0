#include "settle.h"

#include <string.h>

#include "outgoing.h"

static const boxcar_settle_kind SETTLE[VERBS] = {BOXCAR_ACK, BOXCAR_ABANDON, BOXCAR_DEFER, BOXCAR_FAIL,
                                                 BOXCAR_RENEW};
static const char *const VERB_NAMES[VERBS] = {"ack", "abandon", "defer", "fail", "renew"};

static bool is_shared(boxcar_str payload) {
    return payload.len == 6 && memcmp(payload.data, "shared", 6) == 0;
}

static void look_at(struct client *client, const boxcar_message *message, const boxcar_claimer *options) {
    long long id = message->work_id.value;
    if (!is_shared(message->payload) && !payload_is_whole(message->message_id, message->payload))
        complain(client, "work id %lld came with another payload than it was enqueued with", id);
    if (message->status != BOXCAR_IN_PROGRESS || message->epoch.value <= 0 ||
        memcmp(&message->owner, &options->owner, sizeof(options->owner)) != 0)
        complain(client, "work id %lld was claimed but is not leased to the claimer", id);
    if (message->crash_count > 0)
        count(client, TALLY_SUSPECTS, 1);
}

static void take_in(struct held *held, struct client *client, const boxcar_message_list *list,
                    const boxcar_claimer *options) {
    held->count = list->count;
    if (held->count > (size_t)options->batch_size)
        complain(client, "claimed %zu, asked for %d", held->count, options->batch_size);
    if (held->count > HELD_MAX)
        held->count = HELD_MAX;
    for (size_t i = 0; i < held->count; i++) {
        const boxcar_message *message = list->items[i];
        look_at(client, message, options);
        if (message->crash_count > 0 && held->count > 1)
            complain(client, "suspect %lld was not claimed alone", (long long)message->work_id.value);
        held->ids[i] = message->work_id;
        held->epochs[i] = message->epoch;
        held->retry_counts[i] = message->retry_count;
    }
}

void held_note(struct held *held, struct client *client) {
    for (size_t i = 0; i < held->count; i++) {
        struct record record = {.kind = RECORD_CLAIMED,
                                .client = (uint16_t)client->number,
                                .work_id = held->ids[i].value,
                                .epoch = held->epochs[i].value,
                                .before = held->before,
                                .after = held->after,
                                .ms = (int32_t)held->lease_ms,
                                .max_attempts = (int16_t)held->retry_counts[i]};
        memcpy(record.id, client->owner.uuid.bytes, sizeof(record.id));
        journal_add(&client->journal, record);
    }
    journal_flush(&client->journal);
    count(client, TALLY_CLAIMED, (int64_t)held->count);
}

bool held_claim(struct held *held, struct client *client, boxcar_store *store, const boxcar_claimer *options,
                bool in_transaction) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_message_list *list = NULL;
    held->count = 0;
    held->lease_ms = options->lease_ms;
    held->before = now_us();
    if (!accept_status(client, boxcar_claim(store, options, &list, &err), &err, "claim"))
        return false;
    held->after = now_us();
    take_in(held, client, list, options);
    boxcar_list_free(list);
    if (!in_transaction)
        held_note(held, client);
    return true;
}

static size_t gather(struct held *held, const struct settling *how, const bool *chosen,
                     boxcar_settlement *settlements) {
    size_t count = 0;
    for (size_t i = 0; i < held->count; i++) {
        if (!chosen[i])
            continue;
        boxcar_settlement *settlement = &settlements[count++];
        *settlement = BOXCAR_SETTLEMENT_INIT;
        settlement->work_id = held->ids[i];
        settlement->epoch = how->without_epochs ? (boxcar_epoch){0} : held->epochs[i];
        if (how->verb == VERB_ABANDON || how->verb == VERB_DEFER)
            settlement->delay_ms = how->ms;
        if (how->verb == VERB_ABANDON || how->verb == VERB_FAIL)
            settlement->error = BOXCAR_STR("a reason");
    }
    return count;
}

struct answer {
    int64_t before;
    bool shaky;
    enum outcome outcome; /* of those that are affected or not: decided one by one */
};

static void note(struct held *held, struct client *client, const struct settling *how, const bool *chosen,
                 const struct answer *answer, enum record_kind kind) {
    int64_t after = kind == RECORD_SETTLED ? now_us() : 0;
    for (size_t i = 0; i < held->count; i++) {
        if (!chosen[i])
            continue;
        struct record record = {.kind = (uint8_t)kind,
                                .verb = (uint8_t)how->verb,
                                .shaky = (uint8_t)(answer->shaky ? 1 + how->without_epochs : 0),
                                .client = (uint16_t)client->number,
                                .work_id = held->ids[i].value,
                                .epoch = held->epochs[i].value,
                                .before = answer->before,
                                .after = after,
                                .ms = (int32_t)how->ms,
                                .outcome = (uint8_t)answer->outcome};
        memcpy(record.id, client->owner.uuid.bytes, sizeof(record.id));
        if (answer->outcome == OUTCOME_AFFECTED && !held->affected[i])
            record.outcome = OUTCOME_PASSED_OVER;
        journal_add(&client->journal, record);
    }
    journal_flush(&client->journal);
}

static void mark(struct held *held, struct client *client, const boxcar_work_id *affected, size_t count) {
    size_t known = 0;
    memset(held->affected, 0, sizeof(held->affected));
    for (size_t i = 0; i < held->count; i++)
        for (size_t k = 0; k < count && !held->affected[i]; k++)
            held->affected[i] = affected[k].value == held->ids[i].value;
    for (size_t i = 0; i < held->count; i++)
        known += held->affected[i];
    if (known != count)
        complain(client, "%zu ids reported as affected, %zu of them were given", count, known);
}

bool settle_some(struct held *held, struct client *client, boxcar_store *store, const struct settling *how,
                 const bool *chosen) {
    static boxcar_settlement settlements[HELD_MAX];
    static boxcar_work_id affected[HELD_MAX];
    size_t affected_count = 0;
    int64_t reconnects = client->reconnects;
    boxcar_error err = BOXCAR_ERROR_INIT;
    struct answer answer = {.before = now_us()};
    size_t count = gather(held, how, chosen, settlements);

    if (count == 0)
        return true;
    held->settled_before = answer.before;
    note(held, client, how, chosen, &answer, RECORD_SETTLING);
    int64_t lease_ms = how->verb == VERB_RENEW ? how->ms : BOXCAR_LEASE_MS_DEFAULT;
    boxcar_status status =
        boxcar_settle(store, CLAIMER_FOR(BOXCAR_OUTBOX, client->owner, lease_ms), SETTLE[how->verb],
                      settlements, count, affected, &affected_count, &err);
    if (!accept_status(client, status, &err, VERB_NAMES[how->verb]))
        return false;
    mark(held, client, affected, affected_count);
    if (how->in_transaction)
        return true;
    answer.shaky = client->reconnects != reconnects;
    answer.outcome = OUTCOME_AFFECTED;
    note(held, client, how, chosen, &answer, RECORD_SETTLED);
    return true;
}

void settle_end(struct held *held, struct client *client, const struct settling *how, const bool *chosen,
                bool committed) {
    struct answer answer = {.before = held->settled_before,
                            .outcome = committed ? OUTCOME_AFFECTED : OUTCOME_UNDONE};
    note(held, client, how, chosen, &answer, RECORD_SETTLED);
}

void settle_wrongly(struct held *held, struct client *client) {
    bool wrong_owner = draw_percent(client, 50);
    size_t affected_count = 0;
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_settlement settlement = BOXCAR_SETTLEMENT_INIT;
    enum verb verb = (enum verb)draw_between(client, VERB_ACK, VERB_FAIL);
    if (held->count == 0)
        return;
    settlement.work_id = held->ids[draw_between(client, 0, (int64_t)held->count - 1)];
    if (!wrong_owner)
        settlement.epoch.value = held->epochs[0].value + (draw_percent(client, 50) ? 1 : -1);
    boxcar_owner owner = wrong_owner ? (boxcar_owner){boxcar_uuid_new()} : client->owner;
    boxcar_status status = boxcar_settle(client->store, CLAIMER(BOXCAR_OUTBOX, owner), SETTLE[verb],
                                         &settlement, 1, NULL, &affected_count, &err);
    if (!accept_status(client, status, &err, VERB_NAMES[verb]))
        return;
    count(client, TALLY_REFUSED, 1);
    if (affected_count > 0)
        complain(client, "%s of %lld with the wrong %s took effect", VERB_NAMES[verb],
                 (long long)settlement.work_id.value, wrong_owner ? "owner" : "epoch");
}
