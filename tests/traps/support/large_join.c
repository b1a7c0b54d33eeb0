#include "large_join.h"

void enqueue_run(PGconn *conn, int first, int last, const char *join) {
    sql_run(conn,
            "select count(*) from (select array_agg(md5(i::text)::uuid order by i) as ids, "
            "array_agg('t'::text) as t, "
            "array_agg(i::text order by i) as payloads, array_agg(%s) as joins from generate_series(%d, %d) "
            "i) a, "
            "_enqueue(0::smallint, ids, t, payloads, null, null, null, null, null, null, null, false, joins)",
            join, first, last);
}

void start_run(PGconn *conn, int expected, int steps) {
    sql_run(conn, "select join_start(%d)", expected);
    enqueue_run(conn, 1, steps, JOIN);
    assert_int_equal(sql_number(conn, CLAIM_MANY, steps), steps);
}
