/* Events compared with messages: append with enqueue, following with claim and ack. */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "joins.h"

#define BATCH_MAX 10000

struct connection {
    boxcar_store *store;
    boxcar_new_event *events;
    char stream[64];
    int64_t position;
};

static void *open_named(const struct place *place, const char *stream) {
    struct connection *c = bench_alloc(1, sizeof(*c));

    c->store = place_open(place);
    c->events = bench_alloc(BATCH_MAX, sizeof(*c->events));
    snprintf(c->stream, sizeof(c->stream), "%s", stream);
    for (size_t i = 0; i < BATCH_MAX; i++) {
        c->events[i] = BOXCAR_NEW_EVENT_INIT;
        c->events[i].type = BOXCAR_STR(BENCH_TOPIC);
        c->events[i].payload = bench_payload();
    }
    return c;
}

static void *open_shared(const struct place *place) { return open_named(place, "shared"); }

static void *open_own(const struct place *place) {
    char name[BOXCAR_UUID_TEXT_SIZE];

    boxcar_uuid_format(((boxcar_event_id){boxcar_uuid_new()}).uuid, name);
    return open_named(place, name);
}

static void close_events(void *connection) {
    struct connection *c = connection;

    boxcar_store_close(c->store);
    free(c->events);
    free(c);
}

static void append(void *connection, size_t count) {
    struct connection *c = connection;
    boxcar_error err = BOXCAR_ERROR_INIT;

    bench_must(boxcar_event_append(c->store, boxcar_str_of(c->stream), BOXCAR_ANY_VERSION, c->events, count,
                                   NULL, &err),
               "append", &err);
}

static void append_one(void *connection) { append(connection, 1); }

static size_t follow(void *connection, size_t batch) {
    struct connection *c = connection;
    boxcar_event_filter filter = BOXCAR_EVENT_FILTER_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_event_list *list = NULL;
    size_t count;

    filter.after = c->position;
    filter.limit = (int)batch;
    bench_must(boxcar_event_read_all(c->store, &filter, &list, &err), "follow", &err);
    count = list->count;
    if (list->position != c->position + (int64_t)count)
        bench_die("follow: a position is missing behind %lld", (long long)c->position);
    c->position += (int64_t)count;
    boxcar_list_free(list);
    return count;
}

static const struct side SHARED = {
    "events of one stream", open_shared, close_events, append, append_one, follow};
static const struct side OWN = {
    "events of a stream each", open_own, close_events, append, append_one, follow};

struct contest {
    const char *row;
    const char *name;
    const struct side *side;
    size_t events;
    size_t batch;
    int connections;
    bool follows; /* what the others wrote, instead of writing */
};

static void run(struct bench *b, const struct contest *contest) {
    struct pairs rates = {0};

    if (!bench_wants(b, contest->row))
        return;
    for (int round = 0; round < b->rounds; round++) {
        double rate[2];

        bench_progress("%s: round %d of %d", contest->name, round + 1, b->rounds);
        for (int turn = 0; turn < 2; turn++) {
            int i = (round + turn) % 2;
            struct work work = {.goal = contest->events, .batch = contest->batch};
            struct place place;
            struct crew crew;

            place_create_boxcar(&place, b);
            crew_open(&crew, i == 0 ? contest->side : &SIDE_BOXCAR, &place, contest->connections);
            if (contest->follows)
                crew_fill(&crew, contest->events);
            place_analyze(&place);
            place_checkpoint(&place);
            rate[i] = contest->follows ? crew_drain(&crew, &work) : crew_enqueue(&crew, &work);
            crew_close(&crew);
            place_remove(&place);
        }
        pairs_add(&rates, rate[0], rate[1]);
    }
    report_add(b->report, contest->name, "event/s", &rates, NO_TARGET);
}

static void scenario_events(struct bench *b) {
    int many = b->kind == BENCH_POSTGRES ? 4 : 1;
    size_t bulk = bench_count(b, 100000, 2000);
    const struct contest contests[] = {
        {"events/append-1", "append, 1 x 1", &OWN, bench_count(b, 5000, 50), 1, 1, false},
        {"events/append-100", many == 4 ? "append, 4 x 100, one stream" : "append, 1 x 100, one stream",
         &SHARED, bulk, 100, many, false},
        {"events/append-own-100",
         many == 4 ? "append, 4 x 100, a stream each" : "append, 1 x 100, a stream each", &OWN, bulk, 100,
         many, false},
        {"events/follow", "follow, 1 x 1,000", &OWN, bulk, 1000, 1, true},
    };

    for (size_t i = 0; i < sizeof(contests) / sizeof(contests[0]); i++)
        run(b, &contests[i]);
}

const struct scenario EVENTS_SCENARIO = {"events: append, follow", scenario_events};
