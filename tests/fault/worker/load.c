/* Messages for the workers. Their ids follow from their topic and number, so that one whose enqueueing had
 * an unknown outcome is simply enqueued again. */
#include <err.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trial.h"

#define BATCH_MAX 500
#define AWAY_MAX_MS 120000
#define STREAM_SIZE 32

static void make(boxcar_new_message *message, const struct load *load, int64_t number,
                 char stream[STREAM_SIZE]) {
    char key[128];
    snprintf(key, sizeof(key), "%s %lld", load->topic, (long long)number);
    *message = BOXCAR_NEW_MESSAGE_INIT;
    message->topic = boxcar_str_of(load->topic);
    message->message_id = boxcar_message_id_of_key(boxcar_str_of(key));
    message->payload = boxcar_str_of(load->payload ? load->payload : "something");
    message->delay_ms = load->delay_ms;
    if (load->streams > 0) {
        snprintf(stream, STREAM_SIZE, "s%lld", (long long)(number % load->streams));
        message->stream = boxcar_str_of(stream);
    }
}

static void send(boxcar_store *store, const boxcar_new_message *messages, size_t count) {
    int64_t end = now_us() + AWAY_MAX_MS * INT64_C(1000);
    for (;;) {
        boxcar_error error = BOXCAR_ERROR_INIT;
        boxcar_status status = boxcar_enqueue_many(store, BOXCAR_OUTBOX, messages, count, NULL, &error);
        if (status == BOXCAR_OK)
            return;
        if (status != BOXCAR_E_UNAVAILABLE || now_us() > end)
            errx(99, "enqueue: %s", error.message);
        pause_ms(50);
    }
}

static boxcar_store *open_store(struct trial *trial) {
    boxcar_store_options options = storm_store_options(&trial->storm);
    boxcar_error error = BOXCAR_ERROR_INIT;
    boxcar_store *store;
    if (boxcar_store_open(&options, &store, &error) != BOXCAR_OK)
        errx(99, "open: %s", error.message);
    return store;
}

static void enqueue_all(struct trial *trial, const struct load *load, int64_t first) {
    boxcar_new_message messages[BATCH_MAX];
    char streams[BATCH_MAX][STREAM_SIZE];
    boxcar_store *store = open_store(trial);
    int64_t batch = load->batch > 0 && load->batch < BATCH_MAX ? load->batch : BATCH_MAX;
    for (int64_t done = 0; done < load->count;) {
        size_t count = (size_t)(load->count - done < batch ? load->count - done : batch);
        for (size_t i = 0; i < count; i++)
            make(&messages[i], load, first + done + (int64_t)i, streams[i]);
        send(store, messages, count);
        done += (int64_t)count;
        if (load->pause_ms > 0)
            pause_ms(load->pause_ms);
    }
    boxcar_store_close(store);
}

void load_enqueue(struct trial *trial, struct load load) {
    int64_t first = trial->enqueued;
    trial->enqueued += load.count;
    enqueue_all(trial, &load, first);
}

pid_t load_start(struct trial *trial, struct load load) {
    int64_t first = trial->enqueued;
    trial->enqueued += load.count;
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0)
        err(99, "fork");
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        enqueue_all(trial, &load, first);
        _exit(0);
    }
    return pid;
}

void load_finish(struct trial *trial, pid_t pid) {
    int status = 0;
    if (waitpid(pid, &status, 0) != pid)
        err(99, "waitpid");
    judge(trial, "every enqueue succeeded in the end", status != 0);
}
