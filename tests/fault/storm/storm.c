/* storm STORE [--messages N] [--seed N] [--seconds N]: a randomized concurrency and fault test of one
 * store. STORE is sqlite, or postgres for the server in BOXCAR_TEST_POSTGRES (exit status 77 without
 * it), which BOXCAR_TEST_POSTGRES_RESTART crashes and starts again.
 *
 * BX-001, BX-002, BX-003, BX-004, BX-005, BX-006 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boxcar/inspect.h"
#include "clients.h"
#include "ledger.h"

static const char *const TALLY_NAMES[TALLIES] = {[TALLY_ENQUEUED] = "messages enqueued",
                                                 [TALLY_DUPLICATES] = "duplicates",
                                                 [TALLY_ROLLBACKS] = "rolled back",
                                                 [TALLY_LONG_TRANSACTIONS] = "long transactions",
                                                 [TALLY_SAT] = "claiming transactions that stayed open",
                                                 [TALLY_HUNG_UP] = "of which lost",
                                                 [TALLY_CLAIMED] = "leases",
                                                 [TALLY_SUSPECTS] = "of suspects",
                                                 [TALLY_LATE] = "settled late",
                                                 [TALLY_LATE_COUNTED] = "of which counted",
                                                 [TALLY_REFUSED] = "refused",
                                                 [TALLY_UNAVAILABLE] = "unavailable",
                                                 [TALLY_DEATHS] = "deaths",
                                                 [TALLY_KILLS] = "kills",
                                                 [TALLY_TERMINATIONS] = "terminated backends",
                                                 [TALLY_RESTARTS] = "server crashes",
                                                 [TALLY_REPLAYS] = "replays",
                                                 [TALLY_CANCELS] = "cancels",
                                                 [TALLY_COMPLAINTS] = "complaints"};

static void usage(void) {
    fputs("usage: storm sqlite|postgres [--messages N] [--seed N] [--seconds N]\n", stderr);
    exit(2);
}

static int64_t number(const char *text, int64_t most) {
    int64_t value = storm_parse_number(text, most);
    if (value < 0)
        usage();
    return value;
}

static void read_arguments(struct storm *storm, int argc, char **argv) {
    static const struct option OPTIONS[] = {{"messages", required_argument, NULL, 'm'},
                                            {"seed", required_argument, NULL, 's'},
                                            {"seconds", required_argument, NULL, 't'},
                                            {NULL, 0, NULL, 0}};
    *storm = (struct storm){.messages = 6000, .seed = storm_new_seed(), .seconds = 60, .max_attempts = 8};
    for (int option; (option = getopt_long(argc, argv, "", OPTIONS, NULL)) != -1;) {
        if (option == 'm')
            storm->messages = number(optarg, 100000000);
        else if (option == 's')
            storm->seed = (uint64_t)number(optarg, INT64_MAX);
        else if (option == 't')
            storm->seconds = (int)number(optarg, 24 * 3600);
        else
            usage();
    }
    if (optind != argc - 1 || (strcmp(argv[optind], "sqlite") != 0 && strcmp(argv[optind], "postgres") != 0))
        usage();
    storm->postgres = strcmp(argv[optind], "postgres") == 0;
    storm->big = storm->messages >= 50000;
    storm->lease_max_ms = storm->big ? 15000 : 3000;
}

static int64_t count_unfinished(struct client *client) {
    boxcar_error error = BOXCAR_ERROR_INIT;
    boxcar_stats_list *list = NULL;
    if (!accept_status(client, boxcar_stats_read(client->store, BOXCAR_OUTBOX, false, &list, &error), &error,
                       "stats"))
        return -1;
    const boxcar_stats *all = list->items[0];
    int64_t unfinished = all->ready + all->waiting + all->in_progress;
    boxcar_list_free(list);
    return unfinished;
}

/* A few clean consumers take everything that is left. */
static bool drain_all(struct clients *clients) {
    struct client *self = &clients->self;
    int64_t end = now_us() + (60 + (int64_t)self->storm->seconds / 2) * 1000000;
    int64_t unfinished = -1;
    for (int i = 0; i < 4; i++)
        clients_add(clients, ROLE_DRAIN);
    if (client_open(self)) {
        while ((unfinished = count_unfinished(self)) != 0 && now_us() < end)
            pause_ms(200);
        boxcar_store_close(self->store);
    }
    clients_stop(clients);
    if (unfinished != 0)
        fprintf(stderr, "storm: %lld messages are left after draining\n", (long long)unfinished);
    return unfinished == 0;
}

static void show_tallies(const struct storm *storm) {
    printf("storm: %s, seed %llu:", storm->postgres ? "postgres" : "sqlite", (unsigned long long)storm->seed);
    for (int i = 0; i < TALLIES; i++)
        printf("%s %lld %s", i > 0 ? "," : "", (long long)atomic_load(&storm->board->tallies[i]),
               TALLY_NAMES[i]);
    printf("\n");
    fflush(stdout);
}

static int storm_run(struct storm *storm) {
    static const enum role ROLES[] = {ROLE_PRODUCER, ROLE_PRODUCER, ROLE_PRODUCER, ROLE_CONSUMER,
                                      ROLE_CONSUMER, ROLE_CONSUMER, ROLE_CONSUMER, ROLE_UPKEEP};
    struct clients clients;
    struct verdict verdict = {0};
    int64_t start = now_us();
    clients_init(&clients, storm);
    for (size_t i = 0; i < sizeof(ROLES) / sizeof(ROLES[0]); i++)
        clients_add(&clients, ROLES[i]);
    for (int i = 0; storm->postgres && i < (storm->big ? 6 : 2);
         i++) /* on SQLite nobody else could write meanwhile */
        clients_add(&clients, ROLE_SITTER);
    bool enough = clients_run(&clients);
    clients_stop(&clients);
    printf("storm: over after %.1f s\n", (double)(now_us() - start) / 1e6);
    bool drained = drain_all(&clients);
    printf("storm: drained after %.1f s\n", (double)(now_us() - start) / 1e6);
    journal_close(&clients.self.journal);
    show_tallies(storm);
    verdict_add(&verdict, "every message asked for was enqueued in time", !enough);
    verdict_add(&verdict, "everything could be drained", !drained);
    verdict_add(&verdict, "no client saw what must not be",
                atomic_load(&storm->board->tallies[TALLY_COMPLAINTS]));
    check_all(storm, &verdict);
    printf("storm: checked after %.1f s\n", (double)(now_us() - start) / 1e6);
    printf("%d passed, %d failed\n", verdict.passed, verdict.failed);
    return verdict.failed;
}

int main(int argc, char **argv) {
    struct storm storm;
    read_arguments(&storm, argc, argv);
    if (storm.postgres && !getenv("BOXCAR_TEST_POSTGRES"))
        return 77;
    storm_choose_place(&storm);
    storm_deploy(&storm);
    printf("storm: %s, --messages %lld --seed %llu --seconds %d, in %s\n",
           storm.postgres ? "postgres" : "sqlite", (long long)storm.messages, (unsigned long long)storm.seed,
           storm.seconds, storm.directory);
    int failed = storm_run(&storm);
    if (failed > 0) {
        printf("storm: FAILED with seed %llu; journals%s are kept in %s\n", (unsigned long long)storm.seed,
               storm.postgres ? "" : " and store", storm.directory);
        return 1;
    }
    storm_remove(&storm);
    return 0;
}
