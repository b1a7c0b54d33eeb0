/* What the tests of exec handlers share: a folder for what programs leave behind, and one message with
 * its delivery. Functions that assert belong on the test's own thread. */
#ifndef BOXCAR_TESTS_EXEC_FIXTURE_H
#define BOXCAR_TESTS_EXEC_FIXTURE_H

#include <stdbool.h>
#include <sys/types.h>

#include "worker/crew/delivery.h"
#include "worker/exec/exec.h"

#define MIB ((size_t)1 << 20)

struct trial {
    struct boxcar_delivery delivery;
    boxcar_message message;
    boxcar_verdict verdict;
    char *error; /* the error text of the last run; NULL = none */
    size_t error_len;
};

/* A folder of the test program's own, removed at its end; the process also inherits its descendants'
 * orphans, so that their end can be seen. For cmocka's group functions. */
int fixture_setup(void **state);
int fixture_teardown(void **state);

/* PATH of NAME in the folder, or the folder itself with "". Lent until the 16th next call. */
const char *fixture_path(const char *name);
void fixture_write(const char *name, boxcar_str text);
/* The whole file, with a NUL behind; the caller frees it. */
char *fixture_read(const char *name, size_t *ret_len);
void fixture_assert_file(const char *name, boxcar_str expected);
pid_t fixture_read_pid(const char *name);
void fixture_remove(const char *name);
/* Waits until the file is there; false = not within half a minute. Any thread. */
bool fixture_wait_for(const char *name);

/* Bytes without a pattern that a mix-up of pieces could hide in; the caller frees them. */
char *fixture_noise(size_t len);
/* A command that is an executable file NAME with this text. */
struct exec_command *fixture_script(const char *name, boxcar_str text);

void trial_init(struct trial *trial);
void trial_release(struct trial *trial);
/* Runs a command that must be valid, and takes its error text. */
void trial_run(struct trial *trial, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same for a command that is there already; any thread, no assertions. */
void trial_run_command(struct trial *trial, struct exec_command *command, int64_t deadline_ms);
void assert_said(const struct trial *trial, const char *text);

#endif
