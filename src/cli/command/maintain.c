/* boxcar maintain: upkeep, once or again and again. */
#include <stdio.h>

#include "cli/output/progress.h"
#include "cli/service/stop.h"
#include "common.h"

static int once;
static char *interval_given;

static struct poptOption OPTIONS[] = {
    OPTION_FLAG("once", once, "stop when nothing is left to do"),
    OPTION_TEXT("interval", interval_given, "time between rounds, 100ms to 24h (default 1m)", "DUR"),
    POPT_TABLEEND,
};

static json_t *maintenance_json(const boxcar_maintenance *sum) {
    json_t *object = json_object();
    bool good = json_put(object, "reaped", json_integer(sum->reaped)) &&
                json_put(object, "expired", json_integer(sum->expired)) &&
                json_put(object, "purged_done", json_integer(sum->purged_done)) &&
                json_put(object, "purged_dead", json_integer(sum->purged_dead)) &&
                json_put(object, "settled", json_integer(sum->settled)) &&
                json_put(object, "timed_out", json_integer(sum->timed_out)) &&
                json_put(object, "purged_joins", json_integer(sum->purged_joins)) &&
                json_put(object, "purged_keys", json_integer(sum->purged_keys));
    return json_finish(object, good);
}

static int print(const struct cli *cli, const boxcar_maintenance *sum) {
    if (!cli_is_for_people(cli))
        return output_object(cli, maintenance_json(sum));
    printf("reaped %lld, expired %lld, purged %lld done and %lld dead", (long long)sum->reaped,
           (long long)sum->expired, (long long)sum->purged_done, (long long)sum->purged_dead);
    printf("; joins: settled %lld, timed out %lld, purged %lld; inbox: purged %lld keys\n",
           (long long)sum->settled, (long long)sum->timed_out, (long long)sum->purged_joins,
           (long long)sum->purged_keys);
    return CLI_DONE;
}

/* Works until nothing is left, or until told to stop. */
static boxcar_status maintain_all(struct cli *cli, struct progress *progress, boxcar_maintenance *sum) {
    boxcar_status status = BOXCAR_OK;
    for (bool more = true; more && status == BOXCAR_OK && !stop_wanted();) {
        boxcar_maintenance round = BOXCAR_MAINTENANCE_INIT;
        status = boxcar_maintenance_run(cli->store, &round, &cli->err);
        sum->reaped += round.reaped;
        sum->expired += round.expired;
        sum->purged_done += round.purged_done;
        sum->purged_dead += round.purged_dead;
        sum->settled += round.settled;
        sum->timed_out += round.timed_out;
        sum->purged_joins += round.purged_joins;
        sum->purged_keys += round.purged_keys;
        more = round.more;
        progress_count(progress, sum->reaped + sum->expired + sum->purged_done + sum->purged_dead +
                                     sum->settled + sum->timed_out + sum->purged_joins + sum->purged_keys);
    }
    return status;
}

static int maintain_round(struct cli *cli) {
    boxcar_maintenance sum = BOXCAR_MAINTENANCE_INIT;
    struct progress *progress = progress_begin(cli, "reaping, expiring and purging");
    boxcar_status status = maintain_all(cli, progress, &sum);
    progress_end(progress);
    TRY(cli_check(cli, status));
    TRY(print(cli, &sum));
    return output_flush(cli);
}

/* A failure that may pass by itself (a restart of the server, a busy file) is reported, and the round tried
 * again. */
static int maintain_for_ever(struct cli *cli, int64_t interval_ms) {
    stop_catch_signals();
    while (!stop_wanted()) {
        cli->err = BOXCAR_ERROR_INIT;
        int result = maintain_round(cli);
        if (result != CLI_DONE && !cli->err.retryable)
            return result;
        stop_wait_ms(interval_ms);
    }
    return CLI_DONE;
}

static int run(struct cli *cli) {
    int64_t interval_ms = 60000;
    if (!value_duration(cli, "--interval", interval_given, 100, INT64_C(86400000), &interval_ms))
        return CLI_USAGE;
    TRY(cli_store_open(cli));
    return once ? maintain_round(cli) : maintain_for_ever(cli, interval_ms);
}

static const struct command CMD_MAINTAIN = {
    .name = "maintain",
    .summary = "reap, expire, count late steps of joins, purge what is past its retention",
    .usage = "[--interval DUR]\n"
             "--once",
    .description =
        "Releases expired leases, makes expired messages dead letters, counts steps of joins that were not\n"
        "counted yet, and removes messages, joins and keys after their retention (see boxcar settings).\n"
        "It is safe to run from many hosts at once.\n"
        "\n"
        "Without --once it runs until SIGTERM or SIGINT, which end it with exit status 0. Each round prints\n"
        "a line; with -o json an object with reaped, expired, purged_done, purged_dead (messages), settled\n"
        "(members of joins that had ended before they were attached), timed_out, purged_joins and\n"
        "purged_keys (of the inbox).\n",
    .examples = "boxcar maintain --once\n"
                "boxcar maintain --once -o json\n",
    .options = OPTIONS,
    .run = run,
};

const struct command_noun MAINTAIN_COMMANDS = {"Upkeep",
                                               (const struct command *const[]){&CMD_MAINTAIN, NULL}};
