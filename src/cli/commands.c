#include "commands.h"

#include <string.h>

#include "report.h"
#include "suggest.h"

const struct command *const COMMANDS[] = {
    &CMD_INIT,          &CMD_SETTINGS,  &CMD_CONFIG,     &CMD_ENQUEUE,
    &CMD_WORKER,        &CMD_CLAIM,     &CMD_ACK,        &CMD_ABANDON,
    &CMD_DEFER,         &CMD_FAIL,      &CMD_RENEW,      &CMD_REAP,
    &CMD_SHOW,          &CMD_LS,        &CMD_STATS,      &CMD_CANCEL,
    &CMD_DEAD,          &CMD_DEAD_LS,   &CMD_DEAD_SHOW,  &CMD_DEAD_REPLAY,
    &CMD_DEAD_PURGE,    &CMD_JOIN,      &CMD_JOIN_START, &CMD_JOIN_ATTACH,
    &CMD_JOIN_COMPLETE, &CMD_JOIN_FAIL, &CMD_JOIN_WAIT,  &CMD_JOIN_CANCEL,
    &CMD_JOIN_SHOW,     &CMD_JOIN_LS,
    &CMD_STREAM,        &CMD_STREAM_LS, &CMD_STREAM_SHOW, &CMD_STREAM_RESUME,
    &CMD_STREAM_SKIP,   &CMD_STREAM_POLICY, &CMD_INSTANCE, &CMD_INSTANCE_LS,
    &CMD_INBOX,         &CMD_INBOX_ENQUEUE,
    &CMD_INBOX_CHECK,   &CMD_INBOX_SHOW, &CMD_INBOX_LS,  &CMD_INBOX_REVIVE,
    &CMD_EVENT,         &CMD_EVENT_APPEND, &CMD_EVENT_READ, &CMD_EVENT_FOLLOW,
    &CMD_MAINTAIN,      &CMD_DOCTOR,
    &CMD_BENCH,         &CMD_VERSION,   &CMD_HELP,       NULL};

const struct command_section COMMAND_SECTIONS[] = {{"Set up", &CMD_INIT},
                                                   {"Send", &CMD_ENQUEUE},
                                                   {"Work", &CMD_WORKER},
                                                   {"Work by hand", &CMD_CLAIM},
                                                   {"Look", &CMD_SHOW},
                                                   {"Dead letters", &CMD_CANCEL},
                                                   {"Joins", &CMD_JOIN},
                                                   {"Inbox", &CMD_INBOX},
                                                   {"Events", &CMD_EVENT},
                                                   {"Streams", &CMD_STREAM},
                                                   {"Upkeep", &CMD_MAINTAIN},
                                                   {"About boxcar", &CMD_VERSION},
                                                   {NULL, NULL}};

bool command_is_in_group(const struct command *member, const struct command *group) {
    size_t length = strlen(group->name);
    return strncmp(member->name, group->name, length) == 0 && member->name[length] == ' ';
}

bool command_is_group(const struct command *command) {
    for (size_t i = 0; COMMANDS[i]; i++)
        if (command_is_in_group(COMMANDS[i], command))
            return true;
    return false;
}

/* The word that names `command` inside `group`; NULL = it is not there. */
static const char *word_in(const struct command *command, const struct command *group) {
    if (group)
        return command_is_in_group(command, group) ? command->name + strlen(group->name) + 1 : NULL;
    return strchr(command->name, ' ') ? NULL : command->name;
}

static void report_unknown(const struct cli *cli, const struct command *group, const char *typed) {
    struct suggestion suggestion = {.typed = typed};
    for (size_t i = 0; COMMANDS[i]; i++) {
        const char *word = word_in(COMMANDS[i], group);
        if (word)
            suggest_consider(&suggestion, word);
    }
    const char *prefix = group ? group->name : "";
    const char *space = group ? " " : "";
    if (suggestion.best) {
        cli_usage(cli, "unknown command '%.64s', did you mean '%s'? See boxcar help%s%s", typed,
                  suggestion.best, space, prefix);
    } else {
        cli_usage(cli, "unknown command '%.64s': see boxcar help%s%s", typed, space, prefix);
    }
}

const struct command *command_find(const struct cli *cli, const struct command *group, const char *word) {
    for (size_t i = 0; COMMANDS[i]; i++) {
        const char *name = word_in(COMMANDS[i], group);
        if (!name || strcmp(name, word) != 0)
            continue;
        if (COMMANDS[i]->prepare)
            COMMANDS[i]->prepare();
        return COMMANDS[i];
    }
    report_unknown(cli, group, word);
    return NULL;
}
