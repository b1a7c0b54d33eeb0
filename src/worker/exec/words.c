#include "exec.h"

#include "base/error.h"
#include "base/utf8.h"
#include "core/limits/limits.h"

/* Where reading and writing are. Taking quotes off only shortens, so `into` never runs out. */
struct splitter {
    const char *at, *end;
    char *into;
};

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n'; }

static bool at_end(const struct splitter *splitter) { return splitter->at == splitter->end; }

static void take(struct splitter *splitter) { *splitter->into++ = *splitter->at++; }

static bool is_escape(const struct splitter *splitter) {
    return *splitter->at == '\\' && splitter->end - splitter->at > 1 &&
           (splitter->at[1] == '"' || splitter->at[1] == '\\');
}

static boxcar_status take_quoted(struct splitter *splitter, char quote, boxcar_error *err) {
    for (splitter->at++; !at_end(splitter); take(splitter)) {
        if (*splitter->at == quote) {
            splitter->at++;
            return BOXCAR_OK;
        }
        if (quote == '"' && is_escape(splitter))
            splitter->at++;
    }
    return error_invalid(err, "command",
                         "command has a %s quote that is not closed: close it, or put a "
                         "backslash in front of it",
                         quote == '"' ? "double" : "single");
}

static boxcar_status take_escaped(struct splitter *splitter, boxcar_error *err) {
    splitter->at++;
    if (at_end(splitter))
        return error_invalid(err, "command", "command ends with a backslash: remove it, or write it twice");
    take(splitter);
    return BOXCAR_OK;
}

static boxcar_status take_piece(struct splitter *splitter, boxcar_error *err) {
    switch (*splitter->at) {
    case '\'':
    case '"':
        return take_quoted(splitter, *splitter->at, err);
    case '\\':
        return take_escaped(splitter, err);
    default:
        take(splitter);
        return BOXCAR_OK;
    }
}

static void skip_blanks(struct splitter *splitter) {
    while (!at_end(splitter) && is_blank(*splitter->at))
        splitter->at++;
}

static boxcar_status take_words(struct splitter *splitter, char **words, boxcar_error *err) {
    size_t count = 0;
    for (skip_blanks(splitter); !at_end(splitter); skip_blanks(splitter)) {
        words[count++] = splitter->into;
        while (!at_end(splitter) && !is_blank(*splitter->at))
            TRY(take_piece(splitter, err));
        *splitter->into++ = '\0';
    }
    words[count] = NULL;
    if (count == 0 || words[0][0] == '\0')
        return error_invalid(err, "command", "command is empty: give a program and its arguments");
    return BOXCAR_OK;
}

boxcar_status exec_words_split(struct arena *arena, boxcar_str command, char ***ret_words,
                               boxcar_error *err) {
    TRY(limits_check_text(command, "command", SIZE_MAX, err));
    /* At most every other byte begins a word; each word's NUL has the place of a blank or the end. */
    char **words = arena_alloc_array(arena, command.len / 2 + 2, sizeof(*words));
    struct splitter splitter = {.at = command.data, .into = arena_alloc_text(arena, command.len)};
    if (!words || !splitter.into)
        return error_no_memory(err);
    splitter.end = command.len > 0 ? command.data + command.len : command.data;
    TRY(take_words(&splitter, words, err));
    *ret_words = words;
    return BOXCAR_OK;
}
