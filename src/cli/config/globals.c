/* The global options that are not settings, and the settings that every command looks at. */
#include <string.h>

#include "cli/input/options.h"
#include "cli/output/report.h"
#include "config.h"

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

int option_apply_globals(struct cli *cli) {
    if (global_options.output && !read_format(global_options.output, &cli->format))
        return cli_usage(cli, "--output is '%.64s': give table, json or jsonl", global_options.output);
    if (!cli->command || cli->command->loads_config)
        return CLI_DONE;
    return config_apply(cli, CONFIG_SCOPE_STORE_AND_LOG, NULL);
}
