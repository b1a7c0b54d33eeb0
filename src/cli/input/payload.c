#include "payload.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/utf8.h"
#include "cli/output/report.h"

#define BLOCK_SIZE ((size_t)65536)

int payload_read(const struct cli *cli, const char *word, char **ret_read, boxcar_str *ret_payload) {
    struct buf input = BUF_INIT;
    size_t got;
    if (strcmp(word, "-") != 0) {
        *ret_payload = boxcar_str_of(word);
        return CLI_DONE;
    }
    while (buf_reserve(&input, BLOCK_SIZE) &&
           (got = fread(input.data + input.len, 1, input.capacity - input.len, stdin)) > 0)
        input.len += got;
    if (input.failed || ferror(stdin)) {
        int error = errno;
        free(input.data);
        return input.failed ? cli_no_memory(cli)
                            : cli_fail(cli, CLI_ERROR, "cannot read standard input: %s", strerror(error));
    }
    *ret_read = input.data;
    *ret_payload = (boxcar_str){input.data, input.len};
    return CLI_DONE;
}

static bool add_header(const struct cli *cli, json_t *object, const char *header) {
    const char *equals = strchr(header, '=');
    if (!equals || equals == header)
        return cli_refuse(cli, "--header is '%.64s': give NAME=VALUE", header);
    AUTO_FREE char *name = strndup(header, (size_t)(equals - header));
    if (name && json_object_get(object, name))
        return cli_refuse(cli, "--header %.64s is given twice: give each name once", name);
    if (!utf8_is_valid(boxcar_str_of(header)))
        return cli_refuse(cli, "--header is not valid UTF-8: encode it as UTF-8");
    if (name && json_object_set_new(object, name, json_string(equals + 1)) == 0)
        return true;
    cli_no_memory(cli);
    return false;
}

bool headers_read(const struct cli *cli, char *const *given, boxcar_str *ret_headers, char **ret_text) {
    if (!given)
        return true;
    json_auto_t *object = json_object();
    for (; *given; given++)
        if (!add_header(cli, object, *given))
            return false;
    *ret_text = json_dumps(object, JSON_COMPACT);
    *ret_headers = boxcar_str_of(*ret_text);
    if (!*ret_text)
        cli_no_memory(cli);
    return *ret_text != NULL;
}
