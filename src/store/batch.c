#include "batch.h"

#include <stdlib.h>

void batch_result_release(struct batch_result *result) {
    arena_release(&result->arena);
    *result = (struct batch_result){.arena = ARENA_INIT};
}

struct boxcar_message_list *batch_result_into_list(struct batch_result *result, boxcar_box box) {
    const struct part_result *part = &result->parts[box];
    struct boxcar_message_list *list = malloc(sizeof(*list));

    if (!list)
        return NULL;
    *list = (struct boxcar_message_list){
        .arena = result->arena, .items = part->claimed, .count = part->claimed_count};
    *result = (struct batch_result){.arena = ARENA_INIT};
    return list;
}

bool batch_part_changes(const struct batch_part *part) {
    for (int kind = 0; kind < BOXCAR_SETTLE_KINDS; kind++)
        if (part->settle[kind].count > 0)
            return true;
    return part->message_count > 0 || part->reap;
}
