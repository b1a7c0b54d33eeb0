#include "options.h"

#include <string.h>

#include "error.h"

static size_t size_of(const void *given) {
    size_t size;

    memcpy(&size, given, sizeof(size));
    return size;
}

static boxcar_status refuse_unset(const char *argument, boxcar_error *err) {
    return error_invalid(err, argument, "struct_size of %s is not set: start from its _INIT value", argument);
}

static boxcar_status check_size(size_t size, size_t known_size, const char *argument, boxcar_error *err) {
    if (size < sizeof(size))
        return refuse_unset(argument, err);
    if (size > known_size)
        return error_invalid(err, argument,
                             "struct_size of %s is larger than this library knows: use a library as new as "
                             "the headers",
                             argument);
    return BOXCAR_OK;
}

boxcar_status options_read(void *options, size_t known_size, const void *given, const char *argument,
                           boxcar_error *err) {
    if (!given)
        return error_invalid(err, argument, "%s is missing: start from its _INIT value", argument);
    TRY(check_size(size_of(given), known_size, argument, err));
    memcpy(options, given, size_of(given));
    memcpy(options, &known_size, sizeof(known_size));
    return BOXCAR_OK;
}

/* ---- arrays ---- */

static boxcar_status check_sizes(const char *items, size_t size, size_t count, const char *argument,
                                 boxcar_error *err) {
    for (size_t i = 1; i < count; i++) {
        if (size_of(items + i * size) != size)
            return error_invalid(err, argument,
                                 "struct_size of %s[%zu] is another than that of the first: start from "
                                 "its _INIT value",
                                 argument, i);
    }
    return BOXCAR_OK;
}

static boxcar_status copy_older(struct arena *arena, const void *defaults, size_t known_size,
                                const void **items, size_t count, boxcar_error *err) {
    size_t size = size_of(*items);
    char *copy = arena_alloc_array(arena, count, known_size);

    if (!copy)
        return error_no_memory(err);
    for (size_t i = 0; i < count; i++) {
        memcpy(copy + i * known_size, defaults, known_size);
        memcpy(copy + i * known_size, (const char *)*items + i * size, size);
        memcpy(copy + i * known_size, &known_size, sizeof(known_size));
    }
    *items = copy;
    return BOXCAR_OK;
}

boxcar_status options_read_array(struct arena *arena, const void *defaults, size_t known_size,
                                 const void **items, size_t count, const char *argument, boxcar_error *err) {
    if (!*items || count == 0)
        return BOXCAR_OK;
    TRY(check_size(size_of(*items), known_size, argument, err));
    TRY(check_sizes(*items, size_of(*items), count, argument, err));
    if (size_of(*items) == known_size)
        return BOXCAR_OK;
    return copy_older(arena, defaults, known_size, items, count, err);
}

/* ---- answers ---- */

#define ANSWER_SIZE_MAX ((size_t)1 << 16) /* no struct is that large: it was never set */

boxcar_status answer_check(const void *answer, const char *argument, boxcar_error *err) {
    if (answer && (size_of(answer) < sizeof(size_t) || size_of(answer) > ANSWER_SIZE_MAX))
        return refuse_unset(argument, err);
    return BOXCAR_OK;
}

void answers_write(void *ret_answers, const void *answers, size_t count, size_t known_size) {
    size_t size = ret_answers ? size_of(ret_answers) : 0;
    size_t told = size < known_size ? size : known_size;

    for (size_t i = 0; ret_answers && i < count; i++) {
        char *into = (char *)ret_answers + i * size;
        memset(into, 0, size);
        memcpy(into, (const char *)answers + i * known_size, told);
        memcpy(into, &size, sizeof(size));
    }
}
