/* Writers whose transactions overlap, readers of different topics whose workers are killed, and a store that
 * goes to another place meanwhile: a dump that is restored into another cluster, a copy of the file. Every
 * reader ends what it wants once and in order, wherever it is (BX-090 to BX-096).
 *
 * Workers and writers go on while a first copy is made: whoever reads that copy finds everything that it
 * holds. Then writers stop, and workers are killed or stopped with work left over; the second copy becomes
 * the store. */
#include <err.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "subscription_writer.h"

#define READERS 6
#define WORKERS_EACH 2
#define EVERYTHING 1 /* the reader that wants all */
#define FAILING 2
#define PAUSED 3
#define LATE 5

static struct reader readers[READERS] = {
    {.patterns = {"*"}},
    {.name = "all", .patterns = {"*"}},
    {.name = "failing", .patterns = {"t.*"}, .fails = true},
    {.name = "paused", .patterns = {"t.a", "u.*"}},
    {.name = "taker", .patterns = {"v.*"}, .only = true},
    {.name = "late", .patterns = {"u.*", "w"}, .is_late = true},
};

struct crowd {
    struct trial *trial;
    struct desk *desk;
    pid_t writers[WRITERS];
    struct worker *workers[READERS * WORKERS_EACH];
    boxcar_store *store;
    int reader_count; /* that are there */
    int64_t give_up_at, moved_at;
    int killed;
};

static void check(boxcar_status status, const boxcar_error *error) {
    if (status != BOXCAR_OK)
        errx(99, "%s", error->message);
}

static void run_shell(struct trial *trial, const char *what, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void run_shell(struct trial *trial, const char *what, const char *format, ...) {
    char command[3000];
    va_list arguments;
    va_start(arguments, format);
    int len = vsnprintf(command, sizeof(command), format, arguments);
    va_end(arguments);
    judge(trial, what, len < 0 || len >= (int)sizeof(command) || system(command) != 0);
}

static void run_program(struct trial *trial, const char *what, const char *const *arguments) {
    char log[400];
    snprintf(log, sizeof(log), "%s/program.log", trial->storm.directory);
    judge(trial, what, program_run(trial, arguments, NULL, log) != 0);
}

/* ---- looking ---- */

static void open_store(struct crowd *crowd) {
    boxcar_store_options options = storm_store_options(&crowd->trial->storm);
    boxcar_error error = BOXCAR_ERROR_INIT;
    boxcar_store_close(crowd->store);
    crowd->store = NULL;
    check(boxcar_store_open(&options, &crowd->store, &error), &error);
}

static boxcar_stats stats_of(struct crowd *crowd, const struct reader *reader) {
    boxcar_error error = BOXCAR_ERROR_INIT;
    boxcar_stats_list *list;
    check(boxcar_stats_read(crowd->store, (boxcar_box)reader->number, false, &list, &error), &error);
    boxcar_stats stats = *list->items[0];
    boxcar_list_free(list);
    return stats;
}

/* Of one reader, exactly. */
static int64_t count_ended(struct crowd *crowd, const struct reader *reader) {
    char sqlite_text[160], postgres_text[160];
    if (reader->number > 1)
        snprintf(sqlite_text, sizeof(sqlite_text),
                 "select coalesce(sum(last_id - first_id + 1), 0) from boxcar_reader_finished where box = %d",
                 reader->number);
    else
        snprintf(sqlite_text, sizeof(sqlite_text),
                 "select coalesce(sum(last_id - first_id + 1), 0) from boxcar_finished");
    snprintf(postgres_text, sizeof(postgres_text),
             "select coalesce(sum(last_id - first_id + 1), 0) from finished where box = %d", reader->number);
    return sql_number(crowd->trial, sqlite_text, postgres_text);
}

/* Done by all readers together; the writers are told how far the one that wants all is. */
static int64_t count_done(struct crowd *crowd) {
    int64_t sum = 0;
    for (int i = 0; i < crowd->reader_count; i++) {
        int64_t done = stats_of(crowd, &readers[i]).done;
        if (i == EVERYTHING)
            atomic_store(&crowd->desk->done, done);
        sum += done;
    }
    return sum;
}

/* Nobody has anything left. */
static bool is_finished(struct crowd *crowd) {
    for (int i = 0; i < crowd->reader_count; i++) {
        boxcar_stats stats = stats_of(crowd, &readers[i]);
        if (stats.ready + stats.waiting + stats.in_progress > 0)
            return false;
    }
    return true;
}

static bool goes_on(struct crowd *crowd) {
    if (!crowd->trial->has_failed && (now_us() > crowd->give_up_at || workers_any_ended(crowd->trial))) {
        crowd->trial->has_failed = true;
        judge(crowd->trial, "the work is done in time", 1);
    }
    return !crowd->trial->has_failed;
}

/* ---- readers and their workers ---- */

static void add_reader(struct crowd *crowd, struct reader *reader) {
    boxcar_new_subscription subscription = BOXCAR_NEW_SUBSCRIPTION_INIT;
    boxcar_error error = BOXCAR_ERROR_INIT;
    boxcar_str patterns[PATTERNS_MAX];
    boxcar_box number;
    for (; reader->patterns[subscription.pattern_count]; subscription.pattern_count++)
        patterns[subscription.pattern_count] = boxcar_str_of(reader->patterns[subscription.pattern_count]);
    subscription.name = boxcar_str_of(reader->name);
    subscription.patterns = patterns;
    subscription.only = reader->only;
    reader->added_from = now_us();
    check(boxcar_subscription_add(crowd->store, &subscription, &number, &error), &error);
    reader->added_until = now_us();
    reader->number = (int)number;
    crowd->reader_count++;
}

static struct worker *start_worker(struct crowd *crowd, struct reader *reader) {
    const char *arguments[32] = {
        "--evidence", reader->evidence, "--concurrency", "2",      "--lease",
        "4000",       "--maintain",     "1000",          "--fail", reader->fails ? "yes" : "no"};
    int count = 10;
    if (reader->name) {
        arguments[count++] = "--subscription";
        arguments[count++] = reader->name;
    }
    for (const char *const *pattern = reader->patterns; *pattern; pattern++) {
        arguments[count++] = "--topic";
        arguments[count++] = *pattern;
    }
    return worker_start(crowd->trial, &(struct launch){.arguments = arguments, .is_c_worker = true});
}

static void start_workers_of(struct crowd *crowd, int reader) {
    for (int i = 0; i < WORKERS_EACH; i++)
        crowd->workers[reader * WORKERS_EACH + i] = start_worker(crowd, &readers[reader]);
}

static void kill_one(struct crowd *crowd) {
    int place = (int)draw_between(&crowd->trial->self, 0, crowd->reader_count * WORKERS_EACH - 1);
    struct worker *worker = crowd->workers[place];
    worker->killed = true;
    kill(worker->pid, SIGKILL);
    if (!worker_wait(worker, 10000))
        errx(99, "a worker cannot be killed");
    crowd->workers[place] = start_worker(crowd, &readers[place / WORKERS_EACH]);
    crowd->killed++;
}

/* Half of them are killed, half are told to go; both leave work behind. */
static void stop_workers(struct crowd *crowd) {
    for (int i = 0; i < crowd->reader_count * WORKERS_EACH; i++) {
        struct worker *worker = crowd->workers[i];
        if (i % 2 == 0) {
            worker->killed = true;
            kill(worker->pid, SIGKILL);
        }
    }
    workers_terminate(crowd->trial);
}

/* Kills workers until the writers have committed so much. */
static void harass(struct crowd *crowd, int64_t target, int kills_until) {
    int64_t from = atomic_load(&crowd->desk->committed);
    int kills_from = crowd->killed;
    while (goes_on(crowd) && atomic_load(&crowd->desk->committed) < target) {
        int64_t share = (atomic_load(&crowd->desk->committed) - from) * (kills_until - kills_from);
        count_done(crowd);
        if (crowd->killed < kills_from + share / (target - from))
            kill_one(crowd);
        pause_ms(20);
    }
}

/* ---- a pause ---- */

static int64_t pause_reader(struct crowd *crowd) {
    run_program(crowd->trial, "a subscription is paused",
                (const char *const[]){"subscription", "pause", readers[PAUSED].name, NULL});
    /* A claim that is under way may still bring its messages. */
    for (int quiet = 0; quiet < 10 && goes_on(crowd); quiet++) {
        if (stats_of(crowd, &readers[PAUSED]).in_progress > 0)
            quiet = 0;
        pause_ms(50);
        count_done(crowd);
    }
    return count_ended(crowd, &readers[PAUSED]);
}

static void resume_reader(struct crowd *crowd, int64_t done) {
    judge(crowd->trial, "while it was paused it has ended nothing",
          llabs(count_ended(crowd, &readers[PAUSED]) - done));
    run_program(crowd->trial, "it is resumed",
                (const char *const[]){"subscription", "resume", readers[PAUSED].name, NULL});
}

/* ---- another place ---- */

/* The URL of the place that the copy went to. */
static void make_copy(struct crowd *crowd, const char *name, bool in_use, char *url, size_t size) {
    struct trial *trial = crowd->trial;
    const struct storm *storm = &trial->storm;
    const char *second = getenv("BOXCAR_TEST_SECOND_POSTGRES");
    if (!storm->postgres) {
        const char *from = storm->url + strlen("sqlite:");
        if (in_use)
            run_shell(trial, "the file is copied while it is used",
                      "sqlite3 -cmd '.timeout 60000' '%s' \"vacuum into '%s/%s.db'\"", from, storm->directory,
                      name);
        else
            run_shell(trial, "the file is copied",
                      "cp '%s' '%s/%s.db' && { ! test -e '%s-wal' || cp '%s-wal' '%s/%s.db-wal'; }", from,
                      storm->directory, name, from, from, storm->directory, name);
        snprintf(url, size, "sqlite:%s/%s.db", storm->directory, name);
        return;
    }
    if (!second)
        errx(99, "BOXCAR_TEST_SECOND_POSTGRES is not set");
    run_shell(trial, in_use ? "the schema is dumped while it is used" : "the schema is dumped",
              "pg_dump -n %s -f %s/%s.sql '%s'", storm->schema, storm->directory, name, storm->url);
    run_shell(trial, "and restored into another cluster",
              "psql -qX -v ON_ERROR_STOP=1 -c 'set client_min_messages = error' -c 'drop schema if exists %s "
              "cascade' "
              "-f %s/%s.sql '%s' >>%s/restore.log",
              storm->schema, storm->directory, name, second, storm->directory);
    snprintf(url, size, "%s&application_name=%s", second, storm->schema);
}

static int64_t count_wanted(struct crowd *crowd, const struct reader *reader) {
    static const char *const TOPICS[] = {"t.a", "t.b", "t.c", "u.a", "u.b", "v.a", "w"};
    int64_t sum = 0;
    for (size_t i = 0; i < sizeof(TOPICS) / sizeof(TOPICS[0]); i++) {
        char sqlite_text[128], postgres_text[128];
        snprintf(sqlite_text, sizeof(sqlite_text), "select count(*) from boxcar_message where topic = '%s'",
                 TOPICS[i]);
        snprintf(postgres_text, sizeof(postgres_text), "select count(*) from message where topic = '%s'",
                 TOPICS[i]);
        if (reader_wants(readers, READERS, reader, TOPICS[i]))
            sum += sql_number(crowd->trial, sqlite_text, postgres_text);
    }
    return sum;
}

/* Whoever finds the copy drains it. */
static void judge_copy(struct crowd *crowd, const char *url) {
    struct trial *trial = crowd->trial;
    char original[sizeof(trial->storm.url)];
    int64_t skipped = 0;
    snprintf(original, sizeof(original), "%s", trial->storm.url);
    snprintf(trial->storm.url, sizeof(trial->storm.url), "%s", url);
    run_program(trial, "the copy is made a store", (const char *const[]){"init", NULL});
    open_store(crowd);
    for (int i = 0; i < LATE; i++) {
        const char *arguments[] = {"worker",    "--drain",   "--poll", "50ms", "--log-level", "error",
                                   "--handler", "*=discard", NULL,     NULL,   NULL};
        if (readers[i].name) {
            arguments[8] = "--subscription";
            arguments[9] = readers[i].name;
        }
        if (i == PAUSED)
            run_program(trial, "it is resumed there",
                        (const char *const[]){"subscription", "resume", readers[i].name, NULL});
        run_program(trial, "a reader drains the copy", arguments);
        int64_t wanted = count_wanted(crowd, &readers[i]), done = count_ended(crowd, &readers[i]);
        printf("%s: the copy: %s: %lld of %lld\n", trial->name, readers[i].name ? readers[i].name : "main",
               (long long)done, (long long)wanted);
        skipped += llabs(wanted - done);
    }
    judge(trial, "each reader has ended in the copy what it wants", skipped);
    snprintf(trial->storm.url, sizeof(trial->storm.url), "%s", original);
    open_store(crowd);
}

/* With a backlog, and nobody there. */
static void move(struct crowd *crowd) {
    struct trial *trial = crowd->trial;
    char url[sizeof(trial->storm.url)];
    stop_workers(crowd);
    atomic_store(&crowd->desk->done, INT64_MAX / 2); /* nobody to wait for */
    writers_wait(trial, crowd->writers);
    boxcar_store_close(crowd->store);
    crowd->store = NULL;
    make_copy(crowd, "second", false, url, sizeof(url));
    if (trial->storm.postgres)
        run_shell(trial, "the old one is removed",
                  "psql -qX -c 'set client_min_messages = error' -c 'drop schema %s cascade' '%s'",
                  trial->storm.schema, trial->storm.url);
    crowd->moved_at = now_us();
    snprintf(trial->storm.url, sizeof(trial->storm.url), "%s", url);
    run_program(trial, "the copy is made the store", (const char *const[]){"init", NULL});
    open_store(crowd);
    printf("%s: it moved with %lld messages committed and %lld deliveries done\n", trial->name,
           (long long)atomic_load(&crowd->desk->committed), (long long)count_done(crowd));
    for (int i = 0; i < crowd->reader_count; i++)
        start_workers_of(crowd, i);
}

/* ---- a rewind ---- */

static void check_done(struct crowd *crowd, const int64_t done[READERS]) {
    for (int i = 0; i < READERS; i++)
        if (i != FAILING && count_ended(crowd, &readers[i]) != done[i])
            offend(&crowd->trial->ledger, "%s has ended something else", readers[i].name);
    conclude(&crowd->trial->ledger, &crowd->trial->verdict, "other readers did not notice");
}

/* BX-093: one reader gets its own again, and nobody else anything. */
static void rewind_one(struct crowd *crowd, const struct pieces *pieces) {
    struct trial *trial = crowd->trial;
    struct reader *reader = &readers[FAILING];
    int64_t done[READERS];
    for (int i = 0; i < READERS; i++)
        done[i] = count_ended(crowd, &readers[i]);
    run_program(trial, "a reader is sent back to the beginning",
                (const char *const[]){"subscription", "rewind", reader->name, "--to", "beginning", NULL});
    snprintf(reader->evidence, sizeof(reader->evidence), "%s.again", trial->evidence);
    reader->fails = false;
    start_workers_of(crowd, FAILING);
    while (goes_on(crowd) && !is_finished(crowd))
        pause_ms(50);
    workers_terminate(trial);
    judge(trial, "it has ended as much as before", llabs(count_ended(crowd, reader) - done[FAILING]));
    judge_reader(trial, pieces, readers, READERS, reader, 0);
    check_done(crowd, done);
}

/* ---- all of it ---- */

static void begin(struct crowd *crowd) {
    struct trial *trial = crowd->trial;
    crowd->desk = desk_new();
    crowd->give_up_at = now_us() + (120000 + trial->messages * 40) * 1000;
    open_store(crowd);
    crowd->reader_count = 1;
    for (int i = 0; i < READERS; i++) {
        snprintf(readers[i].evidence, sizeof(readers[i].evidence), "%s.%d", trial->evidence, i);
        if (i > 0 && i != LATE)
            add_reader(crowd, &readers[i]);
    }
    for (int i = 0; i < crowd->reader_count; i++)
        start_workers_of(crowd, i);
    atomic_store(&crowd->desk->target, trial->messages * 3 / 5);
    writers_start(trial, crowd->desk, crowd->writers);
}

static void first_half(struct crowd *crowd) {
    struct trial *trial = crowd->trial;
    int64_t count = trial->messages;
    char url[sizeof(trial->storm.url)];
    harass(crowd, count / 5, trial->kills / 5);
    int64_t done = pause_reader(crowd);
    add_reader(crowd, &readers[LATE]);
    start_workers_of(crowd, LATE);
    harass(crowd, count * 2 / 5, trial->kills * 2 / 5);
    make_copy(crowd, "first", true, url, sizeof(url));
    judge_copy(crowd, url);
    resume_reader(crowd, done);
    harass(crowd, count * 11 / 20, trial->kills * 3 / 5);
}

static void second_half(struct crowd *crowd) {
    struct trial *trial = crowd->trial;
    atomic_store(&crowd->desk->target, trial->messages);
    writers_start(trial, crowd->desk, crowd->writers);
    harass(crowd, trial->messages, trial->kills);
    writers_wait(trial, crowd->writers);
    while (goes_on(crowd) && crowd->killed < trial->kills) {
        kill_one(crowd);
        pause_ms(100);
    }
    while (goes_on(crowd) && !is_finished(crowd))
        pause_ms(50);
    workers_terminate(trial);
}

static void run_crowd(struct trial *trial) {
    struct crowd crowd = {.trial = trial};
    struct pieces pieces;
    begin(&crowd);
    first_half(&crowd);
    if (!trial->has_failed)
        move(&crowd);
    if (!trial->has_failed)
        second_half(&crowd);
    pieces_read(trial, &pieces);
    judge_pieces(trial, &pieces);
    for (int i = 0; i < READERS; i++)
        judge_reader(trial, &pieces, readers, READERS, &readers[i], crowd.moved_at);
    judge(trial, "nothing is dead",
          sql_number(trial,
                     "select (select count(*) from boxcar_dead) + (select count(*) from boxcar_reader_dead)",
                     "select count(*) from dead"));
    judge(trial, "nobody saw what must not be", atomic_load(&trial->storm.board->tallies[TALLY_COMPLAINTS]));
    if (!trial->has_failed)
        rewind_one(&crowd, &pieces);
    printf("%s: %d workers were killed\n", trial->name, crowd.killed);
    pieces_free(&pieces);
    boxcar_store_close(crowd.store);
}

const struct scenario SUBSCRIPTION_CROWD = {
    .run = run_crowd, .messages = 1000, .full_messages = 100000, .kills = 8, .full_kills = 100};
