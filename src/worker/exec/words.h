/* Splitting a command into words, the way a shell reads quotes, without anything else a shell does:
 * no variables, no patterns, no pipes. Pure.
 *
 * Blanks (space, tab, newline) separate words. 'single quotes' keep everything as it is; in "double
 * quotes" a backslash stands for \" and \\, and for itself before anything else; outside quotes a
 * backslash takes the next character as it is. Quoted and plain pieces that touch are one word. */
#ifndef BOXCAR_WORKER_EXEC_WORDS_H
#define BOXCAR_WORKER_EXEC_WORDS_H

#include "base/arena.h"
#include "boxcar/error.h"

/* *ret_words: the words and a NULL behind them, all in the arena. BOXCAR_E_INVALID names `command`:
 * no word, an open quote, a backslash at the end, a NUL byte or text that is not UTF-8. */
boxcar_status exec_words_split(struct arena *arena, boxcar_str command, char ***ret_words, boxcar_error *err);

#endif
