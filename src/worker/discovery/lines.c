/* Lists of stores as text: a store a line. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/memory.h"
#include "discovery.h"

/* A list of as many stores as there may be. */
#define FILE_BYTES_MAX (64 << 20)

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/* The next word of a line; empty = there is none. */
static boxcar_str take_word(boxcar_str *line) {
    while (line->len > 0 && is_blank(*line->data))
        *line = (boxcar_str){line->data + 1, line->len - 1};
    boxcar_str word = {line->data, 0};
    while (word.len < line->len && !is_blank(line->data[word.len]))
        word.len++;
    *line = (boxcar_str){line->data + word.len, line->len - word.len};
    return word;
}

static boxcar_status read_line(boxcar_str line, struct boxcar_discovered *list, boxcar_error *err) {
    boxcar_store_entry entry = BOXCAR_STORE_ENTRY_INIT;
    boxcar_str words[4];
    size_t count = 0;
    while (count < 4 && (words[count] = take_word(&line)).len > 0)
        count++;
    if (count == 0 || words[0].data[0] == '#')
        return BOXCAR_OK;
    if (count == 4)
        return error_invalid(err, "stores",
                             "there are more than three words: give URL, KEY URL or KEY URL SCHEMA");
    entry.url = words[count > 1];
    if (count > 1)
        entry.key = words[0];
    if (count > 2)
        entry.schema = words[2];
    return discovered_add(list, &entry, err);
}

boxcar_status discovery_read_lines(boxcar_str text, struct boxcar_discovered *list, boxcar_error *err) {
    for (size_t number = 1; text.len > 0; number++) {
        const char *end = memchr(text.data, '\n', text.len);
        boxcar_str line = {text.data, end ? (size_t)(end - text.data) : text.len};
        boxcar_error why = BOXCAR_ERROR_INIT;
        boxcar_status status = read_line(line, list, &why);
        if (status != BOXCAR_OK)
            return error_set(err, status, "line %zu: %s", number, why.message);
        size_t taken = line.len + (end != NULL);
        text = (boxcar_str){text.data + taken, text.len - taken};
    }
    return BOXCAR_OK;
}

static boxcar_status refuse_file(const char *path, boxcar_error *err) {
    return error_set(err,
                     errno == ENOENT   ? BOXCAR_E_NOT_FOUND
                     : errno == EACCES ? BOXCAR_E_DENIED
                                       : BOXCAR_E_UNAVAILABLE,
                     "the list %s cannot be read: %s", path, strerror(errno));
}

static boxcar_status read_all(FILE *file, const char *path, struct buf *into, boxcar_error *err) {
    char piece[4096];
    size_t size;
    while ((size = fread(piece, 1, sizeof(piece), file)) > 0) {
        buf_append(into, piece, size);
        if (into->len > FILE_BYTES_MAX)
            return error_invalid(err, "fleet.where", "the list %s is larger than %d MiB", path,
                                 FILE_BYTES_MAX >> 20);
    }
    if (ferror(file))
        return refuse_file(path, err);
    return into->failed ? error_no_memory(err) : BOXCAR_OK;
}

boxcar_status discovery_read_file(const char *path, struct boxcar_discovered *list, boxcar_error *err) {
    AUTO_BUF struct buf text = BUF_INIT;
    FILE *file = fopen(path, "re");
    if (!file)
        return refuse_file(path, err);
    boxcar_status status = read_all(file, path, &text, err);
    fclose(file);
    return status == BOXCAR_OK ? discovery_read_lines((boxcar_str){text.data, text.len}, list, err) : status;
}
