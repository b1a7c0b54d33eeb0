/* The text of a setting as a number, or a complaint. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/input/values.h"
#include "config.h"

static bool parse_boolean(const char *text, int64_t *ret_value) {
    static const char *const WORDS[][2] = {{"no", "yes"}, {"false", "true"}, {"off", "on"}, {"0", "1"}};
    for (size_t i = 0; i < sizeof(WORDS) / sizeof(WORDS[0]); i++) {
        *ret_value = strcasecmp(text, WORDS[i][1]) == 0;
        if (*ret_value || strcasecmp(text, WORDS[i][0]) == 0)
            return true;
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

static bool parse_integer(const struct config_setting *setting, const char *text, int64_t *ret_number) {
    switch (setting->type) {
    case CONFIG_CHOICE:
        return value_choice(setting->choices, text, ret_number);
    case CONFIG_DURATION:
        return boxcar_duration_parse(boxcar_str_of(text), ret_number);
    case CONFIG_COUNT:
        return value_parse_integer(text, ret_number);
    case CONFIG_SIZE:
        return value_parse_size(text, ret_number);
    case CONFIG_BOOLEAN:
        return parse_boolean(text, ret_number);
    default:
        return true; /* any text */
    }
}

static bool parse(const struct config_setting *setting, const char *text, double *ret_number) {
    int64_t integer = 0;
    if (setting->type == CONFIG_NUMBER)
        return parse_number(text, ret_number);
    if (!parse_integer(setting, text, &integer))
        return false;
    *ret_number = (double)integer;
    return true;
}

bool config_value_parse(const struct config_setting *setting, const char *label, const char *text,
                        struct complaints *complaints, double *ret_number) {
    /* What is expected, for a value of another kind. */
    static const char *const KINDS[CONFIG_BOOLEAN + 1] = {
        [CONFIG_DURATION] = "a duration such as 500ms, 30s, 5m, 2h or 7d, ",
        [CONFIG_COUNT] = "a whole number, ",
        [CONFIG_SIZE] = "a size such as 65536, 64KiB, 16MiB or 1GiB, ",
        [CONFIG_NUMBER] = "a decimal number, "};
    const char *kind = KINDS[setting->type] ? KINDS[setting->type] : "";
    bool has_range = setting->max > setting->min;
    char range[CONFIG_RANGE_SIZE];
    double number;
    config_format_range(setting, range);
    if (!parse(setting, text, &number))
        return complain(complaints, "%s is '%.64s': give %s%s", label, text, kind, range);
    if (has_range && !(number >= setting->min && number <= setting->max))
        return complain(complaints, "%s is %.64s: give %s", label, text, range);
    *ret_number = number;
    return true;
}
