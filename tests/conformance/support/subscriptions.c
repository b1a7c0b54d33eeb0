#include "subscriptions.h"

#include <stdio.h>

boxcar_new_subscription new_subscription(const char *name, const boxcar_str *pattern) {
    boxcar_new_subscription subscription = BOXCAR_NEW_SUBSCRIPTION_INIT;
    subscription.name = boxcar_str_of(name);
    subscription.patterns = pattern;
    subscription.pattern_count = 1;
    return subscription;
}

boxcar_box subscribe_this(struct fixture *f, const boxcar_new_subscription *subscription) {
    boxcar_box reader = -1;
    ASSERT_OK(f, boxcar_subscription_add(f->store, subscription, &reader, &f->err));
    assert_true(reader > BOXCAR_INBOX);
    return reader;
}

boxcar_box subscribe_from(struct fixture *f, const char *name, const char *pattern, boxcar_start start) {
    boxcar_str text = boxcar_str_of(pattern);
    boxcar_new_subscription subscription = new_subscription(name, &text);
    subscription.start = start;
    return subscribe_this(f, &subscription);
}

boxcar_box subscribe(struct fixture *f, const char *name, const char *pattern) {
    return subscribe_from(f, name, pattern, BOXCAR_START_END);
}

struct batch_taken claim_as_for(struct fixture *f, boxcar_box reader, boxcar_owner owner, int size,
                                int64_t lease_ms) {
    struct batch_taken batch = {.count = 0};
    boxcar_claimer claimer = *CLAIMER_FOR(reader, owner, lease_ms);
    boxcar_message_list *list = NULL;
    claimer.batch_size = size;
    ASSERT_OK(f, boxcar_claim(f->store, &claimer, &list, &f->err));
    assert_true(list->count <= RUN_MAX);
    for (; batch.count < list->count; batch.count++) {
        const boxcar_message *m = list->items[batch.count];
        assert_int_equal(m->reader, reader);
        assert_int_equal(m->status, BOXCAR_IN_PROGRESS);
        batch.items[batch.count] = (struct taken){m->work_id, m->epoch, m->retry_count, m->crash_count};
        snprintf(batch.streams[batch.count], sizeof(batch.streams[0]), "%.*s", (int)m->stream.len,
                 m->stream.data ? m->stream.data : "");
    }
    boxcar_list_free(list);
    return batch;
}

struct batch_taken claim_as(struct fixture *f, boxcar_box reader, boxcar_owner owner, int size) {
    return claim_as_for(f, reader, owner, size, BOXCAR_LEASE_MS_DEFAULT);
}

struct batch_taken take_as(struct fixture *f, boxcar_box reader, const boxcar_work_id *ids, size_t count) {
    struct batch_taken all = {.count = 0};
    for (size_t more = 1; more > 0;) {
        struct batch_taken batch = claim_as(f, reader, f->owner, RUN_MAX);
        more = batch.count;
        assert_true(all.count + batch.count <= RUN_MAX);
        for (size_t i = 0; i < batch.count; i++)
            all.items[all.count++] = batch.items[i];
    }
    assert_taken(&all, ids, count);
    return all;
}

struct taken take_one_as(struct fixture *f, boxcar_box reader, boxcar_work_id wanted) {
    return take_as(f, reader, &wanted, 1).items[0];
}

void assert_nothing_for(struct fixture *f, boxcar_box reader) {
    assert_int_equal(claim_as(f, reader, f->other, RUN_MAX).count, 0);
}

bool settle_as(struct fixture *f, boxcar_box reader, boxcar_settle_kind how, struct taken taken) {
    boxcar_settlement settlement = settlement_of(taken);
    return settle_in_box(f, reader, how, f->owner, &settlement);
}

void finish_as(struct fixture *f, boxcar_box reader, const boxcar_work_id *ids, size_t count) {
    struct batch_taken batch = take_as(f, reader, ids, count);
    for (size_t i = 0; i < batch.count; i++)
        assert_true(settle_as(f, reader, BOXCAR_ACK, batch.items[i]));
}

void assert_status_as(struct fixture *f, boxcar_box reader, boxcar_work_id work_id,
                      boxcar_message_status wanted) {
    boxcar_message_ref ref = {.work_id = work_id};
    boxcar_message_list *list = NULL;
    ASSERT_OK(f, boxcar_message_find(f->store, reader, ref, &list, &f->err));
    assert_int_equal(look(list)->status, wanted);
    assert_int_equal(look(list)->reader, reader);
    boxcar_list_free(list);
}

void assert_unknown_to(struct fixture *f, boxcar_box reader, boxcar_work_id work_id) {
    boxcar_message_ref ref = {.work_id = work_id};
    boxcar_message_list *list = NULL;
    ASSERT_FAILS(f, BOXCAR_E_NOT_FOUND, boxcar_message_find(f->store, reader, ref, &list, &f->err));
}

boxcar_stats stats_as(struct fixture *f, boxcar_box reader) {
    boxcar_stats_list *list = NULL;
    ASSERT_OK(f, boxcar_stats_read(f->store, reader, false, &list, &f->err));
    assert_int_equal(list->count, 1);
    boxcar_stats stats = *list->items[0];
    stats.topic = BOXCAR_NO_STR;
    boxcar_list_free(list);
    return stats;
}

boxcar_subscription subscription_of(struct fixture *f, const char *name) {
    boxcar_subscription_list *list = NULL;
    ASSERT_OK(f, boxcar_subscription_read(f->store, boxcar_str_of(name), &list, &f->err));
    assert_int_equal(list->count, 1);
    assert_text(list->items[0]->name, name);
    boxcar_subscription subscription = *list->items[0];
    subscription.name = subscription.start_at = BOXCAR_NO_STR;
    subscription.patterns = NULL;
    boxcar_list_free(list);
    return subscription;
}

void pause_subscription(struct fixture *f, const char *name) {
    ASSERT_OK(f, boxcar_subscription_pause(f->store, boxcar_str_of(name), &f->err));
}

void resume_subscription(struct fixture *f, const char *name) {
    ASSERT_OK(f, boxcar_subscription_resume(f->store, boxcar_str_of(name), &f->err));
}

static int64_t rewind_there(struct fixture *f, const char *name, boxcar_place place) {
    int64_t count = -1;
    ASSERT_OK(f, boxcar_subscription_rewind(f->store, boxcar_str_of(name), &place, &count, &f->err));
    return count;
}

int64_t rewind_to(struct fixture *f, const char *name, boxcar_work_id work_id) {
    boxcar_place place = BOXCAR_PLACE_INIT;
    place.start = BOXCAR_START_WORK_ID;
    place.work_id = work_id;
    return rewind_there(f, name, place);
}

int64_t rewind_all(struct fixture *f, const char *name) { return rewind_there(f, name, BOXCAR_PLACE_INIT); }

boxcar_maintenance maintain_readers(struct fixture *f) {
    boxcar_maintenance sum = BOXCAR_MAINTENANCE_INIT,
                       round = {.struct_size = sizeof(boxcar_maintenance), .more = true};
    while (round.more) {
        ASSERT_OK(f, boxcar_maintenance_run(f->store, &round, &f->err));
        sum.reaped += round.reaped;
        sum.expired += round.expired;
        sum.purged_done += round.purged_done;
        sum.purged_dead += round.purged_dead;
    }
    return sum;
}
