#include "lack.h"

#include <stdbool.h>
#include <stdio.h>

enum { EXIT_SKIPPED = 77 };

static bool lacks;

void lack_note(const char *what) {
    fprintf(stderr, "not proven: this machine lacks %s\n", what);
    lacks = true;
}

int lack_exit(int failed) {
    if (failed > 0)
        return 1;
    return lacks ? EXIT_SKIPPED : 0;
}
