/* boxcar event: the group of commands about events. */
#include "commands.h"
#include "report.h"

static int run(struct cli *cli, const char *const *args) {
    (void)args;
    return cli_usage(cli, "no command given: give append, read or follow");
}

const struct command CMD_EVENT = {
    .name = "event",
    .summary = "events: facts kept for ever, in streams",
    .usage = "append|read|follow",
    .description =
        "An event belongs to a stream and has a version there: 1, 2, 3, ... Whoever appends can say which\n"
        "version the stream must have. All events also have one order, their position, that anybody can\n"
        "follow from any point: nothing is missed, however late it commits. Nothing removes events.\n",
    .examples = "boxcar event append order-42 order.placed '{\"total\": 12}' --expected 0\n"
                "boxcar event read order-42\n"
                "boxcar event follow --once\n",
    .run = run,
};
