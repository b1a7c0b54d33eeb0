#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/command/commands.h"
#include "cli/config/config.h"
#include "cli/input/options.h"
#include "cli/output/output.h"
#include "cli/output/report.h"
#include "cli/service/secrets.h"

size_t cli_args_count(const char *const *args) {
    size_t count = 0;
    while (args[count])
        count++;
    return count;
}

bool cli_args_at_most(const struct cli *cli, size_t most) {
    if (cli_args_count(cli->args) <= most)
        return true;
    cli_usage(cli, "unexpected argument '%.64s': see boxcar help %s", cli->args[most], cli->command->name);
    return false;
}

bool cli_is_for_people(const struct cli *cli) {
    return cli->format == CLI_FORMAT_UNSET || cli->format == CLI_FORMAT_TABLE;
}

boxcar_store_options cli_store_options(struct cli *cli) {
    boxcar_store_options options = BOXCAR_STORE_OPTIONS_INIT;
    options.url = boxcar_str_of(cli->store_url);
    options.schema = boxcar_str_of(cli->schema);
    options.log = log_writer_write;
    options.log_context = &cli->log;
    options.log_level = cli->log.level;
    if (cli->config) {
        options.durability = (boxcar_durability)config_number(cli->config, CONFIG_STORE_DURABILITY);
        options.busy_timeout_ms = (int64_t)config_number(cli->config, CONFIG_STORE_BUSY_TIMEOUT);
        options.answer_timeout_ms = (int64_t)config_number(cli->config, CONFIG_STORE_ANSWER_TIMEOUT);
    }
    return options;
}

int cli_check(const struct cli *cli, boxcar_status status) {
    return status == BOXCAR_OK ? CLI_DONE : cli_fail_with(cli, &cli->err);
}

int cli_store_open(struct cli *cli) {
    boxcar_store_options options = cli_store_options(cli);
    return cli_check(cli, boxcar_store_open(&options, &cli->store, &cli->err));
}

/* A descriptor that is closed would be reused for the database file, and our output would go
 * into it. A stand-in opened the wrong way round makes reading and writing fail instead. */
static void occupy_standard_descriptors(void) {
    static const int MODES[] = {O_WRONLY, O_RDONLY, O_WRONLY};
    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", MODES[fd]) != fd)
            _exit(CLI_ERROR);
}

/* Of two stores it would silently be one. */
static int check_one_store(const struct cli *cli) {
    if (cli->command->takes_stores)
        return CLI_DONE;
    if (global_options.stores && global_options.stores[0] && global_options.stores[1])
        return cli_usage(cli, "--store is given twice: this command works on one store");
    return global_options.discover ? cli_usage(cli, "--discover is for commands that work on many stores")
                                   : CLI_DONE;
}

static int run_command(struct cli *cli) {
    const struct command *command = cli->command;
    if (global_options.help) {
        help_command(command);
        return CLI_DONE;
    }
    if (global_options.version)
        return CMD_VERSION.run(cli);
    TRY(option_apply_globals(cli));
    if (!command->run)
        return command_without_member(cli);
    if (!cli->args[0] && command->missing)
        return cli_usage(cli, "%s", command->missing);
    if (!cli_args_at_most(cli, command->most_args))
        return CLI_USAGE;
    TRY(check_one_store(cli));
    if (cli->format == CLI_FORMAT_UNSET)
        cli->format = command->format;
    return command->run(cli);
}

static int without_command(struct cli *cli) {
    if (global_options.help) {
        help_overview();
        return CLI_DONE;
    }
    if (!global_options.version)
        return cli_usage(cli, "no command given: see boxcar help");
    TRY(option_apply_globals(cli));
    return CMD_VERSION.run(cli);
}

/* `words` begins with a command, or with a command of the group that is known already. The
 * word itself stands where popt expects the name of the program. */
static int dispatch(struct cli *cli, const char *const *words) {
    cli->args = words;
    if (!words[0])
        return cli->command ? run_command(cli) : without_command(cli);
    const struct command *command = command_find(cli, cli->command, words[0]);
    if (!command)
        return CLI_USAGE;
    cli->command = command;
    bool is_group = command_is_group(command);
    CLEANUP(option_parse_release) struct option_parse parse;
    TRY(option_parse(cli, (int)cli_args_count(words), words, is_group, &parse));
    if (is_group)
        return dispatch(cli, parse.args);
    cli->args = parse.args;
    return run_command(cli);
}

/* Most answers are one write: if that fails, the reason is known when the end is flushed. */
static void buffer_output(void) {
    static char buffer[1 << 16];
    if (!isatty(STDOUT_FILENO))
        (void)setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
}

int cli_main(int argc, char **argv) {
    struct cli cli = {.log = {.level = BOXCAR_LOG_WARN}, .store_url_from = "--store", .argv = argv};
    struct option_parse parse;
    secrets_move_environment();
    buffer_output();
    occupy_standard_descriptors();
    signal(SIGPIPE, SIG_IGN); /* a closed pipe is a failed write, reported as such */
    signal(SIGXFSZ, SIG_IGN); /* and so is a file that may not grow */
    int result = option_parse(&cli, argc, (const char *const *)argv, true, &parse);
    if (result == CLI_DONE)
        result = dispatch(&cli, parse.args);
    boxcar_store_close(cli.store);
    int flushed = output_flush(&cli);
    option_parse_release(&parse);
    return result == CLI_DONE ? flushed : cli_exit_status(result);
}
