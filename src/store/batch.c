#include "batch.h"

#include <stdlib.h>

void batch_result_release(struct batch_result *result) {
    arena_release(&result->arena);
    *result = (struct batch_result){.arena = ARENA_INIT};
}

struct message_rows *batch_result_into_list(struct batch_result *result, boxcar_box box) {
    const struct part_result *part = &result->parts[box];
    struct message_rows *list = malloc(sizeof(*list));

    if (!list)
        return NULL;
    *list = (struct message_rows){
        .arena = result->arena, .items = part->claimed, .count = part->claimed_count};
    *result = (struct batch_result){.arena = ARENA_INIT};
    return list;
}

boxcar_message_list batch_result_lend(struct batch_result *result, boxcar_box box) {
    const struct part_result *part = &result->parts[box];
    boxcar_message_list list = {NULL, 0};

    list.items = list_pointers(&result->arena, part->claimed, part->claimed_count, sizeof(*part->claimed));
    list.count = list.items ? part->claimed_count : 0;
    return list;
}

bool batch_part_changes(const struct batch_part *part) {
    for (int kind = 0; kind < BOXCAR_SETTLE_KINDS; kind++)
        if (part->settle[kind].count > 0)
            return true;
    return part->message_count > 0 || part->reap;
}
