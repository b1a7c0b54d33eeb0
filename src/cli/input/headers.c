#include "headers.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output/report.h"
#include "cli/output/text.h"

static bool add_header(const struct cli *cli, json_t *object, const char *header) {
    const char *equals = strchr(header, '=');
    if (!equals || equals == header) {
        cli_usage(cli, "--header is '%.64s': give NAME=VALUE", header);
        return false;
    }
    char *name = strndup(header, (size_t)(equals - header));
    json_t *value = json_string(equals + 1);
    bool repeated = name && json_object_get(object, name);
    bool good = name && !repeated && json_object_set(object, name, value) == 0;
    if (repeated)
        cli_usage(cli, "--header %.64s is given twice: give each name once", name);
    else if (!text_is_valid(boxcar_str_of(header)))
        cli_usage(cli, "--header is not valid UTF-8: encode it as UTF-8");
    else if (!good)
        cli_no_memory(cli);
    json_decref(value);
    free(name);
    return good;
}

bool headers_read(const struct cli *cli, char *const *given, boxcar_str *ret_headers, char **ret_text) {
    if (!given)
        return true;
    json_t *object = json_object();
    bool good = true;
    for (size_t i = 0; good && given[i]; i++)
        good = add_header(cli, object, given[i]);
    *ret_text = good ? json_dumps(object, JSON_COMPACT) : NULL;
    json_decref(object);
    if (good && !*ret_text) {
        cli_no_memory(cli);
        return false;
    }
    *ret_headers = boxcar_str_of(*ret_text);
    return good;
}
