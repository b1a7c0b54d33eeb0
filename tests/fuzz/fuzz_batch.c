/* JSON Lines of --batch: messages of both boxes, and events. What is read has what it must have. */
#include "cli/input/batch/message_file.h"
#include "fuzz.h"

static void check_outbox(const struct json_lines *lines) {
    const boxcar_new_message *messages = lines->items;

    for (size_t i = 0; i < lines->count; i++)
        PROMISE(messages[i].topic.data != NULL && messages[i].payload.data != NULL);
}

static void check_inbox(const struct json_lines *lines) {
    const boxcar_new_message *messages = lines->items;

    for (size_t i = 0; i < lines->count; i++)
        PROMISE(messages[i].source.data != NULL && messages[i].external_id.data != NULL);
}

static void check_events(const struct json_lines *lines) {
    const boxcar_new_event *events = lines->items;

    for (size_t i = 0; i < lines->count; i++)
        PROMISE(events[i].type.data != NULL && events[i].payload.data != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct cli cli;
    struct fuzz_file file = fuzz_file_make(data, size);
    struct json_lines lines;

    if (batch_file_load(&cli, file.path, BOXCAR_OUTBOX, &lines) == CLI_DONE)
        check_outbox(&lines);
    json_lines_release(&lines);
    if (batch_file_load(&cli, file.path, BOXCAR_INBOX, &lines) == CLI_DONE)
        check_inbox(&lines);
    json_lines_release(&lines);
    if (event_file_load(&cli, file.path, &lines) == CLI_DONE)
        check_events(&lines);
    json_lines_release(&lines);
    fuzz_file_end(&file);
    return 0;
}
