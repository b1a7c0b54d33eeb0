/* boxcar dead: the group of commands about dead letters. */
#include "commands.h"
#include "report.h"

static int run(struct cli *cli, const char *const *args) {
    (void)args;
    return cli_usage(cli, "no command given: give ls, show, replay or purge");
}

const struct command CMD_DEAD = {
    .name = "dead",
    .summary = "dead letters: messages that failed for good",
    .usage = "ls|show|replay|purge",
    .description =
        "A message becomes a dead letter when it is failed (rejected), when its attempts are used up\n"
        "(exhausted), when its time to live ends (expired), when no handler wants it (no_handler), or\n"
        "when it is cancelled. Only a replay makes it ready again.\n",
    .examples = "boxcar dead ls\n"
                "boxcar help dead replay\n",
    .run = run,
};
