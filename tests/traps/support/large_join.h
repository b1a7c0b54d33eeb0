/* A join of messages 1, 2, ...: the statements that traps of large joins and of their spans are made of. */
#ifndef BOXCAR_TESTS_TRAPS_LARGE_JOIN_H
#define BOXCAR_TESTS_TRAPS_LARGE_JOIN_H

#include "trap.h"

#define JOIN "(select join_id from join_row)"
#define STATUS "select status from outbox_join"
#define COUNTED "select completed_steps + failed_steps from outbox_join"
#define CLAIM_MANY "select count(*) from _claim_by_topics(0::smallint, " WORKER ", '30 s', %d, '{t}', true)"
#define ACK_WHERE(condition)                                                                                 \
    "select count(*) from outbox_ack(" WORKER                                                                \
    ", array(select work_id from message where topic = 't' and " condition "))"
#define ACK(payload) ACK_WHERE("payload = '" payload "'")
#define REPORT(payload)                                                                                      \
    "select join_report_completed(" JOIN ", (select message_id from message where payload = '" payload "'))"
#define UPKEEP "select _maintain(0::smallint)"

/* Messages `first`, ..., `last` in one call, with ids made of their numbers; into the join, or of no join. */
void enqueue_run(PGconn *conn, int first, int last, const char *join);
/* A join of `steps` messages that were enqueued in one call and are leased together. */
void start_run(PGconn *conn, int expected, int steps);

#endif
