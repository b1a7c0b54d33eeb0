#include "options.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "cli/output/report.h"
#include "option_pairs.h"
#include "suggest.h"

struct global_options global_options;

struct poptOption GLOBAL_OPTIONS[] = {
    OPTION_TEXT("config", global_options.config, "read settings from a file (BOXCAR_CONFIG; default none)",
                "FILE"),
    OPTION_TEXT("store", global_options.store,
                "sqlite:PATH or a postgres:// URL (BOXCAR_STORE; default sqlite:boxcar.db)", "URL"),
    OPTION_TEXT("discover", global_options.discover,
                "many stores: file:, directory:PATH, sql:URL or command:PROGRAM (BOXCAR_DISCOVER)",
                "KIND:WHERE"),
    OPTION_TEXT("discover-query", global_options.discover_query,
                "sql: selects url, or key and url, or key, url and schema (BOXCAR_DISCOVER_QUERY)", "QUERY"),
    OPTION_TEXT("schema", global_options.schema, "PostgreSQL schema (BOXCAR_SCHEMA; default boxcar)", "NAME"),
    {"output", 'o', POPT_ARG_STRING, &global_options.output, 0, "table, json or jsonl", "FORMAT"},
    OPTION_TEXT("log-level", global_options.log_level,
                "debug, info (default of worker), warn (default) or error", "LEVEL"),
    OPTION_TEXT("log-format", global_options.log_format, "logfmt (default) or json", "FORMAT"),
    {"help", 'h', POPT_ARG_NONE, &global_options.help, 0, "show help and exit", NULL},
    OPTION_FLAG("version", global_options.version, "show the version and exit"),
    POPT_TABLEEND};

/* popt replaces "!#:+" inside the value of an option by the next positional argument, a relic
 * that would change data. So the value is masked by a byte sequence that no user types. */
static const char EXPANSION[] = "!#:+";
static const char GUARDED[] = "!\001\002\001#:+";
enum { GUARD_SIZE = sizeof(GUARDED) - sizeof(EXPANSION) };

static char *guard(const char *text) {
    struct buf result = BUF_INIT;
    buf_reserve(&result, strlen(text)); /* a copy of an empty text is a text */
    for (const char *found; (found = strstr(text, EXPANSION)); text = found + 1) {
        buf_append(&result, text, (size_t)(found - text));
        buf_append_text(&result, "!\001\002\001");
    }
    buf_append_text(&result, text);
    if (result.failed) /* never half an argument */
        buf_release(&result);
    return result.data;
}

static void unguard(char *text) {
    for (char *found = text; found && (found = strstr(found, GUARDED));)
        memmove(found + 1, found + 1 + GUARD_SIZE, strlen(found + 1 + GUARD_SIZE) + 1);
}

static void unguard_list(char **list) {
    for (size_t i = 0; list && list[i]; i++)
        unguard(list[i]);
}

static const struct poptOption *own_options(const struct cli *cli) {
    return cli->command ? cli->command->options : NULL;
}

static void consider_options(struct suggestion *suggestion, const struct poptOption *table) {
    for (const struct poptOption *option = table; option && option->longName; option++)
        suggest_consider(suggestion, option->longName);
}

static int unknown_option(const struct cli *cli, const char *typed) {
    bool is_long = strncmp(typed, "--", 2) == 0;
    struct suggestion suggestion = {.typed = typed + (is_long ? 2 : 1)};
    const char *command = cli->command ? cli->command->name : "";
    if (!is_long && isdigit((unsigned char)typed[1]))
        return cli_usage(cli, "unknown option %s: put -- before arguments that begin with -", typed);
    consider_options(&suggestion, own_options(cli));
    consider_options(&suggestion, GLOBAL_OPTIONS);
    if (suggestion.best) {
        return cli_usage(cli, "unknown option %s, did you mean --%s? See boxcar help%s%s", typed,
                         suggestion.best, command[0] ? " " : "", command);
    }
    return cli_usage(cli, "unknown option %s: see boxcar help%s%s", typed, command[0] ? " " : "", command);
}

/* `typed` may carry a value ("--stor=URL") that must not be shown. */
static int refuse(const struct cli *cli, int error, const char *typed) {
    AUTO_FREE char *name = strndup(typed, strcspn(typed, "="));
    if (!name)
        return cli_no_memory(cli);
    switch (error) {
    case POPT_ERROR_MALLOC:
    case POPT_ERROR_NULLARG: /* for lists; ours have their places */
        return cli_no_memory(cli);
    case POPT_ERROR_BADOPT:
        return unknown_option(cli, name);
    case POPT_ERROR_NOARG:
        return cli_usage(cli, "%s needs a value: see boxcar help %s", name,
                         cli->command ? cli->command->name : "");
    case POPT_ERROR_UNWANTEDARG:
        return cli_usage(cli, "%s takes no value", name);
    default:
        return cli_usage(cli, "%s: %s", name, poptStrerror(error));
    }
}

static bool copy_arguments(struct option_parse *parse, int argc, const char *const *argv) {
    parse->argv = calloc((size_t)argc + 2, sizeof(*parse->argv));
    for (int i = 0; parse->argv && i < argc; i++) {
        parse->argv[i] = guard(argv[i]);
        if (!parse->argv[i])
            return false;
    }
    return parse->argv != NULL;
}

static size_t table_length(const struct poptOption *table) {
    size_t length = 0;
    while (table && table[length].longName)
        length++;
    return length;
}

/* Own and global options in one table. popt would leak the first value of an option given
 * twice, so texts are handed to us one by one: `val` says which option, from 1 on. */
static struct poptOption *merge_tables(const struct poptOption *own) {
    size_t own_length = table_length(own), length = own_length + table_length(GLOBAL_OPTIONS);
    struct poptOption *merged = calloc(length + 1, sizeof(*merged));
    for (size_t i = 0; merged && i < length; i++) {
        merged[i] = i < own_length ? own[i] : GLOBAL_OPTIONS[i - own_length];
        if ((merged[i].argInfo & POPT_ARG_MASK) == POPT_ARG_STRING) {
            merged[i].arg = NULL;
            merged[i].val = (int)i + 1;
        }
    }
    return merged;
}

/* Some commands work on all stores that are given. */
static int keep_store(const struct cli *cli, const char *value) {
    char **stores = global_options.stores, *copy = strdup(value);
    size_t count = stores ? cli_args_count((const char *const *)stores) : 0;
    char **longer = copy ? reallocarray(stores, count + 2, sizeof(*stores)) : NULL;
    if (!longer) {
        free(copy);
        return cli_no_memory(cli);
    }
    longer[count] = copy;
    longer[count + 1] = NULL;
    global_options.stores = longer;
    return CLI_DONE;
}

/* Keeps the last value of option number `val`. Each such
 * option has a value: NULL = popt had no memory for it. Without it, --store would be the store of the
 * environment. */
static int keep_value(const struct cli *cli, size_t val, char *value) {
    if (!value)
        return cli_no_memory(cli);
    const struct poptOption *own = own_options(cli);
    size_t own_length = table_length(own);
    const struct poptOption *option =
        val <= own_length ? &own[val - 1] : &GLOBAL_OPTIONS[val - own_length - 1];
    char **kept = option->arg;
    free(*kept);
    unguard(value);
    *kept = value;
    return option->arg == &global_options.store ? keep_store(cli, value) : CLI_DONE;
}

static void unguard_lists(const struct poptOption *table) {
    for (size_t i = 0; i < table_length(table); i++)
        if ((table[i].argInfo & POPT_ARG_MASK) == POPT_ARG_ARGV)
            unguard_list(*(char ***)table[i].arg);
}

/* popt has no list of arguments where it had no memory for the list, and a hole in it where it had none for
 * one of them: the list would end there. It takes them one by one off the front of the list, which stays
 * where it is. */
static bool lacks_arguments(const struct cli *cli, const struct option_parse *parse,
                            const char *const *args) {
    if (!args)
        return option_pairs_leave_arguments(own_options(cli), (const char *const *)parse->argv);
    while (poptGetArgs(parse->context))
        if (!poptGetArg(parse->context))
            return true;
    return false;
}

static int collect_args(const struct cli *cli, struct option_parse *parse) {
    static const char *const NONE[] = {NULL};
    const char **args = poptGetArgs(parse->context);
    if (lacks_arguments(cli, parse, args))
        return cli_no_memory(cli);
    unguard_list((char **)args); /* popt's own copies */
    parse->args = args ? (const char *const *)args : NONE;
    return CLI_DONE;
}

static int read_options(const struct cli *cli, struct option_parse *parse) {
    int next;
    while ((next = poptGetNextOpt(parse->context)) > 0)
        TRY(keep_value(cli, (size_t)next, poptGetOptArg(parse->context)));
    if (next < -1)
        return refuse(cli, next, poptBadOption(parse->context, POPT_BADOPTION_NOALIAS));
    unguard_lists(own_options(cli));
    return collect_args(cli, parse);
}

int option_parse(struct cli *cli, int argc, const char *const *argv, bool stop_at_word,
                 struct option_parse *ret_parse) {
    AUTO_FREE const char **rest = NULL;
    *ret_parse = (struct option_parse){0};
    TRY(option_pairs_take(cli, own_options(cli), argc, argv, &argc, &rest));
    ret_parse->table = merge_tables(own_options(cli));
    if (!ret_parse->table || !copy_arguments(ret_parse, argc, rest))
        return cli_no_memory(cli);
    ret_parse->context = poptGetContext("boxcar", argc, (const char **)ret_parse->argv, ret_parse->table,
                                        stop_at_word ? POPT_CONTEXT_POSIXMEHARDER : 0);
    return ret_parse->context ? read_options(cli, ret_parse) : cli_no_memory(cli);
}

void option_parse_release(struct option_parse *parse) {
    if (parse->context)
        poptFreeContext(parse->context);
    for (char **word = parse->argv; word && *word; word++)
        free(*word);
    free(parse->argv);
    free(parse->table);
    *parse = (struct option_parse){0};
}

const struct poptOption *option_find(const struct poptOption *own, const char *name, size_t length) {
    const struct poptOption *const tables[] = {own, GLOBAL_OPTIONS};
    for (size_t i = 0; i < 2; i++)
        for (const struct poptOption *option = tables[i]; option && option->longName; option++)
            if (strlen(option->longName) == length && strncmp(option->longName, name, length) == 0)
                return option;
    return NULL;
}

/* What the user calls an argument, whatever options there are; NULL = it has no such name. */
static const char *fixed_label(const struct cli *cli, const char *argument, const char *name) {
    static const char *const RENAMED[][2] = {{"content_hash", "--hash"},
                                             {"external_id", "id"},
                                             {"destinations", "--to"},
                                             {"destination_count", "--to"}};
    if (strcmp(argument, "url") == 0)
        return cli->store_url_from;
    if (strcmp(argument, "schema") == 0)
        return cli->schema_from;
    for (size_t i = 0; i < sizeof(RENAMED) / sizeof(RENAMED[0]); i++)
        if (strcmp(name, RENAMED[i][0]) == 0)
            return RENAMED[i][1];
    return NULL;
}

void option_label(const struct cli *cli, const char *argument, char ret_label[OPTION_LABEL_SIZE]) {
    static const char *const ENDINGS[] = {"", "_ms", "_at", "_id", "s", "_steps", "_topic", "_version"};
    const char *dot = strrchr(argument, '.');
    char name[OPTION_LABEL_SIZE]; /* without its path and index: "error" for settlements[2].error */
    snprintf(name, sizeof(name), "%s", argument + (dot ? dot + 1 - argument : 0));
    name[strcspn(name, "[")] = '\0';
    const char *label = fixed_label(cli, argument, name);
    snprintf(ret_label, OPTION_LABEL_SIZE, "%s", label ? label : name);
    size_t length = strlen(name);
    for (size_t i = 0; !label && i < sizeof(ENDINGS) / sizeof(ENDINGS[0]); i++) {
        size_t ending = strlen(ENDINGS[i]);
        if (ending > length || strcmp(name + length - ending, ENDINGS[i]) != 0)
            continue;
        char option[OPTION_LABEL_SIZE];
        snprintf(option, sizeof(option), "%.*s", (int)(length - ending), name);
        for (char *c = option; *c; c++)
            *c = *c == '_' ? '-' : *c;
        if (option_find(own_options(cli), option, strlen(option))) {
            snprintf(ret_label, OPTION_LABEL_SIZE, "--%.70s", option);
            return;
        }
    }
}
