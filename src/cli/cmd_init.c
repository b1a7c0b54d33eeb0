/* boxcar init: creates the schema or brings it up to date. */
#include <stdio.h>

#include "commands.h"
#include "message_json.h"
#include "output.h"
#include "report.h"

/* Opening with `deploy` does not say what it had to do, so look first: a store that opens
 * without it only lacks the newer migrations, one that is not deployed lacks all of them. */
static int deploy(struct cli *cli, boxcar_deployment *ret_deployment) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_store_options options = cli_store_options(cli);
    boxcar_status opened = boxcar_store_open(&options, &cli->store, &err);
    if (opened == BOXCAR_E_UNAVAILABLE || opened == BOXCAR_E_INVALID)
        return cli_fail_with(cli, &err); /* no use in waiting for it twice */
    if (opened != BOXCAR_OK) {
        options.deploy = true;
        if (boxcar_store_open(&options, &cli->store, &err) != BOXCAR_OK)
            return cli_fail_with(cli, &err);
    }
    if (boxcar_store_deploy(cli->store, ret_deployment, &err) != BOXCAR_OK)
        return cli_fail_with(cli, &err);
    if (opened == BOXCAR_E_NOT_DEPLOYED && ret_deployment->applied == 0)
        ret_deployment->applied = ret_deployment->schema_version;
    return CLI_DONE;
}

static int print(const struct cli *cli, const boxcar_deployment *deployment) {
    if (output_format(cli, CLI_FORMAT_TABLE) != CLI_FORMAT_TABLE) {
        return output_object(cli,
                             json_pack("{s:i, s:i, s:s}", "schema_version", deployment->schema_version,
                                       "applied", deployment->applied, "store", boxcar_store_id(cli->store)));
    }
    printf("schema version %d, ", deployment->schema_version);
    if (deployment->applied)
        printf("%d migration%s applied\n", deployment->applied, deployment->applied == 1 ? "" : "s");
    else
        printf("up to date\n");
    return CLI_DONE;
}

static int run(struct cli *cli, const char *const *args) {
    boxcar_deployment deployment;
    if (!cli_args_at_most(cli, args, 0))
        return CLI_USAGE;
    int result = deploy(cli, &deployment);
    return result == CLI_DONE ? print(cli, &deployment) : result;
}

const struct command CMD_INIT = {
    .name = "init",
    .summary = "create the schema, or bring it up to date",
    .usage = "[--store URL] [--schema NAME]",
    .description =
        "Deploys Boxcar's tables into an SQLite file (which is created) or a schema of a PostgreSQL\n"
        "database. Running it again does no harm, also from many hosts at once and beside running\n"
        "workers. Every other command needs a store that was deployed.\n"
        "\n"
        "Keep passwords out of --store: put the URL into BOXCAR_STORE, or the password into a\n"
        "passfile (PGPASSFILE) or a service file.\n",
    .examples = "boxcar init\n"
                "boxcar init --store sqlite:orders.db -o json\n",
    .run = run,
};
