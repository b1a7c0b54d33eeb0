/* Help, made from the table of commands: boxcar help, and --help of every command. */
#include <stdio.h>
#include <string.h>

#include "common.h"

/* Prints each line of `text` behind `prefix`. */
static void put_lines(const char *prefix, const char *text) {
    while (*text) {
        int length = (int)strcspn(text, "\n");
        printf("%s%.*s\n", length ? prefix : "", length, text);
        text += length + (text[length] == '\n');
    }
}

static void option_name(const struct poptOption *option, char *ret_text, size_t size) {
    char letter[8] = "    ";
    if (option->shortName)
        snprintf(letter, sizeof(letter), "-%c, ", option->shortName);
    snprintf(ret_text, size, "%s--%s%s%s", letter, option->longName, option->argDescrip ? " " : "",
             option->argDescrip ? option->argDescrip : "");
}

static void put_options(const char *title, const struct poptOption *table) {
    if (!table || !table->longName)
        return;
    printf("\n%s:\n", title);
    for (const struct poptOption *option = table; option->longName; option++) {
        char name[64];
        option_name(option, name, sizeof(name));
        printf("  %-26s  %s\n", name, option->descrip);
    }
}

static void put_members(const struct command *group) {
    printf("\nCommands:\n");
    for (size_t i = 0; command_at(i); i++)
        if (command_is_in_group(command_at(i), group))
            printf("  %-19s  %s\n", command_at(i)->name, command_at(i)->summary);
}

static const char EXIT_STATUS[] = "0 done, 2 usage or invalid argument, 3 not found, 4 conflict,\n"
                                  "5 store unavailable (worth a retry), 1 anything else\n";

void help_command(const struct command *command) {
    char prefix[64];
    printf("boxcar %s: %s\n\nUsage:\n", command->name, command->summary);
    snprintf(prefix, sizeof(prefix), "  boxcar %s ", command->name);
    if (command->usage[0])
        put_lines(prefix, command->usage);
    else
        printf("  boxcar %s\n", command->name);
    putchar('\n');
    put_lines("", command->description);
    if (command_is_group(command))
        put_members(command);
    put_options("Options", command->options);
    put_options("Global options", GLOBAL_OPTIONS);
    printf("\nExamples:\n");
    put_lines("  ", command->examples);
    printf("\nExit status:\n");
    put_lines("  ", EXIT_STATUS);
}

void help_overview(void) {
    printf("boxcar: transactional messaging in your own database\n\n"
           "Usage:\n  boxcar [GLOBAL OPTIONS] COMMAND [ARGUMENTS] [OPTIONS]\n");
    for (size_t i = 0; command_at(i); i++) {
        const char *section = command_section_begun_by(command_at(i));
        if (section)
            printf("\n%s:\n", section);
        printf("  %-13s  %s\n", command_at(i)->name, command_at(i)->summary);
    }
    put_options("Global options", GLOBAL_OPTIONS);
    printf("\nDurations are 500ms, 30s, 5m, 2h or 7d; times are RFC 3339 (2026-01-31T12:00:00Z).\n"
           "Data goes to standard output, everything else to standard error.\n"
           "\nExamples:\n"
           "  boxcar init\n"
           "  boxcar enqueue orders.paid '{\"order\": 42}'\n"
           "  boxcar worker --drain --handler 'orders.*=exec:/bin/cat'\n"
           "  boxcar stats\n"
           "  boxcar help enqueue\n"
           "\nExit status:\n");
    put_lines("  ", EXIT_STATUS);
}

/* ---- boxcar help --words: what completion and the manual pages are made from ----
 *
 * Commands and options for programs, fields separated by tabs, one a line:
 *     command NAME SUMMARY
 *     option COMMAND --NAME -LETTER METAVAR CHOICES DESCRIPTION
 * A global option has no COMMAND, a flag no METAVAR; CHOICES are separated by blanks. */

/* Copies one word of "debug, info (default), warn or error", without the parentheses after it.
 * Returns where the next word begins, or NULL when the text is not such a list. */
static const char *take_choice(const char *text, char *ret_word, size_t size) {
    size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz_");
    if (length == 0 || length >= size)
        return NULL;
    memcpy(ret_word, text, length);
    ret_word[length] = '\0';
    text += length;
    if (strncmp(text, " (", 2) == 0) {
        const char *end = strchr(text, ')');
        if (!end)
            return NULL;
        text = end + 1;
    }
    if (!*text)
        return text;
    if (strncmp(text, ", ", 2) == 0)
        return text + 2;
    return strncmp(text, " or ", 4) == 0 ? text + 4 : NULL;
}

/* The values an option takes, when its description is a list of them and nothing else. */
static void choices(const struct poptOption *option, char *ret_text, size_t size) {
    char word[32], text[256] = "";
    size_t used = 0;
    ret_text[0] = '\0';
    if (!option->argDescrip)
        return;
    for (const char *rest = option->descrip; rest && used < sizeof(text);) {
        rest = take_choice(rest, word, sizeof(word));
        if (!rest)
            return;
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", used ? " " : "", word);
        if (!*rest)
            break;
    }
    if (strchr(text, ' '))
        snprintf(ret_text, size, "%s", text);
}

static void put_options_words(const char *command, const struct poptOption *table) {
    for (const struct poptOption *option = table; table && option->longName; option++) {
        char values[256], letter[3] = "";
        choices(option, values, sizeof(values));
        if (option->shortName)
            snprintf(letter, sizeof(letter), "-%c", option->shortName);
        printf("option\t%s\t--%s\t%s\t%s\t%s\t%s\n", command, option->longName, letter,
               option->argDescrip ? option->argDescrip : "", values, option->descrip);
    }
}

static void put_words(void) {
    put_options_words("", GLOBAL_OPTIONS);
    for (size_t i = 0; command_at(i); i++) {
        const struct command *command = command_at(i);
        if (command->prepare)
            command->prepare();
        printf("command\t%s\t%s\n", command->name, command->summary);
        put_options_words(command->name, command->options);
    }
}

/* ---- boxcar help: the table of commands, or one of them ---- */

static int words;

static struct poptOption HELP_OPTIONS[] = {
    OPTION_FLAG("words", words, "all commands and options for programs, separated by tabs"),
    POPT_TABLEEND,
};

static int run_help(struct cli *cli) {
    const struct command *command = NULL;
    size_t i = 0;
    for (; cli->args[i] && (!command || command_is_group(command)); i++) {
        command = command_find(cli, command, cli->args[i]);
        if (!command)
            return CLI_USAGE;
    }
    if (!cli_args_at_most(cli, words ? 0 : i))
        return CLI_USAGE;
    if (words)
        put_words();
    else if (command)
        help_command(command);
    else
        help_overview();
    return CLI_DONE;
}

static const struct command CMD_HELP = {
    .name = "help",
    .summary = "show help, in general or about a command",
    .usage = "[COMMAND]\n"
             "--words",
    .description = "The same as --help before or after a command. --words is what shell completion reads.\n",
    .examples = "boxcar help\n"
                "boxcar help enqueue\n"
                "boxcar dead replay --help\n",
    .options = HELP_OPTIONS,
    .most_args = CLI_ANY_ARGS,
    .run = run_help,
};

const struct command_noun HELP_COMMANDS = {"About boxcar", (const struct command *const[]){&CMD_HELP, NULL}};
