/* boxcar join cancel: ends a pending join. */
#include "commands.h"
#include "join.h"
#include "report.h"

static int run(struct cli *cli, const char *const *args) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_join_id join_id;
    if (!join_id_read(cli, args, &join_id) || !cli_args_at_most(cli, args, 1))
        return CLI_USAGE;
    int result = cli_store_open(cli);
    if (result != CLI_DONE)
        return result;
    if (boxcar_join_cancel(cli->store, join_id, &err) != BOXCAR_OK)
        return cli_fail_with(cli, &err);
    return join_print_id(cli, join_id);
}

const struct command CMD_JOIN_CANCEL = {
    .name = "join cancel",
    .summary = "end a pending join",
    .usage = "JOIN",
    .description =
        "The join becomes cancelled and its waits take the failure path; its members are left alone.\n"
        "One that has ended already is a conflict (exit status 4), one that does not exist is not found\n"
        "(3). Prints its id; with -o json {\"join_id\": ...}.\n",
    .examples = "boxcar join cancel 0190f3c2-7b1e-7c2d-9a55-3f1d2c4b5a69\n",
    .run = run,
};
