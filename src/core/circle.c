#include "circle.h"

#include <string.h>

#include "base/utf8.h"
#include "fanout.h"
#include "topic.h"

#define PLACEHOLDER BOXCAR_STR(FANOUT_PLACEHOLDER)
#define TOPIC_BYTES_MAX 1020 /* 255 characters */

static boxcar_str without_star(boxcar_str pattern) { return (boxcar_str){pattern.data, pattern.len - 1}; }

bool circle_patterns_overlap(boxcar_str a, boxcar_str b) {
    if (!topic_is_prefix_pattern(a))
        return topic_matches(b, a);
    if (!topic_is_prefix_pattern(b))
        return topic_matches(a, b);
    return str_starts_with(without_star(a), without_star(b)) ||
           str_starts_with(without_star(b), without_star(a));
}

/* ---- what a destination gives ---- */

/* A topic, or a prefix followed by *. */
struct output {
    char text[TOPIC_BYTES_MAX + 1];
    size_t len;
    bool too_long; /* a topic that no message can have: forwarding fails */
};

static void append(struct output *output, const char *bytes, size_t len) {
    output->too_long = output->too_long || len > sizeof(output->text) - output->len;
    if (output->too_long)
        return;
    memcpy(output->text + output->len, bytes, len);
    output->len += len;
}

static size_t find_placeholder(boxcar_str text) {
    size_t at = 0;
    while (at < text.len && !str_starts_with((boxcar_str){text.data + at, text.len - at}, PLACEHOLDER))
        at++;
    return at;
}

/* For messages that match the pattern. Behind the first place where a topic stands of which only the
 * beginning is known, nothing is known. */
static void write_output(boxcar_str destination, boxcar_str pattern, struct output *ret_output) {
    *ret_output = (struct output){.len = 0};
    for (size_t at = find_placeholder(destination);; at = find_placeholder(destination)) {
        append(ret_output, destination.data, at);
        if (at == destination.len)
            return;
        append(ret_output, pattern.data, pattern.len);
        if (topic_is_prefix_pattern(pattern))
            return;
        destination.data += at + PLACEHOLDER.len;
        destination.len -= at + PLACEHOLDER.len;
    }
}

/* Of a topic, or of all that begin so. */
static bool is_read_by(boxcar_str output, const struct circle_policy *reader) {
    for (size_t i = 0; i < reader->pattern_count; i++) {
        if (circle_patterns_overlap(output, reader->patterns[i]))
            return true;
    }
    return false;
}

static bool is_elsewhere(boxcar_str destination) {
    return str_starts_with(destination, BOXCAR_STR("store:")) ||
           str_starts_with(destination, BOXCAR_STR("tenant:"));
}

static bool destination_leads_to(const struct circle_policy *from, boxcar_str destination,
                                 const struct circle_policy *to) {
    struct output output;
    for (size_t i = 0; i < from->pattern_count; i++) {
        write_output(destination, from->patterns[i], &output);
        if (!output.too_long && is_read_by((boxcar_str){output.text, output.len}, to))
            return true;
    }
    return false;
}

static bool leads_to(const struct circle_policy *from, const struct circle_policy *to) {
    if (!str_is_absent(from->then_topic) && is_read_by(from->then_topic, to))
        return true;
    if (!str_is_absent(from->else_topic) && is_read_by(from->else_topic, to))
        return true;
    for (size_t i = 0; i < from->destination_count; i++) {
        if (!is_elsewhere(from->destinations[i]) && destination_leads_to(from, from->destinations[i], to))
            return true;
    }
    return false;
}

/* ---- the search: breadth first ---- */

static size_t write_path(const struct circle_search *search, size_t last) {
    size_t length = 1;
    for (size_t i = last; i != 0; i = search->before[i])
        length++;
    for (size_t i = last, at = length; at-- > 0; i = search->before[i])
        search->path[at] = i;
    return length;
}

/* path[] holds those that were reached, in that order, until the way is known. */
size_t circle_find(const struct circle_search *search) {
    size_t reached = 1;
    search->path[0] = 0;
    for (size_t i = 0; i < search->count; i++)
        search->before[i] = search->count; /* not reached */
    search->before[0] = 0;
    for (size_t next = 0; next < reached; next++) {
        size_t from = search->path[next];
        if (leads_to(&search->policies[from], &search->policies[0]))
            return write_path(search, from);
        for (size_t to = 1; to < search->count; to++) {
            if (search->before[to] != search->count ||
                !leads_to(&search->policies[from], &search->policies[to]))
                continue;
            search->before[to] = from;
            search->path[reached++] = to;
        }
    }
    return 0;
}
