/* worker_storm STORE SCENARIO [--full] [--seed N] [--messages N] [--kills N]: one trial of real workers.
 * STORE is sqlite, or postgres for the server in BOXCAR_TEST_POSTGRES. Exit status 77: not to be had here.
 * The programs are named by BOXCAR, BOXCAR_TEST_EXEC_HANDLER and BOXCAR_TEST_C_WORKER. `worker_storm list`
 * names the scenarios. */
#include <err.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trial.h"

struct entry {
    const char *name;
    const struct scenario *scenario;
    bool postgres_only, full_only;
};

#define TRIAL_ENTRY(name, object, postgres_only, full_only) extern const struct scenario object;
#include "trials.inc"
#undef TRIAL_ENTRY
#define TRIAL_ENTRY(name, object, postgres_only, full_only) {name, &object, postgres_only, full_only},
static const struct entry TRIALS[] = {
#include "trials.inc"
};
#define TRIAL_COUNT (sizeof(TRIALS) / sizeof(TRIALS[0]))

static void usage(void) {
    fputs("usage: worker_storm sqlite|postgres SCENARIO [--full] [--seed N] [--messages N] [--kills N]\n"
          "       worker_storm list\n",
          stderr);
    exit(2);
}

static int64_t number(const char *text, int64_t most) {
    int64_t value = storm_parse_number(text, most);
    if (value < 0)
        usage();
    return value;
}

static const struct entry *find_trial(const char *name) {
    for (size_t i = 0; i < TRIAL_COUNT; i++)
        if (strcmp(TRIALS[i].name, name) == 0)
            return &TRIALS[i];
    usage();
    return NULL;
}

static const char *program_at(const char *variable) {
    const char *path = getenv(variable);
    if (!path)
        errx(99, "%s is not set", variable);
    return path;
}

static void list_trials(void) {
    for (size_t i = 0; i < TRIAL_COUNT; i++)
        printf("%s\n", TRIALS[i].name);
    exit(0);
}

static const struct entry *read_arguments(struct trial *trial, int argc, char **argv) {
    static const struct option OPTIONS[] = {{"messages", required_argument, NULL, 'm'},
                                            {"kills", required_argument, NULL, 'k'},
                                            {"seed", required_argument, NULL, 's'},
                                            {"full", no_argument, NULL, 'f'},
                                            {NULL, 0, NULL, 0}};
    trial->storm.seed = storm_new_seed();
    trial->messages = trial->kills = -1;
    for (int option; (option = getopt_long(argc, argv, "", OPTIONS, NULL)) != -1;) {
        if (option == 'm')
            trial->messages = number(optarg, 10000000);
        else if (option == 'k')
            trial->kills = (int)number(optarg, WORKERS_MAX / 2);
        else if (option == 's')
            trial->storm.seed = (uint64_t)number(optarg, INT64_MAX);
        else if (option == 'f')
            trial->full = true;
        else
            usage();
    }
    if (optind == argc - 1 && strcmp(argv[optind], "list") == 0)
        list_trials();
    if (optind != argc - 2 || (strcmp(argv[optind], "sqlite") != 0 && strcmp(argv[optind], "postgres") != 0))
        usage();
    trial->storm.postgres = strcmp(argv[optind], "postgres") == 0;
    return find_trial(argv[optind + 1]);
}

static void prepare(struct trial *trial, const struct entry *entry) {
    const struct scenario *scenario = entry->scenario;
    trial->name = entry->name;
    if (trial->messages < 0)
        trial->messages = trial->full ? scenario->full_messages : scenario->messages;
    if (trial->kills < 0)
        trial->kills = trial->full ? scenario->full_kills : scenario->kills;
    trial->storm.max_attempts = trial->full ? scenario->full_max_attempts : scenario->max_attempts;
    if (trial->storm.max_attempts == 0)
        trial->storm.max_attempts = 50;
    trial->program = program_at("BOXCAR");
    trial->exec_handler = program_at("BOXCAR_TEST_EXEC_HANDLER");
    trial->c_worker = program_at("BOXCAR_TEST_C_WORKER");
    trial->ledger.storm = &trial->storm;
    trial->self = (struct client){.storm = &trial->storm, .chance = trial->storm.seed};
    storm_choose_place(&trial->storm);
    storm_deploy(&trial->storm);
    snprintf(trial->evidence, sizeof(trial->evidence), "%s/evidence", trial->storm.directory);
}

int main(int argc, char **argv) {
    static struct trial trial;
    const struct entry *entry = read_arguments(&trial, argc, argv);
    if (trial.storm.postgres ? !getenv("BOXCAR_TEST_POSTGRES") : entry->postgres_only)
        return 77;
    if (entry->full_only && !trial.full)
        return 77;
    int64_t start = now_us();
    prepare(&trial, entry);
    printf("%s: %s, --messages %lld --kills %d --seed %llu%s, in %s\n", trial.name,
           trial.storm.postgres ? "postgres" : "sqlite", (long long)trial.messages, trial.kills,
           (unsigned long long)trial.storm.seed, trial.full ? " --full" : "", trial.storm.directory);
    fflush(stdout);
    entry->scenario->run(&trial);
    printf("%s: over after %.1f s\n", trial.name, (double)(now_us() - start) / 1e6);
    printf("%d passed, %d failed\n", trial.verdict.passed, trial.verdict.failed);
    if (trial.verdict.failed > 0) {
        for (int i = 0; i < trial.worker_count; i++)
            if (trial.workers[i].pid != 0)
                kill(trial.workers[i].pid, SIGKILL);
        printf("%s: FAILED with seed %llu; logs%s are kept in %s\n", trial.name,
               (unsigned long long)trial.storm.seed, trial.storm.postgres ? "" : " and store",
               trial.storm.directory);
        return 1;
    }
    storm_remove(&trial.storm);
    return 0;
}
