/* What the scenarios of boxcar-bench share.
 *
 * A scenario compares two sides in one run: Boxcar through its C API, and raw SQL that does the
 * least possible. Both sides offer the same few verbs, so that one loop drives either. Timed
 * stretches of the two sides alternate, and a figure is the median over the rounds.
 *
 * Errors end the program: a benchmark that carried on would measure the error. */
#ifndef BOXCAR_BENCH_H
#define BOXCAR_BENCH_H

#include <boxcar.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BENCH_TOPIC "bench.message"
#define BENCH_PAYLOAD_SIZE 256
#define BENCH_LEASE_MS 600000
#define BENCH_ROUNDS_MAX 100
#define BENCH_CREW_MAX 64
#define BENCH_KNOWN 2000 /* keys that come again and again */
#define BENCH_KEY_SIZE 40

enum bench_kind { BENCH_SQLITE, BENCH_POSTGRES };

struct report;

struct bench {
    enum bench_kind kind;
    const char *url;
    double scale; /* of all message counts */
    int rounds;
    const char *only;  /* rows or scenarios, separated by commas; NULL = all */
    bool collect_only; /* the pass that only learns the rows' names */
    struct report *report;
};

/* Whether this row is to be measured. Names are SCENARIO or SCENARIO/ROW. */
bool bench_wants(const struct bench *b, const char *name);
/* Ends the program when `only` (or NULL) names something that no scenario asked for. */
void rows_check(const char *only);
void rows_print(void);
/* The row that was asked for last: figures are reported under it. */
const char *rows_current(void);

/* `count` scaled, at least `least`. */
size_t bench_count(const struct bench *b, size_t count, size_t least);
/* `connections`, or few where figures mean nothing anyway. */
int bench_connections(const struct bench *b, int connections);
void bench_pause(double seconds);
/* Seconds of a clock that never jumps. */
double bench_now(void);
/* The 256 bytes that every message carries, unless it is the big one. */
boxcar_str bench_payload(void);
/* One of the keys that come again and again. */
void bench_known_key(char ret_key[BENCH_KEY_SIZE], uint64_t number);
void *bench_alloc(size_t count, size_t size);
_Noreturn void bench_die(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Ends the program when a call of the library failed. */
void bench_must(boxcar_status status, const char *what, const boxcar_error *err);
/* A progress line for the user. Ends the program after Ctrl-C. */
void bench_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A place: somewhere to put tables that is removed at the end, whatever the end is. In
 * PostgreSQL a schema bench_PID_NUMBER, in SQLite a file of its own. */
struct place {
    enum bench_kind kind;
    bool is_tiny; /* figures mean nothing: checkpoints and statistics are left out */
    bool is_boxcar;
    char url[1024];
    char schema[64]; /* PostgreSQL */
    char path[1024]; /* SQLite */
    char directory[1024];
};

/* All places start empty. Boxcar's tables: */
void place_create_boxcar(struct place *ret_place, const struct bench *b);
/* A plain queue table `queue`; `twin` with the columns and indexes of `model`'s messages; in PostgreSQL also
 * `keyed`, a twin that is unique by source and external id. */
void place_create_raw(struct place *ret_place, const struct bench *b, const struct place *model);
/* How Boxcar is opened there; a connection. */
boxcar_store_options place_options(const struct place *place);
boxcar_store *place_open(const struct place *place);
void place_remove(struct place *place);
/* Statistics up to date, dirty pages written: what one side left behind must not cost the other. */
void place_analyze(const struct place *place);
void place_checkpoint(const struct place *place);
void place_remove_all(void);

/* One way to do the work. A connection belongs to one thread. */
struct side {
    const char *name;
    void *(*open)(const struct place *place);
    void (*close)(void *connection);
    /* One transaction with `count` messages. */
    void (*enqueue)(void *connection, size_t count);
    void (*enqueue_one)(void *connection);
    /* Claims up to `batch` messages, looks at each, finishes them all. Returns how many. */
    size_t (*drain)(void *connection, size_t batch);
};

extern const struct side SIDE_BOXCAR;
/* A connection of it drains this subscription from now on. */
void boxcar_connection_subscribe(void *connection, boxcar_str name);
/* Boxcar's SQL functions on PostgreSQL: enqueue(), and enqueue_many(jsonb). */
extern const struct side SIDE_SQL;
/* `boxcar enqueue --batch`: a process for each call. */
extern const struct side SIDE_PROGRAM;
/* "queue": UPDATE-claim, DELETE-ack. "twin": only enqueues, into what Boxcar's log looks like. */
extern const struct side SIDE_POSTGRES_QUEUE, SIDE_POSTGRES_TWIN, SIDE_SQLITE_QUEUE, SIDE_SQLITE_TWIN;
/* INSERT ... ON CONFLICT DO NOTHING, one row at a time: into the twin by message id; into `keyed` by source
 * and external id, new ones and ones that are there (see on_conflict_introduce()). */
extern const struct side SIDE_ON_CONFLICT, SIDE_ON_CONFLICT_NEW, SIDE_ON_CONFLICT_KNOWN;
void on_conflict_introduce(const struct place *place);
const struct side *side_queue(const struct bench *b);
const struct side *side_twin(const struct bench *b);

/* Some connections of one side to one place. */
struct crew {
    const struct side *side;
    const struct place *place;
    int size;
    void *connections[BENCH_CREW_MAX];
};

void crew_open(struct crew *ret_crew, const struct side *side, const struct place *place, int size);
void crew_close(struct crew *crew);
/* Puts `count` messages in, 10,000 at a time, on the first connection. */
void crew_fill(struct crew *crew, size_t count);

/* What a stretch of work is asked to tell besides its rate. */
struct latencies {
    float *seconds; /* of each call, sorted in the end */
    size_t count;
};
#define TENTHS 10
struct work {
    size_t goal;                     /* messages in all */
    size_t batch;                    /* per call */
    struct latencies *ret_latencies; /* may be NULL; release it with latencies_release() */
    double *ret_tenths;              /* may be NULL: the rate in each tenth of the way */
    double seconds;                  /* stop after this time, goal or not; 0 = the goal must be reached */
};

/* Both work with all connections at once and return messages per second. */
double crew_drain(struct crew *crew, const struct work *work);
double crew_enqueue(struct crew *crew, const struct work *work);
double latencies_at(const struct latencies *latencies, double share);
void latencies_release(struct latencies *latencies);
/* One claim and ack of up to `batch` messages on each connection, one connection after the other: the first
 * call of a session also reads the catalog and makes plans. Tells what each of them took; release it with
 * latencies_release(). */
void crew_warm(struct crew *crew, size_t batch, struct latencies *ret_latencies);

/* The figures of one comparison, one pair a round. */
struct pairs {
    int count;
    double ours[BENCH_ROUNDS_MAX];
    double theirs[BENCH_ROUNDS_MAX];
};

void pairs_add(struct pairs *pairs, double ours, double theirs);

enum target_kind { TARGET_NONE, TARGET_AT_LEAST, TARGET_AT_MOST };
struct target {
    enum target_kind kind;
    double ratio;
};
#define NO_TARGET ((struct target){TARGET_NONE, 0})
#define AT_LEAST(r) ((struct target){TARGET_AT_LEAST, (r)})
#define AT_MOST(r) ((struct target){TARGET_AT_MOST, (r)})
struct target target_of(const struct bench *b, struct target postgres, struct target sqlite);

struct report *report_new(void);
void report_add(struct report *report, const char *name, const char *unit, const struct pairs *pairs,
                struct target target);
void report_print(const struct report *report, bool json, const char *store_kind);
bool report_is_met(const struct report *report);
void report_free(struct report *report);

/* A scenario asks bench_wants() before every row. Its name is in scenario/meson.build. */
struct scenario {
    const char *summary;
    void (*run)(struct bench *b);
};

#endif
