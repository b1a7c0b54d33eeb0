/* What every target here has: one function that is given bytes. A promise that does not hold ends the
 * program, which is what the fuzzer looks for. Targets compare what a parser says with what is promised of
 * it; they do not only wait for a crash. */
#ifndef BOXCAR_TESTS_FUZZ_H
#define BOXCAR_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boxcar.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PROMISE(condition)                                                                                   \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #condition);                          \
            abort();                                                                                         \
        }                                                                                                    \
    } while (0)

/* The bytes up to the first newline and those behind it: two arguments out of one input. */
static inline boxcar_str fuzz_first(const uint8_t *data, size_t size) {
    const uint8_t *end = size > 0 ? memchr(data, '\n', size) : NULL;
    return (boxcar_str){(const char *)data, end != NULL ? (size_t)(end - data) : size};
}

static inline boxcar_str fuzz_second(const uint8_t *data, size_t size) {
    boxcar_str first = fuzz_first(data, size);
    size_t used = first.len < size ? first.len + 1 : size;
    return (boxcar_str){(const char *)data + used, size - used};
}

/* What is refused says which argument and what to do about it. */
static inline void fuzz_check_refusal(boxcar_status status, const boxcar_error *err) {
    PROMISE(status == BOXCAR_OK || status == BOXCAR_E_INVALID);
    if (status == BOXCAR_OK)
        return;
    PROMISE(err->status == status);
    PROMISE(err->argument[0] != '\0');
    PROMISE(memchr(err->message, '\0', sizeof(err->message)) != NULL && err->message[0] != '\0');
}

/* A file that holds the bytes, by a name that any program can open; and its end. */
struct fuzz_file {
    int fd;
    char path[64];
};
struct fuzz_file fuzz_file_make(const uint8_t *data, size_t size);
void fuzz_file_end(struct fuzz_file *file);

#endif
