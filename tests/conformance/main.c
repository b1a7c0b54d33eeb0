/* conformance KIND [NAME]: what every store must do, run against one of them.
 *
 * KIND is sqlite, postgres or pgbouncer; the last two need the environment that
 * tests/support/with-postgres makes, and are skipped (exit 77) without. NAME is a suite, or a
 * pattern (* and ?) for the names of tests. */
#include <stdio.h>
#include <string.h>

#include "conformance.h"
#include "lack.h"

struct entry {
    const char *name;
    const struct suite *suite;
    int stores;         /* the kinds it is meant for */
    bool alters_schema; /* more of it than its rows */
};

#define SUITE_ENTRY(name, object, stores, alters) extern const struct suite object;
#include "suites.inc"
#undef SUITE_ENTRY
#define SUITE_ENTRY(name, object, stores, alters) {name, &object, stores, alters},
static const struct entry SUITES[] = {
#include "suites.inc"
};
static const size_t SUITE_COUNT = sizeof(SUITES) / sizeof(SUITES[0]);

enum { EXIT_USAGE = 2, EXIT_SKIPPED = 77 };

static bool is_meant_for_chosen(const struct entry *entry) {
    return (entry->stores & (int)fixture_chosen()) != 0;
}

static const struct entry *suite_named(const char *name) {
    for (size_t i = 0; i < SUITE_COUNT; i++)
        if (strcmp(SUITES[i].name, name) == 0)
            return &SUITES[i];
    return NULL;
}

static int run_suite(const struct entry *entry) {
    fixture_reuse(!entry->alters_schema);
    int failed = _cmocka_run_group_tests(entry->name, entry->suite->tests, entry->suite->count, NULL, NULL);
    fixture_end();
    return failed;
}

static int run_all(void) {
    int failed = 0;
    for (size_t i = 0; i < SUITE_COUNT; i++)
        if (is_meant_for_chosen(&SUITES[i]))
            failed += run_suite(&SUITES[i]);
    return failed;
}

static int usage(const char *program) {
    fprintf(stderr, "usage: %s sqlite|postgres|pgbouncer [SUITE|TEST-PATTERN]\nsuites:", program);
    for (size_t i = 0; i < SUITE_COUNT; i++)
        fprintf(stderr, " %s", SUITES[i].name);
    fputc('\n', stderr);
    return EXIT_USAGE;
}

int main(int argc, char **argv) {
    bool skip = false;
    if (argc < 2 || argc > 3 || (!fixture_choose(argv[1], &skip) && !skip))
        return usage(argv[0]);
    if (skip) {
        printf("skipped: no %s server in the environment (see tests/support/with-postgres)\n", argv[1]);
        return EXIT_SKIPPED;
    }
    if (argc == 2)
        return lack_exit(run_all());
    const struct entry *entry = suite_named(argv[2]);
    if (entry)
        return !is_meant_for_chosen(entry) ? EXIT_SKIPPED : lack_exit(run_suite(entry));
    cmocka_set_test_filter(argv[2]);
    return lack_exit(run_all());
}
