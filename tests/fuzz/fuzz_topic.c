/* Topics, topic patterns and stream keys: first line a pattern, second a topic. */
#include "base/utf8.h"
#include "core/limits/limits.h"
#include "core/topic.h"
#include "fuzz.h"

static void check_names(boxcar_str text) {
    boxcar_error err = BOXCAR_ERROR_INIT;

    fuzz_check_refusal(limits_check_stream(text, "stream", &err), &err);
    fuzz_check_refusal(limits_check_stream_pattern(text, &err), &err);
    fuzz_check_refusal(limits_check_schema_name(text, &err), &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    boxcar_str pattern = fuzz_first(data, size), topic = fuzz_second(data, size);
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_status topic_status = limits_check_topic(topic, "topic", &err);

    fuzz_check_refusal(topic_status, &err);
    if (topic_status == BOXCAR_OK) {
        PROMISE(utf8_is_valid(topic) && !str_has_nul(topic) && topic.len > 0);
        PROMISE(topic_matches(topic, topic));
        PROMISE(topic_matches(BOXCAR_STR("*"), topic));
    }
    fuzz_check_refusal(limits_check_topic_pattern(pattern, "topics", &err), &err);
    if (topic_matches(pattern, topic)) {
        PROMISE(topic_is_prefix_pattern(pattern) || str_equal(pattern, topic));
        PROMISE(topic_best_match(&pattern, 1, sizeof(pattern), topic) == 0);
    } else {
        PROMISE(topic_best_match(&pattern, 1, sizeof(pattern), topic) == -1);
    }
    check_names(pattern);
    return 0;
}
