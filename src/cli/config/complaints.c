#include "complaints.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/output/report.h"

static const char NO_MEMORY[] = "out of memory";

static void say_to_user(void *context, const char *text) {
    const struct cli *cli = context;
    if (text == NO_MEMORY)
        cli_no_memory(cli); /* not the user's fault */
    else
        cli_usage(cli, "%s", text);
}

struct complaints complaints_to_user(struct cli *cli) {
    return (struct complaints){.say = say_to_user, .context = cli};
}

bool complain(struct complaints *complaints, const char *format, ...) {
    const char *place = complaints->place ? complaints->place : "";
    char *text = NULL, *line = NULL;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    va_end(arguments);
    if (!text || asprintf(&line, "%s%s%s", place, place[0] ? ": " : "", text) < 0)
        line = NULL;
    complaints->count++;
    complaints->say(complaints->context, line ? line : NO_MEMORY);
    free(line);
    free(text);
    return false;
}

bool complain_no_memory(struct complaints *complaints) {
    complaints->count++;
    complaints->say(complaints->context, NO_MEMORY);
    return false;
}
