/* Services that share a store, each with a topic of its own, against one service that handles all topics.
 * A service is one connection, as `boxcar worker` claims with one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"

#define SERVICES_MAX 10
#define BATCH 1000
#define FILL 10000
#define TOPIC_SIZE 32

struct service {
    boxcar_store *store;
    boxcar_owner owner;
    char topic[TOPIC_SIZE];
    size_t left; /* messages of its topic that it has not had yet */
};

static void topic_of(size_t service, char ret_topic[TOPIC_SIZE]) {
    snprintf(ret_topic, TOPIC_SIZE, "bench.service-%zu", service);
}

static void *open_service(const struct place *place) {
    struct service *service = bench_alloc(1, sizeof(*service));

    service->store = place_open(place);
    service->owner.uuid = boxcar_uuid_new();
    return service;
}

static void close_service(void *connection) {
    boxcar_store_close(((struct service *)connection)->store);
    free(connection);
}

static void ack(struct service *service, const boxcar_message_list *list) {
    size_t count = list->count, affected = 0;
    boxcar_settlement *items = bench_alloc(count, sizeof(*items));
    boxcar_claimer me = BOXCAR_CLAIMER_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;

    me.owner = service->owner;
    for (size_t i = 0; i < count; i++) {
        items[i] = BOXCAR_SETTLEMENT_INIT;
        items[i].work_id = list->items[i]->work_id;
        items[i].epoch = list->items[i]->epoch;
    }
    bench_must(boxcar_ack(service->store, &me, items, count, NULL, &affected, &err), "ack", &err);
    if (affected != count)
        bench_die("ack: %zu of %zu messages were acked", affected, count);
    free(items);
}

/* A service that has had all its messages sleeps, as a worker would. */
static size_t serve(void *connection, size_t batch) {
    struct service *service = connection;
    boxcar_claimer options = BOXCAR_CLAIMER_INIT;
    boxcar_str topic = boxcar_str_of(service->topic);
    boxcar_message_list *list = NULL;
    boxcar_error err = BOXCAR_ERROR_INIT;
    size_t count;

    if (service->left == 0) {
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        return 0;
    }
    options.owner = service->owner;
    options.lease_ms = BENCH_LEASE_MS;
    options.batch_size = (int)batch;
    options.topics = &topic;
    options.topic_count = 1;
    bench_must(boxcar_claim(service->store, &options, &list, &err), "claim", &err);
    count = list->count;
    if (count > 0)
        ack(service, list);
    boxcar_list_free(list);
    service->left -= count;
    return count;
}

static const struct side SIDE_SERVICE = {"service", open_service, close_service, NULL, NULL, serve};

/* The topics take turns. */
static void fill(const struct place *place, size_t topics, size_t messages) {
    boxcar_new_message *batch = bench_alloc(FILL, sizeof(*batch));
    char names[SERVICES_MAX][TOPIC_SIZE];
    boxcar_store *store = place_open(place);
    boxcar_error err = BOXCAR_ERROR_INIT;

    for (size_t i = 0; i < topics; i++)
        topic_of(i, names[i]);
    for (size_t i = 0; i < FILL; i++) {
        batch[i] = BOXCAR_NEW_MESSAGE_INIT;
        batch[i].topic = boxcar_str_of(names[i % topics]);
        batch[i].payload = bench_payload();
    }
    for (size_t left = messages; left > 0;) {
        size_t part = left < FILL ? left : FILL;

        bench_must(boxcar_enqueue_many(store, BOXCAR_OUTBOX, batch, part, NULL, &err), "enqueue", &err);
        left -= part;
    }
    boxcar_store_close(store);
    free(batch);
}

static double drain(struct bench *b, size_t topics, size_t services, size_t messages) {
    struct place place;
    struct crew crew;
    double rate;

    place_create_boxcar(&place, b);
    fill(&place, topics, messages);
    place_analyze(&place);
    crew_open(&crew, &SIDE_SERVICE, &place, (int)services);
    for (size_t i = 0; i < services; i++) {
        struct service *service = crew.connections[i];

        service->left = messages / services;
        topic_of(i, service->topic);
        if (services == 1)
            snprintf(service->topic, sizeof(service->topic), "bench.service-*");
    }
    rate = crew_drain(&crew, &(struct work){.goal = messages, .batch = BATCH});
    crew_close(&crew);
    place_remove(&place);
    return rate;
}

static void run(struct bench *b, const char *row, const char *name, size_t services, struct target target) {
    size_t messages = bench_count(b, 200000, 1000);
    struct pairs rates = {0};

    if (!bench_wants(b, row))
        return;
    messages -= messages % services;
    for (int round = 0; round < b->rounds; round++) {
        double rate[2];

        bench_progress("%s: round %d of %d", name, round + 1, b->rounds);
        for (int turn = 0; turn < 2; turn++) {
            int i = (round + turn) % 2;

            rate[i] = drain(b, services, i == 0 ? services : 1, messages);
        }
        pairs_add(&rates, rate[0], rate[1]);
    }
    report_add(b->report, name, "msg/s", &rates, target);
}

static void scenario_services(struct bench *b) {
    if (b->kind != BENCH_POSTGRES)
        return;
    run(b, "services/2", "two services, a topic each, against one", 2, AT_LEAST(0.7));
    run(b, "services/10", "ten services, a topic each, against one", 10, AT_LEAST(0.6));
}

const struct scenario SERVICES_SCENARIO = {"services with topics of their own on one store (PostgreSQL)",
                                           scenario_services};
