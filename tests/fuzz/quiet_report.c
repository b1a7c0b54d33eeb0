/* The program's reports, kept quiet: a fuzzer makes thousands of them a second. They are still put together,
 * so that a wrong format shows. */
#include <stdarg.h>

#include "cli/output/report.h"
#include "fuzz.h"

static void drop(const char *format, va_list arguments) {
    char text[64];
    PROMISE(vsnprintf(text, sizeof(text), format, arguments) >= 0);
}

int cli_usage(const struct cli *cli, const char *format, ...) {
    va_list arguments;
    (void)cli;
    va_start(arguments, format);
    drop(format, arguments);
    va_end(arguments);
    return CLI_USAGE;
}

bool cli_refuse(const struct cli *cli, const char *format, ...) {
    va_list arguments;
    (void)cli;
    va_start(arguments, format);
    drop(format, arguments);
    va_end(arguments);
    return false;
}

int cli_fail(const struct cli *cli, int exit_status, const char *format, ...) {
    va_list arguments;
    (void)cli;
    va_start(arguments, format);
    drop(format, arguments);
    va_end(arguments);
    return exit_status;
}

int cli_fail_with(const struct cli *cli, const boxcar_error *err) {
    (void)cli;
    (void)err;
    return CLI_ERROR;
}

int cli_fail_at(const struct cli *cli, const char *where, const char *argument, const boxcar_error *err) {
    (void)cli;
    (void)where;
    (void)argument;
    (void)err;
    return CLI_ERROR;
}

int cli_no_memory(const struct cli *cli) {
    (void)cli;
    return CLI_ERROR;
}

void cli_warn(const struct cli *cli, const char *format, ...) {
    (void)cli;
    (void)format;
}

size_t cli_args_count(const char *const *args) {
    size_t count = 0;
    while (args[count])
        count++;
    return count;
}
