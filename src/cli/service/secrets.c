#include "secrets.h"

#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "cli/output/redact.h"

/* Out of memory: the variable stays where it is, which the file's permissions still protect. */
void secrets_move_environment(void) {
    for (char **variable = environ; variable && *variable; variable++) {
        char *copy = strdup(*variable);
        if (!copy)
            return;
        explicit_bzero(*variable, strlen(*variable));
        *variable = copy;
    }
}

void secrets_close(char **argv) {
    (void)prctl(PR_SET_DUMPABLE, 0); /* fails in no kernel that knows it */
    for (; *argv; argv++)
        redact_in_place(*argv);
}
