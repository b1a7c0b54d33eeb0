#include "help.h"

#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "options.h"

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
    for (size_t i = 0; COMMANDS[i]; i++)
        if (command_is_in_group(COMMANDS[i], group))
            printf("  %-13s  %s\n", COMMANDS[i]->name, COMMANDS[i]->summary);
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

/* A title above the first command of a section. */
static void put_section(const struct command *command) {
    for (const struct command_section *section = COMMAND_SECTIONS; section->title; section++)
        if (section->first == command)
            printf("\n%s:\n", section->title);
}

void help_overview(void) {
    printf("boxcar: transactional messaging in your own database\n\n"
           "Usage:\n  boxcar [GLOBAL OPTIONS] COMMAND [ARGUMENTS] [OPTIONS]\n");
    for (size_t i = 0; COMMANDS[i]; i++) {
        put_section(COMMANDS[i]);
        printf("  %-13s  %s\n", COMMANDS[i]->name, COMMANDS[i]->summary);
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
