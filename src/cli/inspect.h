/* What show and dead show have in common. */
#ifndef BOXCAR_CLI_INSPECT_H
#define BOXCAR_CLI_INSPECT_H

#include "cli.h"

/* Prints the message that args[0] names, with payload and attempt history. With
 * `only_dead` any other than a dead letter counts as not found. */
int inspect_show(struct cli *cli, const char *box, const char *const *args, bool only_dead);

#endif
