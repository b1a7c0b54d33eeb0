/* Options that take two words, which popt cannot: "--on-complete TOPIC PAYLOAD".
 *
 * Such an option says so by its argDescrip, which has a blank, and its `arg` points to the first of
 * two texts, char *[2]. The words are taken out of the command line before popt sees it. */
#ifndef BOXCAR_CLI_INPUT_OPTION_PAIRS_H
#define BOXCAR_CLI_INPUT_OPTION_PAIRS_H

#include "cli/cli.h"

/* Copies the command line without such options and what they take into *ret_argv (free() it, not its
 * words) and *ret_argc, and keeps copies of the two words. They are taken whatever they look like, empty
 * or beginning with "-", but for the name of an option ("--on-fail"): there a word was forgotten, and
 * that is refused, as is an option given twice. Returns an enum cli_exit and has reported what is
 * missing. */
int option_pairs_take(const struct cli *cli, const struct poptOption *own, int argc, const char *const *argv,
                      int *ret_argc, const char ***ret_argv);

/* Whether such a copy has arguments besides options. */
bool option_pairs_leave_arguments(const struct poptOption *own, const char *const *argv);

#endif
