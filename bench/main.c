/* boxcar-bench: what Boxcar costs, against raw SQL on the same store in the same run. */
#include <popt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

#define SCENARIO_ENTRY(name, object) extern const struct scenario object;
#include "scenarios.inc"
#undef SCENARIO_ENTRY
#define SCENARIO_ENTRY(name, object) {name, &object},
static const struct entry {
    const char *name;
    const struct scenario *scenario;
} SCENARIOS[] = {
#include "scenarios.inc"
};
#define SCENARIO_COUNT (sizeof(SCENARIOS) / sizeof(SCENARIOS[0]))

static struct {
    char *store, *only, *output;
    double scale;
    int rounds, check, list, help;
} given = {.scale = 1, .rounds = 5};

static const struct poptOption OPTIONS[] = {
    {"store", 0, POPT_ARG_STRING, &given.store, 0, "postgres:// URL of a superuser, or sqlite:PATH", "URL"},
    {"only", 0, POPT_ARG_STRING, &given.only, 0, "run only these rows or scenarios, separated by commas",
     "NAME,..."},
    {"scale", 0, POPT_ARG_DOUBLE, &given.scale, 0, "multiply all message counts (default 1)", "FACTOR"},
    {"rounds", 0, POPT_ARG_INT, &given.rounds, 0, "how often each is measured (default 5)", "N"},
    {"output", 'o', POPT_ARG_STRING, &given.output, 0, "table (default) or json", "FORMAT"},
    {"check", 0, POPT_ARG_NONE, &given.check, 0, "exit with 1 when a target is missed", NULL},
    {"list", 0, POPT_ARG_NONE, &given.list, 0, "print the names of all rows", NULL},
    {"help", 'h', POPT_ARG_NONE, &given.help, 0, "print this", NULL},
    POPT_TABLEEND,
};

static void print_help(void) {
    printf("boxcar-bench: what Boxcar costs, against raw SQL on the same store\n\n"
           "Usage:\n  boxcar-bench --store URL [OPTIONS]\n\nOptions:\n");
    for (const struct poptOption *option = OPTIONS; option->longName; option++)
        printf("  --%-8s %-10s %s\n", option->longName, option->argDescrip ? option->argDescrip : "",
               option->descrip);
    printf("\nScenarios:\n");
    for (size_t i = 0; i < SCENARIO_COUNT; i++)
        printf("  %-12s %s\n", SCENARIOS[i].name, SCENARIOS[i].scenario->summary);
    printf("\nTables go into schemas bench_PID_* (PostgreSQL) or a new folder PATH.XXXXXX (SQLite) and are\n"
           "removed at the end.\n\nExamples:\n"
           "  boxcar-bench --store sqlite:/var/tmp/bench\n"
           "  boxcar-bench --store postgres://postgres@localhost/test --only drain/32x1,bulk --rounds 9\n"
           "  boxcar-bench --list\n");
}

static void parse(int argc, char **argv) {
    poptContext context = poptGetContext("boxcar-bench", argc, (const char **)argv, OPTIONS, 0);
    int rc = poptGetNextOpt(context);

    if (rc < -1)
        bench_die("%s: %s", poptBadOption(context, 0), poptStrerror(rc));
    if (poptPeekArg(context))
        bench_die("unexpected argument %s", poptPeekArg(context));
    poptFreeContext(context);
}

static bool output_is_json(void) {
    if (!given.output || strcmp(given.output, "table") == 0)
        return false;
    if (strcmp(given.output, "json") != 0)
        bench_die("--output must be table or json");
    return true;
}

static struct bench bench_given(void) {
    struct bench b = {.url = given.store, .scale = given.scale, .rounds = given.rounds, .only = given.only};

    if (!given.store)
        bench_die("--store is missing (see --help)");
    if (strncmp(given.store, "sqlite:", strlen("sqlite:")) == 0)
        b.kind = BENCH_SQLITE;
    else if (strncmp(given.store, "postgres://", strlen("postgres://")) == 0 ||
             strncmp(given.store, "postgresql://", strlen("postgresql://")) == 0)
        b.kind = BENCH_POSTGRES;
    else
        bench_die("--store must begin with postgres:// or sqlite:");
    if (!(given.scale > 0 && given.scale <= 1000))
        bench_die("--scale must be above 0 and at most 1000");
    if (given.rounds < 1 || given.rounds > BENCH_ROUNDS_MAX)
        bench_die("--rounds must be 1 to %d", BENCH_ROUNDS_MAX);
    return b;
}

/* The rows of either store, so that a name of the other one is no mistake. */
static void collect_rows(void) {
    struct bench b = {.scale = 1, .rounds = 1, .collect_only = true};

    for (int kind = BENCH_SQLITE; kind <= BENCH_POSTGRES; kind++) {
        b.kind = (enum bench_kind)kind;
        for (size_t i = 0; i < SCENARIO_COUNT; i++)
            SCENARIOS[i].scenario->run(&b);
    }
}

int main(int argc, char **argv) {
    struct bench b;
    bool json, met;

    parse(argc, argv);
    if (given.help) {
        print_help();
        return 0;
    }
    collect_rows();
    if (given.list) {
        rows_print();
        return 0;
    }
    b = bench_given();
    json = output_is_json();
    rows_check(given.only);
    b.report = report_new();
    for (size_t i = 0; i < SCENARIO_COUNT; i++)
        SCENARIOS[i].scenario->run(&b);
    bench_progress("%s", "");
    report_print(b.report, json, b.kind == BENCH_POSTGRES ? "postgres" : "sqlite");
    met = report_is_met(b.report);
    report_free(b.report);
    place_remove_all();
    return given.check && !met ? 1 : 0;
}
