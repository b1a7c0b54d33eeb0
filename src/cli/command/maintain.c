/* boxcar maintain: upkeep, once or again and again. */
#include <stdio.h>

#include "cli/input/values.h"
#include "cli/output/message_json.h"
#include "cli/output/output.h"
#include "cli/output/progress.h"
#include "cli/output/report.h"
#include "cli/service/stop.h"
#include "commands.h"

static int once;
static char *interval_text;

static struct poptOption OPTIONS[] = {
    {"once", 0, POPT_ARG_NONE, &once, 0, "stop when nothing is left to do", NULL},
    {"interval", 0, POPT_ARG_STRING, &interval_text, 0, "between rounds, 100ms to 24h (default 1m)", "DUR"},
    POPT_TABLEEND};

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
    int result = CLI_DONE;
    if (output_format(cli, CLI_FORMAT_TABLE) != CLI_FORMAT_TABLE) {
        result = output_object(cli, maintenance_json(sum));
    } else {
        printf("reaped %lld, expired %lld, purged %lld done and %lld dead", (long long)sum->reaped,
               (long long)sum->expired, (long long)sum->purged_done, (long long)sum->purged_dead);
        printf("; joins: settled %lld, timed out %lld, purged %lld; inbox: purged %lld keys\n",
               (long long)sum->settled, (long long)sum->timed_out, (long long)sum->purged_joins,
               (long long)sum->purged_keys);
    }
    return result == CLI_DONE ? output_flush(cli) : result;
}

/* Works until nothing is left, or until told to stop. */
static boxcar_status maintain_all(struct cli *cli, struct progress *progress, boxcar_maintenance *ret_sum,
                                  boxcar_error *err) {
    boxcar_maintenance sum = {.struct_size = sizeof(boxcar_maintenance), .more = true};
    while (sum.more && !stop_wanted()) {
        boxcar_maintenance round = BOXCAR_MAINTENANCE_INIT;
        boxcar_status status = boxcar_maintenance_run(cli->store, &round, err);
        if (status != BOXCAR_OK)
            return status;
        sum.reaped += round.reaped;
        sum.expired += round.expired;
        sum.purged_done += round.purged_done;
        sum.purged_dead += round.purged_dead;
        sum.settled += round.settled;
        sum.timed_out += round.timed_out;
        sum.purged_joins += round.purged_joins;
        sum.purged_keys += round.purged_keys;
        sum.more = round.more;
        progress_count(progress, sum.reaped + sum.expired + sum.purged_done + sum.purged_dead + sum.settled +
                                     sum.timed_out + sum.purged_joins + sum.purged_keys);
    }
    *ret_sum = sum;
    return BOXCAR_OK;
}

static boxcar_status maintain_shown(struct cli *cli, boxcar_maintenance *ret_sum, boxcar_error *err) {
    struct progress *progress = progress_begin(cli, "reaping, expiring and purging");
    boxcar_status status = maintain_all(cli, progress, ret_sum, err);
    progress_end(progress);
    return status;
}

static int maintain_once(struct cli *cli) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_maintenance sum = BOXCAR_MAINTENANCE_INIT;
    if (maintain_shown(cli, &sum, &err) != BOXCAR_OK)
        return cli_fail_with(cli, &err);
    return print(cli, &sum);
}

/* A failure that may pass by itself (a restart of the server, a busy file) is reported, and the round tried
 * again. */
static int maintain_round(struct cli *cli) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_maintenance sum = BOXCAR_MAINTENANCE_INIT;
    if (maintain_shown(cli, &sum, &err) == BOXCAR_OK)
        return print(cli, &sum);
    int result = cli_fail_with(cli, &err);
    return err.retryable ? CLI_DONE : result;
}

static int maintain_for_ever(struct cli *cli, int64_t interval_ms) {
    int result = CLI_DONE;
    stop_catch_signals();
    while (result == CLI_DONE && !stop_wanted()) {
        result = maintain_round(cli);
        if (result == CLI_DONE)
            stop_wait_ms(interval_ms);
    }
    return result;
}

static int run(struct cli *cli, const char *const *args) {
    int64_t interval_ms = 60000;
    if (!cli_args_at_most(cli, args, 0) ||
        !value_duration(cli, "--interval", interval_text, 100, INT64_C(86400000), &interval_ms))
        return CLI_USAGE;
    int result = cli_store_open(cli);
    if (result != CLI_DONE)
        return result;
    return once ? maintain_once(cli) : maintain_for_ever(cli, interval_ms);
}

static const struct command CMD_MAINTAIN = {
    .name = "maintain",
    .summary = "reap, expire, settle joins, purge what is past its retention",
    .usage = "[--interval DUR]\n"
             "--once",
    .description =
        "Without --once it runs until SIGTERM or SIGINT, which end it with exit status 0. Each round prints\n"
        "a line; with -o json an object with reaped, expired, purged_done, purged_dead (messages), settled\n"
        "(members of joins that had ended before they were attached), timed_out, purged_joins and\n"
        "purged_keys (of the inbox). It is safe to run from many hosts at once. Settings say how long the\n"
        "store keeps messages, joins and keys.\n",
    .examples = "boxcar maintain --once\n"
                "boxcar maintain --once -o json\n",
    .options = OPTIONS,
    .run = run,
};

const struct command_noun MAINTAIN_COMMANDS = {"Upkeep",
                                               (const struct command *const[]){&CMD_MAINTAIN, NULL}};
