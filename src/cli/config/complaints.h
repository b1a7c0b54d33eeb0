/* Reports the faults of a configuration line by line: to standard error at the start, to the log while a
 * worker runs. */
#ifndef BOXCAR_CLI_CONFIG_COMPLAINTS_H
#define BOXCAR_CLI_CONFIG_COMPLAINTS_H

#include "cli/cli.h"

struct complaints {
    void (*say)(void *context, const char *text);
    void *context;
    const char *place; /* what each begins with: "boxcar.ini:12"; NULL = nothing */
    size_t count;
};

/* On standard error, as cli_usage() does. */
struct complaints complaints_to_user(struct cli *cli);

/* Counts and says. Returns false, for `return complain(...)`. */
bool complain(struct complaints *complaints, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool complain_no_memory(struct complaints *complaints);

#endif
