/* Options: popt tables, the global one included in every command's. */
#ifndef BOXCAR_CLI_INPUT_OPTIONS_H
#define BOXCAR_CLI_INPUT_OPTIONS_H

#include "cli/cli.h"

/* The values of the global options as they were typed; NULL or 0 = not given. They count
 * before and after the command. */
struct global_options {
    char *config;
    char *store;   /* the last one */
    char **stores; /* all of them, ended by NULL */
    char *discover;
    char *discover_query;
    char *schema;
    char *output;
    char *log_level;
    char *log_format;
    int help;
    int version;
};

extern struct global_options global_options;
extern struct poptOption GLOBAL_OPTIONS[];

/* Rows of such tables: an option with a value (a char *), a flag (an int), and one that may be repeated (a
 * char **). A variable that is 0 was not given. */
#define OPTION_TEXT(name, variable, help, metavar)                                                           \
    { name, 0, POPT_ARG_STRING, &(variable), 0, help, metavar }
#define OPTION_FLAG(name, variable, help)                                                                    \
    { name, 0, POPT_ARG_NONE, &(variable), 0, help, NULL }
#define OPTION_LIST(name, variable, help, metavar)                                                           \
    { name, 0, POPT_ARG_ARGV, &(variable), 0, help, metavar }

/* A command line that was taken apart. Release it with option_parse_release(). */
struct option_parse {
    poptContext context;
    struct poptOption *table; /* what it was parsed with */
    char **argv;              /* own copies, ended by NULL */
    const char *const *args;  /* positional arguments, ended by NULL */
};

/* Parses argv[1..] with the global options and those of cli->command, if that is known. With
 * `stop_at_word` the first positional argument ends it and everything from there on is in
 * args. "-" alone is a positional argument, "--" ends the options, and an option that takes a
 * value takes the next word whatever it looks like ("--delay -1"); some take two, see
 * option_pairs.h. Returns an enum cli_exit and has reported what went wrong. */
int option_parse(struct cli *cli, int argc, const char *const *argv, bool stop_at_word,
                 struct option_parse *ret_parse);
void option_parse_release(struct option_parse *parse);

/* The option of a command, or the global one, with a long name; NULL = there is none. `own` may be NULL. */
const struct poptOption *option_find(const struct poptOption *own, const char *name, size_t length);

/* What the user calls an argument of the library: "--lease" for lease_ms when the command has
 * that option, "--topic" for topics[0]; else the name itself without its path. */
#define OPTION_LABEL_SIZE 80
void option_label(const struct cli *cli, const char *argument, char ret_label[OPTION_LABEL_SIZE]);

#endif
