/* The global options: what was typed, what the environment says, what is the default. */
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "redact.h"
#include "report.h"

static const char DEFAULT_STORE[] = "sqlite:boxcar.db";

static const char *environment(const char *name) {
    const char *value = getenv(name);
    return value && value[0] ? value : NULL;
}

static bool read_format(const char *text, enum cli_format *ret_format) {
    static const char *const NAMES[] = {
        [CLI_FORMAT_TABLE] = "table", [CLI_FORMAT_JSON] = "json", [CLI_FORMAT_JSONL] = "jsonl"};
    for (size_t i = CLI_FORMAT_TABLE; i <= CLI_FORMAT_JSONL; i++) {
        if (strcmp(text, NAMES[i]) == 0) {
            *ret_format = (enum cli_format)i;
            return true;
        }
    }
    return false;
}

static int apply_log(struct cli *cli) {
    const char *level = global_options.log_level;
    const char *format = global_options.log_format;
    if (level && !boxcar_log_level_parse(boxcar_str_of(level), &cli->log.level))
        return cli_usage(cli, "--log-level is '%.64s': give debug, info, warn or error", level);
    if (!format || strcmp(format, "logfmt") == 0) {
        cli->log.format = LOG_FORMAT_LOGFMT;
        return CLI_DONE;
    }
    if (strcmp(format, "json") != 0)
        return cli_usage(cli, "--log-format is '%.64s': give logfmt or json", format);
    cli->log.format = LOG_FORMAT_JSON;
    return CLI_DONE;
}

/* Other users of the machine can read a command line; the environment they cannot. */
static void warn_of_password(const struct cli *cli) {
    if (global_options.store && redact_needed(global_options.store)) {
        cli_warn(cli, "--store contains a password that other users can see: "
                      "use BOXCAR_STORE, PGPASSFILE or a service file");
    }
}

static void apply_store(struct cli *cli) {
    const char *from_environment = environment("BOXCAR_STORE");
    cli->store_url = DEFAULT_STORE;
    cli->store_url_from = "--store";
    if (global_options.store) {
        cli->store_url = global_options.store;
    } else if (from_environment) {
        cli->store_url = from_environment;
        cli->store_url_from = "BOXCAR_STORE";
    }
    cli->schema = global_options.schema ? global_options.schema : environment("BOXCAR_SCHEMA");
}

int option_apply_globals(struct cli *cli) {
    if (global_options.output && !read_format(global_options.output, &cli->format))
        return cli_usage(cli, "--output is '%.64s': give table, json or jsonl", global_options.output);
    int result = apply_log(cli);
    if (result != CLI_DONE)
        return result;
    apply_store(cli);
    warn_of_password(cli);
    return CLI_DONE;
}
