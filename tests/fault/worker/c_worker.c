/* c_worker EVIDENCE OWNER [--concurrency N] [--lease MS] [--timeout MS] [--maintain MS] [--batch N] [--step
 * MS]
 * [--evidence PATH] [--subscription NAME] [--topic PATTERN]... [--fail yes|no]: a worker program of
 * somebody's own, with handlers in C. Its store is in BOXCAR_STORE and BOXCAR_SCHEMA. It appends one line to
 * EVIDENCE for every start of a handler, and one when a handler is told to stop. Topics:
 *
 *   calm      done at once
 *   slow      waits until it is told to stop, at most a minute
 *   stubborn  at its first attempt never stops, whatever it is told
 *   step      a step of a join: takes --step, ends as its payload says (join_plan.h); leaves no
 *             evidence
 *   then.*    a continuation: done at once, without evidence
 *   ordered   a message of a stream: takes --step, leaves evidence of its end as well; a tenth fails at
 *             its first attempt
 *
 * With --topic PATTERN (several times) it handles these and no others, as it does `ordered`; with --fail no,
 * none fails. --subscription NAME: it works for that one. --evidence PATH counts instead of EVIDENCE. */
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

#define TOPICS_MAX 8

static int evidence_fd;
static boxcar_worker *worker;
static int step_ms;
static bool fails = true;
static const char *evidence_path;
static const char *topics[TOPICS_MAX];
static int topic_count;

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
    bool fails_now = fails && message->work_id.value % 10 == 0 && message->retry_count == 0;
    (void)context;
    note("start", message);
    (void)poll(NULL, 0, step_ms);
    note(fails_now ? "fail" : "end", message);
    return fails_now ? BOXCAR_VERDICT_RETRY : BOXCAR_VERDICT_ACK;
}

static boxcar_verdict on_continuation(void *context, boxcar_delivery *delivery) {
    (void)context;
    (void)delivery;
    return BOXCAR_VERDICT_ACK;
}

static bool read_words(boxcar_worker_options *options, const char *name, const char *value) {
    if (strcmp(name, "--evidence") == 0)
        evidence_path = value;
    else if (strcmp(name, "--subscription") == 0)
        options->subscription = boxcar_str_of(value);
    else if (strcmp(name, "--fail") == 0)
        fails = strcmp(value, "no") != 0;
    else if (strcmp(name, "--topic") == 0 && topic_count < TOPICS_MAX)
        topics[topic_count++] = value;
    else
        return false;
    return true;
}

static void read_arguments(boxcar_worker_options *options, int argc, char **argv) {
    for (int i = 3; i + 1 < argc; i += 2) {
        if (read_words(options, argv[i], argv[i + 1]))
            continue;
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

static void handle(const char *topic, boxcar_handler_fn run) {
    boxcar_error error = BOXCAR_ERROR_INIT;
    check(boxcar_worker_handle(worker, HANDLER(BOXCAR_OUTBOX, boxcar_str_of(topic), run, NULL), &error),
          &error);
}

static void handle_all(void) {
    handle("calm", on_calm);
    handle("slow", on_slow);
    handle("stubborn", on_stubborn);
    handle("step", on_step);
    handle("then.*", on_continuation);
    handle("ordered", on_ordered);
}

int main(int argc, char **argv) {
    boxcar_error error = BOXCAR_ERROR_INIT;
    boxcar_store_options store = BOXCAR_STORE_OPTIONS_INIT;
    boxcar_worker_options options = BOXCAR_WORKER_OPTIONS_INIT;
    if (argc < 3 || !boxcar_uuid_parse(boxcar_str_of(argv[2]), &options.owner.uuid) ||
        !getenv("BOXCAR_STORE"))
        errx(99,
             "usage: c_worker EVIDENCE OWNER [--concurrency N] [--lease MS] [--timeout MS] [--maintain MS]"
             " [--step MS] [--evidence PATH] [--subscription NAME] [--topic PATTERN]... [--fail yes|no]");
    store.url = boxcar_str_of(getenv("BOXCAR_STORE"));
    if (getenv("BOXCAR_SCHEMA"))
        store.schema = boxcar_str_of(getenv("BOXCAR_SCHEMA"));
    options.store = &store;
    options.poll_ms = 50;
    evidence_path = argv[1];
    read_arguments(&options, argc, argv);
    evidence_fd = open(evidence_path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    if (evidence_fd < 0)
        err(99, "%s", evidence_path);
    check(boxcar_worker_new(&options, &worker, &error), &error);
    if (topic_count == 0)
        handle_all();
    for (int i = 0; i < topic_count; i++)
        handle(topics[i], on_ordered);
    signal(SIGTERM, stop);
    check(boxcar_worker_run(worker, &error), &error);
    boxcar_worker_free(worker);
    return 0;
}
