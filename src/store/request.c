#include "request.h"

#include <stdlib.h>

void result_release(struct result *result) {
    arena_release(&result->arena);
    *result = (struct result){.arena = ARENA_INIT};
}

struct message_rows *result_into_list(struct result *result, boxcar_box box) {
    const struct part_result *part = &result->parts[box];
    struct message_rows *list = malloc(sizeof(*list));

    if (!list)
        return NULL;
    *list =
        (struct message_rows){.arena = result->arena, .items = part->claimed, .count = part->claimed_count};
    *result = (struct result){.arena = ARENA_INIT};
    return list;
}

boxcar_message_list result_lend(struct result *result, const boxcar_message *messages, size_t count) {
    boxcar_message_list list = {NULL, 0};

    list.items = list_pointers(&result->arena, messages, count, sizeof(*messages));
    list.count = list.items ? count : 0;
    return list;
}

static int compare_ids(const void *a, const void *b) {
    int64_t left = ((const boxcar_work_id *)a)->value, right = ((const boxcar_work_id *)b)->value;

    return (left > right) - (left < right);
}

static int compare_messages(const void *a, const void *b) {
    return compare_ids(&((const boxcar_message *)a)->work_id, &((const boxcar_message *)b)->work_id);
}

void messages_sort(boxcar_message *messages, size_t count) {
    if (count > 1)
        qsort(messages, count, sizeof(*messages), compare_messages);
}

void work_ids_sort(boxcar_work_id *ids, size_t count) {
    if (count > 1)
        qsort(ids, count, sizeof(*ids), compare_ids);
}

static bool is_claimed(const struct part_result *result, const boxcar_message *message) {
    return result->claimed_count > 0 && bsearch(message, result->claimed, result->claimed_count,
                                                sizeof(*result->claimed), compare_messages) != NULL;
}

static bool is_renewed(const struct part_result *result, const boxcar_message *message) {
    const struct work_id_list *renewed = &result->settled[BOXCAR_RENEW];

    return renewed->count > 0 && bsearch(&message->work_id, renewed->items, renewed->count,
                                         sizeof(*renewed->items), compare_ids) != NULL;
}

void request_part_trim_returned(const boxcar_request_part *part, struct part_result *result) {
    struct work_id_list *renewed = &result->settled[BOXCAR_RENEW];
    size_t kept = 0;

    if (result->returned_count == 0)
        return;
    messages_sort(result->claimed, result->claimed_count);
    messages_sort(result->returned, result->returned_count);
    work_ids_sort(renewed->items, renewed->count);
    for (size_t i = 0; i < result->returned_count; i++) {
        const boxcar_message *message = &result->returned[i];

        if (!is_claimed(result, message) &&
            (part->returns == BOXCAR_RETURN_OWNED || is_renewed(result, message)))
            result->returned[kept++] = *message;
    }
    result->returned_count = kept;
}

bool request_claims_stored(const struct request *request, boxcar_box box) {
    const boxcar_request_part *part = &request->parts[box];

    return part->claim_stored && part->claim_size > 0 && request->base.messages[box].count > 0;
}

bool request_part_settles(const boxcar_request_part *part) {
    for (int kind = 0; kind < BOXCAR_SETTLE_KINDS; kind++)
        if (part->settle[kind].count > 0)
            return true;
    return false;
}

bool request_changes(const struct request *request, boxcar_box box) {
    return request_part_settles(&request->parts[box]) || request->base.messages[box].count > 0 ||
           request->parts[box].reap;
}
