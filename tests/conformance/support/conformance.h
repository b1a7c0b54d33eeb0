/* What the suites of the conformance program are made of. Each file defines one, `const struct suite
 * NAME_SUITE`; its name, and the stores that it is for, are in its room's meson.build. */
#ifndef BOXCAR_TESTS_CONFORMANCE_H
#define BOXCAR_TESTS_CONFORMANCE_H

#include "actions.h"
#include "crew.h"

struct suite {
    const struct CMUnitTest *tests;
    size_t count;
};

#define SUITE(suite_tests)                                                                                   \
    { .tests = (suite_tests), .count = sizeof(suite_tests) / sizeof((suite_tests)[0]) }

#endif
