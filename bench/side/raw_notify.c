#include "raw_notify.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>

#include "pg.h"

#define WAIT_MS 1000 /* a notification that does not come is an error, not a pause */
#define WAITS_MAX 30

struct listener {
    pthread_t thread;
    PGconn *pg;
    size_t expected, count;
    double *ms;
};

static size_t take(struct listener *l) {
    PGresult *result =
        pg_expect(l->pg, PQexecPrepared(l->pg, "take", 0, NULL, NULL, NULL, 0), PGRES_TUPLES_OK, "take");
    int rows = PQntuples(result);

    for (int i = 0; i < rows && l->count < l->expected; i++)
        l->ms[l->count++] = atof(PQgetvalue(result, i, 0));
    PQclear(result);
    return (size_t)rows;
}

static void wait_for_notification(PGconn *pg) {
    struct pollfd poll_fd = {.fd = PQsocket(pg), .events = POLLIN};
    PGnotify *notification;

    PQconsumeInput(pg);
    if (!(notification = PQnotifies(pg))) {
        poll(&poll_fd, 1, WAIT_MS);
        PQconsumeInput(pg);
        notification = PQnotifies(pg);
    }
    for (; notification; notification = PQnotifies(pg))
        PQfreemem(notification);
}

static void *run_listener(void *argument) {
    struct listener *l = argument;
    int idle = 0;

    while (l->count < l->expected && idle < WAITS_MAX) {
        wait_for_notification(l->pg);
        idle = take(l) > 0 ? 0 : idle + 1;
    }
    return NULL;
}

static void send_steadily(PGconn *pg, size_t messages, double rate) {
    const char *value = bench_payload().data;
    double started = bench_now();

    for (size_t i = 0; i < messages; i++) {
        double wait = started + (double)i / rate - bench_now();

        if (wait > 0)
            bench_pause(wait);
        PQclear(pg_expect(pg, PQexecPrepared(pg, "send", 1, &value, NULL, NULL, 0), PGRES_TUPLES_OK, "send"));
    }
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void prepare(PGconn *pg, const char *name, const char *sql) {
    PQclear(pg_expect(pg, PQprepare(pg, name, sql, 0, NULL), PGRES_COMMAND_OK, sql));
}

void raw_notify_run(const struct place *place, size_t messages, double rate, double *ret_ms) {
    struct listener l = {.pg = pg_open(place), .expected = messages, .ms = ret_ms};
    PGconn *pg = pg_open(place);

    pg_run(l.pg, "create table notified (id bigint generated always as identity primary key,"
                 " sent_at timestamptz not null default now(), payload text not null)");
    pg_run(l.pg, "listen bench_notified");
    prepare(l.pg, "take",
            "delete from notified where id in (select id from notified order by id limit 100"
            " for update skip locked) returning extract(epoch from now() - sent_at) * 1000");
    prepare(pg, "send",
            "with row as (insert into notified (payload) values ($1) returning 1)"
            " select pg_notify('bench_notified', '') from row");
    if (pthread_create(&l.thread, NULL, run_listener, &l) != 0)
        bench_die("cannot start a thread");
    send_steadily(pg, messages, rate);
    pthread_join(l.thread, NULL);
    if (l.count < messages)
        bench_die("raw NOTIFY: only %zu of %zu messages came", l.count, messages);
    qsort(ret_ms, messages, sizeof(*ret_ms), compare_doubles);
    PQfinish(pg);
    PQfinish(l.pg);
}
