/* Topic patterns: a topic, or a prefix followed by *. Case-sensitive, bytewise. */
#ifndef BOXCAR_CORE_TOPIC_H
#define BOXCAR_CORE_TOPIC_H

#include "boxcar/types.h"

bool topic_is_prefix_pattern(boxcar_str pattern);
bool topic_matches(boxcar_str pattern, boxcar_str topic);
/* The index of the longest pattern that matches, an exact one before any prefix; -1 = none. */
ptrdiff_t topic_best_match(const boxcar_str *patterns, size_t count, size_t stride, boxcar_str topic);

#endif
