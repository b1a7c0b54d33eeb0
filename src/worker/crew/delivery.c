#include "delivery.h"

#include <stdlib.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "core/limits/limits.h"
#include "redact_payload.h"
#include "request/request.h"
#include "store/open.h"

/* A verdict of "later" means soon, not at once: a handler that defers does so for a reason. */
#define DEFER_MS_DEFAULT 1000

bool delivery_init(struct boxcar_delivery *delivery, const char *store_id,
                   const boxcar_store_options *store_options) {
    *delivery =
        (struct boxcar_delivery){.store_id = store_id,
                                 .store_options = store_options,
                                 .timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK),
                                 .deadline_ms = INT64_MAX};
    return delivery->timer_fd >= 0;
}

void delivery_release(struct boxcar_delivery *delivery) {
    if (delivery->store)
        delivery->store->ops->close(delivery->store);
    if (delivery->timer_fd >= 0)
        close(delivery->timer_fd);
    free(delivery->error);
    delivery->store = NULL;
    delivery->timer_fd = -1;
    delivery->error = NULL;
}

/* 0 disarms; setting a timer also takes back that it has fired. */
static void arm(int fd, int64_t at_ms) {
    struct itimerspec when = {.it_value = {.tv_sec = at_ms / 1000, .tv_nsec = at_ms % 1000 * 1000000}};
    (void)timerfd_settime(fd, TFD_TIMER_ABSTIME, &when, NULL);
}

void delivery_start(struct boxcar_delivery *delivery, const boxcar_message *message, int64_t deadline_ms) {
    bool was_armed = delivery->deadline_ms != INT64_MAX || atomic_load(&delivery->cancelled) != CANCEL_NONE;
    delivery->message = message;
    delivery->delay_ms = BOXCAR_BACKOFF;
    delivery->is_shortage = false;
    delivery->deadline_ms = deadline_ms;
    free(delivery->error);
    delivery->error = NULL;
    atomic_store(&delivery->cancelled, CANCEL_NONE);
    if (was_armed || deadline_ms != INT64_MAX)
        arm(delivery->timer_fd, deadline_ms == INT64_MAX ? 0 : deadline_ms);
}

void delivery_cancel(struct boxcar_delivery *delivery, enum cancel_reason reason) {
    int none = CANCEL_NONE;
    if (atomic_compare_exchange_strong(&delivery->cancelled, &none, (int)reason))
        arm(delivery->timer_fd, 1);
}

enum cancel_reason delivery_cancel_reason(const struct boxcar_delivery *delivery) {
    int reason = atomic_load(&delivery->cancelled);
    if (reason == CANCEL_NONE && delivery->deadline_ms != INT64_MAX && clock_ms() >= delivery->deadline_ms)
        return CANCEL_TIMEOUT;
    return (enum cancel_reason)reason;
}

char *delivery_take_error(struct boxcar_delivery *delivery, size_t *ret_len) {
    char *text = delivery->error;
    *ret_len = text ? delivery->error_len : 0;
    delivery->error = NULL;
    return text;
}

/* A verdict that is none of the four is a defect of the handler: try again, and say why. */
boxcar_verdict delivery_check_verdict(struct boxcar_delivery *delivery, boxcar_verdict verdict) {
    if ((int)verdict >= BOXCAR_VERDICT_ACK && (int)verdict <= BOXCAR_VERDICT_FAIL)
        return verdict;
    boxcar_delivery_set_error(delivery, BOXCAR_STR("the handler returned an unknown verdict"));
    return BOXCAR_VERDICT_RETRY;
}

int64_t delivery_delay_ms(const struct boxcar_delivery *delivery, boxcar_verdict verdict) {
    bool is_open = verdict == BOXCAR_VERDICT_DEFER && delivery->delay_ms == BOXCAR_BACKOFF;
    return is_open ? DEFER_MS_DEFAULT : delivery->delay_ms;
}

void delivery_roll_back(struct boxcar_delivery *delivery) {
    delivery->in_transaction = false;
    (void)delivery->store->ops->transaction(delivery->store, TRANSACTION_ROLLBACK, NULL);
}

static boxcar_box reader_of(const boxcar_message *message) {
    return message->reader > BOXCAR_INBOX ? message->reader : message->box;
}

boxcar_status delivery_ack(struct boxcar_delivery *delivery, bool *ret_acked, boxcar_error *err) {
    const boxcar_message *message = delivery->message;
    boxcar_box reader = reader_of(message);
    AUTO_RESULT struct result result = {.arena = ARENA_INIT};
    struct request request = {.base.owner = message->owner};
    boxcar_settlement ack = BOXCAR_SETTLEMENT_INIT;
    ack.work_id = message->work_id;
    ack.epoch = message->epoch;
    request_part_of(&request, reader)->settle[BOXCAR_ACK] = (boxcar_settlement_list){&ack, 1};
    boxcar_status status = request_send(delivery->store, &request, &result, err);
    bool acked = status == BOXCAR_OK && result.parts[request_index(reader)].settled[BOXCAR_ACK].count == 1;
    if (acked) {
        delivery->in_transaction = false;
        status = delivery->store->ops->transaction(delivery->store, TRANSACTION_COMMIT, err);
    } else {
        delivery_roll_back(delivery);
    }
    if (status == BOXCAR_OK)
        *ret_acked = acked;
    return status;
}

const boxcar_message *boxcar_delivery_message(const boxcar_delivery *delivery) { return delivery->message; }

bool boxcar_delivery_is_cancelled(const boxcar_delivery *delivery) {
    return delivery_cancel_reason(delivery) != CANCEL_NONE;
}

int boxcar_delivery_cancel_fd(const boxcar_delivery *delivery) { return delivery->timer_fd; }

/* Programs like to repeat their input when they fail. */
void boxcar_delivery_set_error(boxcar_delivery *delivery, boxcar_str text) {
    free(delivery->error);
    delivery->error = NULL;
    if (!text.data)
        return;
    AUTO_BUF struct buf open = BUF_INIT;
    struct buf clean = BUF_INIT;
    if (delivery->message)
        redact_payload(&open, text, delivery->message->payload);
    if (open.failed ||
        !utf8_repair(&clean, open.data ? (boxcar_str){open.data, open.len} : text, BOXCAR_ERROR_TEXT_MAX))
        return;
    delivery->error = clean.data;
    delivery->error_len = clean.len;
}

void boxcar_delivery_set_delay_ms(boxcar_delivery *delivery, int64_t delay_ms) {
    delivery->delay_ms = delay_ms < 0 ? 0 : delay_ms > BOXCAR_DELAY_MS_MAX ? BOXCAR_DELAY_MS_MAX : delay_ms;
}

boxcar_status boxcar_delivery_record_stages(boxcar_delivery *delivery, int stages, boxcar_error *err) {
    if (!delivery)
        return error_invalid(err, "delivery", "delivery is NULL");
    TRY(limits_check_stages(stages, err));
    if (!delivery->stages)
        return BOXCAR_OK;
    atomic_fetch_or(delivery->stages, stages);
    atomic_store(delivery->news, true);
    return BOXCAR_OK;
}

boxcar_status boxcar_delivery_begin(boxcar_delivery *delivery, boxcar_store **ret_store, boxcar_error *err) {
    if (!delivery || !ret_store)
        return error_invalid(err, delivery ? "ret_store" : "delivery", "%s is NULL",
                             delivery ? "ret_store" : "delivery");
    if (!delivery->store_options)
        return error_set(err, BOXCAR_E_UNSUPPORTED, "only a worker has transactions for its handlers");
    if (!delivery->store)
        TRY(store_open(delivery->store_options, &delivery->store, err));
    if (!delivery->in_transaction)
        TRY(delivery->store->ops->transaction(delivery->store, TRANSACTION_BEGIN, err));
    delivery->in_transaction = true;
    *ret_store = delivery->store;
    return BOXCAR_OK;
}
