/* boxcar join: the group of commands about joins. */
#include "commands.h"
#include "report.h"

static int run(struct cli *cli, const char *const *args) {
    (void)args;
    return cli_usage(cli, "no command given: give start, attach, complete, fail, wait, cancel, show or ls");
}

const struct command CMD_JOIN = {
    .name = "join",
    .summary = "joins: wait for many messages, then enqueue one",
    .usage = "start|attach|complete|fail|wait|cancel|show|ls",
    .description =
        "A join counts steps. Its members are messages: each counts as completed when it is acked, as\n"
        "failed when it becomes a dead letter. With as many steps as were expected the join has ended:\n"
        "completed, or failed if any step failed. A wait is a message that stays in the store until\n"
        "then, spends no attempt, and is replaced by its continuation, by whoever ends the join.\n",
    .examples = "boxcar join ls\n"
                "boxcar join start --expected 3\n"
                "boxcar help join wait\n",
    .run = run,
};
