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
    *list = (struct message_rows){
        .arena = result->arena, .items = part->claimed, .count = part->claimed_count};
    *result = (struct result){.arena = ARENA_INIT};
    return list;
}

boxcar_message_list result_lend(struct result *result, boxcar_box box) {
    const struct part_result *part = &result->parts[box];
    boxcar_message_list list = {NULL, 0};

    list.items = list_pointers(&result->arena, part->claimed, part->claimed_count, sizeof(*part->claimed));
    list.count = list.items ? part->claimed_count : 0;
    return list;
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
