#include "digits.h"

#include "base/utf8.h"

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static boxcar_str skip(boxcar_str text, size_t count) {
    return (boxcar_str){text.data + count, text.len - count};
}

bool digits_take(boxcar_str *text, int64_t *ret_number) {
    int64_t number = 0;
    size_t i = 0;

    for (; i < text->len && is_digit(text->data[i]); i++) {
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, text->data[i] - '0', &number))
            return false;
    }
    if (i == 0)
        return false;
    *text = skip(*text, i);
    *ret_number = number;
    return true;
}

bool digits_take_exactly(boxcar_str *text, size_t count, int64_t *ret_number) {
    boxcar_str front = {text->data, count};
    int64_t number;

    if (text->len < count || !digits_take(&front, &number) || front.len > 0)
        return false;
    *text = skip(*text, count);
    *ret_number = number;
    return true;
}

bool digits_take_millionths(boxcar_str *text, size_t max, int64_t *ret_millionths) {
    int64_t millionths = 0, digit;
    size_t count = 0;

    *ret_millionths = 0;
    if (text->len == 0 || text->data[0] != '.')
        return true;
    *text = skip(*text, 1);
    for (; count < max && digits_take_exactly(text, 1, &digit); count++)
        millionths = count < 6 ? millionths * 10 + digit : millionths;
    for (size_t i = count; i < 6; i++)
        millionths *= 10;
    *ret_millionths = millionths;
    return count > 0;
}

/* Largest first. */
static const struct duration_unit UNITS[] = {
    {"d", INT64_C(86400000)}, {"h", INT64_C(3600000)}, {"m", INT64_C(60000)}, {"s", INT64_C(1000)}, {"ms", 1},
};

#define UNIT_COUNT (sizeof(UNITS) / sizeof(UNITS[0]))

const struct duration_unit *duration_unit_find(boxcar_str name) {
    for (size_t i = 0; i < UNIT_COUNT; i++) {
        if (str_equal(name, boxcar_str_of(UNITS[i].name)))
            return &UNITS[i];
    }
    return NULL;
}

const struct duration_unit *duration_unit_of(int64_t ms) {
    size_t i = 0;

    while (ms % UNITS[i].ms != 0)
        i++;
    return &UNITS[i];
}
