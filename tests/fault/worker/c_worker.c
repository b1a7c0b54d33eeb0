/* c_worker EVIDENCE OWNER [--concurrency N] [--lease MS] [--timeout MS] [--maintain MS] [--batch N] [--step
 * MS]: a worker program of somebody's own, with handlers in C. Its store is in BOXCAR_STORE and
 * BOXCAR_SCHEMA. It appends one line to EVIDENCE for every start of a handler, and one when a handler is told
 * to stop. Topics:
 *
 *   calm      done at once
 *   slow      waits until it is told to stop, at most a minute
 *   stubborn  at its first attempt never stops, whatever it is told
 *   step      a step of a join: takes --step, ends as its payload says (join_plan.h); leaves no
 *             evidence
 *   then.*    a continuation: done at once, without evidence
 *   ordered   a message of a stream: takes --step, leaves evidence of its end as well; a tenth fails at
 *             its first attempt */
#include <err.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../support/claimers.h"
#include "boxcar.h"
#include "boxcar/worker.h"
#include "starts.h"

static int evidence_fd;
static boxcar_worker *worker;
static int step_ms;

static void stop(int signal_number) {
    (void)signal_number;
    boxcar_worker_stop(worker);
}

static void note(const char *event, const boxcar_message *message) {
    char line[START_LINE_MAX], id[BOXCAR_UUID_TEXT_SIZE];
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    boxcar_uuid_format(message->message_id.uuid, id);
    int len = snprintf(line, sizeof(line), START_FORMAT, event, id, (long long)message->work_id.value,
                       message->retry_count + 1, (int)gettid(), (int)getpid(),
                       (long long)now.tv_sec * 1000000 + now.tv_nsec / 1000);
    if (write(evidence_fd, line, (size_t)len) != len)
        err(99, "evidence");
}

static boxcar_verdict on_calm(void *context, boxcar_delivery *delivery) {
    (void)context;
    note("start", boxcar_delivery_message(delivery));
    return BOXCAR_VERDICT_ACK;
}

static boxcar_verdict on_slow(void *context, boxcar_delivery *delivery) {
    const boxcar_message *message = boxcar_delivery_message(delivery);
    struct pollfd cancel = {.fd = boxcar_delivery_cancel_fd(delivery), .events = POLLIN};
    (void)context;
    note("start", message);
    (void)poll(&cancel, 1, 60000);
    if (boxcar_delivery_is_cancelled(delivery))
        note("told", message);
    return BOXCAR_VERDICT_ACK;
}

static boxcar_verdict on_stubborn(void *context, boxcar_delivery *delivery) {
    const boxcar_message *message = boxcar_delivery_message(delivery);
    (void)context;
    note("start", message);
    while (message->retry_count == 0)
        sleep(3600);
    return BOXCAR_VERDICT_ACK;
}

static bool says(const boxcar_message *message, const char *word) {
    return message->payload.len == strlen(word) && memcmp(message->payload.data, word, strlen(word)) == 0;
}

static boxcar_verdict on_step(void *context, boxcar_delivery *delivery) {
    const boxcar_message *message = boxcar_delivery_message(delivery);
    (void)context;
    (void)poll(NULL, 0, step_ms);
    if (says(message, "good"))
        return BOXCAR_VERDICT_ACK;
    if (says(message, "bad"))
        return BOXCAR_VERDICT_FAIL;
    return says(message, "again") && message->retry_count >= 2 ? BOXCAR_VERDICT_ACK : BOXCAR_VERDICT_RETRY;
}

static boxcar_verdict on_ordered(void *context, boxcar_delivery *delivery) {
    const boxcar_message *message = boxcar_delivery_message(delivery);
    bool fails = message->work_id.value % 10 == 0 && message->retry_count == 0;
    (void)context;
    note("start", message);
    (void)poll(NULL, 0, step_ms);
    note(fails ? "fail" : "end", message);
    return fails ? BOXCAR_VERDICT_RETRY : BOXCAR_VERDICT_ACK;
}

static boxcar_verdict on_continuation(void *context, boxcar_delivery *delivery) {
    (void)context;
    (void)delivery;
    return BOXCAR_VERDICT_ACK;
}

static void read_arguments(boxcar_worker_options *options, int argc, char **argv) {
    for (int i = 3; i + 1 < argc; i += 2) {
        int64_t value = atoll(argv[i + 1]);
        if (strcmp(argv[i], "--concurrency") == 0)
            options->concurrency = (int)value;
        else if (strcmp(argv[i], "--lease") == 0)
            options->lease_ms = value;
        else if (strcmp(argv[i], "--timeout") == 0)
            options->handler_timeout_ms = value;
        else if (strcmp(argv[i], "--maintain") == 0)
            options->maintain_ms = value;
        else if (strcmp(argv[i], "--batch") == 0)
            options->batch_size = (int)value;
        else if (strcmp(argv[i], "--step") == 0)
            step_ms = (int)value;
        else
            errx(99, "unknown argument %s", argv[i]);
    }
}

static void check(boxcar_status status, const boxcar_error *error) {
    if (status != BOXCAR_OK)
        errx(1, "%s", error->message);
}

int main(int argc, char **argv) {
    boxcar_error error = BOXCAR_ERROR_INIT;
    boxcar_store_options store = BOXCAR_STORE_OPTIONS_INIT;
    boxcar_worker_options options = BOXCAR_WORKER_OPTIONS_INIT;
    if (argc < 3 || !boxcar_uuid_parse(boxcar_str_of(argv[2]), &options.owner.uuid) ||
        !getenv("BOXCAR_STORE"))
        errx(99,
             "usage: c_worker EVIDENCE OWNER [--concurrency N] [--lease MS] [--timeout MS] [--maintain MS]"
             " [--step MS]");
    evidence_fd = open(argv[1], O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    if (evidence_fd < 0)
        err(99, "%s", argv[1]);
    store.url = boxcar_str_of(getenv("BOXCAR_STORE"));
    if (getenv("BOXCAR_SCHEMA"))
        store.schema = boxcar_str_of(getenv("BOXCAR_SCHEMA"));
    options.store = &store;
    options.poll_ms = 50;
    read_arguments(&options, argc, argv);
    check(boxcar_worker_new(&options, &worker, &error), &error);
    check(boxcar_worker_handle(worker, HANDLER(BOXCAR_OUTBOX, BOXCAR_STR("calm"), on_calm, NULL), &error),
          &error);
    check(boxcar_worker_handle(worker, HANDLER(BOXCAR_OUTBOX, BOXCAR_STR("slow"), on_slow, NULL), &error),
          &error);
    check(boxcar_worker_handle(worker, HANDLER(BOXCAR_OUTBOX, BOXCAR_STR("stubborn"), on_stubborn, NULL),
                               &error),
          &error);
    check(boxcar_worker_handle(worker, HANDLER(BOXCAR_OUTBOX, BOXCAR_STR("step"), on_step, NULL), &error),
          &error);
    check(boxcar_worker_handle(worker, HANDLER(BOXCAR_OUTBOX, BOXCAR_STR("then.*"), on_continuation, NULL),
                               &error),
          &error);
    check(
        boxcar_worker_handle(worker, HANDLER(BOXCAR_OUTBOX, BOXCAR_STR("ordered"), on_ordered, NULL), &error),
        &error);
    signal(SIGTERM, stop);
    check(boxcar_worker_run(worker, &error), &error);
    boxcar_worker_free(worker);
    return 0;
}
