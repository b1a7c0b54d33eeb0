/* join_multi_stage STORE: a workflow of phases. Each phase begins when the one before it is complete.
 *
 * ingest three sources -> validate in two ways -> publish. The message that starts a phase is handled in a
 * transaction: the next join, its steps, its wait and the ack of the message commit together. So each phase
 * starts exactly once, whatever crashes. To show it, the handler of the second phase fails at its first
 * attempt after it has done everything, and none of that remains.
 *
 *   join_multi_stage sqlite:workflow.db
 *   join_multi_stage postgres:///workflow
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <boxcar.h>

#define WORKFLOW "workflow-9"
#define STEPS_MAX 3

struct phase {
    const char *started_by; /* topic of the message that starts it */
    const char *metadata;
    const char *steps[STEPS_MAX];
    const char *then; /* what follows when all steps are completed */
};

static const struct phase PHASES[] = {
    {"workflow.ingest",
     "{\"phase\": \"ingestion\"}",
     {"ingest.source1", "ingest.source2", "ingest.source3"},
     "workflow.validate"},
    {"workflow.validate",
     "{\"phase\": \"validation\"}",
     {"validate.schema", "validate.business-rules"},
     "workflow.publish"},
};
#define PHASE_COUNT (sizeof(PHASES) / sizeof(PHASES[0]))

static void check(boxcar_status status, const char *what, const boxcar_error *err) {
    if (status == BOXCAR_OK)
        return;
    fprintf(stderr, "join_multi_stage: %s: %s\n", what, err->message);
    exit(1);
}

static size_t count_steps(const struct phase *phase) {
    size_t count = 0;

    while (count < STEPS_MAX && phase->steps[count])
        count++;
    return count;
}

static boxcar_status enqueue_steps(boxcar_store *store, const struct phase *phase, boxcar_join_id join_id,
                                   boxcar_error *err) {
    boxcar_new_message steps[STEPS_MAX];
    size_t count = count_steps(phase);

    for (size_t i = 0; i < count; i++) {
        steps[i] = BOXCAR_NEW_MESSAGE_INIT;
        steps[i].topic = boxcar_str_of(phase->steps[i]);
        steps[i].payload = BOXCAR_STR("{\"workflow\": 9}");
        steps[i].join_id = join_id;
    }
    return boxcar_enqueue_many(store, BOXCAR_OUTBOX, steps, count, NULL, err);
}

/* Starts a phase, in the store's current transaction. */
static boxcar_status start_phase(boxcar_store *store, const struct phase *phase, boxcar_error *err) {
    boxcar_new_join join = BOXCAR_NEW_JOIN_INIT;
    boxcar_new_wait wait = BOXCAR_NEW_WAIT_INIT;
    boxcar_status status;

    join.expected_steps = (int64_t)count_steps(phase);
    join.grouping_key = BOXCAR_STR(WORKFLOW);
    join.metadata = boxcar_str_of(phase->metadata);
    status = boxcar_join_start(store, &join, &wait.join_id, err);
    if (status == BOXCAR_OK)
        status = enqueue_steps(store, phase, wait.join_id, err);
    wait.on_complete_topic = boxcar_str_of(phase->then);
    wait.on_complete_payload = BOXCAR_STR(""); /* empty: the correlation id is enough */
    wait.on_fail_topic = BOXCAR_STR("workflow.failed");
    wait.correlation_id = BOXCAR_STR(WORKFLOW); /* the continuation has it, too */
    return status == BOXCAR_OK ? boxcar_join_wait(store, &wait, NULL, err) : status;
}

static boxcar_verdict retry(boxcar_delivery *delivery, const char *why) {
    boxcar_delivery_set_error(delivery, boxcar_str_of(why));
    boxcar_delivery_set_delay_ms(delivery, 10); /* without this: the backoff */
    return BOXCAR_VERDICT_RETRY;
}

static boxcar_verdict on_start(void *context, boxcar_delivery *delivery) {
    const struct phase *phase = context;
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_store *store;

    if (boxcar_delivery_begin(delivery, &store, &err) != BOXCAR_OK ||
        start_phase(store, phase, &err) != BOXCAR_OK)
        return retry(delivery, err.message);
    if (phase == &PHASES[1] && boxcar_delivery_message(delivery)->retry_count == 0) {
        printf("%s: started, and undone\n", phase->started_by);
        return retry(delivery, "the machine is on fire"); /* rolled back */
    }
    printf("%s: started with %zu steps\n", phase->started_by, count_steps(phase));
    return BOXCAR_VERDICT_ACK; /* ack and commit */
}

static boxcar_verdict on_step(void *context, boxcar_delivery *delivery) {
    (void)context;
    (void)delivery;
    return BOXCAR_VERDICT_ACK; /* the work; it knows nothing of phases */
}

static boxcar_verdict on_end(void *context, boxcar_delivery *delivery) {
    const boxcar_message *message = boxcar_delivery_message(delivery);

    (void)context;
    printf("%.*s of %.*s\n", (int)message->topic.len, message->topic.data, (int)message->correlation_id.len,
           message->correlation_id.data);
    return BOXCAR_VERDICT_ACK;
}

static void work(const boxcar_store_options *store) {
    static const char *const steps[] = {"ingest.*", "validate.*"};
    static const char *const ends[] = {"workflow.publish", "workflow.failed"};
    boxcar_worker_options options = BOXCAR_WORKER_OPTIONS_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_status status;
    boxcar_worker *worker;

    options.store = store;
    options.drain = true;
    status = boxcar_worker_new(&options, &worker, &err);
    for (size_t i = 0; status == BOXCAR_OK && i < PHASE_COUNT; i++)
        status = boxcar_worker_on(worker, boxcar_str_of(PHASES[i].started_by), on_start,
                                  (void *)(uintptr_t)&PHASES[i], &err);
    for (size_t i = 0; status == BOXCAR_OK && i < 2; i++)
        status = boxcar_worker_on(worker, boxcar_str_of(steps[i]), on_step, NULL, &err);
    for (size_t i = 0; status == BOXCAR_OK && i < 2; i++)
        status = boxcar_worker_on(worker, boxcar_str_of(ends[i]), on_end, NULL, &err);
    if (status == BOXCAR_OK)
        status = boxcar_worker_run(worker, &err);
    check(status, "worker", &err);
    boxcar_worker_free(worker);
}

/* The joins of a workflow, newest first. */
static void print_joins(boxcar_store *store) {
    boxcar_join_filter filter = BOXCAR_JOIN_FILTER_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_join_list *list;

    filter.grouping_key = BOXCAR_STR(WORKFLOW);
    check(boxcar_join_page(store, &filter, &list, &err), "list", &err);
    for (size_t i = 0; i < list->count; i++) {
        const boxcar_join *join = list->items[i];

        printf("%.*s is %s: %lld of %lld steps completed\n", (int)join->metadata.len, join->metadata.data,
               boxcar_join_status_name(join->status), (long long)join->completed_steps,
               (long long)join->expected_steps);
    }
    boxcar_list_free(list);
}

int main(int argc, char **argv) {
    boxcar_store_options options = BOXCAR_STORE_OPTIONS_INIT;
    boxcar_new_message first = BOXCAR_NEW_MESSAGE_INIT;
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_store *store;

    options.url = boxcar_str_of(argc > 1 ? argv[1] : "sqlite:boxcar.db");
    options.deploy = true;
    check(boxcar_store_open(&options, &store, &err), "open", &err);
    first.topic = boxcar_str_of(PHASES[0].started_by);
    first.payload = BOXCAR_STR("{\"workflow\": 9}");
    first.key = BOXCAR_STR(WORKFLOW); /* ordered twice, run once */
    check(boxcar_enqueue(store, BOXCAR_OUTBOX, &first, NULL, &err), "enqueue", &err);
    work(&options);
    print_joins(store);
    boxcar_store_close(store);
    return 0;
}
