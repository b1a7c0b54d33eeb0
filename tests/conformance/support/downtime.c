#include "downtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pg.h"

#define PATIENCE_MS 200

static void setup_postgres(struct downtime *d, boxcar_store_options *options) {
    const char *server = strchr(getenv("BOXCAR_TEST_POSTGRES"), '@');
    PGconn *conn = fixture_connect(d->f);

    assert_non_null(server);
    snprintf(d->role, sizeof(d->role), "%s_guest", d->f->schema);
    snprintf(d->url, sizeof(d->url), "postgres://%s:pw@%s", d->role, server + 1);
    pg_exec(conn, "create role %s login password 'pw'", d->role);
    pg_exec(conn, "select grant_access('%s', 'worker')", d->role);
    PQfinish(conn);
    options->url = boxcar_str_of(d->url);
}

void downtime_setup(struct fixture *f, struct downtime *d, boxcar_store_options *ret_options) {
    *d = (struct downtime){.f = f};
    *ret_options = fixture_options(f);
    ret_options->busy_timeout_ms = PATIENCE_MS;
    if (fixture_is_sqlite(f))
        d->holder = fixture_open_sqlite(f);
    else
        setup_postgres(d, ret_options);
}

void downtime_cut(struct downtime *d) {
    PGconn *conn = fixture_connect(d->f);

    pg_exec(conn, "select pg_terminate_backend(pid, 10000) from pg_stat_activity where usename = '%s'",
            d->role);
    PQfinish(conn);
}

static void may_log_in(struct downtime *d, const char *how) {
    PGconn *conn = fixture_connect(d->f);

    pg_exec(conn, "alter role %s %s", d->role, how);
    PQfinish(conn);
}

void downtime_begin(struct downtime *d) {
    d->is_down = true;
    if (d->holder) {
        assert_int_equal(sqlite3_exec(d->holder, "begin immediate", NULL, NULL, NULL), SQLITE_OK);
        return;
    }
    may_log_in(d, "nologin");
    downtime_cut(d);
}

void downtime_end(struct downtime *d) {
    d->is_down = false;
    if (d->holder)
        assert_int_equal(sqlite3_exec(d->holder, "rollback", NULL, NULL, NULL), SQLITE_OK);
    else
        may_log_in(d, "login");
}

void downtime_teardown(struct downtime *d) {
    PGconn *conn;

    if (d->is_down)
        downtime_end(d);
    if (d->holder) {
        sqlite3_close(d->holder);
        return;
    }
    conn = fixture_connect(d->f);
    pg_exec(conn, "drop owned by %s", d->role);
    pg_exec(conn, "drop role %s", d->role);
    PQfinish(conn);
}
