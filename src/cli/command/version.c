/* boxcar version. */
#include <stdio.h>

#include "common.h"

static int run(struct cli *cli) {
    if (!cli_is_for_people(cli))
        return output_object(cli, json_pack("{s:s, s:s, s:i}", "version", BOXCAR_VERSION, "library_version",
                                            boxcar_version(), "schema_version", boxcar_schema_version()));
    printf("boxcar %s (library %s, schema %d)\n", BOXCAR_VERSION, boxcar_version(), boxcar_schema_version());
    return CLI_DONE;
}

const struct command CMD_VERSION = {
    .name = "version",
    .summary = "show the version of the program, the library and the schema",
    .usage = "",
    .description =
        "Opens no store. With -o json an object with version, library_version and schema_version.\n",
    .examples = "boxcar version\n"
                "boxcar version -o json\n",
    .run = run,
};

const struct command_noun VERSION_COMMANDS = {"About boxcar",
                                              (const struct command *const[]){&CMD_VERSION, NULL}};
