/* How a caller chooses messages by their topics, as parameters. */
#include "base/utf8.h"
#include "params.h"

boxcar_str pg_topic_stem(boxcar_str topic) {
    return (boxcar_str){topic.data, topic.len - topic_is_prefix_pattern(topic)};
}

static void add_topics(struct pg_params *params, const boxcar_str *topics, size_t count, bool prefixes) {
    size_t chosen = 0;

    for (size_t i = 0; i < count; i++)
        chosen += topic_is_prefix_pattern(topics[i]) == prefixes;
    struct buf *array = pg_params_array_begin(params, PG_TEXT_ARRAY, chosen);
    for (size_t i = 0; i < count; i++)
        if (topic_is_prefix_pattern(topics[i]) == prefixes)
            pg_array_text(array, pg_topic_stem(topics[i]));
}

void pg_params_patterns(struct pg_params *params, const boxcar_str *topics, size_t count) {
    static const boxcar_str every = {"*", 1};

    if (count == 0) {
        topics = &every;
        count = 1;
    }
    add_topics(params, topics, count, false);
    add_topics(params, topics, count, true);
}

void pg_params_topics(struct pg_params *params, const boxcar_str *topics, size_t count) {
    bool everything = count == 0;

    for (size_t i = 0; i < count; i++)
        everything = everything || str_equal(topics[i], BOXCAR_STR("*"));
    if (everything)
        pg_params_add(params, P_NULL(PG_TEXT_ARRAY), P_NULL(PG_TEXT_ARRAY));
    else
        pg_params_patterns(params, topics, count);
}
