/* What a client did and was told, in records of fixed size that it appends to a file of its own. A
 * record that announces a call is written before it and the outcome after it, so that a client that
 * is killed in between leaves an announcement without an outcome: unknown. */
#ifndef BOXCAR_TESTS_JOURNAL_H
#define BOXCAR_TESTS_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum record_kind {
    RECORD_INTENT = 1,  /* about to enqueue message_id */
    RECORD_ENQUEUED,    /* stored for sure, as work_id */
    RECORD_ROLLED_BACK, /* not stored for sure */
    RECORD_CLAIMED,     /* work_id was leased under epoch to the owner in id */
    RECORD_SETTLING,    /* about to settle work_id */
    RECORD_SETTLED,     /* the answer */
    RECORD_CANCELLING,
    RECORD_CANCELLED,
    RECORD_CRASH /* the server was crashed at `before` and back at `after` */
};

enum verb { VERB_ACK, VERB_ABANDON, VERB_DEFER, VERB_FAIL, VERB_RENEW, VERBS };

enum outcome {
    OUTCOME_UNKNOWN, /* no answer */
    OUTCOME_AFFECTED,
    OUTCOME_PASSED_OVER,
    OUTCOME_UNDONE, /* rolled back with its transaction */
};

struct record {
    uint8_t kind;
    uint8_t verb;
    uint8_t outcome;
    uint8_t
        shaky; /* the connection was lost during the call, and the library tried again; 2: without epochs */
    uint16_t client;
    int16_t stream; /* INTENT: 0 = none */
    int64_t work_id;
    int64_t epoch;
    int64_t before;       /* when the call began */
    int64_t after;        /* when it was over */
    uint8_t id[16];       /* message id or owner */
    int32_t ms;           /* lease or delay; -1: the store's backoff */
    int16_t max_attempts; /* INTENT: 0 = the setting; CLAIMED: retry_count */
    uint8_t expires;      /* INTENT: with a time to live that may well end */
    uint8_t duplicate;    /* ENQUEUED */
};

struct journal {
    int fd;
    struct record *records; /* not written yet */
    size_t count;
    size_t room;
};

/* Opens DIRECTORY/NUMBER.journal for appending; false with errno set. */
bool journal_open(struct journal *journal, const char *directory, int number);
/* Remembers a record until the next flush. Ends the process when memory or disk run out: a client
 * that cannot write down what it does must not do it. */
void journal_add(struct journal *journal, struct record record);
void journal_flush(struct journal *journal);
void journal_close(struct journal *journal);

/* All records of all journals in the directory, the caller's to free. Ends the process on errors. */
struct record *journal_read_all(const char *directory, size_t *ret_count);

#endif
