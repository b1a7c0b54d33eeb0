/* Pages of streams: all that have unfinished messages, also those that no claimer has met, and no page costs
 * more than it holds. */
#include "trap.h"

enum { DONE_STREAMS = 300, PAGE = 10, UNMET = 1000 }; /* UNMET: too many to read all of them for a page */
enum { LARGE = 3000, READS_MAX = 2000, FEW_PAGES = 500, PAGES_MAX = 4000 };

static const char MISSING[] = "a stream has messages and is not listed, or not as it is";
static const char LISTED[] = "a stream is listed that is done";
static const char READS_UNMET[] = "a page reads all that nobody has met";
static const char READS_DONE[] = "a page looks at streams that are done";

static void put_streams(PGconn *conn, const char *prefix, int count, int each) {
    sql_run(conn,
            "insert into message (message_id, box, lane, created_at, topic, payload, stream) select "
            "gen_random_uuid(), 0, 1, now(), '%s', 'p', '%s' || i %% %d from generate_series(1, %d) i",
            prefix, prefix, count, count * each);
}

/* Until nothing is left of them but the log. A claim may bring nothing at first. */
static void work_off(PGconn *conn, const char *topic) {
    do
        sql_run(conn,
                "select outbox_ack(" WORKER ", array(select work_id from "
                "_claim_by_topics(0::smallint, " WORKER ", '1 h', 1000, '{%s}', true) where work_id > 0))",
                topic);
    while (sql_number(conn,
                      "select count(*) from message m where m.topic = '%s' and (not exists (select from "
                      "_finished(0::smallint, m.work_id)) "
                      "or exists (select from stream s where s.key = m.stream))",
                      topic) > 0);
}

/* Goes through all pages. Then: are they what the view of single messages tells? */
static const char *compare_pages(PGconn *conn) {
    sql_run(conn, "create temp table listed (stream text, pending bigint, head bigint)");
    sql_run(conn,
            "do $$ declare k text := ''; n int; begin loop "
            "insert into listed select stream, pending, head from _stream_page(0::smallint, null, false, '', "
            "k, %d); "
            "get diagnostics n = row_count; exit when n = 0; "
            "select max(stream collate \"C\") into k from listed; end loop; end $$",
            PAGE);
    sql_run(conn,
            "create temp table truth as select stream, count(*) as pending, min(work_id) as head from outbox "
            "where status in ('ready', 'in_progress') group by stream");
    if (sql_number(conn, "select count(*) from listed where stream not in (select stream from truth)") > 0)
        return LISTED;
    return sql_number(conn, "select count(*) from (table listed except all table truth) x") == 0 &&
                   sql_number(conn, "select count(*) from (table truth except all table listed) x") == 0
               ? NULL
               : MISSING;
}

/* Many streams that are done come first by key, and much is new. One message was enqueued before all others
 * and commits last. BX-006 */
static const char *late_behind_those_that_are_done(struct fixture *f) {
    PGconn *conn = sql_connect(f), *late = sql_connect(f);
    sql_run(late, "begin; select enqueue('t', 'late', stream => 'late')");
    put_streams(conn, "done", DONE_STREAMS, 1);
    put_streams(conn, "met", 3 * PAGE, 2);
    work_off(conn, "done");
    put_streams(conn, "new", UNMET, 2);
    sql_run(late, "commit");
    return compare_pages(conn);
}

/* The same for a transaction that got its number, and its message the work id, while a claimer came past:
 * between its snapshot and its fence. BX-006 */
static const char *late_before_the_fence(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    put_streams(conn, "done", DONE_STREAMS, 1);
    work_off(conn, "done");
    sql_run(conn, "select enqueue('t', 'late', stream => 'late')");
    sql_run(conn, "update frontier set target_fence = pg_current_xact_id(), target_low = (select "
                  "max(work_id) from message) "
                  "where box = 0 and lane = 1");
    put_streams(conn, "new", UNMET, 2);
    return compare_pages(conn);
}

#define A_PAGE "_stream_page(0::smallint, null, false, '', '%s', 10)"

/* Entries of indexes that one page reads. */
static int64_t reads_of_a_page(PGconn *conn, const char *after) {
    static const char READ[] =
        "select sum(pg_stat_get_xact_tuples_returned(indexrelid)) from pg_index "
        "where indrelid in ('stream'::regclass, 'parked'::regclass, 'message'::regclass)";
    sql_run(conn, "begin");
    int64_t before = sql_number(conn, "%s", READ);
    assert_int_equal(sql_number(conn, "select count(*) from " A_PAGE, after), 10);
    int64_t after_it = sql_number(conn, "%s", READ);
    sql_run(conn, "commit");
    return after_it - before;
}

/* BX-020 */
static const char *many_unmet(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    put_streams(conn, "new", LARGE, 2);
    for (int i = 0; i < 2; i++) {
        if (reads_of_a_page(conn, "") > READS_MAX || reads_of_a_page(conn, "new3") > READS_MAX)
            return READS_UNMET;
        sql_run(conn, "analyze message");
    }
    return NULL;
}

/* Also rows that a transaction of another test, in another schema, might still see: waits for the end of all
 * that are older. */
static void vacuum(PGconn *conn) {
    int64_t now = sql_number(conn, "select pg_current_xact_id()::text::bigint");
    while (sql_number(conn,
                      "select count(*) from pg_stat_activity where datname = current_database() and pid <> "
                      "pg_backend_pid() "
                      "and least(backend_xmin::text::bigint, backend_xid::text::bigint) <= %lld",
                      (long long)now) > 0)
        sql_run(conn, "select pg_sleep(0.05)");
    sql_run(conn, "vacuum analyze message, stream, finished");
}

/* The least of a few: the first makes the plans, which reads the catalogs, and so does one behind an analyze
 * of the server. */
static int64_t pages_of_a_page(PGconn *conn) {
    int64_t least = INT64_MAX;
    for (int i = 0; i < 4; i++) {
        int64_t pages = sql_pages(conn, "select * from " A_PAGE, "");
        least = pages < least ? pages : least;
    }
    return least;
}

/* What an index passes over is counted nowhere; its pages are. BX-020 */
static const char *many_done(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    put_streams(conn, "done", LARGE, 2);
    work_off(conn, "done");
    put_streams(conn, "new", 2 * PAGE, 1);
    vacuum(conn);
    if (pages_of_a_page(conn) > FEW_PAGES)
        return READS_DONE;
    put_streams(conn, "new", LARGE, 1);
    return pages_of_a_page(conn) > PAGES_MAX ? READS_DONE : NULL;
}

static const struct trap TRAPS[] = {
    {"a_late_commit_is_listed_and_brings_back_no_stream_that_is_done",
     late_behind_those_that_are_done,
     {{"looking how late it is", "_unmet_from", "select min(late.work_id) - 1", "select null::bigint",
       MISSING},
      {"knowing what is done", "_unmet_head", "not :\"schema\"._is_behind(f, m.xid, m.work_id)", "true",
       LISTED},
      {"passing over what is done", "_unmet_by_key", "not :\"schema\"._is_behind(f, m.xid, m.work_id)",
       "true", MISSING},
      {"streams that were met", "_stream_page",
       "keys := array(\n            select s.key from :\"schema\".stream s\n            where s.box = p_box "
       "and s.key >=",
       "keys := array(\n            select s.key from :\"schema\".stream s\n            where false and "
       "s.key >=",
       MISSING}}},
    {"a_commit_between_snapshot_and_fence_is_listed",
     late_before_the_fence,
     {{"looking there", "_unmet_from", "and m.xid < fence", "and false", MISSING}}},
    {"a_page_of_many_new_streams_costs_what_it_holds",
     many_unmet,
     {{"a limit for what is read by arrival", "_unmet_streams", "last_key, wanted, 500)",
       "last_key, wanted, null)", READS_UNMET}}},
    {"a_page_does_not_look_at_each_stream_that_is_done",
     many_done,
     {{"looking by arrival first", "_unmet_streams",
       ":= :\"schema\"._unmet_by_arrival(f, first_key, p_after, last_key, wanted, 500)", "", READS_DONE},
      {"going by work ids", "_unmet_by_key", "and m.work_id > low and", "and", READS_DONE}}},
};

const struct trap_group LISTING_TRAPS = TRAP_GROUP(TRAPS);
