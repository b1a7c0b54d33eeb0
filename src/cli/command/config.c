/* boxcar config: what is configured, what can be, whether a file is right. */
#include <stdio.h>

#include "cli/command/worker/setup.h"
#include "cli/config/config.h"
#include "common.h"

static struct {
    int print, defaults, docs;
    char *check;
    struct config_given config;
} given;

enum { OWN_OPTIONS = 6 };
static struct poptOption OPTIONS[OWN_OPTIONS + CONFIG_OPTIONS] = {
    OPTION_FLAG("print", given.print, "the values in effect, and where they come from"),
    OPTION_FLAG("defaults", given.defaults, "an example file with all settings"),
    OPTION_FLAG("docs", given.docs, "the settings as Markdown"),
    OPTION_TEXT("check", given.check, "check this file", "FILE"),
    OPTION_LIST("handler", given.config.handlers[BOXCAR_OUTBOX], "as for boxcar worker; may be repeated",
                "TOPIC=ACTION"),
    OPTION_LIST("inbox-handler", given.config.handlers[BOXCAR_INBOX], "as for boxcar worker; may be repeated",
                "TOPIC=ACTION")};

static void prepare(void) { config_options(OPTIONS, OWN_OPTIONS); }

/* The file alone counts: neither the environment nor the command line can hide its faults. */
static int check(struct cli *cli) {
    struct complaints complaints = complaints_to_user(cli);
    struct config config = {0};
    bool good = config_file_check(given.check, &complaints, &config);
    good = worker_check(&config, &complaints) && good;
    config_warn_of_password(cli, &config);
    config_release(&config);
    if (!good)
        return CLI_USAGE;
    printf("%s: ok\n", given.check);
    return CLI_DONE;
}

static int run(struct cli *cli) {
    if (given.print + given.defaults + given.docs + (given.check != NULL) > 1)
        return cli_usage(cli, "give only one of --print, --defaults, --docs and --check");
    if (given.check)
        return check(cli);
    if (!given.defaults && !given.docs) {
        TRY(config_apply(cli, CONFIG_SCOPE_ALL, &given.config));
        return config_print_values(cli, cli->config);
    }
    if (given.defaults)
        config_print_example();
    else
        config_print_docs();
    return CLI_DONE;
}

static const struct command CMD_CONFIG = {
    .name = "config",
    .summary = "show settings of this program, check a configuration file",
    .usage = "[--print]\n"
             "--defaults\n"
             "--check FILE",
    .description =
        "Settings come from the command line, the environment, a file (--config) and defaults; the first\n"
        "of these that has a value counts. --print takes the options of boxcar worker and shows what it\n"
        "would use; passwords are masked. With -o json an array of objects with section, key, value and\n"
        "from. boxcar config never opens a store. See docs/configuration.md.\n",
    .examples = "boxcar config\n"
                "boxcar config --print -o json --lease 1m\n"
                "boxcar config --defaults >boxcar.ini\n"
                "boxcar config --defaults >boxcar.ini && boxcar config --check boxcar.ini\n",
    .options = OPTIONS,
    .prepare = prepare,
    .loads_config = true,
    .takes_stores = true,
    .run = run,
};

const struct command_noun CONFIG_COMMANDS = {"Set up", (const struct command *const[]){&CMD_CONFIG, NULL}};
