/* Plans: made while the tables were empty, used when they are large. */
#include "trap.h"

enum { LARGE = 2000, WARM_CALLS = 7, LONG_PAGES = 40 };
/* SAMPLE is that of _stats. */
enum { DONE = 20000, BATCH = 10000, SAMPLE = 20000, FRESH = 5 * SAMPLE };

#define TABLES "message, lease, parked, finished, dead, stream, attempt, pool"

static const char SCANS[] = "a call scans a whole table";
static const char READS[] = "a claim reads more than it takes";
static const char MAY_SCAN[] = "a function of the statistics may scan whole tables";
static const char READS_DONE[] = "statistics read what is done";
static const char READS_PARKED[] = "statistics read the parking lot again and again";
static const char READS_FRESH[] = "statistics read all that waits";
static const char MIXED[] = "a function without settings is called with several";
static const char READS_STREAMS[] = "work on a few streams reads all of them";

/* Functions on the path of every message. */
#define HOT_FUNCTIONS                                                                                        \
    "array['_enqueue_one', '_wake_topic', '_enqueue', '_enqueue_messages', 'outbox_claim', '_claim', "       \
    "'_claim_numbered', '_claim_heads', '_head_runs', '_ready_streams', '_lock_ready', "                     \
    "'_register_streams', '_claim_parked', "                                                                 \
    "'_claim_side', '_claim_suspect', '_claimed_rows', '_window', '_move_frontier', '_come_past_streams', "  \
    "'_expire_leases', '_bury_expired', '_take', '_take_epoch', '_ack', 'outbox_ack', '_unpark', "           \
    "'_abandon', 'outbox_abandon', '_give_back', '_release', '_renew', '_fail', '_bury', "                   \
    "'_advance_streams', 'inbox_enqueue', 'inbox_enqueue_many', "                                            \
    "'_inbox_enqueue', '_note_keys', '_inbox_look', '_inbox_accept', 'inbox_accept', "                       \
    "'inbox_already_processed', "                                                                            \
    "'inbox_claim', '_claim_by_topics', 'inbox_ack', '_busy_keys', '_end_keys', "                            \
    "'_maintain', '_purge_done', '_dead_purge']"

static int64_t hot_functions_with(PGconn *conn, const char *condition) {
    return sql_number(conn,
                      "select count(*) from unnest(" HOT_FUNCTIONS ") n(name) where exists ("
                      "select from pg_proc p join pg_language l on l.oid = p.prolang "
                      "where p.pronamespace = current_schema()::regnamespace and p.proname = n.name and %s)",
                      condition);
}

static const char *pins(struct fixture *f) {
    static const char *const PINS[] = {
        "l.lanname = 'plpgsql'",
        "'plan_cache_mode=force_generic_plan' = any (p.proconfig)",
        "'enable_seqscan=off' = any (p.proconfig)",
        "'jit=off' = any (p.proconfig)",
        "'max_parallel_workers_per_gather=0' = any (p.proconfig)",
        "'search_path=pg_catalog, pg_temp' = any (p.proconfig)",
    };
    PGconn *conn = sql_connect(f);
    int64_t all = sql_number(conn, "select cardinality(" HOT_FUNCTIONS ")");
    for (size_t i = 0; i < sizeof(PINS) / sizeof(PINS[0]); i++)
        if (hot_functions_with(conn, PINS[i]) != all)
            return "a function on the hot path is not pinned";
    return NULL;
}

/* Security definer without a pinned path would run whatever a caller puts in front. */
static const char *search_paths(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    return sql_number(conn,
                      "select count(*) from pg_proc p where p.pronamespace = current_schema()::regnamespace "
                      "and p.prosecdef and (p.proconfig is null or "
                      "not 'search_path=pg_catalog, pg_temp' = any (p.proconfig))") == 0
               ? NULL
               : "a security definer function has no search path of its own";
}

/* Statistics that come in the middle would have plans made anew. */
static void keep_autovacuum_away(PGconn *conn) {
    sql_run(conn,
            "do $$ declare t text; begin foreach t in array array['message', 'lease', 'parked', 'finished', "
            "'dead', 'stream', 'attempt', 'frontier'] loop "
            "execute format('alter table %%I set (autovacuum_enabled = off)', t); end loop; end $$");
}

/* A function without settings of its own has those of its caller, and keeps the plans that were made for the
 * first one: so every caller has to have the same. Those that look at no table have nothing to plan. */
static const char *settings_of_callers(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    return sql_number(conn, "with recursive f as materialized ("
                            "select p.oid, p.proname::text as name, p.prosrc as text, l.lanname = 'plpgsql' "
                            "as keeps_plans, "
                            "coalesce(array_to_string(p.proconfig, ','), '') as settings "
                            "from pg_proc p join pg_language l on l.oid = p.prolang "
                            "where p.pronamespace = current_schema()::regnamespace), "
                            "bare as (select f.oid, f.name from f where f.settings !~ 'search_path' and "
                            "f.keeps_plans and exists ("
                            "select from pg_class c where c.relnamespace = current_schema()::regnamespace "
                            "and c.relkind = 'r' "
                            "and f.text ~ ('\\.' || c.relname || '\\M')) "
                            "union select g.oid, g.name from bare b join f g on g.settings !~ 'search_path' "
                            "and g.text ~ ('\\.' || b.name || '\\(')) "
                            "select count(*) from bare b join f g on g.settings ~ 'search_path' "
                            "and g.text ~ ('\\.' || b.name || '\\(') "
                            "where g.settings !~ 'plan_cache_mode=force_generic_plan'") == 0
               ? NULL
               : MIXED;
}

static int64_t scans_of_frontier(PGconn *conn) {
    sql_run(conn, "begin");
    int64_t before = sql_number(conn, "select pg_stat_get_xact_numscans('frontier'::regclass)");
    sql_run(conn, "select count(*) from outbox_claim(" WORKER ", '30 s', 1)");
    int64_t after = sql_number(conn, "select pg_stat_get_xact_numscans('frontier'::regclass)");
    sql_run(conn, "commit");
    return after - before;
}

/* The audit reads whole tables, and in the same session come claims. BX-020 */
static const char *plans_after_an_audit(struct fixture *f) {
    PGconn *conn = sql_connect(f), *other = sql_connect(f);
    keep_autovacuum_away(other);
    sql_claim(other, 1);
    sql_run(other, "analyze frontier");
    for (int i = 0; i < WARM_CALLS; i++)
        sql_run(conn, "select * from audit(false)");
    return scans_of_frontier(conn) == 0 ? NULL : SCANS;
}

/* Once around: plain, streamed and parked messages, all ways to settle, and an expired lease. */
static void all_calls(PGconn *conn) {
    sql_enqueue(conn, "plain");
    sql_enqueue_streamed(conn, "s", "streamed");
    sql_run(conn, "select enqueue('t', 'expiring', ttl => '1 hour')");
    sql_run(
        conn,
        "select _enqueue(0::smallint, array[gen_random_uuid()], '{t}', '{p}', null, null, null, null, null, "
        "null, null, true)");
    sql_run(conn,
            "select enqueue('t', 'p', key => 'again'), enqueue('t', 'p', message_id => gen_random_uuid())");
    sql_run(conn, "create temp table got as select * from _claim_by_topics(0::smallint, " WORKER
                  ", '30 s', 10, null, true)");
    sql_run(conn, "select outbox_renew(" WORKER ", array(select work_id from got limit 1))");
    sql_run(conn, "select outbox_abandon(" WORKER ", array(select work_id from got limit 1), delay => '0')");
    sql_run(conn, "select outbox_fail(" WORKER ", array(select work_id from got offset 1 limit 1), "
                  "array(select epoch from got offset 1 limit 1))");
    sql_run(conn, "select outbox_defer(" WORKER ", array(select work_id from got offset 2 limit 1))");
    sql_run(conn,
            "select outbox_ack(" WORKER ", array(select work_id from got), array(select epoch from got))");
    sql_run(conn, "drop table got");
    sql_run(conn, "create temp table got as select * from _claim_by_topics(0::smallint, " WORKER
                  ", '30 s', 10, '{t, u*}', true)");
    sql_run(conn, "select outbox_ack(" WORKER ", array(select work_id from got))");
    sql_run(conn, "drop table got");
    sql_run(conn, "select outbox_reap()");
}

static void fill_tables(PGconn *conn) {
    sql_run(conn,
            "insert into message (message_id, box, lane, created_at, topic, payload) "
            "select gen_random_uuid(), 0, 0, now(), 't', 'p' from generate_series(1, 4 * %d)",
            LARGE);
    sql_run(conn,
            "insert into parked (work_id, box, available_at, topic) "
            "select work_id, 0, now() + interval '1 day', 't' from message order by work_id desc limit %d",
            LARGE);
    sql_run(conn,
            "insert into dead (work_id, box, reason, died_at, retry_count, crash_count, topic) "
            "select work_id, 0, 1, now(), 0, 0, 't' from message order by work_id desc offset %d limit %d",
            LARGE, LARGE);
    sql_run(conn,
            "insert into finished (first_id, last_id, box, epoch, owner, at) "
            "select work_id, work_id, 0, work_id, " WORKER ", now() "
            "from message order by work_id desc offset 2 * %d limit %d",
            LARGE, LARGE);
    sql_run(conn,
            "insert into lease select 0, work_id, 0, " OTHER_WORKER ", now() + interval '1 day', "
            "int8multirange(int8range(work_id, work_id + 1)), false "
            "from message order by work_id desc offset 3 * %d limit %d",
            LARGE, LARGE);
    sql_run(conn,
            "insert into stream (box, key, available_at, position, taken_from) select 0, 'k' || i, now() + "
            "interval '1 day', 0, 0 "
            "from generate_series(1, %d) i",
            LARGE);
}

/* How often this transaction has scanned a table whole. */
static int64_t scans(PGconn *conn) {
    return sql_number(conn, "select sum(pg_stat_get_xact_numscans(oid)) from pg_class "
                            "where relnamespace = current_schema()::regnamespace and relname in "
                            "('message', 'lease', 'parked', 'finished', 'dead', 'stream', 'attempt')");
}

/* One session from the empty store to the large one; how often it scanned the large one. */
static int64_t grow(struct fixture *f, PGconn *other) {
    PGconn *conn = sql_connect(f);
    sql_run(other, "truncate " TABLES);
    sql_run(other, "vacuum analyze " TABLES);
    for (int i = 0; i < WARM_CALLS; i++)
        all_calls(conn);
    fill_tables(other);
    sql_run(conn, "begin");
    int64_t before = scans(conn);
    all_calls(conn);
    int64_t after = scans(conn);
    sql_run(conn, "commit");
    return after - before;
}

/* Autovacuum may have met the empty tables, after which the planner believes that they stay empty.
 * Several times, since plans may be made anew for reasons that lie elsewhere in the server. BX-020 */
static const char *plans(struct fixture *f) {
    PGconn *other = sql_connect(f);
    keep_autovacuum_away(other);
    for (int i = 0; i < 15; i++)
        if (grow(f, other) > 0)
            return SCANS;
    return NULL;
}

/* Entries and rows of the log that a claim of ten reads, with a backlog the planner knows about. */
static int64_t reads_of_a_claim(PGconn *conn) {
    sql_run(conn, "begin");
    int64_t before =
        sql_reads(conn, "message") + sql_reads(conn, "message_pkey") + sql_reads(conn, "message_fresh");
    sql_run(conn, "select count(*) from _claim_by_topics(0::smallint, " WORKER ", '30 s', 10, null, true)");
    int64_t after =
        sql_reads(conn, "message") + sql_reads(conn, "message_pkey") + sql_reads(conn, "message_fresh");
    sql_run(conn, "commit");
    return after - before;
}

/* Some of the claims are one run of ids, some are two. BX-020 */
static const char *plans_with_statistics(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    keep_autovacuum_away(conn);
    sql_run(conn,
            "insert into message (work_id, message_id, box, lane, created_at, topic, payload) overriding "
            "system value "
            "select i + i / 14, gen_random_uuid(), 0, 0, now(), 't', repeat('p', 200) from "
            "generate_series(1, 20 * %d) i",
            LARGE);
    sql_run(conn, "analyze " TABLES);
    int many = 0; /* one in a hundred fills the pool, which reads 1,000 */
    for (int i = 0; i < WARM_CALLS; i++) {
        int64_t count = reads_of_a_claim(conn);
        many += count > 200;
        if (many > 1 || count > 5000)
            return READS;
    }
    return NULL;
}

/* Entries of the indexes of streams and what is in them that this session has read. */
static int64_t reads_of_streams(PGconn *conn) {
    return sql_number(conn,
                      "select sum(pg_stat_get_xact_tuples_returned(indexrelid)) from pg_index "
                      "where indrelid in ('stream'::regclass, 'parked'::regclass, 'message'::regclass)");
}

/* A few streams from enqueueing to the end; one of them waits for its time, and is woken by what comes
 * behind. */
static int64_t work_on_streams(PGconn *conn) {
    sql_run(conn, "select enqueue('t', 'p', stream => s) from unnest('{a, b, c, w}'::text[]) s");
    sql_run(conn, "begin");
    int64_t before = reads_of_streams(conn);
    sql_run(conn, "select count(*) from _claim_by_topics(0::smallint, " WORKER ", '30 s', 4, '{t}', true)");
    sql_run(
        conn,
        "create temp table got on commit drop as select m.work_id, m.stream "
        "from lease l cross join _ids(l.items) i join message m on m.work_id = i where l.owner = " WORKER);
    sql_run(conn, "select outbox_defer(" WORKER
                  ", array(select work_id from got where stream = 'w'), null, '1 hour')");
    sql_run(conn, "select outbox_ack(" WORKER ", array[work_id]) from got");
    int64_t after = reads_of_streams(conn);
    sql_run(conn, "commit");
    return after - before;
}

/* Many streams that have nothing to do with it came after the plans were made. BX-020, BX-062 */
static const char *plans_for_streams(struct fixture *f) {
    PGconn *conn = sql_connect(f), *other = sql_connect(f);
    keep_autovacuum_away(other);
    sql_run(other, "vacuum analyze " TABLES);
    for (int i = 0; i < WARM_CALLS; i++)
        work_on_streams(conn);
    sql_run(other,
            "insert into message (message_id, box, lane, created_at, topic, payload, stream) select "
            "gen_random_uuid(), 0, 1, now(), 'other', 'p', 'o' || i from generate_series(1, %d) i",
            LARGE);
    sql_run(other, SORT_STREAMS);
    return work_on_streams(conn) < LARGE ? NULL : READS_STREAMS;
}

/* Everything of a stream has come back. */
static void park_all(PGconn *conn, const char *stream) {
    sql_run(conn,
            "insert into parked (work_id, box, available_at, topic, stream) select work_id, box, now(), "
            "topic, stream "
            "from message where stream = '%s'",
            stream);
    sql_run(conn,
            "update stream set position = m.last_id, taken_from = m.last_id from (select max(work_id) as "
            "last_id from message) m "
            "where key = '%s'",
            stream);
}

/* Two streams that have everything, as far as the statistics know, one of them parked, and then a few others.
 * BX-020, BX-062 */
static const char *plans_beside_a_long_stream(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    keep_autovacuum_away(conn);
    sql_run(conn,
            "insert into message (message_id, box, lane, created_at, topic, payload, stream) select "
            "gen_random_uuid(), 0, 1, now(), 'other', 'p', s from unnest('{long,back}'::text[]) s, "
            "generate_series(1, %d) i",
            2 * LARGE);
    sql_run(conn, SORT_STREAMS);
    park_all(conn, "back");
    sql_run(conn, "analyze " TABLES);
    for (int i = 0; i < 3; i++)
        if (work_on_streams(conn) >= LARGE)
            return READS_STREAMS;
    return NULL;
}

/* Entries that an index passes over are counted nowhere, its pages are. */
static int64_t pages_of_an_ack(PGconn *conn) {
    sql_run(conn, "create temp table mine as select work_id from _claim_by_topics(0::smallint, " WORKER
                  ", '30 s', 4, null, true)");
    sql_run(conn, "begin");
    int64_t before = sql_number(conn, "select pg_stat_get_xact_blocks_fetched('parked_stream'::regclass)");
    sql_run(conn, "select outbox_ack(" WORKER ", array(select work_id from mine))");
    int64_t after = sql_number(conn, "select pg_stat_get_xact_blocks_fetched('parked_stream'::regclass)");
    sql_run(conn, "commit; drop table mine");
    return after - before;
}

/* A few of very many in one stream: an ack looks at its head, not along it. BX-006, BX-020 */
static const char *acks_in_a_long_stream(struct fixture *f) {
    PGconn *conn = sql_connect(f);
    sql_run(conn,
            "insert into message (message_id, box, lane, created_at, topic, payload, stream) select "
            "gen_random_uuid(), 0, 1, now(), 't', 'p', 'long' from generate_series(1, %d) i",
            10 * LARGE);
    sql_run(conn, SORT_STREAMS);
    park_all(conn, "long");
    sql_run(conn, "analyze " TABLES);
    for (int i = 0; i < 3; i++)
        if (pages_of_an_ack(conn) > LONG_PAGES)
            return READS_STREAMS;
    return NULL;
}

/* What one look at the statistics does to the log and to what is finished in it, as `counted` tells. */
static int64_t cost_of_stats(PGconn *conn, const char *counted) {
    sql_run(conn, "begin");
    int64_t before = sql_number(conn, "%s", counted);
    sql_run(conn, "select * from _stats(0::smallint, true)");
    int64_t after = sql_number(conn, "%s", counted);
    sql_run(conn, "commit");
    return after - before;
}

/* Rows and entries that it reads. */
static int64_t reads_of_stats(PGconn *conn) {
    return cost_of_stats(conn,
                         "select sum(pg_stat_get_xact_tuples_returned(c.oid)) from pg_class c "
                         "left join pg_index i on i.indexrelid = c.oid "
                         "where coalesce(i.indrelid, c.oid) in ('message'::regclass, 'finished'::regclass)");
}

static int64_t scans_of_stats(PGconn *conn) {
    return cost_of_stats(conn, "select pg_stat_get_xact_numscans('message'::regclass) "
                               "+ pg_stat_get_xact_numscans('finished'::regclass)");
}

/* Whether they keep to indexes, whatever plan they have just now. */
static bool stats_are_pinned(PGconn *conn) {
    return sql_number(
               conn,
               "select count(*) from pg_proc p where p.pronamespace = current_schema()::regnamespace "
               "and p.proname in ('_stats', '_fresh_sample', '_parked_sample', '_dead_sample', '_spread') "
               "and 'enable_seqscan=off' = any (p.proconfig)") == 5;
}

/* Of one transaction, so that all of them are in one window of the frontier. */
static void finish_many(PGconn *conn) {
    sql_run(conn,
            "insert into message (message_id, box, lane, created_at, topic, payload) "
            "select gen_random_uuid(), 0, 0, now(), 't', 'p' from generate_series(1, %d)",
            DONE);
    for (int i = 0; i < DONE; i += BATCH)
        sql_run(conn,
                "select outbox_ack(" WORKER
                ", array(select work_id from _claim_by_topics(0::smallint, " WORKER
                ", '1 h', %d, null, true)))",
                BATCH);
    sql_run(conn, "select _maintain(0::smallint)");
}

/* What is done costs nothing, and of what waits a sample is read; with plans that were made when there was
 * neither. One message is leased, and one has just been acked: they are looked up by their numbers. BX-020 */
static const char *stats_of_a_long_log(struct fixture *f) {
    PGconn *conn = sql_connect(f), *other = sql_connect(f);
    if (!stats_are_pinned(conn))
        return MAY_SCAN;
    keep_autovacuum_away(other);
    sql_run(other, "vacuum analyze " TABLES);
    sql_enqueue(other, "leased");
    sql_claim(other, 1);
    for (int i = 0; i < WARM_CALLS; i++)
        reads_of_stats(conn);
    finish_many(other);
    sql_enqueue(other, "acked");
    sql_run(other,
            "select outbox_ack(" WORKER ", array(select work_id from _claim_by_topics(0::smallint, " WORKER
            ", '1 h', 1, null, true)))");
    if (scans_of_stats(conn) > 0)
        return SCANS;
    if (reads_of_stats(conn) > LARGE)
        return READS_DONE;
    sql_run(other,
            "insert into message (message_id, box, lane, created_at, topic, payload) "
            "select gen_random_uuid(), 0, 0, now(), 't', 'p' from generate_series(1, %d)",
            FRESH);
    sql_run(other, "analyze " TABLES);
    return reads_of_stats(conn) > 3 * SAMPLE + LARGE ? READS_FRESH : NULL;
}

/* Streams of many messages that were sorted in since the last analyze. Each of a sample is looked up, and the
 * head of its stream. BX-020 */
static const char *stats_of_a_long_parking_lot(struct fixture *f) {
    PGconn *conn = sql_connect(f), *other = sql_connect(f);
    keep_autovacuum_away(other);
    for (int i = 0; i < WARM_CALLS; i++)
        sql_run(conn, "select * from _stats(0::smallint, true)");
    sql_run(other,
            "insert into parked (work_id, box, available_at, topic, stream) "
            "select i, 0, now(), 't', 's' || i %% 1000 from generate_series(1, %d) i",
            2 * SAMPLE);
    sql_run(conn, "begin");
    int64_t before =
        sql_reads(conn, "parked") + sql_reads(conn, "parked_pkey") + sql_reads(conn, "parked_stream");
    sql_run(conn, "set local statement_timeout = '10s'");
    bool ended = same(sql_state(conn, "select * from _stats(0::smallint, true)"), "");
    if (!ended)
        sql_run(conn, "rollback");
    int64_t after =
        ended ? sql_reads(conn, "parked") + sql_reads(conn, "parked_pkey") + sql_reads(conn, "parked_stream")
              : 0;
    if (ended)
        sql_run(conn, "commit");
    return !ended || after - before > 10 * SAMPLE ? READS_PARKED : NULL;
}

static const struct trap TRAPS[] = {
    {"functions_on_the_hot_path_have_their_plans_pinned",
     pins,
     {{"keeping plans", "_take_epoch", " SET plan_cache_mode TO 'force_generic_plan'\n", "",
       "a function on the hot path is not pinned"},
      {"indexes", "_window", " SET enable_seqscan TO 'off'\n", "",
       "a function on the hot path is not pinned"},
      {"jit off", "_claim", " SET jit TO 'off'\n", "", "a function on the hot path is not pinned"}}},
    {"functions_with_the_owners_rights_have_a_search_path_of_their_own",
     search_paths,
     {{"it", "_set", " SET search_path TO 'pg_catalog', 'pg_temp'\n", "",
       "a security definer function has no search path of its own"}}},
    {"functions_without_settings_have_callers_with_the_same",
     settings_of_callers,
     {{"those of a hot path", "_dead_purge", " SET plan_cache_mode TO 'force_generic_plan'\n", "", MIXED},
      {"the same for the frontier", "_newest_frontier", " SET plan_cache_mode TO 'force_generic_plan'\n", "",
       MIXED}}},
    {"claims_after_an_audit_have_plans_of_their_own",
     plans_after_an_audit,
     {{"settings for its look at the frontier", "_newest_frontier", " SET enable_seqscan TO 'off'\n", "",
       SCANS}}},
    {"plans_made_on_empty_tables_do_not_scan_large_ones",
     plans,
     {{"pinned indexes", "*", " SET enable_seqscan TO 'off'\n", "", SCANS}}},
    {"plans_made_with_statistics_read_what_is_claimed_and_no_more",
     plans_with_statistics,
     {{"reading run by run", "_claimed_rows", " and x.work_id < upper(r)", "", READS},
      {"reading no more than the run", "_claimed_rows", " and m.work_id < upper(items)", "", READS},
      {"the limit of the window", "_window", "order by m.xid, m.work_id limit wanted;",
       "order by m.xid, m.work_id;", READS}}},
    {"plans_made_before_there_were_streams_find_them_by_their_keys",
     plans_for_streams,
     {{"looking each one up", "_stream_rows", "s.key = k.key limit 1) s", "s.key = k.key) s", READS_STREAMS},
      {"locking each one by its key", "_lock_ready", "s.key = c limit 1",
       "s.key = c and s.suspect = p_suspect and s.available_at <= ts limit 1", READS_STREAMS}}},
    {"plans_made_for_one_long_stream_find_others_by_their_keys",
     plans_beside_a_long_stream,
     {{"an order of heads that only their index has", "_advance_streams",
       "p.stream >= s.key and p.stream <= s.key order by p.stream, p.work_id",
       "p.stream = s.key order by p.work_id", READS_STREAMS},
      {"the same for evidence", "_unpark",
       "p.stream >= k.key and p.stream <= k.key\n             order by p.stream, p.work_id",
       "p.stream = k.key order by p.work_id", READS_STREAMS}}},
    {"acks_in_a_long_stream_do_not_look_along_it",
     acks_in_a_long_stream,
     {{"one look at its head", "_unpark", "p.stream <= k.key\n",
       "p.stream <= k.key and p.work_id + 0 < k.last_id\n", READS_STREAMS}}},
    {"statistics_cost_neither_what_is_done_nor_all_that_waits",
     stats_of_a_long_log,
     {{"pinned indexes", "_stats", " SET enable_seqscan TO 'off'\n", "", MAY_SCAN},
      {"beginning where claimers are", "_fresh_sample",
       "from :\"schema\"._window(look, most + 1) w\n            where",
       "from (select w.*, true as reads from :\"schema\"._fresh w where w.reader = p_box and w.lane = "
       "look.lane limit most + "
       "1) w where",
       READS_DONE},
      {"counters", "_stats", "t.done from :\"schema\".tally t where t.box = p_box and t.done <> 0",
       "1 from :\"schema\".finished x join :\"schema\".message t on t.work_id between x.first_id and "
       "x.last_id "
       "where x.box = p_box",
       READS_DONE},
      {"the limit of the look", "_fresh_sample", "most + 1", "null", READS_FRESH}}},
    {"statistics_look_parked_messages_up",
     stats_of_a_long_parking_lot,
     {{"one look-up each", "_parked_sample",
       "cross join lateral (select p from :\"schema\".parked p where p.work_id = s.work_id and p.box = p_box "
       "offset 0) x",
       "join :\"schema\".parked p on p.work_id = s.work_id cross join lateral (select p) x", READS_PARKED}}},
};

const struct trap_group PLAN_TRAPS = TRAP_GROUP(TRAPS);
