#include "topic.h"

#include "base/utf8.h"

bool topic_is_prefix_pattern(boxcar_str pattern) {
    return pattern.len > 0 && pattern.data[pattern.len - 1] == '*';
}

bool topic_matches(boxcar_str pattern, boxcar_str topic) {
    if (topic_is_prefix_pattern(pattern))
        return str_starts_with(topic, (boxcar_str){pattern.data, pattern.len - 1});
    return str_equal(pattern, topic);
}

ptrdiff_t topic_best_match(const boxcar_str *patterns, size_t count, size_t stride, boxcar_str topic) {
    ptrdiff_t best = -1;
    size_t best_len = 0;

    for (size_t i = 0; i < count; i++) {
        const boxcar_str *pattern = (const boxcar_str *)(const void *)((const char *)patterns + i * stride);
        if (!topic_matches(*pattern, topic))
            continue;
        if (!topic_is_prefix_pattern(*pattern))
            return (ptrdiff_t)i;
        if (best < 0 || pattern->len > best_len) {
            best = (ptrdiff_t)i;
            best_len = pattern->len;
        }
    }
    return best;
}
