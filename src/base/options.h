/* Structs in the caller's memory: each begins with its struct_size, so that it can grow. See
 * docs/decisions/0042-structs-that-cross-the-border.md. */
#ifndef BOXCAR_BASE_OPTIONS_H
#define BOXCAR_BASE_OPTIONS_H

#include "arena.h"
#include "boxcar/error.h"

/* Lays the caller's struct over `options`, which holds the defaults and is `known_size` big.
 * A smaller one comes from a program built for an older library: its missing end keeps the
 * defaults. A size of 0 (not initialized) or beyond the known one is invalid. */
boxcar_status options_read(void *options, size_t known_size, const void *given, const char *argument,
                           boxcar_error *err);

/* The same for an array, whose first element says the size of all. *items is the caller's array. Where that
 * has the known size it stays; else it becomes a copy in `arena`. Use OPTIONS_READ_ARRAY(&arena, X_INIT,
 * &items, ...). NULL and a count of 0 are left alone. The count has been checked: all elements are read. */
boxcar_status options_read_array(struct arena *arena, const void *defaults, size_t known_size,
                                 const void **items, size_t count, const char *argument, boxcar_error *err);
#define OPTIONS_READ_ARRAY(arena, init, items, count, argument, err)                                         \
    (__extension__({                                                                                         \
        const __typeof__(**(items)) defaults = init;                                                         \
        const void *array = *(items);                                                                        \
        boxcar_status read_status =                                                                          \
            options_read_array((arena), &defaults, sizeof(defaults), &array, (count), (argument), (err));    \
        *(items) = array;                                                                                    \
        read_status;                                                                                         \
    }))

/* Whether struct_size of a struct that the library shall fill is set, of an array in its first element. NULL
 * is fine. */
boxcar_status answer_check(const void *answer, const char *argument, boxcar_error *err);
/* Writes answers into the caller's struct or array, as far as it goes; what it has beyond `known_size`
 * becomes zero. NULL is fine. */
void answers_write(void *ret_answers, const void *answers, size_t count, size_t known_size);

#endif
