#include "stream_log.h"

#include <inttypes.h>
#include <stdio.h>

void stream_log_halted(const struct boxcar_store *store, boxcar_box box, boxcar_str stream,
                       boxcar_work_id work_id) {
    char id[24];
    boxcar_log_field fields[] = {
        {"box", boxcar_str_of(boxcar_box_name(box))}, {"stream", stream}, {"work_id", BOXCAR_NO_STR}};

    if (!store_logs(store, BOXCAR_LOG_WARN))
        return;
    snprintf(id, sizeof(id), "%" PRId64, work_id.value);
    fields[2].value = boxcar_str_of(id);
    store_log(store, BOXCAR_LOG_WARN, "stream_halt", fields, sizeof(fields) / sizeof(fields[0]),
              "message %s died and its stream is halted until it is resumed", id);
}
