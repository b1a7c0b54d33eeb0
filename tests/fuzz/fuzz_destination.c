/* Destinations of policies, the topics of copies, and the headers of copies: first line a destination, second
 * a topic, which is taken for headers, too. */
#include "base/utf8.h"
#include "core/fanout.h"
#include "core/limits/limits.h"
#include "fuzz.h"

static void check_topic(const struct destination *destination, boxcar_str topic) {
    struct arena arena = ARENA_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_str copy;

    if (limits_check_topic(topic, "topic", NULL) == BOXCAR_OK) {
        boxcar_status status = destination_topic(destination, topic, &arena, &copy, &err);
        fuzz_check_refusal(status, &err);
        PROMISE(status != BOXCAR_OK || limits_check_topic(copy, "topic", NULL) == BOXCAR_OK);
    }
    arena_release(&arena);
}

static void check_destination(boxcar_str text, boxcar_str topic) {
    struct destination destination;
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_status status = destination_parse(text, "destinations[0]", &destination, &err);

    fuzz_check_refusal(status, &err);
    if (status != BOXCAR_OK)
        return;
    PROMISE(destination.topic.len > 0);
    PROMISE((destination.kind == DESTINATION_STORE) == !str_is_absent(destination.store));
    PROMISE((destination.kind == DESTINATION_TENANT) == !str_is_absent(destination.header));
    PROMISE(destination.kind == DESTINATION_STORE || destination.box == BOXCAR_OUTBOX);
    check_topic(&destination, topic);
}

static void check_headers(boxcar_str headers) {
    struct arena arena = ARENA_INIT;
    boxcar_str raised, again;
    int hops, more;

    if (limits_check_headers(headers, "headers", NULL) == BOXCAR_OK) {
        PROMISE(fanout_raise_hops(headers, &arena, &hops, &raised, NULL) == BOXCAR_OK);
        PROMISE(hops >= 0 && hops <= BOXCAR_HOPS_MAX);
        PROMISE(limits_check_headers(raised, "headers", NULL) == BOXCAR_OK);
        PROMISE(fanout_raise_hops(raised, &arena, &more, &again, NULL) == BOXCAR_OK);
        PROMISE(more == (hops < BOXCAR_HOPS_MAX ? hops + 1 : hops));
    }
    arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    boxcar_str text = fuzz_first(data, size), second = fuzz_second(data, size), policy, destination;

    check_destination(text, second);
    check_headers(second);
    if (fanout_split_name(text, &policy, &destination))
        PROMISE(policy.len > 0 && destination.len > 0 && policy.len + 1 + destination.len == text.len);
    return 0;
}
