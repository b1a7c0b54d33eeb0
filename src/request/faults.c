/* Checks a whole request, so that its author can mend all faults at once.
 *
 * The rules stop at the first fault of a message or settlement. To find the others, the check corrects the
 * field at fault in a copy and checks again. */
#include "request.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/options.h"
#include "base/utf8.h"
#include "core/limits/limits.h"

#define WHERE_SIZE 40
#define PATH_SIZE (WHERE_SIZE + sizeof(((boxcar_error *)0)->argument))

struct search {
    struct arena *arena;
    boxcar_fault_fn report;
    void *context;
    size_t count;
    bool no_memory;
    boxcar_error err; /* of the last check */
    boxcar_error first;
};

/* Takes the result of one check of what is at `where`: its status, and the reason in search->err. Returns
 * whether it found nothing. */
static bool take(struct search *search, const char *where, boxcar_status status) {
    if (status == BOXCAR_OK)
        return true;
    if (status == BOXCAR_E_NO_MEMORY) {
        search->no_memory = true;
        return false;
    }
    char path[PATH_SIZE];
    snprintf(path, sizeof(path), "%s%s", where, search->err.argument);
    if (search->count++ == 0)
        error_invalid(&search->first, path, "%s: %s", path, search->err.message);
    if (search->report)
        search->report(search->context, path, search->err.message);
    return false;
}

/* ---- items with several faults ---- */

struct field {
    const char *name;
    size_t offset, size;
};

#define FIELD(type, name)                                                                                    \
    { #name, offsetof(type, name), sizeof(((type *)0)->name) }

static const struct field MESSAGE_FIELDS[] = {
    FIELD(boxcar_new_message, topic),        FIELD(boxcar_new_message, payload),
    FIELD(boxcar_new_message, stream),       FIELD(boxcar_new_message, correlation_id),
    FIELD(boxcar_new_message, headers),      FIELD(boxcar_new_message, due_at),
    FIELD(boxcar_new_message, delay_ms),     FIELD(boxcar_new_message, ttl_ms),
    FIELD(boxcar_new_message, message_id),   FIELD(boxcar_new_message, key),
    FIELD(boxcar_new_message, max_attempts), FIELD(boxcar_new_message, join_id),
    FIELD(boxcar_new_message, unique),       FIELD(boxcar_new_message, source),
    FIELD(boxcar_new_message, external_id),  FIELD(boxcar_new_message, content_hash),
    FIELD(boxcar_new_message, causation_id), FIELD(boxcar_new_message, metadata),
    FIELD(boxcar_new_message, is_event),     FIELD(boxcar_new_message, event_type),
};

static const struct field SETTLEMENT_FIELDS[] = {
    FIELD(boxcar_settlement, work_id), FIELD(boxcar_settlement, epoch),  FIELD(boxcar_settlement, delay_ms),
    FIELD(boxcar_settlement, error),   FIELD(boxcar_settlement, stages), FIELD(boxcar_settlement, message_id),
};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* False = no field of that name, or it was not the field. */
static bool mend(void *item, const void *good, const struct field *fields, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++) {
        char *place = (char *)item + fields[i].offset;
        const char *right = (const char *)good + fields[i].offset;
        if (strcmp(fields[i].name, name) != 0 || memcmp(place, right, fields[i].size) == 0)
            continue;
        memcpy(place, right, fields[i].size);
        return true;
    }
    return false;
}

static void check_message(struct search *search, boxcar_box box, const boxcar_new_message *given,
                          const char *where) {
    boxcar_new_message good = BOXCAR_NEW_MESSAGE_INIT, message = *given;
    good.topic = BOXCAR_STR("t");
    good.payload = BOXCAR_STR("");
    if (box == BOXCAR_INBOX)
        good.source = good.external_id = BOXCAR_STR("t");
    while (!take(search, where, limits_check_new_message(box, &message, &search->err)))
        if (!mend(&message, &good, MESSAGE_FIELDS, COUNT_OF(MESSAGE_FIELDS), search->err.argument))
            return;
}

static void check_settlement(struct search *search, boxcar_settle_kind kind, const boxcar_settlement *given,
                             const char *where) {
    boxcar_settlement good = BOXCAR_SETTLEMENT_INIT, settlement = *given;
    good.work_id.value = good.stages = 1;
    while (!take(search, where, limits_check_settlement(kind, &settlement, &search->err)))
        if (!mend(&settlement, &good, SETTLEMENT_FIELDS, COUNT_OF(SETTLEMENT_FIELDS), search->err.argument))
            return;
}

/* ---- lists ---- */

/* False = there is nothing to look at. */
static bool check_list(struct search *search, const void *items, size_t count, const char *where,
                       const char *name) {
    if (count > 0 && !items)
        return take(search, where,
                    error_invalid(&search->err, name, "%s is NULL: its count says otherwise", name));
    if (count > LIMITS_COUNT_MAX)
        return take(
            search, where,
            error_invalid(&search->err, name, "%s are too many: give at most %zu", name, LIMITS_COUNT_MAX));
    return true;
}

/* Where the others are is not known when one has the wrong size. */
static void check_messages(struct search *search, boxcar_box box, boxcar_new_message_list *messages) {
    const char *path = box == BOXCAR_INBOX ? "inbox." : "";
    if (!check_list(search, messages->items, messages->count, path, "messages") ||
        !take(search, path,
              OPTIONS_READ_ARRAY(search->arena, BOXCAR_NEW_MESSAGE_INIT, &messages->items, messages->count,
                                 "messages", &search->err)))
        return;
    for (size_t i = 0; i < messages->count && !search->no_memory; i++) {
        char where[WHERE_SIZE];
        snprintf(where, sizeof(where), "%smessages[%zu].", path, i);
        check_message(search, box, &messages->items[i], where);
    }
}

static void check_settlements(struct search *search, boxcar_settle_kind kind, boxcar_settlement_list *list,
                              const char *box) {
    char name[12];
    snprintf(name, sizeof(name), "%ss", boxcar_settle_kind_name(kind));
    if (!check_list(search, list->items, list->count, box, name) ||
        !take(search, box,
              OPTIONS_READ_ARRAY(search->arena, BOXCAR_SETTLEMENT_INIT, &list->items, list->count, name,
                                 &search->err)))
        return;
    for (size_t i = 0; i < list->count; i++) {
        char where[WHERE_SIZE];
        snprintf(where, sizeof(where), "%s%s[%zu].", box, name, i);
        check_settlement(search, kind, &list->items[i], where);
    }
}

static void check_claim(struct search *search, const boxcar_request_part *part, const char *box) {
    boxcar_error *err = &search->err;
    if (part->claim_size < 0 || part->claim_size > BOXCAR_BATCH_SIZE_MAX)
        take(search, box,
             error_invalid(err, "claim_size", "claim_size is %d: give 0 to %d", part->claim_size,
                           BOXCAR_BATCH_SIZE_MAX));
    take(search, box, limits_check_batch_bytes(part->claim_bytes, "claim_bytes", err));
    take(search, box, limits_check_lease_ms(part->lease_ms, err));
    if (part->renew_lease_ms != 0)
        take(search, box, error_locate(limits_check_lease_ms(part->renew_lease_ms, err), "renew_", err));
    if (!check_list(search, part->topics, part->topic_count, box, "topics"))
        return;
    for (size_t i = 0; i < part->topic_count; i++) {
        char name[WHERE_SIZE];
        snprintf(name, sizeof(name), "topics[%zu]", i);
        take(search, box, limits_check_topic_pattern(part->topics[i], name, err));
    }
}

/* The main readers have no number here: their part has none to give. */
static void check_reader(struct search *search, const boxcar_request_part *part, const char *box) {
    boxcar_error *err = &search->err;
    if (part->reader == BOXCAR_INBOX || part->reader < 0 || part->reader > BOXCAR_READER_MAX)
        take(search, box,
             error_invalid(err, "reader",
                           "reader is %d: give the number of a subscription, or 0 for the box itself",
                           part->reader));
    else if (part->reader > 0 && part->claim_stored)
        take(search, box,
             error_invalid(err, "claim_stored",
                           "claim_stored cannot go together with a subscription: messages are stored for the "
                           "box itself"));
}

static void check_part(struct search *search, boxcar_request_part *part, const char *box) {
    for (int kind = 0; kind < BOXCAR_SETTLE_KINDS; kind++)
        if (kind != BOXCAR_RESOLVE)
            check_settlements(search, (boxcar_settle_kind)kind, &part->settle[kind], box);
    if (part->settle[BOXCAR_RESOLVE].count > 0)
        take(search, box,
             error_invalid(&search->err, "resolves",
                           "resolves is not empty: waits for joins are resolved by workers"));
    for (int kind = BOXCAR_SETTLE_KINDS; kind < BOXCAR_SETTLE_MAX; kind++)
        if (part->settle[kind].count > 0)
            take(search, box,
                 error_invalid(&search->err, "settle", "settle[%d] is no way to settle: leave it empty",
                               kind));
    check_claim(search, part, box);
    take(search, box, limits_check_return(part->returns, "returns", &search->err));
    check_reader(search, part, box);
}

/* ---- the whole ---- */

static bool needs_owner(const struct whole_request *whole) {
    bool needed = whole->request.heartbeat != NULL;
    for (int box = 0; box < BOXCAR_BOXES; box++) {
        const boxcar_request_part *part = &whole->parts[box];
        needed = needed || part->claim_size != 0 || part->returns != BOXCAR_RETURN_NONE;
        for (int kind = 0; kind < BOXCAR_SETTLE_KINDS; kind++)
            needed = needed || part->settle[kind].count > 0;
    }
    return needed;
}

static void check_heartbeat(struct search *search, const boxcar_heartbeat *heartbeat) {
    boxcar_error *err = &search->err;
    take(search, "heartbeat.", limits_check_text(heartbeat->host, "host", LIMITS_HOST_MAX, err));
    if (heartbeat->pid < 0)
        take(search, "heartbeat.",
             error_invalid(err, "pid", "pid is negative: give that of the process, or 0"));
    if (heartbeat->concurrency < 1)
        take(search, "heartbeat.",
             error_invalid(err, "concurrency", "concurrency is %d: give at least 1", heartbeat->concurrency));
}

/* Lays the caller's structs over the defaults. */
static void read_structs(struct search *search, const boxcar_request *given, struct whole_request *whole) {
    boxcar_error *err = &search->err;
    if (!take(search, "", options_read(&whole->request, sizeof(whole->request), given, "request", err)))
        whole->request = BOXCAR_REQUEST_INIT;
    for (int box = 0; box < BOXCAR_BOXES; box++) {
        const boxcar_request_part *part = whole->request.parts[box];
        whole->given[box] = part != NULL;
        if (part && !take(search, "",
                          options_read(&whole->parts[box], sizeof(whole->parts[box]), part,
                                       boxcar_box_name((boxcar_box)box), err)))
            whole->parts[box] = BOXCAR_REQUEST_PART_INIT;
    }
    if (whole->request.heartbeat)
        take(search, "",
             options_read(&whole->heartbeat, sizeof(whole->heartbeat), whole->request.heartbeat, "heartbeat",
                          err));
}

boxcar_status faults_find(struct arena *arena, const boxcar_request *given, struct whole_request *ret_whole,
                          boxcar_fault_fn report, void *context, size_t *ret_count, boxcar_error *err) {
    struct search search = {.arena = arena, .report = report, .context = context};
    struct whole_request whole = {.request = BOXCAR_REQUEST_INIT,
                                  .parts = {BOXCAR_REQUEST_PART_INIT, BOXCAR_REQUEST_PART_INIT},
                                  .heartbeat = BOXCAR_HEARTBEAT_INIT};
    static const char *const PARTS[] = {[BOXCAR_OUTBOX] = "outbox.", [BOXCAR_INBOX] = "inbox."};
    read_structs(&search, given, &whole);
    if (needs_owner(&whole))
        take(&search, "", limits_check_owner(whole.request.owner, &search.err));
    for (int box = 0; box < BOXCAR_BOXES; box++) {
        check_messages(&search, (boxcar_box)box, &whole.request.messages[box]);
        check_part(&search, &whole.parts[box], PARTS[box]);
    }
    if (whole.request.heartbeat)
        check_heartbeat(&search, &whole.heartbeat);
    take(&search, "", limits_check_stale_threshold_ms(whole.request.stale_threshold_ms, &search.err));
    take(&search, "", limits_check_partition_count(whole.request.partition_count, &search.err));
    if (search.no_memory)
        return error_no_memory(err);
    if (search.count > 0 && err)
        *err = search.first;
    *ret_whole = whole;
    *ret_count = search.count;
    return BOXCAR_OK;
}
