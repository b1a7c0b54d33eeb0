#include "enqueue.h"

#include <stdio.h>
#include <stdlib.h>

#include "batch_file.h"
#include "output.h"
#include "progress.h"
#include "report.h"

static const char *at(const struct enqueue_kind *kind, const void *enqueued, size_t i) {
    return (const char *)enqueued + i * kind->enqueued_size;
}

static int print_ids(const struct enqueue_kind *kind, const void *enqueued, size_t count) {
    for (size_t i = 0; i < count; i++) {
        char text[BOXCAR_UUID_TEXT_SIZE];
        boxcar_message_id_format(*(const boxcar_message_id *)(at(kind, enqueued, i) + kind->id_offset), text);
        puts(text);
    }
    return CLI_DONE;
}

/* Where only ids are printed: everything else has a column for it. */
static void note_duplicates(const struct cli *cli, const struct enqueue_kind *kind, const void *enqueued,
                            size_t count) {
    size_t duplicates = 0;
    for (size_t i = 0; i < count; i++)
        duplicates += *(const bool *)(at(kind, enqueued, i) + kind->duplicate_offset);
    if (duplicates > 0 && count == 1)
        cli_note(cli, "a duplicate: the store knows this message already, and nothing was stored");
    else if (duplicates > 0)
        cli_note(cli, "%zu of the messages are duplicates, which the store knows already: they were not stored",
                 duplicates);
}

int enqueue_print(const struct cli *cli, const struct enqueue_kind *kind, const void *enqueued, size_t count,
                  bool is_list) {
    struct output output;
    if (cli->format == CLI_FORMAT_UNSET) {
        note_duplicates(cli, kind, enqueued, count);
        return print_ids(kind, enqueued, count);
    }
    if (!is_list && cli->format != CLI_FORMAT_TABLE)
        return output_object(cli, kind->row(enqueued));
    output_list_begin(&output, cli, CLI_FORMAT_TABLE, kind->columns);
    for (size_t i = 0; i < count && output_list_add(&output, kind->row(at(kind, enqueued, i))); i++) {
    }
    return output_list_end(&output, cli);
}

/* The store is open and there is room for what it says; *ret_enqueued is the caller's to free(). */
static int prepare(struct cli *cli, const struct enqueue_kind *kind, size_t count, void **ret_enqueued) {
    *ret_enqueued = calloc(count + 1, kind->enqueued_size);
    return *ret_enqueued ? cli_store_open(cli) : cli_no_memory(cli);
}

int enqueue_one(struct cli *cli, const struct enqueue_kind *kind, const void *message) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    void *enqueued;
    int result = prepare(cli, kind, 1, &enqueued);
    if (result == CLI_DONE) {
        boxcar_status status = kind->store_one(cli->store, message, enqueued, &err);
        result = status == BOXCAR_OK ? enqueue_print(cli, kind, enqueued, 1, false) : cli_fail_with(cli, &err);
    }
    free(enqueued);
    return result;
}

static boxcar_status store_all(struct cli *cli, const struct enqueue_kind *kind,
                               const struct json_lines *file, void *ret_enqueued, boxcar_error *err) {
    char text[48];
    snprintf(text, sizeof(text), "storing %zu messages", file->count);
    struct progress *progress = progress_begin(cli, text);
    boxcar_status status = kind->store_many(cli->store, file->items, file->count, ret_enqueued, err);
    progress_end(progress);
    return status;
}

static int enqueue_lines(struct cli *cli, const struct enqueue_kind *kind, const struct json_lines *file) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    void *enqueued;
    int result = prepare(cli, kind, file->count, &enqueued);
    if (result == CLI_DONE) {
        boxcar_status status = store_all(cli, kind, file, enqueued, &err);
        result = status == BOXCAR_OK ? enqueue_print(cli, kind, enqueued, file->count, true)
                                     : json_lines_fail(cli, file, &err);
    }
    free(enqueued);
    return result;
}

int enqueue_file(struct cli *cli, const struct enqueue_kind *kind, const char *path) {
    struct json_lines file;
    int result = batch_file_load(cli, path, kind->box, &file);
    if (result == CLI_DONE)
        result = enqueue_lines(cli, kind, &file);
    json_lines_release(&file);
    return result;
}
