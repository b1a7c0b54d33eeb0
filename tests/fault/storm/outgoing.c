#include "outgoing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const TOPICS[] = {"storm.a", "storm.b", "storm.c", "noise.x", "noise.y"};

#define PAYLOAD_HEAD 42 /* the id, a space, the whole length in four digits, a space */

static boxcar_str write_payload(char *text, struct client *client, boxcar_message_id id) {
    char name[BOXCAR_UUID_TEXT_SIZE];
    size_t len = PAYLOAD_HEAD + (size_t)draw_between(client, 0, 300);
    boxcar_uuid_format(id.uuid, name);
    snprintf(text, PAYLOAD_HEAD + 1, "%s %04zu ", name, len);
    memset(text + PAYLOAD_HEAD, 'a' + id.uuid.bytes[15] % 26, len - PAYLOAD_HEAD);
    return (boxcar_str){text, len};
}

bool payload_is_whole(boxcar_message_id id, boxcar_str payload) {
    char head[PAYLOAD_HEAD + 1];
    char name[BOXCAR_UUID_TEXT_SIZE];
    boxcar_uuid_format(id.uuid, name);
    snprintf(head, sizeof(head), "%s %04zu ", name, payload.len);
    if (payload.len < PAYLOAD_HEAD || memcmp(payload.data, head, PAYLOAD_HEAD) != 0)
        return false;
    for (size_t i = PAYLOAD_HEAD; i < payload.len; i++)
        if (payload.data[i] != 'a' + id.uuid.bytes[15] % 26)
            return false;
    return true;
}

/* What makes a message leave the straight path, each now and then. Returns the record of the intent. */
static struct record choose_rules(boxcar_new_message *message, char *stream, struct client *client) {
    struct record intent = {.kind = RECORD_INTENT};
    if (draw_percent(client, 15)) {
        intent.stream = (int16_t)draw_between(client, 1, STREAMS);
        snprintf(stream, 16, "stream-%d", intent.stream);
        message->stream = boxcar_str_of(stream);
    }
    if (draw_percent(client, 8))
        message->delay_ms = intent.ms = (int32_t)draw_between(client, 1, 1500);
    if (draw_percent(client, 3))
        message->max_attempts = intent.max_attempts = (int16_t)draw_between(client, 1, 4);
    if (draw_percent(client, 5))
        message->ttl_ms = 3600 * 1000;
    if (draw_percent(client, 1)) {
        message->ttl_ms = draw_between(client, 20, 800);
        intent.expires = 1;
    }
    return intent;
}

static void make_one(struct outgoing *outgoing, struct client *client, size_t i) {
    boxcar_new_message *message = &outgoing->messages[i];
    *message = BOXCAR_NEW_MESSAGE_INIT;
    message->topic = boxcar_str_of(TOPICS[draw_between(client, 0, 4)]);
    message->message_id.uuid = boxcar_uuid_new();
    message->payload = write_payload(outgoing->payloads[i], client, message->message_id);
    struct record intent = choose_rules(message, outgoing->streams[i], client);
    intent.client = (uint16_t)client->number;
    intent.before = outgoing->before;
    memcpy(intent.id, message->message_id.uuid.bytes, sizeof(intent.id));
    journal_add(&client->journal, intent);
}

void outgoing_make(struct outgoing *outgoing, struct client *client, size_t count) {
    outgoing->count = count;
    outgoing->before = now_us();
    for (size_t i = 0; i < count; i++)
        make_one(outgoing, client, i);
    journal_flush(&client->journal);
}

bool outgoing_enqueue(struct outgoing *outgoing, struct client *client, boxcar_store *store) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_status status =
        outgoing->count == 1
            ? boxcar_enqueue(store, BOXCAR_OUTBOX, outgoing->messages, outgoing->enqueued, &err)
            : boxcar_enqueue_many(store, BOXCAR_OUTBOX, outgoing->messages, outgoing->count,
                                  outgoing->enqueued, &err);
    return accept_status(client, status, &err, "enqueue");
}

static void note_work_id(struct client *client, int64_t work_id) {
    _Atomic int64_t *last = &client->storm->board->last_work_id;
    int64_t known = atomic_load(last);
    while (known < work_id && !atomic_compare_exchange_weak(last, &known, work_id))
        continue;
}

void outgoing_end(struct outgoing *outgoing, struct client *client, enum record_kind kind) {
    int64_t after = now_us();
    for (size_t i = 0; i < outgoing->count; i++) {
        struct record record = {.kind = (uint8_t)kind,
                                .client = (uint16_t)client->number,
                                .before = outgoing->before,
                                .after = after};
        memcpy(record.id, outgoing->messages[i].message_id.uuid.bytes, sizeof(record.id));
        if (kind == RECORD_ENQUEUED) {
            record.work_id = outgoing->enqueued[i].work_id.value;
            record.duplicate = outgoing->enqueued[i].duplicate;
            note_work_id(client, record.work_id);
        }
        journal_add(&client->journal, record);
    }
    journal_flush(&client->journal);
    count(client, kind == RECORD_ENQUEUED ? TALLY_ENQUEUED : TALLY_ROLLBACKS, (int64_t)outgoing->count);
}
