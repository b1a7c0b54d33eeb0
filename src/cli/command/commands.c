#include "commands.h"

#include <stdio.h>
#include <string.h>

#include "cli/command/command_nouns.h"
#include "cli/input/suggest.h"
#include "cli/output/report.h"

#define DECLARE(noun) extern const struct command_noun noun##_COMMANDS;
COMMAND_NOUNS(DECLARE)

#define ADDRESS(noun) &noun##_COMMANDS,
static const struct command_noun *const NOUNS[] = {COMMAND_NOUNS(ADDRESS) NULL};

const struct command *command_at(size_t index) {
    for (size_t i = 0; NOUNS[i]; i++)
        for (const struct command *const *command = NOUNS[i]->commands; *command; command++)
            if (index-- == 0)
                return *command;
    return NULL;
}

const char *command_section_begun_by(const struct command *command) {
    for (size_t i = 0; NOUNS[i]; i++)
        if (NOUNS[i]->commands[0] == command)
            return i == 0 || strcmp(NOUNS[i]->section, NOUNS[i - 1]->section) != 0 ? NOUNS[i]->section : NULL;
    return NULL;
}

bool command_is_in_group(const struct command *member, const struct command *group) {
    size_t length = strlen(group->name);
    return strncmp(member->name, group->name, length) == 0 && member->name[length] == ' ';
}

bool command_is_group(const struct command *command) {
    for (size_t i = 0; command_at(i); i++)
        if (command_is_in_group(command_at(i), command))
            return true;
    return false;
}

/* The word that names `command` inside `group`; NULL = it is not there. */
static const char *word_in(const struct command *command, const struct command *group) {
    if (group)
        return command_is_in_group(command, group) ? command->name + strlen(group->name) + 1 : NULL;
    return strchr(command->name, ' ') ? NULL : command->name;
}

int command_without_member(const struct cli *cli) {
    char words[256];
    size_t used = 0;
    for (size_t i = 0; command_at(i); i++) {
        if (!command_is_in_group(command_at(i), cli->command))
            continue;
        bool is_last = !command_at(i + 1) || !command_is_in_group(command_at(i + 1), cli->command);
        const char *before = used == 0 ? "" : is_last ? " or " : ", ";
        used += (size_t)snprintf(words + used, sizeof(words) - used, "%s%s", before,
                                 word_in(command_at(i), cli->command));
    }
    return cli_usage(cli, "no command given: give %s", words);
}

static void report_unknown(const struct cli *cli, const struct command *group, const char *typed) {
    struct suggestion suggestion = {.typed = typed};
    for (size_t i = 0; command_at(i); i++) {
        const char *word = word_in(command_at(i), group);
        if (word)
            suggest_consider(&suggestion, word);
    }
    const char *prefix = group ? group->name : "";
    const char *space = group ? " " : "";
    if (suggestion.best)
        cli_usage(cli, "unknown command '%.64s', did you mean '%s'? See boxcar help%s%s", typed,
                  suggestion.best, space, prefix);
    else
        cli_usage(cli, "unknown command '%.64s': see boxcar help%s%s", typed, space, prefix);
}

const struct command *command_find(const struct cli *cli, const struct command *group, const char *word) {
    for (size_t i = 0; command_at(i); i++) {
        const struct command *command = command_at(i);
        const char *name = word_in(command, group);
        if (!name || strcmp(name, word) != 0)
            continue;
        if (command->prepare)
            command->prepare();
        return command;
    }
    report_unknown(cli, group, word);
    return NULL;
}
