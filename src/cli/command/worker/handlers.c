#include "handlers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char EXEC[] = "exec:";

static bool register_one(const struct config_handler *from, boxcar_worker *worker,
                         struct complaints *complaints) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_handler handler = BOXCAR_HANDLER_INIT;
    bool discards = strcmp(from->action, "discard") == 0;
    if (!discards && strncmp(from->action, EXEC, sizeof(EXEC) - 1) != 0)
        return complain(complaints, "%s: the handler of '%.64s' is '%.64s': give exec:COMMAND or discard",
                        from->from, from->topic, from->action);
    handler.box = from->box;
    handler.topic = boxcar_str_of(from->topic);
    handler.kind = discards ? BOXCAR_HANDLER_DISCARD : BOXCAR_HANDLER_EXEC;
    if (!discards)
        handler.command = boxcar_str_of(from->action + sizeof(EXEC) - 1);
    boxcar_status status = boxcar_worker_handle(worker, &handler, &err);
    if (status == BOXCAR_OK)
        return true;
    if (status == BOXCAR_E_NO_MEMORY)
        return complain_no_memory(complaints);
    return complain(complaints, "%s: the handler of '%.64s': %s", from->from, from->topic, err.message);
}

bool handlers_register(const struct config *config, boxcar_worker *worker, struct complaints *complaints) {
    bool good = true;
    for (size_t i = 0; i < config->handler_count; i++)
        good = register_one(&config->handlers[i], worker, complaints) && good;
    return good;
}

char *handlers_topics(const struct config *config) {
    char *result = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&result, &size);
    if (!out)
        return NULL;
    for (size_t i = 0; i < config->handler_count; i++)
        fprintf(out, "%s%s%s", i ? "," : "", config->handlers[i].box == BOXCAR_INBOX ? "inbox:" : "",
                config->handlers[i].topic);
    bool whole = !ferror(out);
    if (fclose(out) == 0 && whole)
        return result;
    free(result);
    return NULL;
}

static bool has_handler(const struct config *config, const struct config_handler *wanted) {
    for (size_t i = 0; i < config->handler_count; i++)
        if (config->handlers[i].box == wanted->box && strcmp(config->handlers[i].topic, wanted->topic) == 0)
            return strcmp(config->handlers[i].action, wanted->action) == 0;
    return false;
}

bool handlers_are_same(const struct config *a, const struct config *b) {
    if (a->handler_count != b->handler_count)
        return false;
    for (size_t i = 0; i < a->handler_count; i++)
        if (!has_handler(b, &a->handlers[i]))
            return false;
    return true;
}
