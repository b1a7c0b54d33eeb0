#include "output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/utf8.h"
#include "message_json.h"
#include "report.h"
#include "text.h"

/* A cell of a table is cut here; JSON has the whole. */
enum { CELL_WIDTH_MAX = 80 };

/* Doubles with as many digits as survive both ways. */
enum { DUMP_FLAGS = JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15) };

enum cli_format output_format(const struct cli *cli, enum cli_format fallback) {
    return cli->format == CLI_FORMAT_UNSET ? fallback : cli->format;
}

bool output_uses_colours(void) {
    const char *no_color = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");
    return isatty(STDOUT_FILENO) && !(no_color && no_color[0]) &&
           !(terminal && strcmp(terminal, "dumb") == 0);
}

/* False = out of memory. A write that failed is for output_flush() to report. */
static bool put_json(const json_t *value) {
    return json_dumpf(value, stdout, DUMP_FLAGS) == 0 || ferror(stdout);
}

/* A value for people; free() it. NULL = out of memory. */
static char *cell_text(const json_t *value, size_t *ret_width) {
    if (!value || json_is_null(value))
        return text_printable(BOXCAR_STR("-"), ret_width);
    if (json_is_string(value)) {
        boxcar_str text = {json_string_value(value), json_string_length(value)};
        return text_printable(text, ret_width);
    }
    AUTO_FREE char *dumped = json_dumps(value, DUMP_FLAGS);
    return dumped ? text_printable(boxcar_str_of(dumped), ret_width) : NULL;
}

/* Cuts text after `width` characters. */
static void cut(char *text, size_t width) {
    boxcar_str rest = boxcar_str_of(text);
    for (size_t i = 0; i < width && rest.len; i++) {
        size_t size = utf8_char_size(rest.data, rest.len);
        rest = (boxcar_str){rest.data + size, rest.len - size};
    }
    text[rest.data - text] = '\0';
}

static char *table_cell(const json_t *value, size_t *ret_width) {
    char *text = cell_text(value, ret_width);
    if (text && *ret_width > CELL_WIDTH_MAX) {
        cut(text, CELL_WIDTH_MAX - 3);
        memcpy(text + strlen(text), "...", 4);
        *ret_width = CELL_WIDTH_MAX;
    }
    return text;
}

struct column {
    const char *name;
    size_t width;
    bool is_number; /* goes to the right */
    bool is_last;   /* nothing follows, so no trailing blanks */
};

/* False = out of memory. */
static bool measure(struct column *column, const json_t *rows) {
    const json_t *row, *first = NULL; /* value in the column */
    size_t i;
    column->width = strlen(column->name);
    json_array_foreach(rows, i, row) {
        const json_t *value = json_object_get(row, column->name);
        size_t width = 0;
        AUTO_FREE char *text = table_cell(value, &width);
        if (!text)
            return false;
        column->width = width > column->width ? width : column->width;
        first = first || json_is_null(value) ? first : value;
    }
    column->is_number = json_is_number(first);
    return true;
}

static void put_cell(const struct column *column, const char *text, size_t width) {
    int padding = (int)(column->width - width);
    int before = column->is_number ? padding : 0, after = padding - before + 2;
    printf("%*s%s%*s", before, "", text, column->is_last ? 0 : after, "");
}

static bool put_row(const struct column *columns, size_t count, const json_t *row) {
    for (size_t i = 0; i < count; i++) {
        size_t width = 0;
        AUTO_FREE char *text = table_cell(json_object_get(row, columns[i].name), &width);
        if (!text)
            return false;
        put_cell(&columns[i], text, width);
    }
    putchar('\n');
    return true;
}

static bool put_table(const struct output *output) {
    enum { COLUMNS_MAX = 32 };
    struct column columns[COLUMNS_MAX];
    size_t count = 0, i;
    for (const char *const *name = output->columns; *name && count < COLUMNS_MAX; name++) {
        columns[count] = (struct column){.name = *name, .is_last = !name[1]};
        if (!measure(&columns[count++], output->rows))
            return false;
    }
    bool colours = output_uses_colours();
    fputs(colours ? "\033[1m" : "", stdout);
    for (i = 0; i < count; i++)
        put_cell(&columns[i], columns[i].name, strlen(columns[i].name));
    fputs(colours ? "\033[0m\n" : "\n", stdout);
    const json_t *row;
    json_array_foreach(output->rows, i, row) {
        if (!put_row(columns, count, row))
            return false;
    }
    return true;
}

static void warn_of(const struct cli *cli, json_t *row, const char *field) {
    void *first = json_object_iter(row); /* what it is called by */
    AUTO_FREE char *id = cell_text(json_object_iter_value(first), NULL);
    cli_warn(cli,
             "%s %s: %s is not UTF-8, another program has written it: \\xNN stands for its bytes, see boxcar "
             "doctor",
             json_object_iter_key(first), id ? id : "?", field);
}

/* For each damaged field of a row, and for each list in it, such as a message's attempts, that has such an
 * entry. */
static void warn_of_damage(const struct cli *cli, json_t *row) {
    const char *field;
    json_t *value, *entry;
    size_t i;
    json_array_foreach(json_object_get(row, JSON_DAMAGED), i, entry)
        warn_of(cli, row, json_string_value(entry));
    json_object_foreach(row, field, value) {
        json_array_foreach(value, i, entry) {
            if (json_object_get(entry, JSON_DAMAGED))
                warn_of(cli, row, field);
        }
    }
}

void output_list_begin(struct output *output, const struct cli *cli, enum cli_format fallback,
                       const char *const *columns) {
    *output = (struct output){.cli = cli, .format = output_format(cli, fallback), .columns = columns};
    if (output->format == CLI_FORMAT_TABLE) {
        output->rows = json_array();
        output->failed = !output->rows;
    }
}

void output_stores_begin(struct output *output, const struct cli *cli, bool many,
                         const char *const *columns) {
    output_list_begin(output, cli, CLI_FORMAT_TABLE, columns);
    if (!many)
        return;
    output->with_store[0] = "store";
    for (size_t i = 0; i < OUTPUT_COLUMNS_MAX && columns[i]; i++)
        output->with_store[i + 1] = columns[i];
    output->columns = output->with_store;
}

/* Takes the row; NULL = out of memory. */
static json_t *name_store(const struct cli *cli, json_t *row) {
    if (!cli->store_label)
        return row;
    json_t *named = json_pack("{s:s}", "store", cli->store_label);
    bool good = named && json_object_update(named, row) == 0;
    json_decref(row);
    if (good)
        return named;
    json_decref(named);
    return NULL;
}

/* Rows of a table are kept to the end, and what it does not show may be large. */
static bool keep_shown(struct output *output, json_t *row) {
    json_t *shown = json_object();
    bool kept = shown != NULL;
    for (size_t i = 0; kept && output->columns[i]; i++) {
        json_t *value = json_object_get(row, output->columns[i]);
        kept = !value || json_object_set(shown, output->columns[i], value) == 0;
    }
    json_decref(row);
    if (kept)
        return json_array_append_new(output->rows, shown) == 0;
    json_decref(shown);
    return false;
}

bool output_list_add(struct output *output, json_t *row) {
    row = row ? name_store(output->cli, row) : NULL;
    if (!row) {
        output->failed = true;
        return false;
    }
    warn_of_damage(output->cli, row);
    if (output->format == CLI_FORMAT_TABLE) {
        output->failed |= !keep_shown(output, row);
    } else {
        fputs(output->format == CLI_FORMAT_JSONL ? "" : output->count ? ",\n" : "[", stdout);
        output->failed |= !put_json(row);
        fputs(output->format == CLI_FORMAT_JSONL ? "\n" : "", stdout);
        json_decref(row);
    }
    output->count++;
    return !output->failed && !ferror(stdout);
}

int output_list_end(struct output *output, const struct cli *cli) {
    if (output->format == CLI_FORMAT_TABLE && !output->failed)
        output->failed = !put_table(output);
    else if (output->format == CLI_FORMAT_JSON)
        fputs(output->count ? "]\n" : "[]\n", stdout);
    json_decref(output->rows);
    output->rows = NULL;
    return output->failed ? cli_no_memory(cli) : CLI_DONE;
}

static int put_fields(const struct cli *cli, json_t *object) {
    size_t widest = 0;
    const char *name;
    json_t *value;
    json_object_foreach(object, name, value) { widest = strlen(name) > widest ? strlen(name) : widest; }
    json_object_foreach(object, name, value) {
        AUTO_FREE char *text = cell_text(value, NULL);
        if (!text)
            return cli_no_memory(cli);
        printf("%-*s  %s\n", (int)widest, name, text);
    }
    return CLI_DONE;
}

int output_object(const struct cli *cli, json_t *object) {
    if (!object)
        return cli_no_memory(cli);
    int result;
    warn_of_damage(cli, object);
    if (output_format(cli, CLI_FORMAT_TABLE) == CLI_FORMAT_TABLE) {
        result = put_fields(cli, object);
    } else {
        result = put_json(object) ? CLI_DONE : cli_no_memory(cli);
        putchar('\n');
    }
    json_decref(object);
    return result;
}

int output_count(const struct cli *cli, const char *name, int64_t count) {
    if (output_format(cli, CLI_FORMAT_TABLE) == CLI_FORMAT_TABLE) {
        printf("%lld\n", (long long)count);
        return CLI_DONE;
    }
    return output_object(cli, json_pack("{s:I}", name, (json_int_t)count));
}

int output_flush(const struct cli *cli) {
    bool failed_before = ferror(stdout) != 0;
    errno = 0;
    if (fflush(stdout) == 0 && !failed_before)
        return CLI_DONE;
    const char *why = errno ? strerror(errno) : "a write failed";
    clearerr(stdout);
    return cli_fail(cli, CLI_ERROR, "cannot write to standard output: %s", why);
}
