/* One line on standard error: "boxcar: enqueue: topic is empty: give 1 to 255 characters".
 * Passwords are taken out and control characters escaped, whatever the text contains. */
#ifndef BOXCAR_CLI_OUTPUT_REPORT_H
#define BOXCAR_CLI_OUTPUT_REPORT_H

#include "cli/cli.h"

/* Both return the exit status they are given (CLI_USAGE), so that a command can
 * `return cli_usage(...)`. */
int cli_usage(const struct cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));
int cli_fail(const struct cli *cli, int exit_status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* As cli_usage(); returns false, for readers of options: `return cli_refuse(...)`. */
bool cli_refuse(const struct cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* An error of the library: its argument is named as the user typed it ("--lease" for lease_ms).
 * Returns the exit status it stands for. */
int cli_fail_with(const struct cli *cli, const boxcar_error *err);
/* The same, saying where: "line 3". `argument` is named as it is. */
int cli_fail_at(const struct cli *cli, const char *where, const char *argument, const boxcar_error *err);
int cli_no_memory(const struct cli *cli);
/* The exit status for a command's result: CLI_ERROR if it looks like the user's fault but memory was
 * missing. */
int cli_exit_status(int result);

/* "boxcar: warning: ...", unless --log-level says errors only. */
void cli_warn(const struct cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "boxcar: join attach: note: ...": a remark about something that is not wrong; shown at the level of
 * warnings. */
void cli_note(const struct cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
