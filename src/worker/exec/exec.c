/* The parts: words.c splits the command, find.c looks in PATH, environment.c makes the program's environment,
 * child.c starts it, watch.c watches it, family.c finds all processes that it has started, tail.c keeps the
 * end of its standard error. */
#include "exec.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/uuid.h"
#include "child.h"

/* sysexits.h: the data is wrong and will stay so. */
#define EXIT_FAIL 65

/* Made once and only read afterwards, by any number of threads. The environment is copied because
 * the program around us may change its own while handlers run. */
struct exec_command {
    struct arena arena;
    const char *path;
    char **words;
    char **inherited;
};

static boxcar_status prepare(struct exec_command *command, boxcar_str text, boxcar_error *err) {
    TRY(exec_words_split(&command->arena, text, &command->words, err));
    command->inherited = exec_environment_inherit(&command->arena, environ);
    if (!command->inherited)
        return error_no_memory(err);
    return exec_find_program(&command->arena, command->words[0], getenv("PATH"), &command->path, err);
}

boxcar_status exec_command_new(boxcar_str command, struct exec_command **ret_command, boxcar_error *err) {
    struct exec_command *made = calloc(1, sizeof(*made));
    boxcar_status status = made ? prepare(made, command, err) : error_no_memory(err);
    if (status == BOXCAR_OK)
        *ret_command = made;
    else
        exec_command_free(made);
    return status;
}

void exec_command_free(struct exec_command *command) {
    if (!command)
        return;
    arena_release(&command->arena);
    free(command);
}

static void set_error(struct boxcar_delivery *delivery, const struct buf *text) {
    boxcar_delivery_set_error(delivery, text->failed ? BOXCAR_STR("out of memory")
                                                     : (boxcar_str){text->data, text->len});
}

/* Headers and metadata are the only large parts of a message that go into the environment, and they will not
 * shrink. */
static boxcar_verdict tell_start_failed(struct boxcar_delivery *delivery, const char *path, int error) {
    AUTO_BUF struct buf text = BUF_INIT;
    if (error == E2BIG)
        buf_append_format(&text,
                          "cannot start %s: the headers (%zu bytes) or the metadata (%zu bytes) are too "
                          "large for its environment",
                          path, delivery->message->headers.len, delivery->message->metadata.len);
    else
        buf_append_format(&text, "cannot start %s: %s", path, strerror(error));
    if (error == ENOEXEC)
        buf_append_text(&text, " (a script needs a first line such as #!/bin/sh)");
    set_error(delivery, &text);
    /* The machine has too little of something just now: no fault of the message's. */
    delivery->is_shortage = error == EAGAIN || error == ENOMEM || error == EMFILE || error == ENFILE;
    if (delivery->is_shortage)
        return BOXCAR_VERDICT_DEFER;
    return error == E2BIG ? BOXCAR_VERDICT_FAIL : BOXCAR_VERDICT_RETRY;
}

/* "300 s", "500 ms". */
static void append_duration(struct buf *text, int64_t ms) {
    if (ms < 1000)
        buf_append_format(text, "%" PRId64 " ms", ms);
    else
        buf_append_format(text, "%" PRId64 " s", (ms + 500) / 1000);
}

static void append_cancellation(struct buf *text, const struct exec_end *end) {
    switch (end->cancelled) {
    case CANCEL_NONE:
        return;
    case CANCEL_TIMEOUT:
        buf_append_text(text, "timed out after ");
        append_duration(text, (end->cancelled_after_ms + 5) / 10 * 10); /* the timer is not that exact */
        return;
    case CANCEL_LEASE_LOST:
        buf_append_text(text, "stopped: the lease was lost");
        return;
    case CANCEL_STOP:
        buf_append_text(text, "stopped: the worker is stopping");
        return;
    }
}

static void append_status(struct buf *text, const struct exec_end *end) {
    if (!end->is_known)
        buf_append_text(text, "its exit status is unknown: the program around the worker ignores SIGCHLD, or "
                              "waits for children that are not its own");
    else if (WIFSIGNALED(end->status))
        buf_append_format(text, "killed by signal %d (%s)", WTERMSIG(end->status),
                          strsignal(WTERMSIG(end->status)));
    else
        buf_append_format(text, "exit status %d", WEXITSTATUS(end->status));
}

/* Sets the error text: why the program was stopped, and its output; if there is neither, how it ended. */
static void tell_end(struct boxcar_delivery *delivery, const struct exec_end *end,
                     const struct exec_tail *tail) {
    AUTO_BUF struct buf text = BUF_INIT;
    AUTO_BUF struct buf output = BUF_INIT;
    append_cancellation(&text, end);
    exec_tail_append_to(tail, BOXCAR_ERROR_TEXT_MAX - (text.len > 0 ? text.len + 2 : 0), &output);
    if (text.len > 0 && output.len > 0)
        buf_append_text(&text, ": ");
    buf_append(&text, output.data, output.len);
    if (text.len == 0)
        append_status(&text, end);
    set_error(delivery, &text);
}

static boxcar_verdict verdict_of(const struct exec_end *end) {
    if (!end->is_known || !WIFEXITED(end->status))
        return BOXCAR_VERDICT_RETRY;
    switch (WEXITSTATUS(end->status)) {
    case 0:
        return BOXCAR_VERDICT_ACK;
    case EXIT_FAIL:
        return BOXCAR_VERDICT_FAIL;
    default:
        return BOXCAR_VERDICT_RETRY;
    }
}

/* The environment is that of this run, with the mark of its own. */
static const char *mark_of(char *const *environment) {
    for (; *environment; environment++) {
        if (strncmp(*environment, EXEC_RUN_ID "=", sizeof(EXEC_RUN_ID)) == 0)
            return *environment;
    }
    return NULL;
}

static boxcar_verdict run(const struct exec_command *command, char *const *environment,
                          struct boxcar_delivery *delivery) {
    struct exec_child child;
    int error =
        exec_child_start(command->path, command->words, environment, delivery->message->payload, &child);
    if (error != 0)
        return tell_start_failed(delivery, command->path, error);
    struct exec_tail tail;
    tail.len = 0; /* the rest is room */
    tail.cut = false;
    struct exec_end end;
    exec_watch(&child, mark_of(environment), delivery, &tail, &end);
    boxcar_verdict verdict = verdict_of(&end);
    if (verdict != BOXCAR_VERDICT_ACK)
        tell_end(delivery, &end, &tail);
    return verdict;
}

/* NULL = there is no randomness; then processes that lost their parent are not found. */
static const char *make_run_id(char ret_text[BOXCAR_UUID_TEXT_SIZE]) {
    uint8_t id[1][16];
    if (!uuid_new_v7(id, 1))
        return NULL;
    uuid_format(id[0], ret_text);
    return ret_text;
}

boxcar_verdict exec_run(void *command, boxcar_delivery *delivery) {
    if (boxcar_delivery_is_cancelled(delivery)) {
        boxcar_delivery_set_error(delivery, BOXCAR_STR("not started: told to stop before it began"));
        return BOXCAR_VERDICT_RETRY;
    }
    const struct exec_command *program = command;
    AUTO_ARENA struct arena arena = ARENA_INIT;
    char run_id[BOXCAR_UUID_TEXT_SIZE];
    char **environment =
        exec_environment_build(&arena, program->inherited, delivery->message, delivery->subscription,
                               delivery->store_id, make_run_id(run_id));
    if (!environment) {
        boxcar_delivery_set_error(delivery, BOXCAR_STR("not started: out of memory"));
        return BOXCAR_VERDICT_RETRY;
    }
    return run(program, environment, delivery);
}
