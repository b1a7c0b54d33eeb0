/* boxcar join fail: counts a step as failed by hand. */
#include "commands.h"
#include "join.h"

static int run(struct cli *cli, const char *const *args) {
    return join_report(cli, args, boxcar_join_report_failed);
}

const struct command CMD_JOIN_FAIL = {
    .name = "join fail",
    .summary = "count a step as failed by hand",
    .usage = "JOIN MESSAGE",
    .description = "For work that no message stands for: MESSAGE is the id of a member.\n"
                   "\n" JOIN_REPORT_OUTPUT,
    .examples = "boxcar join fail 0190f3c2-7b1e-7c2d-9a55-3f1d2c4b5a69 "
                "0190f3c2-8c2f-7d3e-8b66-4a2e3d5c6b70\n",
    .run = run,
};
