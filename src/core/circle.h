/* Circles: whether copies that policies make come back to where they were made. */
#ifndef BOXCAR_CORE_CIRCLE_H
#define BOXCAR_CORE_CIRCLE_H

#include "boxcar/types.h"

/* Whether some topic matches both patterns. */
bool circle_patterns_overlap(boxcar_str a, boxcar_str b);

/* A policy that reads the outbox. Its destinations are well-formed. */
struct circle_policy {
    boxcar_str name;
    const boxcar_str *patterns;
    size_t pattern_count;
    const boxcar_str *destinations; /* those in other stores lead nowhere that can be seen */
    size_t destination_count;
    boxcar_str then_topic, else_topic; /* absent = none */
};

/* A search over a list of policies; the caller gives room for `count` in both arrays. */
struct circle_search {
    const struct circle_policy *policies;
    size_t count;
    size_t *before; /* from where each was reached */
    size_t *path;
};

/* Whether a message that the first policy forwards can come back to it, over the others or at once. Then
 * path[] has the shortest way: it begins with the first policy, and the last one leads back to that. 0 = it
 * cannot. */
size_t circle_find(const struct circle_search *search);

#endif
