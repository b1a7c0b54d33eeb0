/* The text of a setting as a number, or a complaint. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/input/values.h"
#include "config.h"

static bool parse_boolean(const char *text, double *ret_number) {
    static const char *const WORDS[][2] = {{"no", "yes"}, {"false", "true"}, {"off", "on"}, {"0", "1"}};
    for (size_t i = 0; i < sizeof(WORDS) / sizeof(WORDS[0]); i++) {
        for (int value = 0; value < 2; value++) {
            if (strcasecmp(text, WORDS[i][value]) == 0) {
                *ret_number = value;
                return true;
            }
        }
    }
    return false;
}

static bool parse_choice(const char *const *choices, const char *text, double *ret_number) {
    for (size_t i = 0; choices[i]; i++) {
        if (strcmp(text, choices[i]) == 0) {
            *ret_number = (double)i;
            return true;
        }
    }
    return false;
}

/* Digits and one point. The program never leaves the C locale, so that strtod() reads a point. */
static bool parse_number(const char *text, double *ret_number) {
    size_t whole = strspn(text, "0123456789");
    size_t fraction = text[whole] == '.' ? strspn(text + whole + 1, "0123456789") : 0;
    size_t length = whole + (text[whole] == '.') + fraction;
    if (whole == 0 || text[length] || (text[whole] == '.' && fraction == 0))
        return false;
    *ret_number = strtod(text, NULL);
    return true;
}

static bool parse_count(const char *text, double *ret_number) {
    int64_t number;
    if (!value_parse_integer(text, &number))
        return false;
    *ret_number = (double)number;
    return true;
}

static bool parse_duration(const char *text, double *ret_number) {
    int64_t ms;
    if (!boxcar_duration_parse(boxcar_str_of(text), &ms))
        return false;
    *ret_number = (double)ms;
    return true;
}

static bool parse_size(const char *text, double *ret_number) {
    int64_t bytes;
    if (!value_parse_size(text, &bytes))
        return false;
    *ret_number = (double)bytes;
    return true;
}

static bool parse(const struct config_setting *setting, const char *text, double *ret_number) {
    switch (setting->type) {
    case CONFIG_CHOICE:
        return parse_choice(setting->choices, text, ret_number);
    case CONFIG_DURATION:
        return parse_duration(text, ret_number);
    case CONFIG_COUNT:
        return parse_count(text, ret_number);
    case CONFIG_SIZE:
        return parse_size(text, ret_number);
    case CONFIG_NUMBER:
        return parse_number(text, ret_number);
    case CONFIG_BOOLEAN:
        return parse_boolean(text, ret_number);
    default:
        *ret_number = 0;
        return true;
    }
}

/* The expected kind of value, for a value of another kind. */
static const char *kind_of(const struct config_setting *setting) {
    switch (setting->type) {
    case CONFIG_DURATION:
        return "a duration such as 500ms, 30s, 5m, 2h or 7d, ";
    case CONFIG_COUNT:
        return "a whole number, ";
    case CONFIG_SIZE:
        return "a size such as 65536, 64KiB, 16MiB or 1GiB, ";
    case CONFIG_NUMBER:
        return "a decimal number, ";
    default:
        return "";
    }
}

static bool has_range(const struct config_setting *setting) { return setting->max > setting->min; }

bool config_value_parse(const struct config_setting *setting, const char *label, const char *text,
                        struct complaints *complaints, double *ret_number) {
    char range[CONFIG_RANGE_SIZE];
    double number;
    config_format_range(setting, range);
    if (!parse(setting, text, &number))
        return complain(complaints, "%s is '%.64s': give %s%s", label, text, kind_of(setting), range);
    if (has_range(setting) && !(number >= setting->min && number <= setting->max))
        return complain(complaints, "%s is %.64s: give %s", label, text, range);
    *ret_number = number;
    return true;
}
