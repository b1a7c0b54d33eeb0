/* boxcar stream: the group of commands about streams. */
#include "commands.h"
#include "report.h"

static int run(struct cli *cli, const char *const *args) {
    (void)args;
    return cli_usage(cli, "no command given: give ls, show, resume, skip or policy");
}

const struct command CMD_STREAM = {
    .name = "stream",
    .summary = "streams: messages that are handled in order",
    .usage = "ls|show|resume|skip|policy",
    .description =
        "Messages enqueued with --stream KEY are handled one at a time, in the order of arrival. While one\n"
        "waits for its retry, its stream waits. When it dies the stream goes on, or it halts until somebody\n"
        "resumes it: that is its policy.\n",
    .examples = "boxcar stream ls --halted\n"
                "boxcar stream policy 'order-*' halt\n"
                "boxcar stream resume order-42 --replay\n",
    .run = run,
};
