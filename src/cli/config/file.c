/* The configuration file: sections, and lines `key = value`, read by inih.
 *
 * inih tells its handler neither the line nor, beyond 49 characters, the whole name of the section,
 * and passes over sections without keys. So the lines pass through here on their way to it. */
#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "cli/input/suggest.h"
#include "config.h"

/* As much as a command may be long, and more than anything else is. */
enum { LINE_SIZE = 8192 };

struct config_file {
    const char *path;
    FILE *stream;
    char *buffer; /* of getline() */
    size_t buffer_size;
    int line;
    char *place; /* "boxcar.ini:12": where complaints are about */
    char section[LINE_SIZE];
    bool section_is_known;
    struct config *config;
    struct complaints *complaints;
};

static bool set_place(struct config_file *file, int line) {
    free(file->place);
    if (asprintf(&file->place, "%s:%d", file->path, line) < 0)
        file->place = NULL;
    file->complaints->place = file->place;
    return file->place || complain_no_memory(file->complaints);
}

/* ---- sections ---- */

/* The topic of "backoff TOPIC"; NULL = some other section. */
static const char *curve_topic(const char *section) {
    size_t length = sizeof(CONFIG_BACKOFF) - 1;
    if (strncmp(section, CONFIG_BACKOFF " ", length + 1) != 0)
        return NULL;
    const char *topic = section + length + 1 + strspn(section + length + 1, " \t");
    return *topic ? topic : NULL;
}

/* Whether there is such a section; complains if not. */
static bool know_section(struct complaints *complaints, const char *section) {
    static const char *const OTHERS[] = {CONFIG_HANDLERS, CONFIG_INBOX_HANDLERS, CONFIG_STORES};
    enum { COUNT = sizeof(OTHERS) / sizeof(OTHERS[0]) };
    struct suggestion suggestion = {.typed = section};
    if (curve_topic(section))
        return true;
    for (size_t i = 0; i < COUNT + CONFIG_SETTINGS; i++) {
        const char *name = i < COUNT ? OTHERS[i] : CONFIG_TABLE[i - COUNT].section;
        if (strcmp(name, section) == 0)
            return true;
        suggest_consider(&suggestion, name);
    }
    if (suggestion.best)
        return complain(complaints, "unknown section [%.64s], did you mean [%s]?", section, suggestion.best);
    return complain(complaints, "unknown section [%.64s]: boxcar config --defaults shows them", section);
}

/* Notes the section that a line begins, if it does. A line without ] is for inih to refuse. */
static void note_section(struct config_file *file, const char *line) {
    const char *start = line + strspn(line, " \t");
    const char *end = strchr(start, ']');
    if (*start != '[' || !end)
        return;
    snprintf(file->section, sizeof(file->section), "%.*s", (int)(end - start - 1), start + 1);
    file->section_is_known = know_section(file->complaints, file->section);
}

/* ---- lines ---- */

static void drop_byte_order_mark(struct config_file *file, ssize_t *length) {
    if (file->line == 1 && *length >= 3 && memcmp(file->buffer, "\xEF\xBB\xBF", 3) == 0) {
        memmove(file->buffer, file->buffer + 3, (size_t)*length - 2);
        *length -= 3;
    }
}

/* Whether the bytes of a line can be passed on; complains if not. */
static bool check_line(struct complaints *complaints, boxcar_str line, int size) {
    if (line.len >= (size_t)size)
        return complain(complaints, "the line is too long");
    if (str_has_nul(line))
        return complain(complaints, "the line contains a NUL byte");
    return utf8_is_valid(line) || complain(complaints, "the line is not valid UTF-8");
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
    if (!set_place(file, file->line) ||
        !check_line(file->complaints, (boxcar_str){file->buffer, (size_t)length}, size)) {
        snprintf(line, (size_t)size, "\n");
        return line;
    }
    memcpy(line, file->buffer, (size_t)length + 1);
    note_section(file, line);
    return line;
}

/* ---- settings ---- */

static bool unknown_key(struct config_file *file, const char *section, const char *key) {
    struct suggestion suggestion = {.typed = key};
    for (size_t i = 0; i < CONFIG_SETTINGS; i++) {
        if (strcmp(CONFIG_TABLE[i].key, key) == 0)
            return complain(file->complaints, "%s does not belong in [%.64s] but in [%s]", key, file->section,
                            CONFIG_TABLE[i].section);
        if (strcmp(CONFIG_TABLE[i].section, section) == 0)
            suggest_consider(&suggestion, CONFIG_TABLE[i].key);
    }
    if (suggestion.best)
        return complain(file->complaints, "unknown key '%.64s' in [%.64s], did you mean '%s'?", key,
                        file->section, suggestion.best);
    return complain(file->complaints, "unknown key '%.64s' in [%.64s]: boxcar config --defaults shows them",
                    key, file->section);
}

/* The curve of a topic, made when it is new; NULL = out of memory. */
static struct config_curve *curve_of(struct config *config, const char *topic) {
    for (size_t i = 0; i < config->curve_count; i++)
        if (strcmp(config->curves[i].topic, topic) == 0)
            return &config->curves[i];
    struct config_curve *curves =
        reallocarray(config->curves, config->curve_count + 1, sizeof(*config->curves));
    if (!curves)
        return NULL;
    config->curves = curves;
    struct config_curve *curve = &curves[config->curve_count];
    *curve = (struct config_curve){.topic = strdup(topic)};
    if (!curve->topic)
        return NULL;
    config->curve_count++;
    return curve;
}

static bool put_curve(struct config_file *file, const char *topic, enum config_id id, const char *text) {
    struct config_curve *curve = curve_of(file->config, topic);
    const char *key = CONFIG_TABLE[id].key;
    if (!curve)
        return complain_no_memory(file->complaints);
    struct config_value *value = &curve->values[id - CONFIG_BACKOFF_BASE];
    if (value->from)
        return complain(file->complaints, "%s of [" CONFIG_BACKOFF " %.64s] is set twice, first at %s", key,
                        topic, value->from);
    return config_put(value, id, key, file->place, text, file->complaints);
}

static bool put_line(struct config_file *file, const char *key, const char *text) {
    const char *topic = curve_topic(file->section);
    const char *section = topic ? CONFIG_BACKOFF : file->section;
    if (strcmp(section, CONFIG_HANDLERS) == 0)
        return config_put_handler(file->config, BOXCAR_OUTBOX, key, text, file->complaints);
    if (strcmp(section, CONFIG_INBOX_HANDLERS) == 0)
        return config_put_handler(file->config, BOXCAR_INBOX, key, text, file->complaints);
    if (strcmp(section, CONFIG_STORES) == 0)
        return config_put_store(file->config, key, text, file->complaints);
    enum config_id id = 0;
    while (id < CONFIG_SETTINGS &&
           (strcmp(CONFIG_TABLE[id].section, section) != 0 || strcmp(CONFIG_TABLE[id].key, key) != 0))
        id++;
    if (id == CONFIG_SETTINGS)
        return unknown_key(file, section, key);
    if (topic)
        return put_curve(file, topic, id, text);
    struct config_value *value = &file->config->values[id];
    if (value->from)
        return complain(file->complaints, "%s is set twice, first at %s", key, value->from);
    return config_put(value, id, key, file->place, text, file->complaints);
}

/* An ini_handler. Complaints are counted, so that the whole file is looked at. */
static int take_line(void *context, const char *section, const char *key, const char *text) {
    struct config_file *file = context;
    (void)section;
    if (file->section[0] == '\0')
        complain(file->complaints, "'%.64s' stands before the first [section]", key);
    else if (file->section_is_known)
        put_line(file, key, text);
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

static void parse(struct config_file *file) {
    set_up_inih();
    int result = ini_parse_stream(read_line, file, take_line, file);
    if (result > 0 && set_place(file, result))
        complain(file->complaints, "give [section], key = value, or a comment after #");
    else if (result < 0)
        complain_no_memory(file->complaints);
    file->complaints->place = file->path;
    if (ferror(file->stream))
        complain(file->complaints, "cannot read it: %s", strerror(errno));
}

bool config_file_read(const char *path, struct complaints *complaints, struct config *config) {
    size_t before = complaints->count;
    struct config_file *file = calloc(1, sizeof(*file));
    config->path = strdup(path);
    if (!file || !config->path) {
        free(file);
        return complain_no_memory(complaints);
    }
    *file = (struct config_file){.path = path, .config = config, .complaints = complaints};
    complaints->place = path;
    file->stream = fopen(path, "re");
    if (file->stream) {
        parse(file);
        fclose(file->stream);
    } else {
        complain(complaints, "%s", strerror(errno));
    }
    complaints->place = NULL;
    free(file->place);
    free(file->buffer);
    free(file);
    return complaints->count == before;
}
