/* The part of actions.h that looks at a store, and the set-ups built from several steps. */
#include "actions.h"

boxcar_message_list *find(struct fixture *f, boxcar_work_id work_id) {
    boxcar_message_ref ref = {.work_id = work_id};
    boxcar_message_list *list = NULL;
    ASSERT_OK(f, boxcar_message_find(f->store, BOXCAR_OUTBOX, ref, &list, &f->err));
    return list;
}

const boxcar_message *look(const boxcar_message_list *list) {
    assert_int_equal(list->count, 1);
    return list->items[0];
}

void assert_status(struct fixture *f, boxcar_work_id work_id, boxcar_message_status wanted) {
    boxcar_message_list *list = find(f, work_id);
    assert_string_equal(boxcar_message_status_name(look(list)->status), boxcar_message_status_name(wanted));
    boxcar_list_free(list);
}

void assert_dead(struct fixture *f, boxcar_work_id work_id, boxcar_reason reason) {
    boxcar_message_list *list = find(f, work_id);
    const boxcar_message *message = look(list);
    assert_string_equal(boxcar_message_status_name(message->status), "failed");
    assert_string_equal(boxcar_reason_name(message->reason), boxcar_reason_name(reason));
    assert_true(message->died_at != BOXCAR_TIME_NONE);
    boxcar_list_free(list);
}

int retry_count_of(struct fixture *f, boxcar_work_id work_id) {
    boxcar_message_list *list = find(f, work_id);
    int retry_count = look(list)->retry_count;
    boxcar_list_free(list);
    return retry_count;
}

boxcar_stats stats_of(struct fixture *f) {
    boxcar_stats_list *list = NULL;
    ASSERT_OK(f, boxcar_stats_read(f->store, BOXCAR_OUTBOX, false, &list, &f->err));
    assert_int_equal(list->count, 1);
    boxcar_stats stats = *list->items[0];
    assert_absent(stats.topic);
    boxcar_list_free(list);
    return stats;
}

boxcar_enqueued enqueue_dead(struct fixture *f, const char *topic, const char *error) {
    boxcar_enqueued enqueued = enqueue(f, topic, "p");
    assert_true(bury(f, f->owner, take(f, f->owner, enqueued.work_id), error));
    return enqueued;
}

boxcar_enqueued enqueue_done(struct fixture *f, const char *topic) {
    boxcar_enqueued enqueued = enqueue(f, topic, "p");
    assert_true(ack(f, f->owner, take(f, f->owner, enqueued.work_id)));
    return enqueued;
}

void set_setting(struct fixture *f, const char *name, const char *value) {
    ASSERT_OK(f, boxcar_setting_write(f->store, boxcar_str_of(name), boxcar_str_of(value), &f->err));
}

int64_t audit_lost(struct fixture *f) {
    boxcar_audit audit = {sizeof(boxcar_audit), -1, -1};
    ASSERT_OK(f, boxcar_audit_run(f->store, false, &audit, &f->err));
    assert_int_equal(audit.repaired, 0);
    return audit.lost;
}

boxcar_time database_now(struct fixture *f) {
    return fixture_sql_number(f, "select cast((julianday('now') - 2440587.5) * 86400000000 as integer)",
                              "select (extract(epoch from clock_timestamp()) * 1000000)::bigint");
}

/* One more: times may be rounded to a millisecond. */
void wait_out(struct fixture *f, int64_t ms) {
    boxcar_time end = database_now(f) + (ms + 1) * 1000;
    for (boxcar_time left = end - database_now(f); left > 0; left = end - database_now(f))
        pause_ms(left / 1000 + 1);
}
