/* Where the tables go, and that they go away again. */
#include <libpq-fe.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "recycle.h"

#define PLACES_MAX 8
#define COPY_SIZE 65536

static struct place open_places[PLACES_MAX]; /* to be removed when the program ends early */

/* Places of Boxcar that are new again, ready for the next row. */
static struct place idle_places[PLACES_MAX];

/* Runs on a connection of its own; returns false and says why when that fails. */
static bool run_postgres(const struct place *place, const char *sql) {
    PGconn *pg = PQconnectdb(place->url);
    PGresult *result;
    bool ok;

    PQclear(PQexec(pg, "set client_min_messages = error"));
    result = PQexec(pg, sql);
    ok = PQresultStatus(result) == PGRES_COMMAND_OK;
    if (!ok)
        fprintf(stderr, "boxcar-bench: %s", PQerrorMessage(pg));
    PQclear(result);
    PQfinish(pg);
    return ok;
}

static void run_sqlite(const struct place *place, const char *sql) {
    sqlite3 *db = NULL;
    char *message = NULL;

    if (sqlite3_open(place->path, &db) != SQLITE_OK ||
        sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
        bench_die("%s: %s", place->path, message ? message : sqlite3_errmsg(db));
    sqlite3_close(db);
}

static void put_into(struct place places[PLACES_MAX], const struct place *place) {
    for (size_t i = 0; i < PLACES_MAX; i++) {
        if (places[i].url[0] == '\0') {
            places[i] = *place;
            return;
        }
    }
    bench_die("too many places");
}

static void forget(const struct place *place) {
    for (size_t i = 0; i < PLACES_MAX; i++)
        if (strcmp(open_places[i].schema, place->schema) == 0 &&
            strcmp(open_places[i].path, place->path) == 0)
            open_places[i].url[0] = '\0';
}

static bool take_idle(struct place *ret_place) {
    for (size_t i = 0; i < PLACES_MAX; i++) {
        if (idle_places[i].url[0] == '\0')
            continue;
        *ret_place = idle_places[i];
        idle_places[i].url[0] = '\0';
        put_into(open_places, ret_place);
        return true;
    }
    return false;
}

/* A folder PATH.XXXXXX next to the file that the URL names: on the same file system, with a file of its
 * own. */
static void choose_file(struct place *place, const struct bench *b) {
    const char *path = b->url + strlen("sqlite:");

    if ((size_t)snprintf(place->directory, sizeof(place->directory) - 64, "%s.XXXXXX", path) >=
            sizeof(place->directory) - 64 ||
        !mkdtemp(place->directory))
        bench_die("cannot make a folder next to %s", path);
    snprintf(place->path, sizeof(place->path), "%.*s/bench.db", (int)sizeof(place->directory) - 64,
             place->directory);
    snprintf(place->url, sizeof(place->url), "sqlite:%.*s", (int)sizeof(place->url) - 8, place->path);
}

static void choose(struct place *ret_place, const struct bench *b) {
    static int number;

    *ret_place = (struct place){.kind = b->kind, .is_tiny = b->scale < 0.1};
    if (b->kind == BENCH_SQLITE) {
        choose_file(ret_place, b);
    } else {
        if ((size_t)snprintf(ret_place->url, sizeof(ret_place->url), "%s", b->url) >= sizeof(ret_place->url))
            bench_die("the URL is too long");
        snprintf(ret_place->schema, sizeof(ret_place->schema), "bench_%ld_%d", (long)getpid(), ++number);
    }
    put_into(open_places, ret_place);
}

boxcar_store_options place_options(const struct place *place) {
    boxcar_store_options options = BOXCAR_STORE_OPTIONS_INIT;

    options.url = boxcar_str_of(place->url);
    if (place->schema[0] != '\0')
        options.schema = boxcar_str_of(place->schema);
    return options;
}

boxcar_store *place_open(const struct place *place) {
    boxcar_store_options options = place_options(place);
    boxcar_store *store = NULL;
    boxcar_error err = BOXCAR_ERROR_INIT;

    bench_must(boxcar_store_open(&options, &store, &err), "open", &err);
    return store;
}

static void deploy(const struct place *place) {
    boxcar_store_options options = place_options(place);
    boxcar_store *store = NULL;
    boxcar_error err = BOXCAR_ERROR_INIT;

    options.deploy = true;
    bench_must(boxcar_store_open(&options, &store, &err), "deploy", &err);
    boxcar_store_close(store);
}

static void copy_file(const char *from, const char *to) {
    FILE *source = fopen(from, "rb"), *copy = fopen(to, "wb");
    char buffer[COPY_SIZE];
    size_t size;

    if (!source || !copy)
        bench_die("cannot copy %s to %s", from, to);
    while ((size = fread(buffer, 1, sizeof(buffer), source)) > 0)
        if (fwrite(buffer, 1, size, copy) != size)
            bench_die("cannot write %s", to);
    if (ferror(source) || fclose(copy) != 0)
        bench_die("cannot copy %s to %s", from, to);
    fclose(source);
}

/* Deploys once; later files are copies. The model stays until the end. */
static void create_sqlite(struct place *ret_place, const struct bench *b) {
    static struct place model;

    if (model.url[0] == '\0') {
        choose(&model, b);
        deploy(&model);
        run_sqlite(&model, "pragma wal_checkpoint(truncate)");
    }
    choose(ret_place, b);
    copy_file(model.path, ret_place->path);
}

void place_create_boxcar(struct place *ret_place, const struct bench *b) {
    if (b->kind == BENCH_SQLITE) {
        create_sqlite(ret_place, b);
        return;
    }
    if (take_idle(ret_place))
        return;
    choose(ret_place, b);
    deploy(ret_place);
    ret_place->is_boxcar = true;
    recycle_keep(ret_place);
}

static void create_raw_postgres(const struct place *place, const struct place *model) {
    char sql[1024];

    snprintf(sql, sizeof(sql),
             "create schema %1$s;"
             "create table %1$s.queue (id bigint generated always as identity primary key, owner uuid,"
             " locked_until timestamptz, topic text not null, payload text not null);"
             "create index on %1$s.queue (id) where owner is null;"
             "create table %1$s.twin (like %2$s.message including all);"
             "create table %1$s.keyed (like %2$s.message including all);"
             "create unique index on %1$s.keyed (source, external_id)",
             place->schema, model->schema);
    if (!run_postgres(place, sql))
        bench_die("cannot create the plain tables");
}

/* The definition of Boxcar's log, under another name. */
static void create_raw_sqlite(const struct place *place, const struct place *model) {
    char sql[2048];

    snprintf(sql, sizeof(sql),
             "pragma journal_mode = wal;"
             "create table queue (id integer primary key autoincrement, owner blob, locked_until integer,"
             " topic text not null, payload text not null);"
             "create index queue_ready on queue (id) where owner is null;"
             "attach '%.*s' as model",
             (int)sizeof(sql) - 512, model->path);
    sqlite3 *db = NULL;
    sqlite3_stmt *find = NULL;
    int rc;

    if (sqlite3_open(place->path, &db) != SQLITE_OK || sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(db,
                           "select replace(sql, 'boxcar_message', 'twin') from model.sqlite_master"
                           " where tbl_name = 'boxcar_message' and type in ('table', 'index')"
                           " and sql is not null order by type desc",
                           -1, &find, NULL) != SQLITE_OK)
        bench_die("%s: %s", place->path, sqlite3_errmsg(db));
    while ((rc = sqlite3_step(find)) == SQLITE_ROW)
        if (sqlite3_exec(db, (const char *)sqlite3_column_text(find, 0), NULL, NULL, NULL) != SQLITE_OK)
            bench_die("%s: %s", place->path, sqlite3_errmsg(db));
    sqlite3_finalize(find);
    sqlite3_close(db);
}

void place_create_raw(struct place *ret_place, const struct bench *b, const struct place *model) {
    choose(ret_place, b);
    if (b->kind == BENCH_POSTGRES)
        create_raw_postgres(ret_place, model);
    else
        create_raw_sqlite(ret_place, model);
}

static void remove_files(const struct place *place) {
    static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};
    char path[1100];

    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        snprintf(path, sizeof(path), "%s%s", place->path, suffixes[i]);
        unlink(path);
    }
    rmdir(place->directory);
}

static void drop(const struct place *place) {
    char sql[256];

    if (place->kind == BENCH_SQLITE) {
        remove_files(place);
        return;
    }
    snprintf(sql, sizeof(sql), "set lock_timeout = '30s'; drop schema if exists %1$s, %1$s_kept cascade",
             place->schema);
    if (!run_postgres(place, sql))
        fprintf(stderr, "boxcar-bench: the schema %s is still there\n", place->schema);
}

void place_remove(struct place *place) {
    forget(place);
    if (place->kind == BENCH_SQLITE || !place->is_boxcar) {
        drop(place);
        return;
    }
    recycle_reset(place);
    put_into(idle_places, place);
}

void place_remove_all(void) {
    for (size_t i = 0; i < PLACES_MAX; i++) {
        struct place places[] = {open_places[i], idle_places[i]};

        for (int j = 0; j < 2; j++)
            if (places[j].url[0] != '\0')
                drop(&places[j]);
    }
}

void place_analyze(const struct place *place) {
    char sql[512];

    if (place->kind == BENCH_SQLITE || place->is_tiny)
        return;
    snprintf(sql, sizeof(sql),
             "do $$ declare t regclass; begin for t in select oid from pg_class where relkind = 'r'"
             " and relnamespace = '%s'::regnamespace loop execute 'analyze ' || t; end loop; end $$",
             place->schema);
    if (!run_postgres(place, sql))
        bench_die("cannot analyze");
}

void place_checkpoint(const struct place *place) {
    if (place->is_tiny)
        return;
    if (place->kind == BENCH_SQLITE)
        run_sqlite(place, "pragma wal_checkpoint(truncate)");
    else if (!run_postgres(place, "checkpoint"))
        bench_die("a checkpoint needs a superuser");
}
