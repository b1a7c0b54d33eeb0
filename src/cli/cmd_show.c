/* boxcar show: everything about one message. */
#include "commands.h"
#include "inspect.h"
#include "options.h"

static char *box;

static struct poptOption OPTIONS[] = {OPTION_BOX(box), POPT_TABLEEND};

static int run(struct cli *cli, const char *const *args) { return inspect_show(cli, box, args, false); }

const struct command CMD_SHOW = {
    .name = "show",
    .summary = "show everything about one message",
    .usage = "ID [--box BOX]",
    .description =
        "Digits are a work id, a UUID is a message id. Shows all fields, the payload and the history\n"
        "of bad attempts (at, outcome, retry_count, owner, epoch, error).\n",
    .examples = "boxcar show 1\n"
                "boxcar show 1 -o json\n",
    .options = OPTIONS,
    .run = run,
};
