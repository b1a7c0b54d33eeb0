/* The program's own words: what a command is, what it is given, how it reports.
 *
 * A function that can fail returns an enum cli_exit and has reported why; TRY passes it up.
 *
 * The program knows Boxcar only through the public headers; src/base, which it shares, knows nothing of
 * messages. It runs one command per process on one thread (`worker` has more, for the library; `enqueue
 * --batch` reads on one of its own), so a command keeps its parsed options in statics of its own file. */
#ifndef BOXCAR_CLI_CLI_H
#define BOXCAR_CLI_CLI_H

#include <boxcar.h>
#include <popt.h>
#include <stdint.h>

#include "base/error.h"
#include "base/memory.h"
#include "cli/output/log_writer.h"

/* Scripts rely on these numbers. */
enum cli_exit {
    CLI_DONE = 0,
    CLI_ERROR = 1,
    CLI_USAGE = 2, /* or an argument the library refused */
    CLI_NOT_FOUND = 3,
    CLI_CONFLICT = 4,
    CLI_UNAVAILABLE = 5 /* the store; worth a retry */
};

#define AUTO_LIST CLEANUP(cli_list_cleanup) /* a list of the library */
static inline void cli_list_cleanup(void *pointer) { boxcar_list_free(*(void **)pointer); }

enum cli_format { CLI_FORMAT_UNSET, CLI_FORMAT_TABLE, CLI_FORMAT_JSON, CLI_FORMAT_JSONL };

struct cli {
    const struct command *command; /* NULL until it is known */
    const char *const *args;       /* the command's positional arguments, ended by NULL */
    enum cli_format format;
    boxcar_store *store; /* opened by cli_store_open(), closed after the command */
    boxcar_error err;    /* of the call that cli_check() is about */
    const char *store_url;
    const char *store_url_from; /* "--store", "BOXCAR_STORE", "boxcar.ini:2": what error texts name */
    const char *store_label;    /* its identifier, when a command works on several stores; else NULL */
    const char *schema;         /* NULL = the library's default */
    const char *schema_from;
    struct config *config; /* what the two above and the log come from; see config/config.h */
    struct log_writer log;
    char **argv; /* of the process */
};

/* One entry of the table that drives dispatch, help and option parsing. */
struct command {
    const char *name;           /* "enqueue", "dead ls" */
    const char *summary;        /* what it does, in a few words */
    const char *usage;          /* what follows the name, one form a line */
    const char *description;    /* paragraphs, wrapped by hand */
    const char *examples;       /* command lines that work as they are, one a line */
    struct poptOption *options; /* NULL = only the global ones */
    void (*prepare)(void);      /* fills in `options` from another table; NULL = they are complete */
    const char *missing;        /* the complaint about a first argument that is not there; NULL = none */
    size_t most_args;           /* CLI_ANY_ARGS = it counts them itself */
    enum cli_format format;     /* when none was asked for */
    bool loads_config;          /* calls config_apply() itself, with all settings */
    bool takes_stores;          /* works on as many stores as are given, or discovered */
    /* Returns an enum cli_exit. NULL = the command is a group, and wants one of its commands. */
    int (*run)(struct cli *cli);
};
#define CLI_ANY_ARGS SIZE_MAX

/* Everything from the arguments of the process to its exit status. */
int cli_main(int argc, char **argv);

/* What a call of the library has come to that was given &cli->err. Returns an enum cli_exit and has reported
 * what went wrong. */
int cli_check(const struct cli *cli, boxcar_status status);
/* Opens the store of the global options; it must be deployed. Returns an enum cli_exit and has
 * reported what went wrong. */
int cli_store_open(struct cli *cli);
/* The options every opening of the store starts from. */
boxcar_store_options cli_store_options(struct cli *cli);

/* The positional arguments: their number, and a complaint about the first that is too many
 * (returns false). */
size_t cli_args_count(const char *const *args);
bool cli_args_at_most(const struct cli *cli, size_t most);
/* A table, or whatever a command prints where it was asked for nothing else. */
bool cli_is_for_people(const struct cli *cli);

#endif
