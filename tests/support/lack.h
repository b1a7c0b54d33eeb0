/* What the machine lacks for a test. cmocka's skip() ends with 0, so that nobody sees that nothing was
 * proven: a program that had to leave out a test for this reason ends with 77, which Meson shows as SKIP.
 * skip() alone is for tests that are not about this store. */
#ifndef BOXCAR_TESTS_LACK_H
#define BOXCAR_TESTS_LACK_H

/* "IPv6": leaves out the rest of the test. Include cmocka before. */
#define SKIP_LACKING(what)                                                                                   \
    do {                                                                                                     \
        lack_note(what);                                                                                     \
        skip();                                                                                              \
    } while (0)

void lack_note(const char *what);
/* The status of a program in which so many tests failed. */
int lack_exit(int failed);

#endif
