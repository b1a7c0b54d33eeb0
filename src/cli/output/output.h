/* Standard output: rows as an aligned table, as JSON, or as JSON Lines.
 *
 * A row is a JSON object whose fields are in the order in which they were set. A table shows
 * some of them; JSON always shows all. */
#ifndef BOXCAR_CLI_OUTPUT_OUTPUT_H
#define BOXCAR_CLI_OUTPUT_OUTPUT_H

#include <jansson.h>

#include "cli/cli.h"

#define OUTPUT_COLUMNS_MAX 30

/* While cli->store_label is set, rows of a list get a field `store` in front; a list that has such rows is
 * begun with output_stores_begin(). */
struct output {
    const struct cli *cli;
    enum cli_format format;
    const char *const *columns;                     /* of a table, ended by NULL */
    const char *with_store[OUTPUT_COLUMNS_MAX + 2]; /* the same behind a column `store` */
    json_t *rows;                                   /* kept for a table, whose widths depend on all of them */
    size_t count;
    bool failed;
};

/* A list: a table, an array, or one object a line. `fallback` is the format of this command
 * when none was asked for. */
void output_list_begin(struct output *output, const struct cli *cli, enum cli_format fallback,
                       const char *const *columns);
/* The same, of many stores if the command works on many. */
void output_stores_begin(struct output *output, const struct cli *cli, bool many, const char *const *columns);
/* Takes `row` over; NULL (out of memory) is remembered. Warns when fields of it are damaged (JSON_DAMAGED).
 * Returns false when there is no point in going on. */
bool output_list_add(struct output *output, json_t *row);
/* Returns an enum cli_exit. */
int output_list_end(struct output *output, const struct cli *cli);

/* One object; in a table a field a line. Takes `object` over. */
int output_object(const struct cli *cli, json_t *object);

/* One number under a name: the bare number, or {"reaped": 3}. */
int output_count(const struct cli *cli, const char *name, int64_t count);

/* Writes out what is buffered. Returns an enum cli_exit and has reported a full disk or a
 * closed pipe. */
int output_flush(const struct cli *cli);

/* Standard output is a terminal, and nobody asked for no colours (NO_COLOR). */
bool output_uses_colours(void);

enum cli_format output_format(const struct cli *cli, enum cli_format fallback);

#endif
