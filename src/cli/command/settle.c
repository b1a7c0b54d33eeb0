/* What is done with leases by hand: boxcar ack, abandon, defer, fail, renew and reap. */
#include <stdio.h>

#include "common.h"

/* Each command has some of these options. */
static struct { char *owner, *delay, *error, *lease, *stages; } given;

#define OPTION_OWNER OPTION_TEXT("owner", given.owner, "the owner of the lease", "UUID")
#define OPTION_STAGES OPTION_TEXT("stages", given.stages, "the stages that are done, a sum of flags", "N")
#define OPTION_ERROR OPTION_TEXT("error", given.error, "what went wrong; 4 KiB of it are kept", "TEXT")

#define SETTLE_OUTPUT                                                                                        \
    "Prints the work ids that were affected, one a line; with -o json an array of numbers, with\n"           \
    "-o jsonl {\"work_id\": N} a line. An id that is not leased to this owner, or is leased under\n"         \
    "another epoch, is skipped; the exit status is 0 even if all were skipped. ID is a work id\n"            \
    "(digits) or a message id (a UUID). With --subscription the leases are that subscription's.\n"

static json_t *ids_json(const boxcar_work_id *ids, size_t count) {
    json_t *array = json_array();
    bool good = true;
    for (size_t i = 0; good && i < count; i++)
        good = json_array_append_new(array, json_integer(ids[i].value)) == 0;
    return json_finish(array, good);
}

static int print(const struct cli *cli, const boxcar_work_id *ids, size_t count) {
    if (cli->format == CLI_FORMAT_JSON)
        return output_object(cli, ids_json(ids, count));
    for (size_t i = 0; i < count; i++)
        printf(cli->format == CLI_FORMAT_JSONL ? "{\"work_id\":%lld}\n" : "%lld\n", (long long)ids[i].value);
    return CLI_DONE;
}

/* The ID arguments. */
static bool read_ids(const struct cli *cli, int64_t delay_ms, int stages, boxcar_settlement *ret_items) {
    for (size_t i = 0; cli->args[i]; i++) {
        if (!value_lease(cli, cli->args[i], &ret_items[i]))
            return false;
        ret_items[i].delay_ms = delay_ms;
        ret_items[i].error = boxcar_str_of(given.error);
        ret_items[i].stages = stages;
    }
    return true;
}

static int settle(struct cli *cli, boxcar_settle_kind kind) {
    boxcar_claimer claimer = BOXCAR_CLAIMER_INIT;
    int64_t delay_ms = BOXCAR_BACKOFF;
    int stages = 0;
    if (!value_owner(cli, given.owner, &claimer.owner) || !common_check_reader(cli) ||
        !value_delay(cli, given.delay, &delay_ms) || !value_lease_time(cli, given.lease, &claimer.lease_ms) ||
        !value_count(cli, "--stages", given.stages, &stages))
        return CLI_USAGE;
    if (!cli->args[0])
        return cli_usage(cli,
                         "ID is missing: give one or more, work ids or message ids, as claim printed them");
    size_t count = cli_args_count(cli->args), affected_count = 0;
    AUTO_FREE boxcar_settlement *items = calloc(count, sizeof(*items));
    AUTO_FREE boxcar_work_id *affected = calloc(count, sizeof(*affected));
    if (!items || !affected)
        return cli_no_memory(cli);
    if (!read_ids(cli, delay_ms, stages, items))
        return CLI_USAGE;
    TRY(common_open_reader(cli, &claimer.box));
    TRY(cli_check(
        cli, boxcar_settle(cli->store, &claimer, kind, items, count, affected, &affected_count, &cli->err)));
    return print(cli, affected, affected_count);
}

/* ---- boxcar ack: mark leased messages as done ---- */

static struct poptOption ACK_OPTIONS[] = {OPTION_OWNER, OPTION_STAGES, OPTIONS_READER, POPT_TABLEEND};

static int run_ack(struct cli *cli) { return settle(cli, BOXCAR_ACK); }

static const struct command CMD_ACK = {
    .name = "ack",
    .summary = "mark leased messages as done",
    .usage = "--owner UUID ID[:EPOCH]... [--stages N] [--box BOX|--subscription NAME]",
    .description =
        "Finishes messages for good. With :EPOCH only the lease that claim printed counts, without it\n"
        "any lease that this owner holds. An ack after the end of the lease still counts until the\n"
        "message is reaped or claimed.\n"
        "\n" SETTLE_OUTPUT,
    .examples = "boxcar ack --owner 0b0e7d5e-7d2c-4f0e-8f0f-3d9f4a1c2b11 1 2:1700000000000000\n",
    .options = ACK_OPTIONS,
    .most_args = CLI_ANY_ARGS,
    .run = run_ack,
};

/* ---- boxcar abandon: give messages back after a bad attempt ---- */

static struct poptOption ABANDON_OPTIONS[] = {
    OPTION_OWNER,
    OPTION_STAGES,
    OPTION_ERROR,
    OPTION_TEXT("delay", given.delay, "until the next attempt (default: the store's backoff)", "DUR"),
    OPTIONS_READER,
    POPT_TABLEEND,
};

static int run_abandon(struct cli *cli) { return settle(cli, BOXCAR_ABANDON); }

static const struct command CMD_ABANDON = {
    .name = "abandon",
    .summary = "give messages back after a bad attempt",
    .usage = "--owner UUID ID[:EPOCH]... [--error TEXT] [--delay DUR] [--stages N] [--box BOX|--subscription "
             "NAME]",
    .description =
        "Counts an attempt and makes the messages ready again after a backoff that grows with each.\n"
        "A message whose attempts are used up becomes a dead letter (exhausted).\n"
        "\n" SETTLE_OUTPUT,
    .examples = "boxcar abandon --owner 0b0e7d5e-7d2c-4f0e-8f0f-3d9f4a1c2b11 1 --error 'connection refused' "
                "--delay 10s\n",
    .options = ABANDON_OPTIONS,
    .most_args = CLI_ANY_ARGS,
    .run = run_abandon,
};

/* ---- boxcar defer: give messages back for later, no attempt spent ---- */

static struct poptOption DEFER_OPTIONS[] = {
    OPTION_OWNER,
    OPTION_STAGES,
    OPTION_TEXT("delay", given.delay, "until they are ready again (default: at once)", "DUR"),
    OPTIONS_READER,
    POPT_TABLEEND,
};

static int run_defer(struct cli *cli) { return settle(cli, BOXCAR_DEFER); }

static const struct command CMD_DEFER = {
    .name = "defer",
    .summary = "give messages back for later, no attempt spent",
    .usage = "--owner UUID ID[:EPOCH]... [--delay DUR] [--stages N] [--box BOX|--subscription NAME]",
    .description = "For waiting, for rate limits, and for work that was not started before a shutdown.\n"
                   "\n" SETTLE_OUTPUT,
    .examples = "boxcar defer --owner 0b0e7d5e-7d2c-4f0e-8f0f-3d9f4a1c2b11 1 --delay 1m\n",
    .options = DEFER_OPTIONS,
    .most_args = CLI_ANY_ARGS,
    .run = run_defer,
};

/* ---- boxcar fail: give messages up: they become dead letters ---- */

static struct poptOption FAIL_OPTIONS[] = {
    OPTION_OWNER, OPTION_STAGES, OPTION_ERROR, OPTIONS_READER, POPT_TABLEEND,
};

static int run_fail(struct cli *cli) { return settle(cli, BOXCAR_FAIL); }

static const struct command CMD_FAIL = {
    .name = "fail",
    .summary = "give messages up: they become dead letters",
    .usage = "--owner UUID ID[:EPOCH]... [--error TEXT] [--stages N] [--box BOX|--subscription NAME]",
    .description = "For messages that no further attempt can help (reason rejected). See boxcar help dead.\n"
                   "\n" SETTLE_OUTPUT,
    .examples = "boxcar fail --owner 0b0e7d5e-7d2c-4f0e-8f0f-3d9f4a1c2b11 1 --error 'no such customer'\n",
    .options = FAIL_OPTIONS,
    .most_args = CLI_ANY_ARGS,
    .run = run_fail,
};

/* ---- boxcar renew: extend leases ---- */

static struct poptOption RENEW_OPTIONS[] = {
    OPTION_OWNER,
    OPTION_TEXT("lease", given.lease, "from now on, 100ms to 24h (default 30s)", "DUR"),
    OPTIONS_READER,
    POPT_TABLEEND,
};

static int run_renew(struct cli *cli) { return settle(cli, BOXCAR_RENEW); }

static const struct command CMD_RENEW = {
    .name = "renew",
    .summary = "extend leases",
    .usage = "--owner UUID ID[:EPOCH]... [--lease DUR] [--box BOX|--subscription NAME]",
    .description =
        "The leases end the given time from now, never earlier than before. If an id is not printed, its\n"
        "lease is lost: another owner may work on that message already.\n"
        "\n" SETTLE_OUTPUT,
    .examples = "boxcar renew --owner 0b0e7d5e-7d2c-4f0e-8f0f-3d9f4a1c2b11 1 --lease 2m\n",
    .options = RENEW_OPTIONS,
    .most_args = CLI_ANY_ARGS,
    .run = run_renew,
};

/* ---- boxcar reap: releases messages whose lease has ended ---- */

static int run_reap(struct cli *cli) {
    boxcar_box reader;
    int64_t count = 0;
    TRY(common_open_reader(cli, &reader));
    TRY(cli_check(cli, boxcar_reap(cli->store, reader, &count, &cli->err)));
    return output_count(cli, "reaped", count);
}

static const struct command CMD_REAP = {
    .name = "reap",
    .summary = "release messages whose lease has ended",
    .usage = "[--box BOX|--subscription NAME]",
    .description =
        "Counts an attempt for each message and makes it ready again, or a dead letter when its attempts\n"
        "are used up. A claim does the same first. Prints how many; with -o json {\"reaped\": N}.\n",
    .examples = "boxcar reap\n",
    .options = COMMON_READER_OPTIONS,
    .run = run_reap,
};

const struct command_noun SETTLE_COMMANDS = {
    "Work by hand", (const struct command *const[]){&CMD_ACK, &CMD_ABANDON, &CMD_DEFER, &CMD_FAIL, &CMD_RENEW,
                                                    &CMD_REAP, NULL}};
