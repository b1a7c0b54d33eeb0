#include "report.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "cli/input/options.h"
#include "progress.h"
#include "redact.h"
#include "text.h"

/* Readers of options say yes or no, and no is taken for the user's fault. */
static atomic_bool memory_was_missing;

static void print(const struct cli *cli, const char *kind, const char *format, va_list arguments) {
    const char *name = cli->command ? cli->command->name : "";
    AUTO_FREE char *text = NULL;
    if (vasprintf(&text, format, arguments) < 0) {
        text = NULL;
        memory_was_missing = true;
    }
    AUTO_FREE char *open = text ? redact(text) : NULL;
    AUTO_FREE char *line = open ? text_printable(boxcar_str_of(open), NULL) : NULL;
    const char *label = cli->store_label ? cli->store_label : "";
    fprintf(stderr, "%sboxcar: %s%s%s%s%s%s\n", cli->log.clears_line ? PROGRESS_WIPE : "", name,
            name[0] ? ": " : "", label, label[0] ? ": " : "", kind, line ? line : "out of memory");
}

int cli_usage(const struct cli *cli, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    print(cli, "", format, arguments);
    va_end(arguments);
    return CLI_USAGE;
}

bool cli_refuse(const struct cli *cli, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    print(cli, "", format, arguments);
    va_end(arguments);
    return false;
}

int cli_fail(const struct cli *cli, int exit_status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    print(cli, "", format, arguments);
    va_end(arguments);
    return exit_status;
}

int cli_no_memory(const struct cli *cli) {
    memory_was_missing = true;
    return cli_fail(cli, CLI_ERROR, "out of memory");
}

int cli_exit_status(int result) { return result == CLI_USAGE && memory_was_missing ? CLI_ERROR : result; }

void cli_warn(const struct cli *cli, const char *format, ...) {
    if (cli->log.level > BOXCAR_LOG_WARN)
        return;
    va_list arguments;
    va_start(arguments, format);
    print(cli, "warning: ", format, arguments);
    va_end(arguments);
}

void cli_note(const struct cli *cli, const char *format, ...) {
    if (cli->log.level > BOXCAR_LOG_WARN)
        return;
    va_list arguments;
    va_start(arguments, format);
    print(cli, "note: ", format, arguments);
    va_end(arguments);
}

static int exit_of(boxcar_status status) {
    switch (status) {
    case BOXCAR_OK:
        return CLI_DONE;
    case BOXCAR_E_INVALID:
        return CLI_USAGE;
    case BOXCAR_E_NOT_FOUND:
        return CLI_NOT_FOUND;
    case BOXCAR_E_CONFLICT:
        return CLI_CONFLICT;
    case BOXCAR_E_UNAVAILABLE:
        return CLI_UNAVAILABLE;
    default:
        return CLI_ERROR;
    }
}

/* What follows the argument's name, with or without its path, at the start of `text`; NULL when
 * it does not begin so. */
static const char *after_name(const char *text, const char *argument) {
    const char *dot = strrchr(argument, '.');
    const char *names[] = {argument, dot ? dot + 1 : argument};
    for (size_t i = 0; i < 2; i++) {
        size_t length = strlen(names[i]);
        if (strncmp(text, names[i], length) == 0)
            return text + length;
    }
    return NULL;
}

/* "lease_ms is 0: ..." becomes "--lease is 0: ...". A text that does not begin with the
 * argument's name is kept, with the name in front. */
int cli_fail_at(const struct cli *cli, const char *where, const char *argument, const boxcar_error *err) {
    const char *text = err->message[0] ? err->message : boxcar_status_name(err->status);
    const char *rest = after_name(text, err->argument);
    const char *colon = where[0] ? ": " : "";
    if (!err->argument[0])
        return cli_fail(cli, exit_of(err->status), "%s%s%s", where, colon, text);
    return cli_fail(cli, exit_of(err->status), "%s%s%s%s%s", where, colon, argument, rest ? "" : ": ",
                    rest ? rest : text);
}

int cli_fail_with(const struct cli *cli, const boxcar_error *err) {
    char label[OPTION_LABEL_SIZE];
    option_label(cli, err->argument, label);
    return cli_fail_at(cli, "", label, err);
}
