/* What show and ls have in common with other commands that show or list messages. */
#ifndef BOXCAR_CLI_COMMAND_MESSAGE_H
#define BOXCAR_CLI_COMMAND_MESSAGE_H

#include "cli/cli.h"

/* ---- show, dead show ---- */

/* Prints the message that args[0] names, with payload and attempt history. With
 * `only_dead` any other than a dead letter counts as not found. */
int inspect_show(struct cli *cli, const char *box, const char *const *args, bool only_dead);

/* ---- ls, inbox ls ---- */

/* As typed; NULL = not given. */
struct page_given {
    char *topic, *limit, *after;
};

#define PAGE_OPTIONS(given)                                                                                  \
    {"topic", 0, POPT_ARG_STRING, &(given).topic, 0, "only this topic, or PREFIX*", "TOPIC"},                \
        {"limit", 0, POPT_ARG_STRING, &(given).limit, 0, "how many, 1 to 10000 (default 50)", "N"}, {        \
        "after", 0, POPT_ARG_STRING, &(given).after, 0, "start after the last work id of a page", "WORK_ID"  \
    }

/* Reads them into `options`. On a bad one it has reported it and returns false. */
bool page_given_read(const struct cli *cli, const struct page_given *given, boxcar_message_filter *options);
/* Prints the page; an enum cli_exit. */
int page_list(struct cli *cli, const boxcar_message_filter *options, const char *const *columns);

#endif
