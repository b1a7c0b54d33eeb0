#include "exec.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

/* With the = behind a name; LC_ stands for all that begin so. */
static const char *const INHERITED[] = {
    "PATH=", "HOME=", "USER=", "LOGNAME=", "LANG=", "LC_", "TZ=", "TMPDIR="};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static bool is_inherited(const char *variable) {
    for (size_t i = 0; i < COUNT_OF(INHERITED); i++)
        if (strncmp(variable, INHERITED[i], strlen(INHERITED[i])) == 0)
            return true;
    return false;
}

static size_t count_variables(char *const *environment) {
    size_t count = 0;
    while (environment && environment[count])
        count++;
    return count;
}

char **exec_environment_inherit(struct arena *arena, char *const *environment) {
    size_t count = count_variables(environment), kept = 0;
    char **result = arena_alloc_array(arena, count + 1, sizeof(*result));
    for (size_t i = 0; result && i < count; i++) {
        boxcar_str copy;
        if (!is_inherited(environment[i]))
            continue;
        if (!arena_copy_str(arena, boxcar_str_of(environment[i]), &copy))
            return NULL;
        result[kept++] = (char *)copy.data;
    }
    return result;
}

/* Values of variables that are not texts. */
struct texts {
    char message_id[BOXCAR_UUID_TEXT_SIZE], owner[BOXCAR_UUID_TEXT_SIZE];
    char work_id[24], epoch[24], attempt[24], stages[24];
    char created_at[BOXCAR_TIME_TEXT_SIZE];
};

static void write_texts(const boxcar_message *message, struct texts *texts) {
    boxcar_uuid_format(message->message_id.uuid, texts->message_id);
    boxcar_uuid_format(message->owner.uuid, texts->owner);
    snprintf(texts->work_id, sizeof(texts->work_id), "%" PRId64, message->work_id.value);
    snprintf(texts->epoch, sizeof(texts->epoch), "%" PRId64, message->epoch.value);
    snprintf(texts->attempt, sizeof(texts->attempt), "%" PRId64, (int64_t)message->retry_count + 1);
    snprintf(texts->stages, sizeof(texts->stages), "%d", message->stages);
    boxcar_time_format(message->created_at, texts->created_at);
}

struct variable {
    const char *name;
    boxcar_str value; /* absent = the variable is not set */
};

static boxcar_str text_if(bool present, const char *text) {
    return present ? boxcar_str_of(text) : BOXCAR_NO_STR;
}

/* NULL = out of memory. */
static char *write_variable(struct arena *arena, const struct variable *variable) {
    size_t name_len = strlen(variable->name);
    char *text = arena_alloc_text(arena, name_len + 1 + variable->value.len);
    if (!text)
        return NULL;
    memcpy(text, variable->name, name_len);
    text[name_len] = '=';
    if (variable->value.len > 0)
        memcpy(text + name_len + 1, variable->value.data, variable->value.len);
    return text; /* the arena's memory is zeroed */
}

/* The inherited ones are lent, not copied. */
static char **assemble(struct arena *arena, char *const *inherited, const struct variable *variables,
                       size_t variable_count) {
    size_t count = count_variables(inherited);
    char **result = arena_alloc_array(arena, count + variable_count + 1, sizeof(*result));
    if (!result)
        return NULL;
    for (size_t i = 0; i < count; i++)
        result[i] = inherited[i];
    for (size_t i = 0; i < variable_count; i++) {
        if (str_is_absent(variables[i].value))
            continue;
        result[count] = write_variable(arena, &variables[i]);
        if (!result[count++])
            return NULL;
    }
    return result;
}

char **exec_environment_build(struct arena *arena, char *const *inherited, const boxcar_message *message,
                              boxcar_str subscription, const char *store_id, const char *run_id) {
    struct texts texts;
    write_texts(message, &texts);
    const struct variable variables[] = {
        {"BOXCAR_MESSAGE_ID", text_if(!boxcar_uuid_is_none(message->message_id.uuid), texts.message_id)},
        {"BOXCAR_WORK_ID", text_if(message->work_id.value != 0, texts.work_id)},
        {"BOXCAR_BOX", boxcar_str_of(boxcar_box_name(message->box))},
        {"BOXCAR_SUBSCRIPTION", subscription},
        {"BOXCAR_TOPIC", message->topic},
        {"BOXCAR_ATTEMPT", boxcar_str_of(texts.attempt)},
        {"BOXCAR_EPOCH", text_if(message->epoch.value != 0, texts.epoch)},
        {"BOXCAR_OWNER", text_if(!boxcar_uuid_is_none(message->owner.uuid), texts.owner)},
        {"BOXCAR_STREAM", message->stream},
        {"BOXCAR_CORRELATION_ID", message->correlation_id},
        {"BOXCAR_CAUSATION_ID", message->causation_id},
        {"BOXCAR_STAGES", boxcar_str_of(texts.stages)},
        {"BOXCAR_METADATA", message->metadata},
        {"BOXCAR_SOURCE", message->source},
        {"BOXCAR_EXTERNAL_ID", message->external_id},
        {"BOXCAR_CREATED_AT", text_if(message->created_at != BOXCAR_TIME_NONE, texts.created_at)},
        {"BOXCAR_HEADERS", str_is_absent(message->headers) ? BOXCAR_STR("{}") : message->headers},
        {"BOXCAR_STORE_ID", boxcar_str_of(store_id)},
        {"BOXCAR_RUN_ID", boxcar_str_of(run_id)}, /* EXEC_RUN_ID */
    };
    return assemble(arena, inherited, variables, COUNT_OF(variables));
}
