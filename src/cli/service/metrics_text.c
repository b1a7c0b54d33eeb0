#include "metrics_text.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/utf8.h"

enum kind { GAUGE, COUNTER, HISTOGRAM };

static const char *const KINDS[] = {[GAUGE] = "gauge", [COUNTER] = "counter", [HISTOGRAM] = "histogram"};

/* A number of the worker, or of each handler, that is served as it is. */
struct single {
    const char *name, *help;
    enum kind kind;
    size_t offset; /* of an int64_t in its struct */
};

#define OF_WORKER(field) offsetof(boxcar_worker_stats, field)
#define OF_HANDLER(field) offsetof(boxcar_handler_stats, field)
#define OF_STORE(field) offsetof(boxcar_stats, field)

static const struct single OF_WORKERS[] = {
    {"boxcar_worker_concurrency", "Handlers that may run at a time.", GAUGE, OF_WORKER(concurrency)},
    {"boxcar_worker_running", "Handlers that run now.", GAUGE, OF_WORKER(running)},
    {"boxcar_worker_queued", "Messages claimed and not started.", GAUGE, OF_WORKER(queued)},
    {"boxcar_worker_claims_total", "Round trips that asked for work.", COUNTER, OF_WORKER(claims)},
    {"boxcar_worker_claims_held_up_total", "Claims whose turn did not come in time.", COUNTER,
     OF_WORKER(held_up)},
    {"boxcar_messages_claimed_total", "Messages claimed.", COUNTER, OF_WORKER(claimed)},
    {"boxcar_messages_given_back_total", "Messages given back unstarted.", COUNTER, OF_WORKER(given_back)},
    {"boxcar_messages_unhandled_total", "Messages claimed without a handler for them.", COUNTER,
     OF_WORKER(unhandled)},
    {"boxcar_messages_reaped_total", "Messages released from expired leases by upkeep.", COUNTER,
     OF_WORKER(reaped)},
    {"boxcar_leases_renewed_total", "Messages whose lease was renewed.", COUNTER, OF_WORKER(leases_renewed)},
    {"boxcar_leases_lost_total", "Messages whose lease was lost.", COUNTER, OF_WORKER(leases_lost)},
    {"boxcar_handlers_abandoned_total", "Handlers given up because they did not stop.", COUNTER,
     OF_WORKER(handlers_abandoned)},
    {"boxcar_store_errors_total", "Calls to the store that failed.", COUNTER, OF_WORKER(store_errors)},
    {"boxcar_store_detachments_total", "Times the store went away.", COUNTER, OF_WORKER(detachments)},
};

static const struct single OF_HANDLERS[] = {
    {"boxcar_handler_running", "Calls of the handler that run now.", GAUGE, OF_HANDLER(running)},
    {"boxcar_handler_timeouts_total", "Calls of the handler cancelled for their time.", COUNTER,
     OF_HANDLER(timed_out)},
};

/* One of several numbers with the same name, told apart by a label. */
struct column {
    const char *label;
    size_t offset; /* of an int64_t in its struct */
};

static const struct column OUTCOMES[] = {{"acked", OF_HANDLER(acked)},       {"retried", OF_HANDLER(retried)},
                                         {"failed", OF_HANDLER(failed)},     {"dead", OF_HANDLER(dead)},
                                         {"deferred", OF_HANDLER(deferred)}, {"lost", OF_HANDLER(lost)}};

static const struct column STATUSES[] = {{"ready", OF_STORE(ready)},
                                         {"waiting", OF_STORE(waiting)},
                                         {"in_progress", OF_STORE(in_progress)},
                                         {"done", OF_STORE(done)},
                                         {"failed", OF_STORE(failed)}};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static long long number_at(const void *object, size_t offset) {
    return *(const int64_t *)((const char *)object + offset);
}

static void put_head(FILE *out, const char *name, enum kind kind, const char *help) {
    fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, KINDS[kind]);
}

static void put_number(FILE *out, const struct single *metric, const void *object) {
    put_head(out, metric->name, metric->kind, metric->help);
    fprintf(out, "%s %lld\n", metric->name, number_at(object, metric->offset));
}

static void put_gauge(FILE *out, const char *name, const char *help, double value) {
    put_head(out, name, GAUGE, help);
    fprintf(out, "%s %.9g\n", name, value);
}

/* The format wants UTF-8 and three escapes. */
static void put_label_value(FILE *out, boxcar_str value) {
    while (value.len > 0) {
        size_t size = utf8_char_size(value.data, value.len);
        if (size == 0)
            fputs("\xEF\xBF\xBD", out);
        else if (value.data[0] == '\n')
            fputs("\\n", out);
        else if (value.data[0] == '\\' || value.data[0] == '"')
            fprintf(out, "\\%c", value.data[0]);
        else
            fwrite(value.data, 1, size, out);
        value = (boxcar_str){value.data + (size ? size : 1), value.len - (size ? size : 1)};
    }
}

/* What the lines of a handler begin with. */
struct labels {
    const boxcar_handler_stats *handler;
    boxcar_str subscription; /* that it is for */
};

/* name{topic="...",box="...": more labels or the closing brace are up to the caller. */
static void put_topic(FILE *out, const char *name, const struct labels *labels) {
    const boxcar_handler_stats *handler = labels->handler;
    fprintf(out, "%s{topic=\"", name);
    put_label_value(out, handler->topic);
    fprintf(out, "\",box=\"%s\"", boxcar_box_name(handler->box));
    if (str_is_absent(labels->subscription))
        return;
    fputs(",subscription=\"", out);
    put_label_value(out, labels->subscription);
    fputs("\"", out);
}

static void put_build(FILE *out, const char *version) {
    put_head(out, "boxcar_build_info", GAUGE, "Always 1; the version is a label.");
    fputs("boxcar_build_info{version=\"", out);
    put_label_value(out, boxcar_str_of(version));
    fputs("\"} 1\n", out);
}

static void put_worker(FILE *out, const boxcar_worker_stats *worker) {
    bool is_up = worker->state >= BOXCAR_WORKER_RUNNING && worker->state != BOXCAR_WORKER_DETACHED;
    put_head(out, "boxcar_worker_state", GAUGE, "1 for the state the worker is in, 0 for the others.");
    for (boxcar_worker_state i = BOXCAR_WORKER_IDLE; i <= BOXCAR_WORKER_STOPPED; i++)
        fprintf(out, "boxcar_worker_state{state=\"%s\"} %d\n", boxcar_worker_state_name(i),
                worker->state == i);
    put_gauge(out, "boxcar_worker_loop_age_seconds", "Since the work loop last came round.",
              (double)worker->loop_age_ms / 1000);
    put_gauge(out, "boxcar_store_up", "1 while the worker can use its store.", is_up);
    for (size_t i = 0; i < COUNT_OF(OF_WORKERS); i++)
        put_number(out, &OF_WORKERS[i], worker);
}

static void put_settled(FILE *out, const struct labels *labels) {
    for (size_t i = 0; i < COUNT_OF(OUTCOMES); i++) {
        put_topic(out, "boxcar_messages_settled_total", labels);
        fprintf(out, ",outcome=\"%s\"} %lld\n", OUTCOMES[i].label,
                number_at(labels->handler, OUTCOMES[i].offset));
    }
}

/* Buckets are cumulated here, and the count is their sum, so that the two always agree. */
static void put_histogram(FILE *out, const struct labels *labels) {
    long long count = 0;
    for (size_t i = 0; i < BOXCAR_HANDLER_BUCKETS; i++) {
        count += labels->handler->buckets[i];
        put_topic(out, "boxcar_handler_seconds_bucket", labels);
        if (i + 1 < BOXCAR_HANDLER_BUCKETS)
            fprintf(out, ",le=\"%.9g\"} %lld\n", boxcar_handler_bucket_seconds(i), count);
        else
            fprintf(out, ",le=\"+Inf\"} %lld\n", count);
    }
    put_topic(out, "boxcar_handler_seconds_sum", labels);
    fprintf(out, "} %.9g\n", labels->handler->seconds);
    put_topic(out, "boxcar_handler_seconds_count", labels);
    fprintf(out, "} %lld\n", count);
}

/* The last handler is that of waits, which are the main reader's. */
static struct labels labels_of(const struct metrics_numbers *numbers, size_t i) {
    bool is_last = i + 1 == numbers->handler_count;
    return (struct labels){&numbers->handlers[i], is_last ? BOXCAR_NO_STR : numbers->subscription};
}

static void put_handlers(FILE *out, const struct metrics_numbers *numbers) {
    put_head(out, "boxcar_messages_settled_total", COUNTER,
             "Messages by what became of the handler's verdict.");
    for (size_t i = 0; i < numbers->handler_count; i++) {
        struct labels labels = labels_of(numbers, i);
        put_settled(out, &labels);
    }
    for (const struct single *metric = OF_HANDLERS; metric < OF_HANDLERS + COUNT_OF(OF_HANDLERS); metric++) {
        put_head(out, metric->name, metric->kind, metric->help);
        for (size_t i = 0; i < numbers->handler_count; i++) {
            struct labels labels = labels_of(numbers, i);
            put_topic(out, metric->name, &labels);
            fprintf(out, "} %lld\n", number_at(labels.handler, metric->offset));
        }
    }
    put_head(out, "boxcar_handler_seconds", HISTOGRAM, "How long handlers took.");
    for (size_t i = 0; i < numbers->handler_count; i++) {
        struct labels labels = labels_of(numbers, i);
        put_histogram(out, &labels);
    }
}

static void put_store_numbers(FILE *out, const boxcar_stats *store) {
    put_head(out, "boxcar_store_messages", GAUGE, "Messages in the store.");
    for (boxcar_box box = BOXCAR_OUTBOX; box <= BOXCAR_INBOX; box++)
        for (size_t i = 0; i < COUNT_OF(STATUSES); i++)
            fprintf(out, "boxcar_store_messages{status=\"%s\",box=\"%s\"} %lld\n", STATUSES[i].label,
                    boxcar_box_name(box), number_at(&store[box], STATUSES[i].offset));
    put_head(out, "boxcar_store_oldest_ready_seconds", GAUGE,
             "How long the oldest ready message has waited.");
    for (boxcar_box box = BOXCAR_OUTBOX; box <= BOXCAR_INBOX; box++)
        fprintf(out, "boxcar_store_oldest_ready_seconds{box=\"%s\"} %.9g\n", boxcar_box_name(box),
                store[box].oldest_ready_age_seconds);
    put_gauge(out, "boxcar_store_stats_exact", "0 when some numbers of the store are estimates.",
              store[BOXCAR_OUTBOX].exact && store[BOXCAR_INBOX].exact);
}

static void put_by_box(FILE *out, const char *name, const char *help, const int64_t values[2]) {
    put_head(out, name, GAUGE, help);
    for (boxcar_box box = BOXCAR_OUTBOX; box <= BOXCAR_INBOX; box++)
        fprintf(out, "%s{box=\"%s\"} %lld\n", name, boxcar_box_name(box), (long long)values[box]);
}

static void put_streams(FILE *out, const struct metrics_streams *streams) {
    static const struct single VIOLATIONS = {
        "boxcar_ordering_violations_total",
        "Messages acked before an earlier one of their stream was finished.", COUNTER,
        offsetof(struct metrics_streams, violations)};
    put_gauge(out, "boxcar_instances", "Workers of the store that live, whichever boxes they serve.",
              (double)streams->instances);
    put_by_box(out, "boxcar_partitions_owned", "Partitions of streams that this worker is preferred for.",
               streams->partitions);
    put_gauge(out, "boxcar_oldest_lease_seconds", "How long some worker has held the oldest lease.",
              streams->oldest_lease_seconds);
    put_by_box(out, "boxcar_streams_halted", "Streams that are halted.", streams->halted);
    put_number(out, &VIOLATIONS, streams);
    put_gauge(out, "boxcar_store_upkeep_age_seconds",
              "Since upkeep last ran, in whichever process, or should have.", streams->upkeep_age_seconds);
}

/* ---- subscriptions of the store ---- */

static void put_subscription(FILE *out, const char *name, const struct metrics_subscription *subscription) {
    fprintf(out, "%s{subscription=\"", name);
    put_label_value(out, boxcar_str_of(subscription->name));
    fprintf(out, "\",box=\"%s\"", boxcar_box_name(subscription->box));
}

#define OF_SUBSCRIPTION(field) offsetof(struct metrics_subscription, field)

static const struct column SUBSCRIPTION_STATUSES[] = {{"ready", OF_SUBSCRIPTION(ready)},
                                                      {"in_progress", OF_SUBSCRIPTION(in_progress)},
                                                      {"failed", OF_SUBSCRIPTION(failed)}};

static void put_subscription_messages(FILE *out, const struct metrics_subscription *subscription) {
    for (size_t i = 0; i < COUNT_OF(SUBSCRIPTION_STATUSES); i++) {
        put_subscription(out, "boxcar_subscription_messages", subscription);
        fprintf(out, ",status=\"%s\"} %lld\n", SUBSCRIPTION_STATUSES[i].label,
                number_at(subscription, SUBSCRIPTION_STATUSES[i].offset));
    }
}

/* A store without subscriptions has none of these. */
static void put_subscriptions(FILE *out, const struct metrics_numbers *numbers) {
    const struct metrics_subscription *all = numbers->subscriptions;
    size_t count = numbers->subscription_count;
    if (count == 0)
        return;
    put_head(out, "boxcar_subscription_messages", GAUGE, "Messages of the subscription.");
    for (size_t i = 0; i < count; i++)
        put_subscription_messages(out, &all[i]);
    put_head(out, "boxcar_subscription_lag_seconds", GAUGE,
             "Age of the oldest message that the subscription has not ended.");
    for (size_t i = 0; i < count; i++) {
        put_subscription(out, "boxcar_subscription_lag_seconds", &all[i]);
        fprintf(out, "} %.9g\n", all[i].lag_seconds);
    }
    put_head(out, "boxcar_subscription_held_messages", GAUGE,
             "Messages that are kept only for the subscription.");
    for (size_t i = 0; i < count; i++) {
        put_subscription(out, "boxcar_subscription_held_messages", &all[i]);
        fprintf(out, "} %lld\n", (long long)all[i].held);
    }
    put_head(out, "boxcar_subscription_paused", GAUGE, "1 while the subscription is paused.");
    for (size_t i = 0; i < count; i++) {
        put_subscription(out, "boxcar_subscription_paused", &all[i]);
        fprintf(out, "} %d\n", all[i].is_paused);
    }
}

static void put_store(FILE *out, const struct metrics_numbers *numbers) {
    if (!numbers->store)
        return;
    put_gauge(out, "boxcar_store_stats_age_seconds", "How old the numbers of the store are.",
              numbers->store_age_seconds);
    if (numbers->store_age_seconds > METRICS_STORE_AGE_SECONDS_MAX)
        return;
    put_store_numbers(out, numbers->store);
    if (numbers->streams)
        put_streams(out, numbers->streams);
    put_subscriptions(out, numbers);
}

/* ---- many stores ---- */

#define OF_FLEET(field) offsetof(boxcar_fleet_store, field)

static const struct single OF_STORES[] = {
    {"boxcar_fleet_claims_total", "Round trips that asked the store for work.", COUNTER, OF_FLEET(claims)},
    {"boxcar_fleet_messages_claimed_total", "Messages claimed from the store.", COUNTER, OF_FLEET(claimed)},
    {"boxcar_fleet_messages_held", "Messages of the store that are queued or in handlers.", GAUGE,
     OF_FLEET(held)},
    {"boxcar_fleet_messages_reaped_total", "Messages of the store released from expired leases by upkeep.",
     COUNTER, OF_FLEET(reaped)},
    {"boxcar_fleet_store_errors_total", "Calls to the store that failed.", COUNTER, OF_FLEET(store_errors)},
    {"boxcar_fleet_failures", "Tries in a row at which the store could not be used.", GAUGE,
     OF_FLEET(failures)},
};

/* name{store="...",key="...": the key only if it has one; more labels or the brace are up to the caller. */
static void put_fleet_store(FILE *out, const char *name, const boxcar_fleet_store *store) {
    fprintf(out, "%s{store=\"", name);
    put_label_value(out, boxcar_str_of(store->id));
    if (store->key.len > 0) {
        fputs("\",key=\"", out);
        put_label_value(out, store->key);
    }
    fputc('"', out);
}

static void put_fleet_states(FILE *out, const struct metrics_numbers *numbers) {
    put_head(out, "boxcar_fleet_stores", GAUGE, "Stores of the worker by their state.");
    for (boxcar_fleet_state state = BOXCAR_FLEET_WAITING; state <= BOXCAR_FLEET_LEAVING; state++) {
        long long count = 0;
        for (size_t i = 0; i < numbers->fleet_count; i++)
            count += numbers->fleet[i]->state == state;
        fprintf(out, "boxcar_fleet_stores{state=\"%s\"} %lld\n", boxcar_fleet_state_name(state), count);
    }
    put_head(out, "boxcar_fleet_store_up", GAUGE, "0 while the store cannot be used.");
    for (size_t i = 0; i < numbers->fleet_count; i++) {
        put_fleet_store(out, "boxcar_fleet_store_up", numbers->fleet[i]);
        fprintf(out, "} %d\n", numbers->fleet[i]->failures == 0);
    }
}

static void put_fleet(FILE *out, const struct metrics_numbers *numbers) {
    if (numbers->fleet_count == 0)
        return;
    put_fleet_states(out, numbers);
    for (const struct single *metric = OF_STORES; metric < OF_STORES + COUNT_OF(OF_STORES); metric++) {
        put_head(out, metric->name, metric->kind, metric->help);
        for (size_t i = 0; i < numbers->fleet_count; i++) {
            put_fleet_store(out, metric->name, numbers->fleet[i]);
            fprintf(out, "} %lld\n", number_at(numbers->fleet[i], metric->offset));
        }
    }
}

static void put_route(FILE *out, const char *name, const boxcar_forward_stats *route, long long value) {
    fprintf(out, "%s{store=\"", name);
    put_label_value(out, boxcar_str_of(route->store_id));
    fputs("\",route=\"", out);
    put_label_value(out, route->route);
    fprintf(out, "\"} %lld\n", value);
}

static void put_routes(FILE *out, const struct metrics_numbers *numbers) {
    if (numbers->route_count == 0)
        return;
    put_head(out, "boxcar_forwarded_total", COUNTER, "Messages forwarded for a policy.");
    for (size_t i = 0; i < numbers->route_count; i++)
        put_route(out, "boxcar_forwarded_total", &numbers->routes[i], numbers->routes[i].forwarded);
    put_head(out, "boxcar_forward_failures_total", COUNTER, "Messages refused, and destinations found away.");
    for (size_t i = 0; i < numbers->route_count; i++)
        put_route(out, "boxcar_forward_failures_total", &numbers->routes[i], numbers->routes[i].failures);
    put_head(out, "boxcar_forward_up", GAUGE, "0 while the destination cannot be used.");
    for (size_t i = 0; i < numbers->route_count; i++)
        put_route(out, "boxcar_forward_up", &numbers->routes[i], !numbers->routes[i].is_away);
}

size_t metrics_text(const struct metrics_numbers *numbers, char **ret_text) {
    char *text = NULL;
    size_t length = 0;
    *ret_text = NULL;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return 0;
    put_build(out, numbers->version);
    put_worker(out, numbers->worker);
    put_handlers(out, numbers);
    put_fleet(out, numbers);
    put_routes(out, numbers);
    put_store(out, numbers);
    bool failed = ferror(out);
    if (fclose(out) != 0 || failed) {
        free(text);
        return 0;
    }
    *ret_text = text;
    return length;
}
