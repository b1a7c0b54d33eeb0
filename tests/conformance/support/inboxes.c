#include "inboxes.h"

#include <stdio.h>
#include <string.h>

boxcar_inbox_key key_of(const char *source, const char *id) {
    return (boxcar_inbox_key){boxcar_str_of(source), boxcar_str_of(id)};
}

boxcar_new_message delivery(const char *source, const char *id, const char *payload) {
    boxcar_new_message message = BOXCAR_NEW_MESSAGE_INIT;
    message.source = boxcar_str_of(source);
    message.external_id = boxcar_str_of(id);
    message.topic = BOXCAR_STR("t");
    message.payload = boxcar_str_of(payload);
    return message;
}

boxcar_enqueued deliver_message(struct fixture *f, const boxcar_new_message *message) {
    boxcar_enqueued enqueued = {.work_id = {-1}};
    ASSERT_OK(f, boxcar_enqueue(f->store, BOXCAR_INBOX, message, &enqueued, &f->err));
    return enqueued;
}

boxcar_enqueued deliver(struct fixture *f, const char *source, const char *id) {
    boxcar_new_message message = delivery(source, id, "p");
    return deliver_message(f, &message);
}

boxcar_enqueued deliver_hashed(struct fixture *f, const char *source, const char *id, const char *hash) {
    boxcar_new_message message = delivery(source, id, "p");
    message.content_hash = boxcar_str_of(hash);
    return deliver_message(f, &message);
}

bool is_processed(struct fixture *f, const char *source, const char *id) {
    bool processed = false;
    ASSERT_OK(f, boxcar_inbox_already_processed(f->store, key_of(source, id), BOXCAR_NO_STR, &processed, NULL,
                                                &f->err));
    return processed;
}

bool accept_key(struct fixture *f, const char *source, const char *id) {
    bool is_new = false;
    ASSERT_OK(f, boxcar_inbox_accept(f->store, key_of(source, id), BOXCAR_NO_STR, &is_new, NULL, &f->err));
    return is_new;
}

struct receipt receipt_of(struct fixture *f, const char *source, const char *id) {
    boxcar_inbox_receipt_list *list = NULL;
    struct receipt receipt = {.hash = ""};
    ASSERT_OK(f, boxcar_inbox_find(f->store, key_of(source, id), &list, &f->err));
    assert_int_equal(list->count, 1);
    receipt.is = *list->items[0];
    assert_text(receipt.is.source, source);
    assert_text(receipt.is.external_id, id);
    assert_same_message_id(receipt.is.message_id, boxcar_inbox_message_id(key_of(source, id)));
    if (receipt.is.content_hash.data)
        snprintf(receipt.hash, sizeof(receipt.hash), "%.*s", (int)receipt.is.content_hash.len,
                 receipt.is.content_hash.data);
    boxcar_list_free(list);
    return receipt;
}

void assert_state(struct fixture *f, const char *source, const char *id, boxcar_inbox_state wanted) {
    assert_string_equal(boxcar_inbox_state_name(receipt_of(f, source, id).is.state),
                        boxcar_inbox_state_name(wanted));
}

void assert_unknown(struct fixture *f, const char *source, const char *id) {
    boxcar_inbox_receipt_list *list = NULL;
    ASSERT_FAILS(f, BOXCAR_E_NOT_FOUND, boxcar_inbox_find(f->store, key_of(source, id), &list, &f->err));
    assert_null(list);
}

static boxcar_message_list *claim_inbox(struct fixture *f, boxcar_owner owner, int batch_size) {
    boxcar_claimer options = BOXCAR_CLAIMER_INIT;
    boxcar_message_list *list = NULL;
    options.box = BOXCAR_INBOX;
    options.owner = owner;
    options.batch_size = batch_size;
    ASSERT_OK(f, boxcar_claim(f->store, &options, &list, &f->err));
    return list;
}

struct taken inbox_take(struct fixture *f, boxcar_owner owner, boxcar_work_id wanted) {
    boxcar_message_list *list = claim_inbox(f, owner, 1);
    const boxcar_message *m = look(list);
    assert_int_equal(m->work_id.value, wanted.value);
    assert_int_equal(m->box, BOXCAR_INBOX);
    struct taken taken = {m->work_id, m->epoch, m->retry_count, m->crash_count};
    boxcar_list_free(list);
    return taken;
}

void assert_inbox_empty(struct fixture *f) {
    boxcar_message_list *list = claim_inbox(f, f->other, 10);
    assert_int_equal(list->count, 0);
    boxcar_list_free(list);
}

bool inbox_ack(struct fixture *f, struct taken taken) {
    boxcar_settlement settlement = settlement_of(taken);
    return settle_in_box(f, BOXCAR_INBOX, BOXCAR_ACK, f->owner, &settlement);
}

bool inbox_bury(struct fixture *f, struct taken taken) {
    boxcar_settlement settlement = settlement_of(taken);
    settlement.error = BOXCAR_STR("no");
    return settle_in_box(f, BOXCAR_INBOX, BOXCAR_FAIL, f->owner, &settlement);
}

boxcar_enqueued deliver_done(struct fixture *f, const char *source, const char *id) {
    boxcar_enqueued enqueued = deliver(f, source, id);
    assert_true(inbox_ack(f, inbox_take(f, f->owner, enqueued.work_id)));
    return enqueued;
}

boxcar_enqueued deliver_dead(struct fixture *f, const char *source, const char *id) {
    boxcar_enqueued enqueued = deliver(f, source, id);
    assert_true(inbox_bury(f, inbox_take(f, f->owner, enqueued.work_id)));
    return enqueued;
}

boxcar_message_list *inbox_message(struct fixture *f, boxcar_work_id work_id) {
    boxcar_message_list *list = NULL;
    ASSERT_OK(f, boxcar_message_find(f->store, BOXCAR_INBOX, (boxcar_message_ref){.work_id = work_id}, &list,
                                     &f->err));
    return list;
}

void assert_inbox_status(struct fixture *f, boxcar_work_id work_id, boxcar_message_status wanted) {
    boxcar_message_list *list = inbox_message(f, work_id);
    assert_string_equal(boxcar_message_status_name(look(list)->status), boxcar_message_status_name(wanted));
    boxcar_list_free(list);
}

boxcar_maintenance maintain_inbox(struct fixture *f) {
    boxcar_maintenance sum = BOXCAR_MAINTENANCE_INIT, round = BOXCAR_MAINTENANCE_INIT;
    do {
        ASSERT_OK(f, boxcar_maintenance_run(f->store, &round, &f->err));
        sum.purged_done += round.purged_done;
        sum.purged_dead += round.purged_dead;
        sum.purged_keys += round.purged_keys;
    } while (round.more);
    return sum;
}

int64_t count_keys(struct fixture *f) {
    return fixture_sql_number(f, "select count(*) from boxcar_inbox_key", "select count(*) from inbox_key");
}

int64_t count_messages(struct fixture *f) {
    return fixture_sql_number(f, "select count(*) from boxcar_message", "select count(*) from message");
}
