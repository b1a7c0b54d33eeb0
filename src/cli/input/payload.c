#include "payload.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output/report.h"

static bool read_all(const struct cli *cli, FILE *in, char **ret_text, size_t *ret_length) {
    char *text = NULL;
    size_t length = 0, capacity = 0, got;
    do {
        if (length == capacity) {
            capacity = capacity ? capacity * 2 : 65536;
            char *larger = realloc(text, capacity);
            if (!larger) {
                free(text);
                cli_no_memory(cli);
                return false;
            }
            text = larger;
        }
        got = fread(text + length, 1, capacity - length, in);
        length += got;
    } while (got > 0);
    if (ferror(in)) {
        cli_fail(cli, CLI_ERROR, "cannot read standard input: %s", strerror(errno));
        free(text);
        return false;
    }
    *ret_text = text;
    *ret_length = length;
    return true;
}

int payload_read(const struct cli *cli, const char *word, char **ret_read, boxcar_str *ret_payload) {
    if (strcmp(word, "-") != 0) {
        *ret_payload = boxcar_str_of(word);
        return CLI_DONE;
    }
    size_t length = 0;
    if (!read_all(cli, stdin, ret_read, &length))
        return CLI_ERROR;
    *ret_payload = (boxcar_str){*ret_read, length};
    return CLI_DONE;
}
