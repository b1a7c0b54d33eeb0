/* What is done with leases by hand: boxcar ack, abandon, defer, fail, renew and reap. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/input/options.h"
#include "cli/input/values.h"
#include "cli/output/output.h"
#include "cli/output/report.h"
#include "commands.h"

/* What the command was given, as typed; NULL where it has no such option. */
struct settle_given {
    const char *owner;
    const char *box;
    const char *delay;
    const char *error;
    const char *lease;
    const char *stages;
};

#define SETTLE_OPTION_OWNER(given)                                                                           \
    { "owner", 0, POPT_ARG_STRING, &(given).owner, 0, "the owner of the lease", "UUID" }

#define SETTLE_OPTION_STAGES(given)                                                                          \
    { "stages", 0, POPT_ARG_STRING, &(given).stages, 0, "the stages that are done, a sum of flags", "N" }

#define SETTLE_OUTPUT                                                                                        \
    "Prints the work ids that were affected, one a line; with -o json an array of numbers, with\n"           \
    "-o jsonl {\"work_id\": N} a line. An id that is not leased to this owner, or under another\n"           \
    "epoch, is passed over: exit status 0 also when none was affected. ID is a work id (digits) or a\n"      \
    "message id (a UUID).\n"

struct settlements {
    boxcar_settlement *items;
    boxcar_work_id *affected;
    size_t count, affected_count;
};

static bool read_ids(const struct cli *cli, const char *const *args, struct settlements *settlements) {
    settlements->count = cli_args_count(args);
    settlements->items = calloc(settlements->count + 1, sizeof(*settlements->items));
    settlements->affected = calloc(settlements->count + 1, sizeof(*settlements->affected));
    if (!settlements->items || !settlements->affected) {
        cli_no_memory(cli);
        return false;
    }
    for (size_t i = 0; i < settlements->count; i++)
        if (!value_lease(cli, args[i], &settlements->items[i]))
            return false;
    return true;
}

static json_t *affected_json(const struct settlements *settlements) {
    json_t *array = json_array();
    for (size_t i = 0; i < settlements->affected_count; i++) {
        if (json_array_append_new(array, json_integer(settlements->affected[i].value)) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

static int print(const struct cli *cli, const struct settlements *settlements) {
    enum cli_format format = output_format(cli, CLI_FORMAT_TABLE);
    if (format == CLI_FORMAT_JSON)
        return output_object(cli, affected_json(settlements));
    for (size_t i = 0; i < settlements->affected_count; i++) {
        printf(format == CLI_FORMAT_JSONL ? "{\"work_id\":%lld}\n" : "%lld\n",
               (long long)settlements->affected[i].value);
    }
    return CLI_DONE;
}

static int settle_all(struct cli *cli, boxcar_settle_kind kind, const boxcar_claimer *claimer,
                      struct settlements *settlements) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    int result = cli_store_open(cli);
    if (result != CLI_DONE)
        return result;
    if (boxcar_settle(cli->store, claimer, kind, settlements->items, settlements->count,
                      settlements->affected, &settlements->affected_count, &err) != BOXCAR_OK)
        return cli_fail_with(cli, &err);
    return print(cli, settlements);
}

static int settle_run(struct cli *cli, boxcar_settle_kind kind, const struct settle_given *given,
                      const char *const *args) {
    boxcar_claimer claimer = BOXCAR_CLAIMER_INIT;
    int64_t delay_ms = BOXCAR_BACKOFF;
    int stages = 0;
    if (!value_owner(cli, given->owner, &claimer.owner) || !value_box(cli, given->box, &claimer.box) ||
        !value_delay(cli, given->delay, &delay_ms) ||
        !value_lease_time(cli, given->lease, &claimer.lease_ms) ||
        !value_count(cli, "--stages", given->stages, &stages))
        return CLI_USAGE;
    if (!args[0])
        return cli_usage(cli,
                         "ID is missing: give one or more, work ids or message ids, as claim printed them");
    struct settlements settlements = {0};
    int result = CLI_USAGE;
    if (read_ids(cli, args, &settlements)) {
        for (size_t i = 0; i < settlements.count; i++) {
            settlements.items[i].delay_ms = delay_ms;
            settlements.items[i].error = boxcar_str_of(given->error);
            settlements.items[i].stages = stages;
        }
        result = settle_all(cli, kind, &claimer, &settlements);
    }
    free(settlements.items);
    free(settlements.affected);
    return result;
}

/* ---- boxcar ack: mark leased messages as done ---- */

static struct { char *owner, *box, *stages; } ack_given;

static struct poptOption ACK_OPTIONS[] = {SETTLE_OPTION_OWNER(ack_given), SETTLE_OPTION_STAGES(ack_given),
                                          OPTION_BOX(ack_given.box), POPT_TABLEEND};

static int run_ack(struct cli *cli, const char *const *args) {
    struct settle_given typed = {.owner = ack_given.owner, .box = ack_given.box, .stages = ack_given.stages};
    return settle_run(cli, BOXCAR_ACK, &typed, args);
}

static const struct command CMD_ACK = {
    .name = "ack",
    .summary = "mark leased messages as done",
    .usage = "--owner UUID ID[:EPOCH]... [--stages N] [--box BOX]",
    .description =
        "Finishes messages for good. With :EPOCH only the lease that claim printed counts, without it\n"
        "any lease that this owner holds. An ack after the end of the lease still counts until the\n"
        "message is reaped or claimed.\n"
        "\n" SETTLE_OUTPUT,
    .examples = "boxcar ack --owner 0b0e7d5e-7d2c-4f0e-8f0f-3d9f4a1c2b11 1 2:1700000000000000\n",
    .options = ACK_OPTIONS,
    .run = run_ack,
};

/* ---- boxcar abandon: give messages back after a bad attempt ---- */

static struct { char *owner, *box, *stages, *error, *delay; } abandon_given;

static struct poptOption ABANDON_OPTIONS[] = {
    SETTLE_OPTION_OWNER(abandon_given),
    SETTLE_OPTION_STAGES(abandon_given),
    {"error", 0, POPT_ARG_STRING, &abandon_given.error, 0, "what went wrong; 4 KiB of it are kept", "TEXT"},
    {"delay", 0, POPT_ARG_STRING, &abandon_given.delay, 0,
     "until the next attempt (default: the store's backoff)", "DUR"},
    OPTION_BOX(abandon_given.box),
    POPT_TABLEEND};

static int run_abandon(struct cli *cli, const char *const *args) {
    struct settle_given typed = {.owner = abandon_given.owner,
                                 .box = abandon_given.box,
                                 .stages = abandon_given.stages,
                                 .error = abandon_given.error,
                                 .delay = abandon_given.delay};
    return settle_run(cli, BOXCAR_ABANDON, &typed, args);
}

static const struct command CMD_ABANDON = {
    .name = "abandon",
    .summary = "give messages back after a bad attempt",
    .usage = "--owner UUID ID[:EPOCH]... [--error TEXT] [--delay DUR] [--stages N] [--box BOX]",
    .description =
        "Counts an attempt and makes the messages ready again after a backoff that grows with each.\n"
        "A message whose attempts are used up becomes a dead letter (exhausted).\n"
        "\n" SETTLE_OUTPUT,
    .examples = "boxcar abandon --owner 0b0e7d5e-7d2c-4f0e-8f0f-3d9f4a1c2b11 1 --error 'connection refused' "
                "--delay 10s\n",
    .options = ABANDON_OPTIONS,
    .run = run_abandon,
};

/* ---- boxcar defer: give messages back for later, no attempt spent ---- */

static struct { char *owner, *box, *stages, *delay; } defer_given;

static struct poptOption DEFER_OPTIONS[] = {SETTLE_OPTION_OWNER(defer_given),
                                            SETTLE_OPTION_STAGES(defer_given),
                                            {"delay", 0, POPT_ARG_STRING, &defer_given.delay, 0,
                                             "until they are ready again (default: at once)", "DUR"},
                                            OPTION_BOX(defer_given.box),
                                            POPT_TABLEEND};

static int run_defer(struct cli *cli, const char *const *args) {
    struct settle_given typed = {.owner = defer_given.owner,
                                 .box = defer_given.box,
                                 .stages = defer_given.stages,
                                 .delay = defer_given.delay};
    return settle_run(cli, BOXCAR_DEFER, &typed, args);
}

static const struct command CMD_DEFER = {
    .name = "defer",
    .summary = "give messages back for later, no attempt spent",
    .usage = "--owner UUID ID[:EPOCH]... [--delay DUR] [--stages N] [--box BOX]",
    .description = "For waiting, for rate limits, and for work that was not started before a shutdown.\n"
                   "\n" SETTLE_OUTPUT,
    .examples = "boxcar defer --owner 0b0e7d5e-7d2c-4f0e-8f0f-3d9f4a1c2b11 1 --delay 1m\n",
    .options = DEFER_OPTIONS,
    .run = run_defer,
};

/* ---- boxcar fail: give messages up: they become dead letters ---- */

static struct { char *owner, *box, *stages, *error; } fail_given;

static struct poptOption FAIL_OPTIONS[] = {
    SETTLE_OPTION_OWNER(fail_given),
    SETTLE_OPTION_STAGES(fail_given),
    {"error", 0, POPT_ARG_STRING, &fail_given.error, 0, "what went wrong; 4 KiB of it are kept", "TEXT"},
    OPTION_BOX(fail_given.box),
    POPT_TABLEEND};

static int run_fail(struct cli *cli, const char *const *args) {
    struct settle_given typed = {.owner = fail_given.owner,
                                 .box = fail_given.box,
                                 .stages = fail_given.stages,
                                 .error = fail_given.error};
    return settle_run(cli, BOXCAR_FAIL, &typed, args);
}

static const struct command CMD_FAIL = {
    .name = "fail",
    .summary = "give messages up: they become dead letters",
    .usage = "--owner UUID ID[:EPOCH]... [--error TEXT] [--stages N] [--box BOX]",
    .description = "For messages that no further attempt can help (reason rejected). See boxcar help dead.\n"
                   "\n" SETTLE_OUTPUT,
    .examples = "boxcar fail --owner 0b0e7d5e-7d2c-4f0e-8f0f-3d9f4a1c2b11 1 --error 'no such customer'\n",
    .options = FAIL_OPTIONS,
    .run = run_fail,
};

/* ---- boxcar renew: extend leases ---- */

static struct { char *owner, *box, *lease; } renew_given;

static struct poptOption RENEW_OPTIONS[] = {
    SETTLE_OPTION_OWNER(renew_given),
    {"lease", 0, POPT_ARG_STRING, &renew_given.lease, 0, "from now on, 100ms to 24h (default 30s)", "DUR"},
    OPTION_BOX(renew_given.box),
    POPT_TABLEEND};

static int run_renew(struct cli *cli, const char *const *args) {
    struct settle_given typed = {
        .owner = renew_given.owner, .box = renew_given.box, .lease = renew_given.lease};
    return settle_run(cli, BOXCAR_RENEW, &typed, args);
}

static const struct command CMD_RENEW = {
    .name = "renew",
    .summary = "extend leases",
    .usage = "--owner UUID ID[:EPOCH]... [--lease DUR] [--box BOX]",
    .description =
        "The leases end the given time from now, never earlier than before. If an id is not printed, its\n"
        "lease is lost: another owner may work on that message already.\n"
        "\n" SETTLE_OUTPUT,
    .examples = "boxcar renew --owner 0b0e7d5e-7d2c-4f0e-8f0f-3d9f4a1c2b11 1 --lease 2m\n",
    .options = RENEW_OPTIONS,
    .run = run_renew,
};

/* ---- boxcar reap: releases messages whose lease has ended ---- */

static char *reap_box_name;

static struct poptOption REAP_OPTIONS[] = {OPTION_BOX(reap_box_name), POPT_TABLEEND};

static int run_reap(struct cli *cli, const char *const *args) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    int64_t count = 0;
    boxcar_box box = BOXCAR_OUTBOX;
    if (!cli_args_at_most(cli, args, 0) || !value_box(cli, reap_box_name, &box))
        return CLI_USAGE;
    int result = cli_store_open(cli);
    if (result != CLI_DONE)
        return result;
    if (boxcar_reap(cli->store, box, &count, &err) != BOXCAR_OK)
        return cli_fail_with(cli, &err);
    return output_count(cli, "reaped", count);
}

static const struct command CMD_REAP = {
    .name = "reap",
    .summary = "release messages whose lease has ended",
    .usage = "[--box BOX]",
    .description =
        "Counts an attempt for each message and makes it ready again, or a dead letter when its attempts\n"
        "are used up. A claim does the same first. Prints how many; with -o json {\"reaped\": N}.\n",
    .examples = "boxcar reap\n",
    .options = REAP_OPTIONS,
    .run = run_reap,
};

const struct command_noun SETTLE_COMMANDS = {
    "Work by hand", (const struct command *const[]){&CMD_ACK, &CMD_ABANDON, &CMD_DEFER, &CMD_FAIL, &CMD_RENEW,
                                                    &CMD_REAP, NULL}};
