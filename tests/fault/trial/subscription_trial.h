/* The trial of many subscriptions: what the trial and its judge share. */
#ifndef BOXCAR_TESTS_SUBSCRIPTION_TRIAL_H
#define BOXCAR_TESTS_SUBSCRIPTION_TRIAL_H

#include "trial.h"

#define WRITERS 8
#define PATTERNS_MAX 2

/* A reader: its patterns, and where its handlers write down what they were given. */
struct reader {
    const char *name; /* NULL: the main reader */
    const char *patterns[PATTERNS_MAX + 1];
    bool only, fails;
    bool is_late;                    /* it is made while writers write */
    int64_t added_from, added_until; /* the call that made a late one */
    int number;
    char evidence[340];
};

/* A transaction of a writer, as it wrote it down. Times are those of now_us(). */
struct piece {
    int writer;
    int64_t number;
    bool is_committed;
    int64_t begun, committing, ended;
    int64_t count; /* messages */
};

struct pieces {
    struct piece *rows; /* by writer and number */
    size_t count;
};

/* Whether the reader wants this topic. */
bool reader_wants(const struct reader *readers, size_t count, const struct reader *reader, const char *topic);

void pieces_read(const struct trial *trial, struct pieces *pieces);
void pieces_free(struct pieces *pieces);

/* What is committed is there, what was rolled back is not. */
void judge_pieces(struct trial *trial, const struct pieces *pieces);
/* The reader has ended each message that it wants once, and in the order of the streams. `moved_at`: when the
 * store went to another place, 0 = never: what was held then was begun again. */
void judge_reader(struct trial *trial, const struct pieces *pieces, const struct reader *readers,
                  size_t count, const struct reader *reader, int64_t moved_at);

#endif
