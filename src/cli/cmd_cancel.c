/* boxcar cancel: buries a message that is not in progress. */
#include "commands.h"
#include "options.h"
#include "output.h"
#include "report.h"
#include "values.h"

static char *box_name;

static struct poptOption OPTIONS[] = {OPTION_BOX(box_name), POPT_TABLEEND};

static int run(struct cli *cli, const char *const *args) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_message_ref ref;
    boxcar_box box = BOXCAR_OUTBOX;
    if (!args[0])
        return cli_usage(cli, "ID is missing: give a work id or a message id");
    if (!cli_args_at_most(cli, args, 1) || !value_box(cli, box_name, &box) || !value_ref(cli, args[0], &ref))
        return CLI_USAGE;
    int result = cli_store_open(cli);
    if (result != CLI_DONE)
        return result;
    if (boxcar_cancel(cli->store, box, ref, &err) != BOXCAR_OK)
        return cli_fail_with(cli, &err);
    return output_count(cli, "cancelled", 1);
}

const struct command CMD_CANCEL = {
    .name = "cancel",
    .summary = "bury a message that is not in progress",
    .usage = "ID [--box BOX]",
    .description =
        "The message becomes a dead letter (reason cancelled). One that is in progress, done or dead\n"
        "already is a conflict (exit status 4), one that does not exist is not found (3). Prints how\n"
        "many: 1; with -o json {\"cancelled\": 1}.\n",
    .examples = "boxcar cancel 1\n",
    .options = OPTIONS,
    .run = run,
};
