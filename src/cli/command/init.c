/* boxcar init: creates the schema or brings it up to date. */
#include <stdio.h>

#include "common.h"

static void print_for_people(const boxcar_deployment *deployment) {
    printf("schema version %d, ", deployment->schema_version);
    if (deployment->mended > 0)
        printf("%d object%s made again, ", deployment->mended, deployment->mended == 1 ? "" : "s");
    if (deployment->applied == 0)
        printf("up to date\n");
    else if (deployment->previous_version > 0)
        printf("upgraded from version %d\n", deployment->previous_version);
    else
        printf("%d migrations applied\n", deployment->applied);
}

static int run(struct cli *cli) {
    boxcar_store_options options = cli_store_options(cli);
    options.deploy = true;
    TRY(cli_check(cli, boxcar_store_open(&options, &cli->store, &cli->err)));
    const boxcar_deployment *deployment = boxcar_store_deployment(cli->store);
    if (cli_is_for_people(cli)) {
        print_for_people(deployment);
        return CLI_DONE;
    }
    return output_object(cli,
                         json_pack("{s:i, s:o, s:i, s:i, s:s}", "schema_version", deployment->schema_version,
                                   "previous_version", json_from_number(deployment->previous_version),
                                   "applied", deployment->applied, "mended", deployment->mended, "store",
                                   boxcar_store_id(cli->store)));
}

static const struct command CMD_INIT = {
    .name = "init",
    .summary = "create the schema, or bring it up to date",
    .usage = "[--store URL] [--schema NAME]",
    .description =
        "Deploys Boxcar's tables into an SQLite file (which is created) or a schema of a PostgreSQL\n"
        "database. It is safe to run it again, from many hosts at once and while workers run. Every other\n"
        "command needs a deployed store. It prints the schema version that the store has now, and the one\n"
        "before if that was different.\n"
        "\n"
        "It restores views, functions, indexes, constraints and triggers that were dropped, and functions\n"
        "that were changed; a warning names each. If a table is lost, it names the table and does not make\n"
        "it again, because its rows would be missing. boxcar doctor finds all of this beforehand.\n"
        "\n"
        "Keep passwords out of --store: put the URL into BOXCAR_STORE, or the password into a\n"
        "passfile (PGPASSFILE) or a service file.\n",
    .examples = "boxcar init\n"
                "boxcar init --store sqlite:orders.db -o json\n",
    .run = run,
};

const struct command_noun INIT_COMMANDS = {"Set up", (const struct command *const[]){&CMD_INIT, NULL}};
