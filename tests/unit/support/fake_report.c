/* The program's reports, kept quiet: for parts of the program that are tested one at a time. */
#include "cli/output/report.h"

int cli_usage(const struct cli *cli, const char *format, ...) {
    (void)cli;
    (void)format;
    return CLI_USAGE;
}

int cli_fail(const struct cli *cli, int exit_status, const char *format, ...) {
    (void)cli;
    (void)format;
    return exit_status;
}

int cli_no_memory(const struct cli *cli) {
    (void)cli;
    return CLI_ERROR;
}
