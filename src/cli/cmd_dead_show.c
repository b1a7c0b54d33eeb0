/* boxcar dead show: everything about one dead letter. */
#include "commands.h"
#include "inspect.h"
#include "options.h"

static char *box;

static struct poptOption OPTIONS[] = {OPTION_BOX(box), POPT_TABLEEND};

static int run(struct cli *cli, const char *const *args) { return inspect_show(cli, box, args, true); }

const struct command CMD_DEAD_SHOW = {
    .name = "dead show",
    .summary = "show everything about one dead letter",
    .usage = "ID [--box BOX]",
    .description =
        "As boxcar show, for dead letters only: any other message is \"not found\" (exit status 3).\n",
    .examples = "boxcar dead show 1\n"
                "boxcar dead show 1 -o json\n",
    .options = OPTIONS,
    .run = run,
};
