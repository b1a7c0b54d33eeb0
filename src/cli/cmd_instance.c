/* boxcar instance: the group of commands about workers that are running. */
#include "commands.h"
#include "report.h"

static int run(struct cli *cli, const char *const *args) {
    (void)args;
    return cli_usage(cli, "no command given: give ls");
}

const struct command CMD_INSTANCE = {
    .name = "instance",
    .summary = "workers that are running",
    .usage = "COMMAND",
    .description =
        "Workers say every few seconds that they live. The keys of streams are spread over partitions, and\n"
        "the partitions over the live workers, so that a stream stays with one of them.\n",
    .examples = "boxcar instance ls\n",
    .run = run,
};
