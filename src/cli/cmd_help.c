/* boxcar help: the table of commands, or one of them. */
#include "commands.h"
#include "help.h"

static int words;

static struct poptOption OPTIONS[] = {
    {"words", 0, POPT_ARG_NONE, &words, 0, "all commands and options for programs, separated by tabs", NULL},
    POPT_TABLEEND};

static int run(struct cli *cli, const char *const *args) {
    const struct command *command = NULL;
    size_t i = 0;
    for (; args[i] && (!command || command_is_group(command)); i++) {
        command = command_find(cli, command, args[i]);
        if (!command)
            return CLI_USAGE;
    }
    if (!cli_args_at_most(cli, args, words ? 0 : i))
        return CLI_USAGE;
    if (words)
        help_words();
    else if (command)
        help_command(command);
    else
        help_overview();
    return CLI_DONE;
}

const struct command CMD_HELP = {
    .name = "help",
    .summary = "show help, in general or about a command",
    .usage = "[COMMAND]\n"
             "--words",
    .description = "The same as --help before or after a command. --words is what shell completion reads.\n",
    .examples = "boxcar help\n"
                "boxcar help enqueue\n"
                "boxcar dead replay --help\n",
    .options = OPTIONS,
    .run = run,
};
