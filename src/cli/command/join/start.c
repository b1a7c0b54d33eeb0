/* boxcar join start: a new join. */
#include <stdlib.h>

#include "cli/command/commands.h"
#include "cli/input/payload.h"
#include "cli/input/values.h"
#include "cli/output/report.h"
#include "join.h"

static struct { char *expected, *grouping_key, *metadata, *deadline, *join_id; } given;

static struct poptOption OPTIONS[] = {
    {"expected", 0, POPT_ARG_STRING, &given.expected, 0, "how many steps end the join, from 1 on", "N"},
    {"grouping-key", 0, POPT_ARG_STRING, &given.grouping_key, 0, "what it belongs to, up to 255 characters",
     "TEXT"},
    {"metadata", 0, POPT_ARG_STRING, &given.metadata, 0, "any text to keep with it; - is standard input",
     "JSON|-"},
    {"deadline", 0, POPT_ARG_STRING, &given.deadline, 0, "still pending then, it fails (timed_out)",
     "DUR|TIME"},
    {"join-id", 0, POPT_ARG_STRING, &given.join_id, 0, "its id; starting one that exists changes nothing",
     "UUID"},
    POPT_TABLEEND};

static bool read_expected(const struct cli *cli, int64_t *ret_steps) {
    if (!given.expected) {
        cli_usage(cli, "--expected is missing: give how many steps end the join");
        return false;
    }
    if (!value_parse_integer(given.expected, ret_steps)) {
        cli_usage(cli, "--expected is '%.64s': give a whole number, 1 to %d", given.expected,
                  BOXCAR_EXPECTED_STEPS_MAX);
        return false;
    }
    return true;
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

/* Standard input comes last, so that a bad option does not wait for it. *ret_read is to be freed. */
static int read_join(struct cli *cli, const char *const *args, boxcar_new_join *join, char **ret_read) {
    join->grouping_key = boxcar_str_of(given.grouping_key);
    if (!cli_args_at_most(cli, args, 0) || !read_expected(cli, &join->expected_steps) ||
        !read_deadline(cli, join) || !value_join_id(cli, "--join-id", given.join_id, &join->join_id))
        return CLI_USAGE;
    return given.metadata ? payload_read(cli, given.metadata, ret_read, &join->metadata) : CLI_DONE;
}

static int start(struct cli *cli, const boxcar_new_join *join) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_join_id join_id;
    int result = cli_store_open(cli);
    if (result != CLI_DONE)
        return result;
    if (boxcar_join_start(cli->store, join, &join_id, &err) != BOXCAR_OK)
        return cli_fail_with(cli, &err);
    return join_print_id(cli, join_id);
}

static int run(struct cli *cli, const char *const *args) {
    boxcar_new_join join = BOXCAR_NEW_JOIN_INIT;
    char *read = NULL;
    int result = read_join(cli, args, &join, &read);
    if (result == CLI_DONE)
        result = start(cli, &join);
    free(read);
    return result;
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
