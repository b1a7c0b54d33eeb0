/* Slices become messages. */
#include <inttypes.h>
#include <jansson.h>

#include "base/utf8.h"
#include "base/uuid.h"
#include "core/wait.h"
#include "schedule.h"
#include "store/sqlite/join/join.h"
#include "store/sqlite/message/enqueue.h"
#include "store/sqlite/subscription/reader.h"

/* ---- names ---- */

/* `number` and `tries` tell apart what has the same name. A schedule that was removed and made again is
 * another one: so its time is in there. */
static boxcar_status derive_id(const struct schedule *schedule, const char *name_space, int64_t shard,
                               int64_t number, int tries, boxcar_uuid *ret_id, boxcar_error *err) {
    AUTO_BUF struct buf text = BUF_INIT;
    buf_append_str(&text, schedule->topic);
    buf_append_char(&text, 0x1f);
    buf_append_str(&text, schedule->work_key);
    buf_append_format(&text, "\x1f%" PRId64 "\x1f%" PRId64 "\x1f%d\x1f%" PRId64 ":%" PRId64, shard, number,
                      tries, schedule->created_at, schedule->id);
    if (text.failed)
        return error_no_memory(err);
    uuid_derive(name_space, (boxcar_str){text.data, text.len}, ret_id->bytes);
    return boxcar_uuid_is_none(*ret_id) ? error_no_memory(err) : BOXCAR_OK;
}

/* In the scratch arena; takes the object over. */
static boxcar_status dump(struct sqlite_store *store, json_t *object, boxcar_str *ret_text,
                          boxcar_error *err) {
    AUTO_FREE char *text = object != NULL ? json_dumps(object, 0) : NULL;
    json_decref(object);
    bool copied = text != NULL && arena_copy_str(&store->scratch, boxcar_str_of(text), ret_text);
    return copied ? BOXCAR_OK : error_no_memory(err);
}

static boxcar_status write_payload(struct sqlite_store *store, const struct schedule *schedule,
                                   const struct slice *slice, boxcar_str *ret_payload, boxcar_error *err) {
    return dump(store,
                json_pack("{s:s%, s:s%, s:i, s:i, s:I}", "topic", schedule->topic.data, schedule->topic.len,
                          "work_key", schedule->work_key.data, schedule->work_key.len, "shard", slice->shard,
                          "shards", schedule->shards, "slice", (json_int_t)slice->number),
                ret_payload, err);
}

/* ---- messages ---- */

struct sending {
    const struct schedule *schedule;
    boxcar_join_id join_id; /* none = they are no steps */
    boxcar_str topic;
    struct enqueueing enqueueing;
};

static boxcar_status begin(struct sqlite_store *store, const struct schedule *schedule,
                           struct sending *ret_sending, boxcar_error *err) {
    *ret_sending = (struct sending){.schedule = schedule};
    TRY(sqlite_slice_topic(store, schedule->topic, schedule->work_key, &ret_sending->topic, err));
    return sqlite_enqueue_begin(store, BOXCAR_OUTBOX, false, &ret_sending->enqueueing, err);
}

/* A slice that ends badly again and again comes less and less often. */
static int64_t pause_before(const struct schedule *schedule, const struct slice *slice) {
    int failed = slice->tries - 1;
    int64_t pause_ms = failed < 2 ? 0 : INT64_C(1000) << (failed < 20 ? failed : 20);
    return pause_ms < schedule->every_ms ? pause_ms : schedule->every_ms;
}

static boxcar_status send(struct sqlite_store *store, struct sending *sending, const struct slice *slice,
                          boxcar_error *err) {
    boxcar_new_message message = BOXCAR_NEW_MESSAGE_INIT;
    boxcar_enqueued enqueued;
    message.topic = sending->topic;
    message.delay_ms = pause_before(sending->schedule, slice);
    message.join_id = sending->join_id;
    TRY(derive_id(sending->schedule, "boxcar slice", slice->shard, slice->number, slice->tries,
                  &message.message_id.uuid, err));
    TRY(write_payload(store, sending->schedule, slice, &message.payload, err));
    TRY(sqlite_enqueue_next(store, &sending->enqueueing, &message, NULL, &enqueued, err));
    return query_do(store, S_SLICE_WRITE, err, Q_INT(sending->schedule->id), Q_INT(slice->shard),
                    Q_INT(slice->number), Q_INT(slice->tries), Q_ID(enqueued.message_id.uuid.bytes),
                    Q_INT(enqueued.work_id.value), Q_INT(store->now));
}

static boxcar_status send_all(struct sqlite_store *store, struct sending *sending,
                              const struct slice_list *slices, boxcar_error *err) {
    for (size_t i = 0; i < slices->count; i++)
        TRY(send(store, sending, &slices->items[i], err));
    return BOXCAR_OK;
}

/* ---- joins ---- */

/* The join is new and pending, so there is nothing to look at. */
static boxcar_status wait_for(struct sqlite_store *store, const struct schedule *schedule,
                              boxcar_join_id join_id, size_t count, boxcar_error *err) {
    AUTO_BUF struct buf payload = BUF_INIT;
    boxcar_new_wait wait = BOXCAR_NEW_WAIT_INIT;
    boxcar_new_message message = BOXCAR_NEW_MESSAGE_INIT;
    wait.join_id = join_id;
    wait.on_complete_topic = schedule->then_topic;
    wait.on_fail_topic = schedule->else_topic;
    TRY(dump(store,
             json_pack("{s:s%, s:s%, s:I}", "topic", schedule->topic.data, schedule->topic.len, "work_key",
                       schedule->work_key.data, schedule->work_key.len, "slices", (json_int_t)count),
             &wait.on_complete_payload, err));
    if (!str_is_absent(schedule->else_topic))
        wait.on_fail_payload = wait.on_complete_payload;
    TRY(wait_format(&wait, &payload, err));
    TRY(derive_id(schedule, "boxcar slices wait", 0, schedule->joins + 1, 0, &message.message_id.uuid, err));
    message.payload = (boxcar_str){payload.data, payload.len};
    message.max_attempts = WAIT_MAX_ATTEMPTS;
    return sqlite_join_wait_new(store, join_id, &message, err);
}

static boxcar_status start_join(struct sqlite_store *store, const struct schedule *schedule, size_t count,
                                boxcar_join_id *ret_join_id, boxcar_error *err) {
    TRY(derive_id(schedule, "boxcar slices join", 0, schedule->joins + 1, 0, &ret_join_id->uuid, err));
    TRY(query_do(store, S_JOIN_INSERT, err, Q_ID(ret_join_id->uuid.bytes), Q_TEXT(BOXCAR_NO_STR),
                 Q_INT((int64_t)count), Q_INT(store->now), Q_TIME(BOXCAR_TIME_NONE), Q_TEXT(BOXCAR_NO_STR)));
    return query_do(store, S_SCHEDULE_JOINED, err, Q_INT(schedule->id));
}

/* A join counts what the main reader ends: without messages of its own it would stay open for ever. */
static boxcar_status joins(struct sqlite_store *store, const struct sending *sending, bool *ret_joins,
                           boxcar_error *err) {
    bool taken = false;
    *ret_joins = !str_is_absent(sending->schedule->then_topic);
    if (*ret_joins)
        TRY(sqlite_reader_takes(store, BOXCAR_OUTBOX, sending->topic, &taken, err));
    *ret_joins = *ret_joins && !taken;
    return BOXCAR_OK;
}

/* ---- both ---- */

boxcar_status sqlite_slices_enqueue_new(struct sqlite_store *store, const struct schedule *schedule,
                                        const struct slice_list *slices, boxcar_error *err) {
    struct sending sending;
    bool joined;
    if (slices->count == 0)
        return BOXCAR_OK;
    TRY(begin(store, schedule, &sending, err));
    TRY(joins(store, &sending, &joined, err));
    if (joined)
        TRY(start_join(store, schedule, slices->count, &sending.join_id, err));
    TRY(send_all(store, &sending, slices, err));
    return joined ? wait_for(store, schedule, sending.join_id, slices->count, err) : BOXCAR_OK;
}

boxcar_status sqlite_slices_enqueue_again(struct sqlite_store *store, const struct schedule *schedule,
                                          const struct slice_list *slices, boxcar_error *err) {
    struct sending sending;
    if (slices->count == 0)
        return BOXCAR_OK;
    TRY(begin(store, schedule, &sending, err));
    for (size_t i = 0; i < slices->count; i++)
        slices->items[i].tries++;
    return send_all(store, &sending, slices, err);
}
