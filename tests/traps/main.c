/* traps GROUP [NAME-PATTERN]: runs the traps of one group, each as it is and without its remedies.
 * Needs the environment that tests/support/with-postgres makes; skipped (exit 77) without. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mutate.h"
#include "trap.h"

enum { EXIT_USAGE = 2, EXIT_SKIPPED = 77, RUNS_MAX = 64 };

#define GROUP_ENTRY(name, group) extern const struct trap_group group;
#include "groups.inc"
#undef GROUP_ENTRY
#define GROUP_ENTRY(name, group) {name, &group},
static const struct entry {
    const char *name;
    const struct trap_group *group;
} GROUPS[] = {
#include "groups.inc"
};
static const size_t GROUP_COUNT = sizeof(GROUPS) / sizeof(GROUPS[0]);

/* One way through a scenario. */
struct run {
    const struct trap *trap;
    const struct mutation *mutation; /* NULL = as it is */
    char name[256];
    struct fixture *f;
};

static int set_up(void **state) {
    struct run *run = *state;
    void *f = NULL;
    int status = fixture_setup(&f);
    run->f = f;
    return status;
}

/* Connections first: one with an open transaction would keep the schema from being dropped. */
static int tear_down(void **state) {
    struct run *run = *state;
    void *f = run->f;
    sql_close_all();
    return fixture_teardown(&f);
}

static void run_scenario(void **state) {
    struct run *run = *state;
    if (run->mutation)
        mutate(run->f, run->mutation);
    const char *verdict = run->trap->scenario(run->f);
    const char *wanted = run->mutation ? run->mutation->verdict : "the promise held";
    assert_string_equal(verdict ? verdict : "the promise held", wanted);
}

static void add_run(struct run *run, struct CMUnitTest *test, const struct trap *trap,
                    const struct mutation *mutation) {
    run->trap = trap;
    run->mutation = mutation;
    snprintf(run->name, sizeof(run->name), mutation ? "%s, broken without %s" : "%s", trap->name,
             mutation ? mutation->name : "");
    *test = (struct CMUnitTest){.name = run->name,
                                .test_func = run_scenario,
                                .setup_func = set_up,
                                .teardown_func = tear_down,
                                .initial_state = run};
}

static int run_group(const struct entry *entry) {
    const struct trap_group *group = entry->group;
    static struct run runs[RUNS_MAX];
    static struct CMUnitTest tests[RUNS_MAX];
    size_t count = 0;
    for (size_t i = 0; i < group->count; i++) {
        const struct trap *trap = &group->traps[i];
        for (int k = -1; k < MUTATIONS_MAX && (k < 0 || trap->without[k].name); k++, count++) {
            if (count == RUNS_MAX)
                return 1;
            add_run(&runs[count], &tests[count], trap, k < 0 ? NULL : &trap->without[k]);
        }
    }
    return _cmocka_run_group_tests(entry->name, tests, count, NULL, NULL);
}

static int usage(const char *program) {
    fprintf(stderr, "usage: %s GROUP [NAME-PATTERN]\ngroups:", program);
    for (size_t i = 0; i < GROUP_COUNT; i++)
        fprintf(stderr, " %s", GROUPS[i].name);
    fputc('\n', stderr);
    return EXIT_USAGE;
}

int main(int argc, char **argv) {
    bool skip = false;
    if (!fixture_choose("postgres", &skip)) {
        printf("skipped: no PostgreSQL server in the environment (see tests/support/with-postgres)\n");
        return skip ? EXIT_SKIPPED : EXIT_USAGE;
    }
    if (argc == 3)
        cmocka_set_test_filter(argv[2]);
    for (size_t i = 0; argc > 1 && i < GROUP_COUNT; i++)
        if (strcmp(GROUPS[i].name, argv[1]) == 0)
            return run_group(&GROUPS[i]) ? 1 : 0;
    return usage(argv[0]);
}
