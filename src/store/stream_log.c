#include "stream_log.h"

#include <inttypes.h>
#include <stdio.h>

void stream_log_halted(const struct boxcar_store *store, boxcar_box box, boxcar_str stream,
                       boxcar_work_id work_id) {
    char id[24], number[16];

    if (!store_logs(store, BOXCAR_LOG_WARN))
        return;
    snprintf(id, sizeof(id), "%" PRId64, work_id.value);
    snprintf(number, sizeof(number), "%d", box);
    const boxcar_log_field reader = box > BOXCAR_INBOX
                                        ? (boxcar_log_field){"subscription_number", boxcar_str_of(number)}
                                        : (boxcar_log_field){"box", boxcar_str_of(boxcar_box_name(box))};
    const boxcar_log_field fields[] = {reader, {"stream", stream}, {"work_id", boxcar_str_of(id)}};
    store_log(store, BOXCAR_LOG_WARN, "stream_halt", fields, sizeof(fields) / sizeof(fields[0]),
              "message %s died and its stream is halted until it is resumed", id);
}

void stream_log_remember(const struct boxcar_store *store, struct halted_list *list, int box,
                         boxcar_str stream, int64_t work_id) {
    struct halted *item;

    if (list->count == HALTED_TOLD_MAX || !store_logs(store, BOXCAR_LOG_WARN))
        return;
    item = &list->items[list->count];
    item->box = box;
    item->work_id = work_id;
    if (arena_copy_str(&list->arena, stream, &item->stream))
        list->count++;
}

void stream_log_forget(struct halted_list *list) {
    if (list->count == 0)
        return;
    list->count = 0;
    arena_release(&list->arena);
}

void stream_log_remembered(const struct boxcar_store *store, struct halted_list *list) {
    for (size_t i = 0; i < list->count; i++)
        stream_log_halted(store, (boxcar_box)list->items[i].box, list->items[i].stream,
                          (boxcar_work_id){list->items[i].work_id});
    stream_log_forget(list);
}
