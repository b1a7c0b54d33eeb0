#include "batch.h"

#include <stdlib.h>

void batch_result_release(struct batch_result *result) {
    arena_release(&result->arena);
    *result = (struct batch_result){.arena = ARENA_INIT};
}

struct boxcar_message_list *batch_result_into_list(struct batch_result *result) {
    struct boxcar_message_list *list = malloc(sizeof(*list));

    if (!list)
        return NULL;
    *list = (struct boxcar_message_list){
        .arena = result->arena, .items = result->claimed, .count = result->claimed_count};
    *result = (struct batch_result){.arena = ARENA_INIT};
    return list;
}
