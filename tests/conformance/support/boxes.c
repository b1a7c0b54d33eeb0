#include "boxes.h"

struct batch batch_for(boxcar_owner owner) {
    struct batch batch = {BOXCAR_REQUEST_INIT, {BOXCAR_REQUEST_PART_INIT, BOXCAR_REQUEST_PART_INIT}};
    batch.request.owner = owner;
    return batch;
}

boxcar_result *send_batch(struct fixture *f, struct batch *batch) {
    boxcar_result *result = NULL;
    for (int box = 0; box < BOXES; box++)
        batch->request.parts[box] = &batch->parts[box];
    ASSERT_OK(f, boxcar_process(f->store, &batch->request, &result, &f->err));
    return result;
}

void come_from(boxcar_new_message *message, const char *id) {
    message->source = BOXCAR_STR("bank");
    message->external_id = boxcar_str_of(id);
}

boxcar_work_id put_into(struct fixture *f, boxcar_box box, const char *topic, const char *payload,
                        const char *stream) {
    boxcar_new_message message = new_message(topic, payload);
    char id[BOXCAR_UUID_TEXT_SIZE];
    boxcar_enqueued enqueued;
    message.stream = boxcar_str_of(stream);
    boxcar_uuid_format(boxcar_uuid_new(), id);
    if (box == BOXCAR_INBOX)
        come_from(&message, id);
    ASSERT_OK(f, boxcar_enqueue(f->store, box, &message, &enqueued, &f->err));
    return enqueued.work_id;
}

struct taken take_from(struct fixture *f, boxcar_box box, boxcar_owner owner, boxcar_work_id wanted) {
    struct batch batch = batch_for(owner);
    batch.parts[box].claim_size = 10;
    boxcar_result *result = send_batch(f, &batch);
    const boxcar_message *m = look(result->claimed[box]);
    assert_int_equal(m->work_id.value, wanted.value);
    assert_int_equal(m->box, box);
    struct taken taken = {m->work_id, m->epoch, m->retry_count, m->crash_count};
    boxcar_result_free(result);
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
