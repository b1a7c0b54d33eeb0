/* Messages that cannot be handed out: another program, or the disk, has put a text into the row that is not
 * UTF-8. A consumer would fail on it, and with it on all other messages of the claim. So the message becomes
 * a dead letter whose error names the fault. As with every message, this is done by a lease and a fail, here
 * without an owner. */
#include <stdio.h>

#include "base/utf8.h"
#include "claim.h"
#include "store/sqlite/settle/lease.h"

static const struct {
    const char *name;
    size_t offset;
} TEXTS[] = {
    {"topic", offsetof(boxcar_message, topic)},
    {"stream", offsetof(boxcar_message, stream)},
    {"correlation_id", offsetof(boxcar_message, correlation_id)},
    {"causation_id", offsetof(boxcar_message, causation_id)},
    {"headers", offsetof(boxcar_message, headers)},
    {"metadata", offsetof(boxcar_message, metadata)},
    {"event_type", offsetof(boxcar_message, event_type)},
    {"source", offsetof(boxcar_message, source)},
    {"external_id", offsetof(boxcar_message, external_id)},
    {"last_error", offsetof(boxcar_message, last_error)},
    {"payload", offsetof(boxcar_message, payload)},
};

const char *sqlite_claim_find_damage(const boxcar_message *message) {
    for (size_t i = 0; i < sizeof(TEXTS) / sizeof(TEXTS[0]); i++)
        if (!utf8_is_valid(*(const boxcar_str *)((const char *)message + TEXTS[i].offset)))
            return TEXTS[i].name;
    return NULL;
}

boxcar_status sqlite_claim_bury_damaged(struct sqlite_store *store, const struct claim *claim,
                                        const boxcar_message *message, enum lease_way way, const char *field,
                                        boxcar_error *err) {
    struct lease lease = {.work_id = message->work_id.value,
                          .epoch = {claim->frontier.epoch},
                          .owner = LEASE_OF_NOBODY,
                          .box = (int)claim->box,
                          .parked = way == LEASE_PARKED,
                          .topic = message->topic,
                          .stream = way == LEASE_STREAMED ? message->stream : BOXCAR_NO_STR};
    char why[160];
    snprintf(why, sizeof(why),
             "its %s is not UTF-8: another program has changed the row; correct it there, then replay it",
             field);
    if (store->damage.count++ == 0) {
        store->damage.work_id = lease.work_id;
        store->damage.field = field;
    }
    return sqlite_lease_fail(store, &lease, BOXCAR_REASON_REJECTED, boxcar_str_of(why), err);
}
