/* The settings a store keeps: one table drives defaults, checks, help, docs and tests. */
#ifndef BOXCAR_CORE_SETTING_H
#define BOXCAR_CORE_SETTING_H

#include "boxcar/error.h"
#include "boxcar/types.h"

enum setting_kind { SETTING_COUNT, SETTING_DURATION, SETTING_NUMBER, SETTING_TOPIC, SETTING_POLICY };

struct setting {
    const char *name;
    enum setting_kind kind;
    const char *default_value; /* canonical text: digits, a duration, a decimal number, a topic, a policy */
    double min, max;           /* counts as they are, durations in milliseconds */
    const char *help;
};

extern const struct setting SETTINGS[];
extern const size_t SETTING_COUNT_ALL;

const struct setting *setting_find(boxcar_str name); /* NULL = no such */
/* Whether stores keep the text itself instead of a number. */
static inline bool setting_is_text(const struct setting *setting) {
    return setting->kind == SETTING_TOPIC || setting->kind == SETTING_POLICY;
}
/* Checks a value; on success *ret_number is the number (durations in milliseconds), which is
 * what stores keep; 0 for a text. BOXCAR_E_INVALID names the setting and its range. */
boxcar_status setting_parse(const struct setting *setting, boxcar_str text, double *ret_number,
                            boxcar_error *err);
/* The canonical text of a stored number: "10", "7d", "0.5". Writes at most 32 bytes. Not for texts. */
void setting_format(const struct setting *setting, double number, char ret_text[32]);

#endif
