/* A progress line on standard error, for users who wait.
 *
 * It appears only on a terminal and only when the work takes a moment, and it is wiped away at the
 * end. A call of the library can take long without reporting its progress. So a thread of its own
 * draws the line, with the time that has passed, and with a count if there is one. */
#ifndef BOXCAR_CLI_OUTPUT_PROGRESS_H
#define BOXCAR_CLI_OUTPUT_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct cli;
struct progress;

/* `text` says what is done: "storing 120000 messages". NULL = no user is watching, or it cannot be
 * shown; the functions below do nothing then. Log lines and reports wipe the line away. */
struct progress *progress_begin(struct cli *cli, const char *text);
/* How much is done. Any thread. */
void progress_count(struct progress *progress, int64_t count);
/* Wipes the line away. */
void progress_end(struct progress *progress);

/* Back to the first column, and clears the line. */
#define PROGRESS_WIPE "\r\033[K"

/* For callers that have a thread already: draws the line at once, in place of the one before. */
void progress_draw(const char *format, ...) __attribute__((format(printf, 1, 2)));
void progress_wipe(void);

#endif
