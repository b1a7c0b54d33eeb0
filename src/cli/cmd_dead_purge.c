/* boxcar dead purge: removes dead letters for good. */
#include "commands.h"
#include "dead.h"

static struct dead_given given;

static struct poptOption OPTIONS[] = {DEAD_OPTIONS(given, "every dead letter"), POPT_TABLEEND};

static boxcar_status purge(boxcar_store *store, const boxcar_dead_filter *filter, const char *note,
                           int64_t *ret_count, boxcar_error *err) {
    (void)note;
    return boxcar_dead_purge(store, filter, ret_count, err);
}

static int run(struct cli *cli, const char *const *args) {
    return dead_act(cli, &given, args, purge, NULL, "purged");
}

const struct command CMD_DEAD_PURGE = {
    .name = "dead purge",
    .summary = "remove dead letters for good",
    .usage = "ID...\n"
             "[--topic TOPIC] [--reason REASON] [--before TIME]\n"
             "--all",
    .description = "Removes the chosen messages and their history. Prints how many; with -o json\n"
                   "{\"purged\": N}. Ids of which none is a dead letter give exit status 3.\n",
    .examples = "boxcar dead purge 1\n"
                "boxcar dead purge --reason cancelled --before 2026-01-31T12:00:00Z\n",
    .options = OPTIONS,
    .run = run,
};
