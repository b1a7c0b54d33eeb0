/* A database whose tables are published for logical replication (CREATE PUBLICATION ... FOR ALL TABLES): the
 * server refuses to update or delete rows of a table without a replica identity, whether anybody subscribes
 * or not. */
#include "conformance.h"
#include "pg.h"
#include "streams.h"

/* What is unlogged is never published. */
#define PUBLISHED                                                                                            \
    "from pg_class c where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and "         \
    "c.relpersistence = 'p'"

/* The tables of this schema only: other tests use the same database. */
static void publish(struct fixture *f, PGconn *conn) {
    pg_exec(conn,
            "do $$ begin execute (select format('create publication %%I for table %%s', current_schema(), "
            "string_agg(c.oid::regclass::text, ', ')) " PUBLISHED "); end $$");
    assert_int_equal(
        pg_number(conn, "select count(*) from pg_publication_tables where schemaname = '%s'", f->schema),
        pg_number(conn, "select count(*) " PUBLISHED));
}

static void every_table_has_a_replica_identity(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    PGresult *result = PQexec(conn, "select coalesce(string_agg(c.relname, ', '), '') " PUBLISHED
                                    " and c.relreplident <> 'f' and not exists (select from pg_index i "
                                    "where i.indrelid = c.oid and (i.indisprimary and c.relreplident = 'd' "
                                    "or i.indisreplident))");
    assert_int_equal(PQresultStatus(result), PGRES_TUPLES_OK);
    assert_string_equal(PQgetvalue(result, 0, 0), "");
    PQclear(result);
    assert_true(pg_number(conn, "select count(*) " PUBLISHED) > 10);
    PQfinish(conn);
}

/* Two of a stream, acked in the wrong order. */
static void work_out_of_order(struct fixture *f) {
    boxcar_work_id first = enqueue_streamed(f, "s", "1").work_id;
    boxcar_work_id second = enqueue_streamed(f, "s", "2").work_id;
    struct taken taken[2];
    assert_int_equal(take_all(f, f->owner, 30000, taken, 2), 2);
    int late = taken[0].work_id.value == first.value ? 0 : 1;
    assert_int_equal(taken[1 - late].work_id.value, second.value);
    assert_true(ack(f, f->owner, taken[1 - late]));
    assert_true(ack(f, f->owner, taken[late]));
    assert_int_equal(violations(f), 1);
}

static void maintain_all(struct fixture *f) {
    boxcar_maintenance done = {.struct_size = sizeof(boxcar_maintenance), .more = true};
    while (done.more)
        ASSERT_OK(f, boxcar_maintenance_run(f->store, &done, &f->err));
}

static void published_store_is_used_and_kept_up(void **state) {
    struct fixture *f = *state;
    PGconn *conn = fixture_connect(f);
    publish(f, conn);
    work_out_of_order(f);
    enqueue_done(f, "t");
    boxcar_work_id again = enqueue(f, "t", "p").work_id;
    assert_true(abandon(f, f->owner, take(f, f->owner, again), 0));
    assert_true(bury(f, f->owner, take_wait(f, f->owner, again, 30000), "no"));
    int64_t replayed = 0;
    boxcar_dead_filter filter = BOXCAR_DEAD_FILTER_INIT;
    filter.all = true;
    ASSERT_OK(f, boxcar_dead_replay(f->store, &filter, BOXCAR_NO_STR, &replayed, &f->err));
    assert_int_equal(replayed, 1);
    assert_true(ack(f, f->owner, take_wait(f, f->owner, again, 30000)));
    enqueue_dead(f, "t", "no");
    pg_exec(conn, "insert into stream_note (box, key) values (0, 's')");
    set_setting(f, "retention_done", "0");
    set_setting(f, "retention_dead", "0");
    maintain_all(f);
    assert_int_equal(
        pg_number(conn, "select (select count(*) from message) + (select count(*) from attempt) + "
                        "(select count(*) from tally_delta) + (select count(*) from stream_violation)"),
        0);
    pg_exec(conn, "update frontier set look_at = '-infinity'");
    assert_nothing_claimable(f);
    assert_int_equal(pg_number(conn, "select count(*) from stream_note"), 0);
    pg_exec(conn, "drop publication \"%s\"", f->schema);
    PQfinish(conn);
}

static const struct CMUnitTest TESTS[] = {
    TEST(every_table_has_a_replica_identity),
    TEST(published_store_is_used_and_kept_up),
};

const struct suite PUBLICATION_SUITE = SUITE(TESTS);
