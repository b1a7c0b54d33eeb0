/* The configuration file: sections, and lines `key = value`, read by inih.
 *
 * inih tells its handler neither the line nor, beyond 49 characters, the whole name of the section,
 * and passes over sections without keys. So the lines pass through here on their way to it. */
#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/input/suggest.h"
#include "cli/output/text.h"
#include "config.h"

/* As much as a command may be long, and more than anything else is. */
enum { LINE_SIZE = 8192 };

struct config_file {
    const char *path;
    FILE *stream;
    char *buffer; /* of getline() */
    size_t buffer_size;
    int line;
    char section[LINE_SIZE];
    bool section_is_known;
    struct config *config;
    struct complaints *complaints;
};

/* "boxcar.ini:12"; free() it. NULL = out of memory; this was reported. */
static char *place_of(struct config_file *file) {
    char *place = NULL;
    if (asprintf(&place, "%s:%d", file->path, file->line) < 0) {
        complain_no_memory(file->complaints);
        return NULL;
    }
    return place;
}

/* The topic of "backoff TOPIC"; NULL = some other section. */
static const char *curve_topic(const char *section) {
    size_t length = sizeof(CONFIG_BACKOFF) - 1;
    if (strncmp(section, CONFIG_BACKOFF " ", length + 1) != 0)
        return NULL;
    const char *topic = section + length + 1 + strspn(section + length + 1, " \t");
    return *topic ? topic : NULL;
}

static bool is_known_section(const char *section) {
    if (strcmp(section, CONFIG_HANDLERS) == 0 || strcmp(section, CONFIG_INBOX_HANDLERS) == 0 ||
        curve_topic(section))
        return true;
    for (size_t i = 0; i < CONFIG_SETTINGS; i++)
        if (strcmp(CONFIG_TABLE[i].section, section) == 0)
            return true;
    return false;
}

static void unknown_section(struct config_file *file) {
    struct suggestion suggestion = {.typed = file->section};
    suggest_consider(&suggestion, CONFIG_HANDLERS);
    suggest_consider(&suggestion, CONFIG_INBOX_HANDLERS);
    for (size_t i = 0; i < CONFIG_SETTINGS; i++)
        suggest_consider(&suggestion, CONFIG_TABLE[i].section);
    if (suggestion.best) {
        complain(file->complaints, "%s:%d: unknown section [%.64s], did you mean [%s]?", file->path,
                 file->line, file->section, suggestion.best);
    } else {
        complain(file->complaints, "%s:%d: unknown section [%.64s]: boxcar config --defaults shows them",
                 file->path, file->line, file->section);
    }
}

/* Notes the section that a line begins, if it does. A line without ] is for inih to refuse. */
static void note_section(struct config_file *file, const char *line) {
    const char *start = line + strspn(line, " \t");
    const char *end = strchr(start, ']');
    if (*start != '[' || !end)
        return;
    snprintf(file->section, sizeof(file->section), "%.*s", (int)(end - start - 1), start + 1);
    file->section_is_known = is_known_section(file->section);
    if (!file->section_is_known)
        unknown_section(file);
}

static void drop_byte_order_mark(struct config_file *file, ssize_t *length) {
    if (file->line == 1 && *length >= 3 && memcmp(file->buffer, "\xEF\xBB\xBF", 3) == 0) {
        memmove(file->buffer, file->buffer + 3, (size_t)*length - 2);
        *length -= 3;
    }
}

/* What is wrong with the bytes of a line; NULL = nothing. */
static const char *fault_of(const char *line, size_t length, int size) {
    if (length >= (size_t)size)
        return "the line is too long";
    if (memchr(line, '\0', length))
        return "the line contains a NUL byte";
    for (size_t used = 0, step; used < length; used += step) {
        step = text_character_size((boxcar_str){line + used, length - used});
        if (step == 0)
            return "the line is not valid UTF-8";
    }
    return NULL;
}

/* An ini_reader. A line that cannot be passed on becomes an empty one. */
static char *read_line(char *line, int size, void *context) {
    struct config_file *file = context;
    ssize_t length = getline(&file->buffer, &file->buffer_size, file->stream);
    if (length < 0) {
        if (!feof(file->stream) && !ferror(file->stream)) /* or half a file would be taken for the whole */
            complain_no_memory(file->complaints);
        return NULL;
    }
    file->line++;
    drop_byte_order_mark(file, &length);
    const char *fault = fault_of(file->buffer, (size_t)length, size);
    if (fault) {
        complain(file->complaints, "%s:%d: %s", file->path, file->line, fault);
        snprintf(line, (size_t)size, "\n");
        return line;
    }
    memcpy(line, file->buffer, (size_t)length + 1);
    note_section(file, line);
    return line;
}

/* The section that has such a key; NULL = none. */
static const char *section_with(const char *key) {
    for (size_t i = 0; i < CONFIG_SETTINGS; i++)
        if (strcmp(CONFIG_TABLE[i].key, key) == 0)
            return CONFIG_TABLE[i].section;
    return NULL;
}

static bool unknown_key(struct config_file *file, const char *section, const char *key, const char *place) {
    struct suggestion suggestion = {.typed = key};
    const char *elsewhere = section_with(key);
    for (size_t i = 0; i < CONFIG_SETTINGS; i++)
        if (strcmp(CONFIG_TABLE[i].section, section) == 0)
            suggest_consider(&suggestion, CONFIG_TABLE[i].key);
    if (elsewhere)
        return complain(file->complaints, "%s: %s does not belong in [%.64s] but in [%s]", place, key,
                        file->section, elsewhere);
    if (suggestion.best)
        return complain(file->complaints, "%s: unknown key '%.64s' in [%.64s], did you mean '%s'?", place,
                        key, file->section, suggestion.best);
    return complain(file->complaints,
                    "%s: unknown key '%.64s' in [%.64s]: boxcar config --defaults shows them", place, key,
                    file->section);
}

static bool put_setting(struct config_file *file, enum config_id id, const char *place, const char *text) {
    const struct config_value *value = &file->config->values[id];
    const char *key = CONFIG_TABLE[id].key;
    char *label = NULL;
    if (value->from)
        return complain(file->complaints, "%s: %s is set twice, first at %s", place, key, value->from);
    if (asprintf(&label, "%s: %s", place, key) < 0)
        return complain_no_memory(file->complaints);
    bool good = config_put(file->config, id, label, place, text, file->complaints);
    free(label);
    return good;
}

static bool put_line(struct config_file *file, const char *key, const char *text, const char *place) {
    const char *topic = curve_topic(file->section);
    const char *section = topic ? CONFIG_BACKOFF : file->section;
    if (strcmp(section, CONFIG_HANDLERS) == 0)
        return config_put_handler(file->config, BOXCAR_OUTBOX, place, key, text, file->complaints);
    if (strcmp(section, CONFIG_INBOX_HANDLERS) == 0)
        return config_put_handler(file->config, BOXCAR_INBOX, place, key, text, file->complaints);
    enum config_id id = config_find(section, key);
    if (id == CONFIG_SETTINGS)
        return unknown_key(file, section, key, place);
    if (topic)
        return config_put_curve(file->config, topic, id, place, text, file->complaints);
    return put_setting(file, id, place, text);
}

/* An ini_handler. Complaints are counted, so that the whole file is looked at. */
static int take_line(void *context, const char *section, const char *key, const char *text) {
    struct config_file *file = context;
    (void)section;
    if (file->section[0] == '\0') {
        complain(file->complaints, "%s:%d: '%.64s' stands before the first [section]", file->path, file->line,
                 key);
        return 1;
    }
    if (!file->section_is_known)
        return 1;
    char *place = place_of(file);
    if (place)
        put_line(file, key, text, place);
    free(place);
    return 1;
}

/* Comments have lines of their own, so that a command may contain a semicolon; an indented line is
 * a line like others. */
static void set_up_inih(void) {
    ini_allow_inline_comments = false;
    ini_allow_multiline = false;
    ini_use_stack = false;
    ini_allow_realloc = false;
    ini_initial_alloc = LINE_SIZE;
    ini_max_line = LINE_SIZE;
}

static bool parse(struct config_file *file) {
    size_t before = file->complaints->count;
    set_up_inih();
    int result = ini_parse_stream(read_line, file, take_line, file);
    if (result > 0)
        complain(file->complaints, "%s:%d: give [section], key = value, or a comment after #", file->path,
                 result);
    else if (result < 0)
        complain_no_memory(file->complaints);
    if (ferror(file->stream))
        complain(file->complaints, "%s: cannot read it: %s", file->path, strerror(errno));
    return file->complaints->count == before;
}

bool config_file_read(const char *path, struct complaints *complaints, struct config *config) {
    struct config_file *file = calloc(1, sizeof(*file));
    config->path = strdup(path);
    if (!file || !config->path) {
        free(file);
        return complain_no_memory(complaints);
    }
    *file = (struct config_file){.path = path, .config = config, .complaints = complaints};
    file->stream = fopen(path, "re");
    bool good = file->stream ? parse(file) : complain(complaints, "%s: %s", path, strerror(errno));
    if (file->stream)
        fclose(file->stream);
    free(file->buffer);
    free(file);
    return good;
}
