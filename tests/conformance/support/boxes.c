#include "boxes.h"

struct result send_batch(struct fixture *f, const struct request *batch) {
    struct result result = {.arena = ARENA_INIT};
    ASSERT_OK(f, f->store->ops->process(f->store, batch, &result, &f->err));
    return result;
}

void come_from(boxcar_new_message *message, const char *id) {
    message->source = BOXCAR_STR("bank");
    message->external_id = boxcar_str_of(id);
    message->message_id = boxcar_inbox_message_id((boxcar_inbox_key){message->source, message->external_id});
}

boxcar_work_id put_into(struct fixture *f, boxcar_box box, const char *topic, const char *payload,
                        const char *stream) {
    boxcar_new_message message = new_message(topic, payload);
    char id[BOXCAR_UUID_TEXT_SIZE];
    message.message_id.uuid = boxcar_uuid_new();
    message.stream = boxcar_str_of(stream);
    boxcar_uuid_format(message.message_id.uuid, id);
    if (box == BOXCAR_INBOX)
        come_from(&message, id);
    struct request batch = {.own[BOXCAR_OUTBOX].fresh_ids = true};
    batch.base.messages[box] = (boxcar_new_message_list){&message, 1};
    struct result result = send_batch(f, &batch);
    boxcar_work_id work_id = result.parts[box].enqueued[0].work_id;
    result_release(&result);
    return work_id;
}

struct taken take_from(struct fixture *f, boxcar_box box, boxcar_owner owner, boxcar_work_id wanted) {
    struct request batch = {.base.owner = owner};
    batch.parts[box] = (boxcar_request_part){.claim_size = 10, .lease_ms = 30000};
    struct result result = send_batch(f, &batch);
    assert_int_equal(result.parts[box].claimed_count, 1);
    const boxcar_message *m = &result.parts[box].claimed[0];
    assert_int_equal(m->work_id.value, wanted.value);
    assert_int_equal(m->box, box);
    struct taken taken = {m->work_id, m->epoch, m->retry_count, m->crash_count};
    result_release(&result);
    return taken;
}

boxcar_message_status status_in(struct fixture *f, boxcar_box box, boxcar_work_id work_id) {
    boxcar_message_ref ref = {.work_id = work_id};
    boxcar_message_list *list = NULL;
    ASSERT_OK(f, boxcar_message_find(f->store, box, ref, &list, &f->err));
    boxcar_message_status status = look(list)->status;
    boxcar_list_free(list);
    return status;
}
