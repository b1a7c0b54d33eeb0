/* Durations, times, counts and the values of settings. What is read and written again is the same. */
#include "core/setting.h"
#include "fuzz.h"

static void check_time(boxcar_str text) {
    char written[BOXCAR_TIME_TEXT_SIZE];
    boxcar_time time, again;

    if (!boxcar_time_parse(text, &time))
        return;
    boxcar_time_format(time, written);
    PROMISE(boxcar_time_parse(boxcar_str_of(written), &again));
    PROMISE(again == time);
}

static void check_setting(const struct setting *setting, boxcar_str text) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    double number, again;
    boxcar_status status = setting_parse(setting, text, &number, &err);
    char written[32];

    fuzz_check_refusal(status, &err);
    if (status != BOXCAR_OK || setting_is_text(setting))
        return;
    PROMISE(number >= setting->min && number <= setting->max);
    setting_format(setting, number, written);
    PROMISE(setting_parse(setting, boxcar_str_of(written), &again, &err) == BOXCAR_OK);
    PROMISE(again >= setting->min && again <= setting->max);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    boxcar_str text = {(const char *)data, size};
    int64_t ms;

    if (boxcar_duration_parse(text, &ms))
        PROMISE(ms >= 0);
    check_time(text);
    for (size_t i = 0; i < SETTING_COUNT_ALL; i++)
        check_setting(&SETTINGS[i], text);
    return 0;
}
