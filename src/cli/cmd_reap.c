/* boxcar reap: releases messages whose lease has ended. */
#include "commands.h"
#include "options.h"
#include "output.h"
#include "report.h"
#include "values.h"

static char *box_name;

static struct poptOption OPTIONS[] = {OPTION_BOX(box_name), POPT_TABLEEND};

static int run(struct cli *cli, const char *const *args) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    int64_t count = 0;
    boxcar_box box = BOXCAR_OUTBOX;
    if (!cli_args_at_most(cli, args, 0) || !value_box(cli, box_name, &box))
        return CLI_USAGE;
    int result = cli_store_open(cli);
    if (result != CLI_DONE)
        return result;
    if ((box == BOXCAR_INBOX ? boxcar_inbox_reap : boxcar_reap)(cli->store, &count, &err) != BOXCAR_OK)
        return cli_fail_with(cli, &err);
    return output_count(cli, "reaped", count);
}

const struct command CMD_REAP = {
    .name = "reap",
    .summary = "release messages whose lease has ended",
    .usage = "[--box BOX]",
    .description =
        "Counts an attempt for each and makes it ready again, or a dead letter when its attempts are\n"
        "used up. Claim does the same on its way. Prints how many; with -o json {\"reaped\": N}.\n",
    .examples = "boxcar reap\n",
    .options = OPTIONS,
    .run = run,
};
