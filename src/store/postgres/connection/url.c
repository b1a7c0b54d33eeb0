/* Checks a URL before it is used. libpq's error texts repeat the URL with its password, so this file
 * describes the faults of a URL in texts of its own. */
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

/* The user's name and the password end at the first @ before any /, and the host begins behind it. A further
 * @ before the parameters, or a parameter before the first one, stands in a password that was typed as it is:
 * libpq would take the rest of that for a host, and name it when it cannot find it. */
static bool is_ambiguous(const char *url) {
    const char *scheme = strstr(url, "://"), *start = scheme ? scheme + 3 : url, *host = start;
    size_t length = strcspn(start, "@/");

    if (start[length] == '@') {
        const char *parameters = memchr(start, '?', length);
        if (parameters && memchr(parameters, '=', (size_t)(start + length - parameters)))
            return true;
        host = start + length + 1;
    }
    return memchr(host, '@', strcspn(host, "?")) != NULL;
}

boxcar_status pg_check_url(const char *url, boxcar_error *err) {
    char *why = NULL;
    PQconninfoOption *options;
    boxcar_status status;

    if (is_ambiguous(url))
        return error_invalid(
            err, "url",
            "the URL has an @ too many: in the user's name, the password and the database's name, "
            "write %%40 for @, %%2F for / and %%3F for ?");
    options = PQconninfoParse(url, &why);
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
