/* Values of options and arguments. Each function leaves its output alone when `text` is NULL
 * (the option was not given); on a bad value it reports the option by name and returns false. */
#ifndef BOXCAR_CLI_INPUT_VALUES_H
#define BOXCAR_CLI_INPUT_VALUES_H

#include <string.h>

#include "cli/cli.h"

/* Whether `text` is the name of a value, as name_of() says it: *ret_value is that one then. */
#define VALUE_NAMED(text, name_of, ret_value)                                                                \
    (__extension__({                                                                                         \
        bool named = false;                                                                                  \
        for (int number = 0; !named && strcmp((name_of)(number), "?") != 0; number++) {                      \
            named = strcmp((name_of)(number), (text)) == 0;                                                  \
            if (named)                                                                                       \
                *(ret_value) = number;                                                                       \
        }                                                                                                    \
        named;                                                                                               \
    }))

bool value_count(const struct cli *cli, const char *option, const char *text, int *ret_count);
/* A duration from min_ms to max_ms; the complaint says both in units people use. */
bool value_duration(const struct cli *cli, const char *option, const char *text, int64_t min_ms,
                    int64_t max_ms, int64_t *ret_ms);
bool value_time(const struct cli *cli, const char *option, const char *text, boxcar_time *ret_time);
/* --from: where a new reader starts. end if it was not given. */
bool value_start(const struct cli *cli, const char *text, boxcar_start *ret_start, boxcar_time *ret_time);
/* --to, which must be there: the place that a reader goes back to. */
bool value_place(const struct cli *cli, const char *text, boxcar_place *ret_place);
bool value_box(const struct cli *cli, const char *text, boxcar_box *ret_box);
bool value_work_id(const struct cli *cli, const char *option, const char *text, boxcar_work_id *ret_id);
/* A UUID that is not nil; `name` is the option or the argument: "--join", "JOIN". */
bool value_message_id(const struct cli *cli, const char *name, const char *text, boxcar_message_id *ret_id);
bool value_join_id(const struct cli *cli, const char *name, const char *text, boxcar_join_id *ret_id);
/* --owner, which must be there. */
bool value_owner(const struct cli *cli, const char *text, boxcar_owner *ret_owner);

/* ID: digits are a work id, a UUID a message id. */
bool value_ref(const struct cli *cli, const char *text, boxcar_message_ref *ret_ref);
/* The ID arguments of a command; *ret_refs is the caller's to free(). */
bool value_refs(const struct cli *cli, const char *const *args, boxcar_message_ref **ret_refs,
                size_t *ret_count);
/* ID[:EPOCH]: a work id or a message id, and a lease of it. */
bool value_lease(const struct cli *cli, const char *text, boxcar_settlement *ret_settlement);

/* --lease, --delay and --ttl with the ranges that the library has. */
bool value_lease_time(const struct cli *cli, const char *text, int64_t *ret_ms);
bool value_delay(const struct cli *cli, const char *text, int64_t *ret_ms);
bool value_ttl(const struct cli *cli, const char *text, int64_t *ret_ms);

/* Bytes: a whole number, alone or with KiB, MiB or GiB. */
bool value_size(const struct cli *cli, const char *option, const char *text, int64_t min, int64_t max,
                int64_t *ret_bytes);

/* ---- text alone: true when it is good, and no complaints ---- */

bool value_parse_size(const char *text, int64_t *ret_bytes);
/* A whole decimal number that fits: digits only, with an optional minus sign. */
bool value_parse_integer(const char *text, int64_t *ret_number);
/* A UUID that is not nil. */
bool value_parse_uuid(boxcar_str text, boxcar_uuid *ret_uuid);
/* One of several words, the last of which is followed by NULL. */
bool value_choice(const char *const *words, const char *text, int64_t *ret_index);

/* Milliseconds and bytes in the largest unit that fits: "24h", "100ms", "64MiB". */
#define VALUE_UNITS_SIZE 32
void value_format_duration(int64_t ms, char ret_text[VALUE_UNITS_SIZE]);
void value_format_size(int64_t bytes, char ret_text[VALUE_UNITS_SIZE]);

#endif
