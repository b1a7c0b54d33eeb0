/* Reading a URL before it is used. libpq's own texts repeat the URL, password and all, so what is
 * wrong with it is said here in other words. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "connection.h"

static bool is_port_list(const char *text) {
    while (true) {
        char *end;
        long port = strtol(text, &end, 10);

        if (end == text ? *text != ',' && *text != '\0' : port < 1 || port > 65535)
            return false;
        if (*end == '\0')
            return true;
        if (*end != ',')
            return false;
        text = end + 1;
    }
}

static boxcar_status check_options(const PQconninfoOption *options, boxcar_error *err) {
    for (const PQconninfoOption *option = options; option->keyword; option++)
        if (strcmp(option->keyword, "port") == 0 && option->val && !is_port_list(option->val))
            return error_invalid(err, "url", "the port in the URL is not a number from 1 to 65535");
    return BOXCAR_OK;
}

boxcar_status pg_check_url(const char *url, boxcar_error *err) {
    char *why = NULL;
    PQconninfoOption *options = PQconninfoParse(url, &why);
    boxcar_status status;

    if (!options && !why)
        return error_no_memory(err);
    PQfreemem(why);
    if (!options)
        return error_invalid(err, "url",
                             "the URL cannot be read: give postgres://USER@HOST:PORT/DATABASE?NAME=VALUE, "
                             "with special characters as %%XX and parameters that libpq knows");
    status = check_options(options, err);
    PQconninfoFree(options);
    return status;
}
