#include "option_pairs.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "cli/output/report.h"
#include "options.h"

static bool is_pair(const struct poptOption *option) {
    return option->argDescrip && strchr(option->argDescrip, ' ');
}

static bool has_pairs(const struct poptOption *table) {
    for (; table && table->longName; table++)
        if (is_pair(table))
            return true;
    return false;
}

/* The option that a word "--name" or "--name=value" is; NULL = none of ours. */
static const struct poptOption *long_option(const struct poptOption *own, const char *word) {
    return option_find(own, word + 2, strcspn(word + 2, "="));
}

static const struct poptOption *find_letter(const struct poptOption *table, char letter) {
    for (; table && table->longName; table++)
        if (table->shortName == letter)
            return table;
    return NULL;
}

/* Whether the last letter of "-ho" wants the next word. One that takes a value takes what follows it in
 * the same word, if anything does. */
static bool letters_want_a_word(const struct poptOption *own, const char *letters) {
    for (; *letters; letters++) {
        const struct poptOption *option = find_letter(own, *letters);
        option = option ? option : find_letter(GLOBAL_OPTIONS, *letters);
        if (option && option->argDescrip)
            return !letters[1];
    }
    return false;
}

/* Whether the word after this one is the value of an option that popt reads. */
static bool wants_a_word(const struct poptOption *own, const char *word) {
    if (word[0] != '-' || !word[1])
        return false;
    if (word[1] != '-')
        return letters_want_a_word(own, word + 1);
    const struct poptOption *option = long_option(own, word);
    return option && option->argDescrip && !strchr(word, '=');
}

/* The option of two words that `word` is; NULL = it is something else. */
static const struct poptOption *pair_option(const struct poptOption *own, const char *word) {
    const struct poptOption *option = strncmp(word, "--", 2) == 0 ? long_option(own, word) : NULL;
    return option && is_pair(option) ? option : NULL;
}

/* Whether a word is exactly the name of an option: its writer has forgotten what should be here. */
static bool is_option_name(const struct poptOption *own, const char *word) {
    return strncmp(word, "--", 2) == 0 && !strchr(word, '=') && long_option(own, word);
}

/* `found` is the option that stands where a word of this one should; NULL = the line ends there. */
static int missing_word(const struct cli *cli, const struct poptOption *option, bool is_first,
                        const char *found) {
    const char *second = strchr(option->argDescrip, ' ') + 1;
    int first_length = (int)(second - option->argDescrip) - 1;
    return cli_usage(cli, "--%s has no %.*s%s%s: it takes a %.*s and a %s; give '' for an empty one",
                     option->longName, is_first ? first_length : (int)strlen(second),
                     is_first ? option->argDescrip : second, found ? ", what follows is " : "",
                     found ? found : "", first_length, option->argDescrip, second);
}

/* `words` begins with the option. *ret_used is how many words it and its values are. */
static int take_pair(const struct cli *cli, const struct poptOption *own, const struct poptOption *option,
                     const char *const *words, int count, int *ret_used) {
    const char *equals = strchr(words[0], '=');
    int used = equals ? 2 : 3;
    for (int i = 1; i < used; i++) {
        const char *found = i < count ? words[i] : NULL;
        if (!found || is_option_name(own, found))
            return missing_word(cli, option, i < used - 1, found);
    }
    char **kept = option->arg;
    if (kept[0])
        return cli_usage(cli, "--%s is given twice: give it once", option->longName);
    kept[0] = strdup(equals ? equals + 1 : words[1]);
    kept[1] = strdup(words[used - 1]);
    *ret_used = used;
    return kept[0] && kept[1] ? CLI_DONE : cli_no_memory(cli);
}

/* argv[0] is the command. Everything after "--" is an argument. */
static int take_all(const struct cli *cli, const struct poptOption *own, int argc, const char *const *argv,
                    int *kept_count, const char **kept) {
    bool has_ended = !has_pairs(own);
    for (int i = 0; i < argc;) {
        const struct poptOption *option = i > 0 && !has_ended ? pair_option(own, argv[i]) : NULL;
        int used = 1;
        if (option) {
            TRY(take_pair(cli, own, option, argv + i, argc - i, &used));
            i += used;
            continue;
        }
        has_ended = has_ended || (i > 0 && strcmp(argv[i], "--") == 0);
        used += i > 0 && !has_ended && i + 1 < argc && wants_a_word(own, argv[i]);
        for (; used > 0; used--)
            kept[(*kept_count)++] = argv[i++];
    }
    return CLI_DONE;
}

int option_pairs_take(const struct cli *cli, const struct poptOption *own, int argc, const char *const *argv,
                      int *ret_argc, const char ***ret_argv) {
    AUTO_FREE const char **kept = calloc((size_t)argc + 1, sizeof(*kept));
    int count = 0;
    if (!kept)
        return cli_no_memory(cli);
    TRY(take_all(cli, own, argc, argv, &count, kept));
    *ret_argc = count;
    *ret_argv = kept;
    kept = NULL;
    return CLI_DONE;
}

bool option_pairs_leave_arguments(const struct poptOption *own, const char *const *argv) {
    for (size_t i = 1; argv[i]; i++) {
        if (strcmp(argv[i], "--") == 0)
            return argv[i + 1] != NULL;
        if (argv[i][0] != '-' || !argv[i][1])
            return true;
        i += argv[i + 1] && wants_a_word(own, argv[i]);
    }
    return false;
}
