/* The words of a command. Each of them, quoted behind the name of a program, is read as itself. */
#include "base/memory.h"
#include "fuzz.h"
#include "worker/exec/exec.h"

/* p 'it'\''s' */
static size_t quote(const char *word, char *out) {
    size_t length = 3;

    memcpy(out, "p '", length);
    for (; *word != '\0'; word++) {
        size_t piece = *word == '\'' ? 4 : 1;
        memcpy(out + length, piece == 4 ? "'\\''" : word, piece);
        length += piece;
    }
    out[length++] = '\'';
    return length;
}

static void check_word(const char *word) {
    AUTO_ARENA struct arena arena = ARENA_INIT;
    char *quoted = malloc(strlen(word) * 4 + 4), **again;
    boxcar_error err = BOXCAR_ERROR_INIT;

    PROMISE(quoted != NULL);
    PROMISE(exec_words_split(&arena, (boxcar_str){quoted, quote(word, quoted)}, &again, &err) == BOXCAR_OK);
    PROMISE(strcmp(again[1], word) == 0 && again[2] == NULL);
    free(quoted);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    AUTO_ARENA struct arena arena = ARENA_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;
    char **words = NULL;
    boxcar_status status = exec_words_split(&arena, (boxcar_str){(const char *)data, size}, &words, &err);

    fuzz_check_refusal(status, &err);
    if (status != BOXCAR_OK)
        return 0;
    PROMISE(words[0] != NULL);
    for (size_t i = 0; words[i] != NULL; i++)
        check_word(words[i]);
    return 0;
}
