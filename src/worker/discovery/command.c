/* A program that prints the list. It has no input, the environment that handlers have, and a limited time. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "discovery.h"
#include "worker/exec/exec.h"

#define OUTPUT_BYTES_MAX (64 << 20)
#define LOOK_MS 100 /* between looks whether it is to end */
#define WAIT_MS 5

struct program {
    pid_t pid;
    int output_fd;
    int64_t end_ms;
    const atomic_bool *is_over;
};

static void close_end(const int *fd) {
    if (*fd >= 0)
        close(*fd);
}

/* In a group of its own, so that all of it can be ended. */
static int plan(posix_spawn_file_actions_t *actions, posix_spawnattr_t *attributes, int output_fd) {
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    TRY(posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0));
    TRY(posix_spawn_file_actions_adddup2(actions, output_fd, STDOUT_FILENO));
    TRY(posix_spawn_file_actions_addopen(actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0));
    TRY(posix_spawnattr_setflags(attributes,
                                 POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK));
    TRY(posix_spawnattr_setpgroup(attributes, 0));
    TRY(posix_spawnattr_setsigdefault(attributes, &all));
    return posix_spawnattr_setsigmask(attributes, &none);
}

static int spawn(const char *path, char *const *words, char *const *environment, int output_fd,
                 pid_t *ret_pid) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    TRY(posix_spawn_file_actions_init(&actions));
    int error = posix_spawnattr_init(&attributes);
    if (error == 0) {
        error = plan(&actions, &attributes, output_fd);
        if (error == 0)
            error = posix_spawn(ret_pid, path, &actions, &attributes, words, environment);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

static boxcar_status start(boxcar_str command, struct program *ret_program, boxcar_error *err) {
    AUTO_ARENA struct arena arena = ARENA_INIT;
    char **words, **environment;
    const char *path;
    int ends[2] = {-1, -1};
    TRY(exec_words_split(&arena, command, &words, err));
    TRY(exec_find_program(&arena, words[0], getenv("PATH"), &path, err));
    environment = exec_environment_inherit(&arena, environ);
    if (!environment)
        return error_no_memory(err);
    if (pipe2(ends, O_CLOEXEC) < 0)
        return error_set(err, BOXCAR_E_UNAVAILABLE, "cannot make a pipe: %s", strerror(errno));
    CLEANUP(close_end) int child_end = ends[1];
    int error = spawn(path, words, environment, child_end, &ret_program->pid);
    if (error == 0) {
        ret_program->output_fd = ends[0];
        return BOXCAR_OK;
    }
    close(ends[0]);
    return error_set(err, BOXCAR_E_UNAVAILABLE, "cannot start %s: %s", path, strerror(error));
}

/* Whether there is still time for it. */
static bool may_go_on(const struct program *program) {
    return clock_ms() < program->end_ms && !atomic_load(program->is_over);
}

/* false = its time is over, or it prints too much. */
static bool listen_to(const struct program *program, struct buf *output) {
    char piece[4096];
    while (may_go_on(program) && output->len <= OUTPUT_BYTES_MAX) {
        struct pollfd fd = {.fd = program->output_fd, .events = POLLIN};
        if (poll(&fd, 1, LOOK_MS) <= 0)
            continue;
        ssize_t size = read(program->output_fd, piece, sizeof(piece));
        if (size <= 0)
            return true;
        buf_append(output, piece, (size_t)size);
    }
    return false;
}

/* It may close its output and go on. false = its time is over, and it was killed. */
static bool wait_for_end(const struct program *program, bool in_time, pid_t *ret_ended, int *ret_status) {
    while (in_time && (*ret_ended = waitpid(program->pid, ret_status, WNOHANG)) == 0) {
        in_time = may_go_on(program);
        (void)poll(NULL, 0, in_time ? WAIT_MS : 0);
    }
    if (in_time)
        return true;
    (void)kill(-program->pid, SIGKILL);
    do
        *ret_ended = waitpid(program->pid, ret_status, 0);
    while (*ret_ended < 0 && errno == EINTR);
    return false;
}

/* What it printed counts only when it has ended well. */
static boxcar_status finish(const struct program *program, bool in_time, boxcar_error *err) {
    int status = 0;
    pid_t ended;
    if (!wait_for_end(program, in_time, &ended, &status))
        return error_set(err, BOXCAR_E_UNAVAILABLE,
                         "the command took too long, or printed too much: it was killed");
    if (ended < 0)
        return error_set(
            err, BOXCAR_E_UNAVAILABLE,
            "how the command ended is unknown: the program around the worker waits for children that are "
            "not its own");
    if (WIFSIGNALED(status))
        return error_set(err, BOXCAR_E_UNAVAILABLE, "the command was killed by signal %d", WTERMSIG(status));
    if (WEXITSTATUS(status) != 0)
        return error_set(err, BOXCAR_E_UNAVAILABLE, "the command ended with status %d: run it to see why",
                         WEXITSTATUS(status));
    return BOXCAR_OK;
}

boxcar_status discovery_run_command(boxcar_str command, int64_t longest_ms, const atomic_bool *is_over,
                                    struct boxcar_discovered *list, boxcar_error *err) {
    AUTO_BUF struct buf output = BUF_INIT;
    struct program program = {.end_ms = clock_ms() + longest_ms, .is_over = is_over};
    TRY(start(command, &program, err));
    bool in_time = listen_to(&program, &output);
    close(program.output_fd);
    TRY(finish(&program, in_time, err));
    if (output.failed)
        return error_no_memory(err);
    return discovery_read_lines((boxcar_str){output.data, output.len}, list, err);
}
