/* JSON Lines with one item an object. */
#ifndef BOXCAR_CLI_INPUT_BATCH_JSON_LINES_H
#define BOXCAR_CLI_INPUT_BATCH_JSON_LINES_H

#include <jansson.h>

#include "cli/cli.h"
#include "line_reader.h"
#include "text_pool.h"

/* A fault of a file, for the thread that reports to the user. */
struct json_fault {
    int exit; /* an enum cli_exit; CLI_DONE = nothing */
    char text[600];
};

/* One line while it is read into an item. */
struct json_line {
    size_t number; /* from 1 on */
    boxcar_str text;
    json_t *root;
    void *item;
    struct text_pool *texts; /* for what the item borrows */
    boxcar_str payload;      /* that was found to be good already and is in `texts`; data NULL = none */
    struct json_fault *fault;
};

/* A member that an object may have. */
struct json_field {
    const char *name;
    bool (*read)(struct json_line *line, const struct json_field *field, const json_t *value);
    size_t offset; /* of what is read, in the item */
    bool required; /* a text, or the payload: it must be there */
};

/* What the items of a file are. */
struct json_lines_kind {
    const struct json_field *fields;
    size_t field_count;
    size_t item_size;
    void (*start)(void *item); /* makes it what it is before anything was read */
    size_t most;               /* json_lines_load() reads no more than one further */
    const char *example;       /* of an object */
    const char *command;       /* whose help has the fields */
    const char *doing;         /* for the progress */
};

/* Lines of a file, or all of them. Items borrow their text from `texts`. */
struct json_lines {
    const struct json_lines_kind *kind;
    void *items;
    size_t *numbers; /* of their lines */
    struct text_pool texts;
    size_t count, capacity;
};

/* Reads one line and adds its item; a blank one has none. false = the end, or *ret_fault says what is wrong.
 * `lines` starts as {.kind = ...}; release it in any case. */
bool json_lines_read(struct json_lines *lines, struct line_reader *in, struct json_fault *ret_fault);
void json_lines_release(struct json_lines *lines);

/* Reads the whole file; "-" is standard input. Returns an enum cli_exit and has reported the line that is
 * wrong. Release it in any case. */
int json_lines_load(struct cli *cli, const char *path, const struct json_lines_kind *kind,
                    struct json_lines *ret_lines);
/* Opens the file for it; returns an enum cli_exit and has reported why it cannot be opened. */
int json_lines_open(const struct cli *cli, const char *path, struct line_reader *ret_reader);

/* Reports an error of a call that took the items, by line and by the name used in the file. */
int json_lines_fail(const struct cli *cli, const struct json_lines *lines, const boxcar_error *err);
/* The same, of the item at `index`; and which item an error is about, false = it names none. */
int json_lines_fail_at(const struct cli *cli, const struct json_lines *lines, size_t index,
                       const boxcar_error *err);
bool json_lines_index_of(const boxcar_error *err, size_t *ret_index);

/* ---- for the readers of fields ---- */

/* Where the field's value goes. */
static inline void *json_line_place(const struct json_line *line, const struct json_field *field) {
    return (char *)line->item + field->offset;
}
/* Both return false. */
bool json_line_refuse(const struct json_line *line, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool json_fault_no_memory(struct json_fault *ret_fault);

#endif
