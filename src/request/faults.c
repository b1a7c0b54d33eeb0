/* Checks a whole request, so that its author can mend all faults at once.
 *
 * The rules stop at the first fault of a message or settlement. To find the others, the check corrects the
 * field at fault in a copy and checks again. */
#include "faults.h"

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
    boxcar_error *first;
};

/* Takes the result of one check: its status, the reason (`err`), and the place of what it checked
 * (`where`). */
static void take(struct search *search, const char *where, boxcar_status status, const boxcar_error *err) {
    char path[PATH_SIZE];

    if (status == BOXCAR_OK)
        return;
    if (status == BOXCAR_E_NO_MEMORY) {
        search->no_memory = true;
        return;
    }
    snprintf(path, sizeof(path), "%s%s", where, err->argument);
    if (search->count++ == 0) {
        error_invalid(search->first, path, "%s: %s", path, err->message);
    }
    if (search->report)
        search->report(search->context, path, err->message);
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
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_status status;

    good.topic = BOXCAR_STR("t");
    good.payload = BOXCAR_STR("");
    if (box == BOXCAR_INBOX)
        good.source = good.external_id = BOXCAR_STR("t");
    while ((status = limits_check_new_message(box, &message, &err)) != BOXCAR_OK) {
        take(search, where, status, &err);
        if (!mend(&message, &good, MESSAGE_FIELDS, sizeof(MESSAGE_FIELDS) / sizeof(MESSAGE_FIELDS[0]),
                  err.argument))
            return;
    }
}

static void check_settlement(struct search *search, boxcar_settle_kind kind, const boxcar_settlement *given,
                             const char *where) {
    boxcar_settlement good = BOXCAR_SETTLEMENT_INIT, settlement = *given;
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_status status;

    good.work_id.value = good.stages = 1;
    while ((status = limits_check_settlement(kind, &settlement, &err)) != BOXCAR_OK) {
        take(search, where, status, &err);
        if (!mend(&settlement, &good, SETTLEMENT_FIELDS,
                  sizeof(SETTLEMENT_FIELDS) / sizeof(SETTLEMENT_FIELDS[0]), err.argument))
            return;
    }
}

/* ---- lists ---- */

/* False = there is nothing to look at. */
static bool check_list(struct search *search, const void *items, size_t count, const char *where,
                       const char *name) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_status status = BOXCAR_OK;

    if (count > 0 && !items)
        status = error_invalid(&err, name, "%s is NULL: its count says otherwise", name);
    else if (count > LIMITS_COUNT_MAX)
        status = error_invalid(&err, name, "%s are too many: give at most %zu", name, LIMITS_COUNT_MAX);
    take(search, where, status, &err);
    return status == BOXCAR_OK;
}

/* Where the others are is not known when one has the wrong size. */
static void check_messages(struct search *search, boxcar_box box, boxcar_new_message_list *messages) {
    const char *path = box == BOXCAR_INBOX ? "inbox." : "";
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_status status;
    char where[WHERE_SIZE];

    if (!check_list(search, messages->items, messages->count, path, "messages"))
        return;
    status = OPTIONS_READ_ARRAY(search->arena, BOXCAR_NEW_MESSAGE_INIT, &messages->items, messages->count,
                                "messages", &err);
    take(search, path, status, &err);
    for (size_t i = 0; status == BOXCAR_OK && i < messages->count && !search->no_memory; i++) {
        snprintf(where, sizeof(where), "%smessages[%zu].", path, i);
        check_message(search, box, &messages->items[i], where);
    }
}

static void check_settlements(struct search *search, boxcar_settle_kind kind, boxcar_settlement_list *list,
                              const char *box) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_status status;
    char where[WHERE_SIZE], name[12];

    snprintf(name, sizeof(name), "%ss", boxcar_settle_kind_name(kind));
    if (!check_list(search, list->items, list->count, box, name))
        return;
    status = OPTIONS_READ_ARRAY(search->arena, BOXCAR_SETTLEMENT_INIT, &list->items, list->count, name, &err);
    take(search, box, status, &err);
    for (size_t i = 0; status == BOXCAR_OK && i < list->count; i++) {
        snprintf(where, sizeof(where), "%s%s[%zu].", box, name, i);
        check_settlement(search, kind, &list->items[i], where);
    }
}

static void check_claim(struct search *search, const boxcar_request_part *part, const char *box) {
    boxcar_error err = BOXCAR_ERROR_INIT;

    if (part->claim_size < 0 || part->claim_size > BOXCAR_BATCH_SIZE_MAX)
        take(search, box,
             error_invalid(&err, "claim_size", "claim_size is %d: give 0 to %d", part->claim_size,
                           BOXCAR_BATCH_SIZE_MAX),
             &err);
    take(search, box, limits_check_batch_bytes(part->claim_bytes, "claim_bytes", &err), &err);
    take(search, box, limits_check_lease_ms(part->lease_ms, &err), &err);
    if (part->renew_lease_ms != 0 && limits_check_lease_ms(part->renew_lease_ms, &err) != BOXCAR_OK)
        take(search, box, error_locate(err.status, "renew_", &err), &err);
    if (!check_list(search, part->topics, part->topic_count, box, "topics"))
        return;
    for (size_t i = 0; i < part->topic_count; i++) {
        char name[WHERE_SIZE];

        snprintf(name, sizeof(name), "topics[%zu]", i);
        take(search, box, limits_check_topic_pattern(part->topics[i], name, &err), &err);
    }
}

static void check_part(struct search *search, boxcar_request_part *part, const char *box) {
    boxcar_error err = BOXCAR_ERROR_INIT;

    for (int kind = 0; kind < BOXCAR_SETTLE_KINDS; kind++)
        if (kind != BOXCAR_RESOLVE)
            check_settlements(search, (boxcar_settle_kind)kind, &part->settle[kind], box);
    if (part->settle[BOXCAR_RESOLVE].count > 0)
        take(
            search, box,
            error_invalid(&err, "resolves", "resolves is not empty: waits for joins are resolved by workers"),
            &err);
    for (int kind = BOXCAR_SETTLE_KINDS; kind < BOXCAR_SETTLE_MAX; kind++)
        if (part->settle[kind].count > 0)
            take(search, box,
                 error_invalid(&err, "settle", "settle[%d] is no way to settle: leave it empty", kind), &err);
    check_claim(search, part, box);
    take(search, box, limits_check_return(part->returns, "returns", &err), &err);
}

/* ---- the whole ---- */

static bool needs_owner(const struct whole_request *whole) {
    bool needed = whole->request.heartbeat != NULL;

    for (int box = 0; box < BOXCAR_BOXES; box++) {
        needed =
            needed || whole->parts[box].claim_size != 0 || whole->parts[box].returns != BOXCAR_RETURN_NONE;
        for (int kind = 0; kind < BOXCAR_SETTLE_KINDS; kind++)
            needed = needed || whole->parts[box].settle[kind].count > 0;
    }
    return needed;
}

static void check_heartbeat(struct search *search, const boxcar_heartbeat *heartbeat) {
    boxcar_error err = BOXCAR_ERROR_INIT;

    take(search, "heartbeat.", limits_check_text(heartbeat->host, "host", LIMITS_HOST_MAX, &err), &err);
    if (heartbeat->pid < 0)
        take(search, "heartbeat.",
             error_invalid(&err, "pid", "pid is negative: give that of the process, or 0"), &err);
    if (heartbeat->concurrency < 1)
        take(search, "heartbeat.",
             error_invalid(&err, "concurrency", "concurrency is %d: give at least 1", heartbeat->concurrency),
             &err);
}

/* Lays the caller's structs over the defaults. */
static void read_structs(struct search *search, const boxcar_request *given, struct whole_request *whole) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_status status = options_read(&whole->request, sizeof(whole->request), given, "request", &err);

    take(search, "", status, &err);
    if (status != BOXCAR_OK)
        whole->request = BOXCAR_REQUEST_INIT;
    for (int box = 0; box < BOXCAR_BOXES; box++) {
        const boxcar_request_part *part = whole->request.parts[box];

        whole->given[box] = part != NULL;
        if (!part)
            continue;
        status = options_read(&whole->parts[box], sizeof(whole->parts[box]), part,
                              boxcar_box_name((boxcar_box)box), &err);
        take(search, "", status, &err);
        if (status != BOXCAR_OK)
            whole->parts[box] = BOXCAR_REQUEST_PART_INIT;
    }
    if (whole->request.heartbeat)
        take(search, "",
             options_read(&whole->heartbeat, sizeof(whole->heartbeat), whole->request.heartbeat, "heartbeat",
                          &err),
             &err);
}

boxcar_status faults_find(struct arena *arena, const boxcar_request *given, struct whole_request *ret_whole,
                          boxcar_fault_fn report, void *context, size_t *ret_count, boxcar_error *err) {
    boxcar_error first = BOXCAR_ERROR_INIT, why = BOXCAR_ERROR_INIT;
    struct search search = {.arena = arena, .report = report, .context = context, .first = &first};
    struct whole_request whole = {.request = BOXCAR_REQUEST_INIT,
                                  .parts = {BOXCAR_REQUEST_PART_INIT, BOXCAR_REQUEST_PART_INIT},
                                  .heartbeat = BOXCAR_HEARTBEAT_INIT};

    read_structs(&search, given, &whole);
    if (needs_owner(&whole))
        take(&search, "", limits_check_owner(whole.request.owner, &why), &why);
    check_messages(&search, BOXCAR_OUTBOX, &whole.request.messages[BOXCAR_OUTBOX]);
    check_part(&search, &whole.parts[BOXCAR_OUTBOX], "outbox.");
    check_messages(&search, BOXCAR_INBOX, &whole.request.messages[BOXCAR_INBOX]);
    check_part(&search, &whole.parts[BOXCAR_INBOX], "inbox.");
    if (whole.request.heartbeat)
        check_heartbeat(&search, &whole.heartbeat);
    take(&search, "", limits_check_stale_threshold_ms(whole.request.stale_threshold_ms, &why), &why);
    take(&search, "", limits_check_partition_count(whole.request.partition_count, &why), &why);
    if (search.no_memory)
        return error_no_memory(err);
    if (search.count > 0 && err)
        *err = first;
    *ret_whole = whole;
    *ret_count = search.count;
    return BOXCAR_OK;
}
