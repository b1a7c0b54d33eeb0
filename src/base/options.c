#include "options.h"

#include <string.h>

#include "error.h"

boxcar_status options_read(void *options, size_t known_size, const void *given, const char *argument,
                           boxcar_error *err) {
    size_t size;

    if (!given)
        return error_invalid(err, argument, "%s is missing: start from its _INIT value", argument);
    memcpy(&size, given, sizeof(size));
    if (size < sizeof(size))
        return error_invalid(err, argument, "struct_size of %s is not set: start from its _INIT value",
                             argument);
    if (size > known_size)
        return error_invalid(err, argument,
                             "struct_size of %s is larger than this library knows: use a library as new as "
                             "the headers",
                             argument);
    memcpy(options, given, size);
    memcpy(options, &known_size, sizeof(known_size));
    return BOXCAR_OK;
}
