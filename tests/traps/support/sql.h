/* Several connections to the fixture's schema, played against each other step by step. By
 * default a statement must succeed, or the test fails. Texts that are returned are lent until a
 * few more have been returned. */
#ifndef BOXCAR_TESTS_TRAPS_SQL_H
#define BOXCAR_TESTS_TRAPS_SQL_H

#include <libpq-fe.h>

#include "fixture.h"

/* Two workers, as SQL literals. */
#define WORKER "'00000000-0000-0000-0000-00000000000a'"
#define OTHER_WORKER "'00000000-0000-0000-0000-00000000000b'"

#define PRINTF_LIKE __attribute__((format(printf, 2, 3)))

/* A connection with the schema in its search path; sql_close_all() ends it. */
PGconn *sql_connect(struct fixture *f);
PGconn *sql_connect_to(const char *url, const char *schema);
void sql_close_all(void);

void sql_run(PGconn *conn, const char *format, ...) PRINTF_LIKE;
int64_t sql_number(PGconn *conn, const char *format, ...) PRINTF_LIKE;
const char *sql_text(PGconn *conn, const char *format, ...) PRINTF_LIKE;
/* Runs it whatever comes; the SQLSTATE, "" for success. */
const char *sql_state(PGconn *conn, const char *format, ...) PRINTF_LIKE;

/* Sends it without waiting for the answer. sql_answer() waits for that: the first field, or the
 * SQLSTATE of an error in parentheses. */
void sql_send(PGconn *conn, const char *format, ...) PRINTF_LIKE;
const char *sql_answer(PGconn *conn);
bool sql_is_answered(PGconn *conn, int within_ms);
/* Waits until the statement sent on `conn` waits for a lock. */
void sql_wait_blocked(PGconn *observer, PGconn *conn);
void sql_cancel(PGconn *conn);
/* Whether the transaction that is open on `conn` has the turn of the outbox. */
bool sql_has_turn(PGconn *conn);

void sql_enqueue(PGconn *conn, const char *payload);
void sql_enqueue_streamed(PGconn *conn, const char *stream, const char *payload);
/* Claims for WORKER, for 30 s, as the library does: the payloads, in alphabetical order, with commas. */
const char *sql_claim(PGconn *conn, int batch_size);
#define CLAIM(owner, lease, batch_size)                                                                      \
    "select coalesce(string_agg(payload, ',' order by payload), '') from "                                   \
    "_claim_by_topics(0::smallint, " owner ", " lease ", " batch_size ", null, true)"
/* The next claim has a full look; no claim has one for a while. */
#define FULL_LOOK "update frontier set look_at = '-infinity'"
#define NO_FULL_LOOK "update frontier set look_at = clock_timestamp() + interval '50 s'"
/* Sorts new messages of streams into the parking lot, as a claim does. */
#define SORT_STREAMS                                                                                         \
    "do $$ begin perform _turn(0::smallint, true); for i in 1 .. 20 loop "                                   \
    "exit when _come_past_streams(0::smallint, clock_timestamp(), 1000); end loop; end $$"
/* A message that was abandoned once and is ready again. */
void sql_park(PGconn *conn, const char *payload);

/* How many entries of an index, or rows by sequential scans of a table, this transaction has read. */
int64_t sql_reads(PGconn *conn, const char *relation);

/* How many pages this statement reads, wherever they are, with the functions that it calls. It is executed.
 */
int64_t sql_pages(PGconn *conn, const char *format, ...) PRINTF_LIKE;

bool same(const char *a, const char *b);

#endif
