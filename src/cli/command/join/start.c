/* boxcar join start: a new join. */
#include "cli/input/payload.h"
#include "join.h"

static struct { char *expected, *grouping_key, *metadata, *deadline, *join_id; } given;

static struct poptOption OPTIONS[] = {
    OPTION_TEXT("expected", given.expected, "how many steps end the join, from 1 on", "N"),
    OPTION_TEXT("grouping-key", given.grouping_key, "what it belongs to, up to 255 characters", "TEXT"),
    OPTION_TEXT("metadata", given.metadata, "any text to keep with it; - is standard input", "JSON|-"),
    OPTION_TEXT("deadline", given.deadline, "if still pending then, the join fails (timed_out)", "DUR|TIME"),
    OPTION_TEXT("join-id", given.join_id, "its id; starting one that exists changes nothing", "UUID"),
    POPT_TABLEEND,
};

static int read_expected(const struct cli *cli, int64_t *ret_steps) {
    if (!given.expected)
        return cli_usage(cli, "--expected is missing: give how many steps end the join");
    if (!value_parse_integer(given.expected, ret_steps))
        return cli_usage(cli, "--expected is '%.64s': give a whole number, 1 to %d", given.expected,
                         BOXCAR_EXPECTED_STEPS_MAX);
    return CLI_DONE;
}

/* 0 is refused: to the library it means "never", and a user who types it means "now". */
static bool read_deadline(const struct cli *cli, boxcar_new_join *join) {
    boxcar_str text = boxcar_str_of(given.deadline);
    int64_t ms;
    if (!given.deadline || boxcar_time_parse(text, &join->deadline))
        return true;
    if (boxcar_duration_parse(text, &ms))
        return value_duration(cli, "--deadline", given.deadline, 1, BOXCAR_DELAY_MS_MAX, &join->deadline_ms);
    cli_usage(cli,
              "--deadline is '%.64s': give a duration such as 30s or 2h, or an RFC 3339 time such as "
              "2026-01-31T12:00:00Z",
              given.deadline);
    return false;
}

/* Standard input comes last, so that a bad option does not wait for it. */
static int run(struct cli *cli) {
    boxcar_new_join join = BOXCAR_NEW_JOIN_INIT;
    boxcar_join_id join_id;
    AUTO_FREE char *read = NULL;
    join.grouping_key = boxcar_str_of(given.grouping_key);
    TRY(read_expected(cli, &join.expected_steps));
    if (!read_deadline(cli, &join) || !value_join_id(cli, "--join-id", given.join_id, &join.join_id))
        return CLI_USAGE;
    if (given.metadata)
        TRY(payload_read(cli, given.metadata, &read, &join.metadata));
    TRY(cli_store_open(cli));
    TRY(cli_check(cli, boxcar_join_start(cli->store, &join, &join_id, &cli->err)));
    return join_print_id(cli, join_id);
}

const struct command CMD_JOIN_START = {
    .name = "join start",
    .summary = "start a join and print its id",
    .usage = "--expected N [--grouping-key TEXT] [--metadata JSON|-] [--deadline DUR|TIME] [--join-id UUID]",
    .description =
        "The join is pending until N of its members have ended. It may have more than N members: the first\n"
        "N to end count. Prints its id; with -o json {\"join_id\": ...}.\n"
        "\n"
        "--metadata takes any text, JSON or not, and - reads it from standard input, byte for byte.\n"
        "--deadline takes a duration from now, 1ms to 3650d, or a time. If that time has passed, the join\n"
        "times out as soon as an operation touches it. If a join with this --join-id exists, the command\n"
        "leaves it as it is and prints its id.\n",
    .examples = "boxcar join start --expected 3\n"
                "boxcar join start --expected 3 --grouping-key order-42 --metadata '{\"kind\": \"etl\"}' "
                "--deadline 2h\n"
                "echo '{\"kind\": \"etl\"}' | boxcar join start --expected 3 --metadata -\n",
    .options = OPTIONS,
    .run = run,
};
