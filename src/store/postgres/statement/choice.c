#include "choice.h"

#include "base/utf8.h"
#include "core/topic.h"
#include "params.h"

void pg_params_ref(struct pg_params *params, boxcar_message_ref ref) {
    if (ref.work_id.value > 0) {
        pg_params_int8(params, ref.work_id.value);
        pg_params_null(params, PG_UUID);
    } else {
        pg_params_null(params, PG_INT8);
        pg_params_uuid(params, ref.message_id.uuid.bytes);
    }
}

void pg_params_topic(struct pg_params *params, boxcar_str topic) {
    bool prefix = topic.data && topic_is_prefix_pattern(topic);

    if (prefix)
        topic.len--;
    pg_params_text(params, topic);
    pg_params_bool(params, prefix);
}

void pg_params_after(struct pg_params *params, boxcar_work_id after) {
    if (after.value > 0)
        pg_params_int8(params, after.value);
    else
        pg_params_null(params, PG_INT8);
}

static bool want_everything(const boxcar_str *topics, size_t count) {
    bool everything = count == 0;

    for (size_t i = 0; i < count; i++)
        everything = everything || str_equal(topics[i], BOXCAR_STR("*"));
    return everything;
}

static void add_topics(struct pg_params *params, const boxcar_str *topics, size_t count, bool prefixes) {
    struct buf *array;
    size_t chosen = 0;

    for (size_t i = 0; i < count; i++)
        chosen += topic_is_prefix_pattern(topics[i]) == prefixes;
    array = pg_params_array_begin(params, PG_TEXT_ARRAY, chosen);
    for (size_t i = 0; i < count; i++) {
        boxcar_str topic = topics[i];

        if (topic_is_prefix_pattern(topic) != prefixes)
            continue;
        if (prefixes)
            topic.len--;
        pg_array_text(array, topic);
    }
}

void pg_params_topics(struct pg_params *params, const boxcar_str *topics, size_t count) {
    if (want_everything(topics, count)) {
        pg_params_null(params, PG_TEXT_ARRAY);
        pg_params_null(params, PG_TEXT_ARRAY);
    } else {
        add_topics(params, topics, count, false);
        add_topics(params, topics, count, true);
    }
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
