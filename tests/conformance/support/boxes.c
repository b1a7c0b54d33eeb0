#include "boxes.h"

struct batch_result send_batch(struct fixture *f, const struct batch *batch) {
    struct batch_result result = {.arena = ARENA_INIT};
    ASSERT_OK(f, f->store->ops->process(f->store, batch, &result, &f->err));
    return result;
}

struct inbox_origin origin_of(const char *id) {
    boxcar_inbox_key key = {BOXCAR_STR("bank"), boxcar_str_of(id)};
    return (struct inbox_origin){
        .source = key.source, .external_id = key.external_id, .message_id = boxcar_inbox_message_id(key)};
}

boxcar_work_id put_into(struct fixture *f, boxcar_box box, const char *topic, const char *payload,
                        const char *stream) {
    boxcar_new_message message = new_message(topic, payload);
    char id[BOXCAR_UUID_TEXT_SIZE];
    message.message_id.uuid = boxcar_uuid_new();
    message.stream = boxcar_str_of(stream);
    boxcar_uuid_format(message.message_id.uuid, id);
    struct inbox_origin origin = origin_of(id);
    struct batch batch = {.sent_before = false};
    batch.parts[box] = (struct batch_part){.messages = &message, .message_count = 1, .fresh_ids = true};
    if (box == BOXCAR_INBOX) {
        message.message_id = origin.message_id;
        batch.parts[box].origins = &origin;
        batch.parts[box].fresh_ids = false;
    }
    struct batch_result result = send_batch(f, &batch);
    const struct part_result *part = &result.parts[box];
    boxcar_work_id work_id =
        box == BOXCAR_INBOX ? part->inbox_enqueued[0].work_id : part->enqueued[0].work_id;
    batch_result_release(&result);
    return work_id;
}

struct taken take_from(struct fixture *f, boxcar_box box, boxcar_owner owner, boxcar_work_id wanted) {
    struct batch batch = {.owner = owner};
    batch.parts[box] = (struct batch_part){.claim_size = 10, .claim_lease_ms = 30000};
    struct batch_result result = send_batch(f, &batch);
    assert_int_equal(result.parts[box].claimed_count, 1);
    const boxcar_message *m = &result.parts[box].claimed[0];
    assert_int_equal(m->work_id.value, wanted.value);
    assert_int_equal(m->box, box);
    struct taken taken = {m->work_id, m->epoch, m->retry_count, m->crash_count};
    batch_result_release(&result);
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
