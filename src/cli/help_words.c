/* The table of commands for programs: what completion and the manual pages are made from. */
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "help.h"
#include "options.h"

/* One word of "debug, info (default), warn or error": copied without what is said about it in
 * parentheses. Returns where the next one begins, or NULL when the text is not such a list. */
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

static void put_options(const char *command, const struct poptOption *table) {
    for (const struct poptOption *option = table; table && option->longName; option++) {
        char values[256], letter[3] = "";
        choices(option, values, sizeof(values));
        if (option->shortName)
            snprintf(letter, sizeof(letter), "-%c", option->shortName);
        printf("option\t%s\t--%s\t%s\t%s\t%s\t%s\n", command, option->longName, letter,
               option->argDescrip ? option->argDescrip : "", values, option->descrip);
    }
}

void help_words(void) {
    put_options("", GLOBAL_OPTIONS);
    for (size_t i = 0; COMMANDS[i]; i++) {
        if (COMMANDS[i]->prepare)
            COMMANDS[i]->prepare();
        printf("command\t%s\t%s\n", COMMANDS[i]->name, COMMANDS[i]->summary);
        put_options(COMMANDS[i]->name, COMMANDS[i]->options);
    }
}
