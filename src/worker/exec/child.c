#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"

/* The ends of the two pipes: the child's, and ours. */
struct ends {
    int child_input, input;
    int errors, child_errors;
};

static void close_fd(int *fd) {
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void close_ends(struct ends *ends) {
    close_fd(&ends->child_input);
    close_fd(&ends->input);
    close_fd(&ends->errors);
    close_fd(&ends->child_errors);
}

static int open_pipe(int *ret_read, int *ret_write) {
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) < 0)
        return errno;
    *ret_read = fds[0];
    *ret_write = fds[1];
    return 0;
}

/* Only our ends: the child's are other open files, and programs do not expect them to be so. */
static int make_nonblocking(int fd) { return fcntl(fd, F_SETFL, O_NONBLOCK) < 0 ? errno : 0; }

/* In a program that has closed its standard descriptors a pipe gets their numbers. The child's end for
 * errors comes last of four, so it is none of 0, 1 and 2 and is not overwritten on its way to 2. */
static int open_ends(struct ends *ends) {
    TRY(open_pipe(&ends->child_input, &ends->input));
    TRY(open_pipe(&ends->errors, &ends->child_errors));
    TRY(make_nonblocking(ends->input));
    return make_nonblocking(ends->errors);
}

static int plan_descriptors(posix_spawn_file_actions_t *actions, const struct ends *ends) {
    TRY(posix_spawn_file_actions_adddup2(actions, ends->child_input, STDIN_FILENO));
    TRY(posix_spawn_file_actions_addopen(actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0));
    TRY(posix_spawn_file_actions_adddup2(actions, ends->child_errors, STDERR_FILENO));
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
    /* Our own close by themselves; those of the program around us may not. */
    TRY(posix_spawn_file_actions_addclosefrom_np(actions, STDERR_FILENO + 1));
#endif
    return 0;
}

static int plan_process(posix_spawnattr_t *attributes) {
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    TRY(posix_spawnattr_setflags(attributes,
                                 POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK));
    TRY(posix_spawnattr_setpgroup(attributes, 0));
    TRY(posix_spawnattr_setsigdefault(attributes, &all));
    return posix_spawnattr_setsigmask(attributes, &none);
}

static int spawn_with(posix_spawn_file_actions_t *actions, const char *path, char *const *argv,
                      char *const *envp, pid_t *ret_pid) {
    posix_spawnattr_t attributes;
    TRY(posix_spawnattr_init(&attributes));
    int error = plan_process(&attributes);
    if (error == 0)
        error = posix_spawn(ret_pid, path, actions, &attributes, argv, envp);
    posix_spawnattr_destroy(&attributes);
    return error;
}

static int spawn(const struct ends *ends, const char *path, char *const *argv, char *const *envp,
                 pid_t *ret_pid) {
    posix_spawn_file_actions_t actions;
    TRY(posix_spawn_file_actions_init(&actions));
    int error = plan_descriptors(&actions, ends);
    if (error == 0)
        error = spawn_with(&actions, path, argv, envp, ret_pid);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

int exec_child_start(const char *path, char *const *argv, char *const *envp, boxcar_str input,
                     struct exec_child *ret_child) {
    CLEANUP(close_ends) struct ends ends = {-1, -1, -1, -1};
    TRY(open_ends(&ends));
    /* A small payload is in the pipe, and the pipe closed, before the program runs. */
    struct exec_child child = {.input_fd = ends.input, .rest = input};
    exec_child_feed(&child);
    ends.input = child.input_fd;
    TRY(spawn(&ends, path, argv, envp, &child.pid));
    child.errors_fd = ends.errors;
    ends.input = ends.errors = -1;
    *ret_child = child;
    return 0;
}

static bool is_pending(int signal_number) {
    sigset_t pending;
    return sigpending(&pending) == 0 && sigismember(&pending, signal_number) == 1;
}

/* Takes back a signal that this thread has blocked and just got. */
static void swallow(const sigset_t *signals) {
    struct timespec now = {0};
    while (sigtimedwait(signals, NULL, &now) < 0 && errno == EINTR)
        ;
}

/* A write() to a closed pipe sends SIGPIPE to this thread, and the program around us may not ignore
 * it. A SIGPIPE that was pending before has another cause and stays. */
static ssize_t write_without_signal(int fd, const void *bytes, size_t len) {
    bool was_pending = is_pending(SIGPIPE);
    sigset_t broken_pipe, before;
    sigemptyset(&broken_pipe);
    sigaddset(&broken_pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &broken_pipe, &before);
    ssize_t written = write(fd, bytes, len);
    int error = errno;
    if (written < 0 && error == EPIPE && !was_pending)
        swallow(&broken_pipe);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return written;
}

void exec_child_feed(struct exec_child *child) {
    ssize_t written = 0;
    if (child->rest.len > 0)
        written = write_without_signal(child->input_fd, child->rest.data, child->rest.len);
    if (written < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (written > 0)
        child->rest = (boxcar_str){child->rest.data + written, child->rest.len - (size_t)written};
    if (written < 0 || child->rest.len == 0)
        close_fd(&child->input_fd);
}

/* At most max_bytes. How many came; 0 = none now, or never again (then it is closed). */
static size_t read_errors(struct exec_child *child, struct exec_tail *tail, size_t max_bytes) {
    size_t len = max_bytes < EXEC_TAIL_MAX ? max_bytes : EXEC_TAIL_MAX;
    ssize_t got = read(child->errors_fd, exec_tail_room(tail), len);
    if (got > 0) {
        exec_tail_add(tail, (size_t)got);
        return (size_t)got;
    }
    if (got == 0 || (errno != EAGAIN && errno != EINTR))
        close_fd(&child->errors_fd);
    return 0;
}

void exec_child_listen(struct exec_child *child, struct exec_tail *tail) {
    (void)read_errors(child, tail, EXEC_TAIL_MAX);
}

void exec_child_hear_out(struct exec_child *child, struct exec_tail *tail) {
    int there = 0;
    if (child->errors_fd < 0 || ioctl(child->errors_fd, FIONREAD, &there) < 0)
        return;
    while (there > 0) {
        size_t got = read_errors(child, tail, (size_t)there);
        if (got == 0)
            return;
        there -= (int)got;
    }
}

bool exec_child_has_ended(const struct exec_child *child) {
    siginfo_t info = {.si_pid = 0};
    if (waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
        return errno == ECHILD;
    return info.si_pid != 0;
}

bool exec_child_reap(struct exec_child *child, int *ret_status) {
    close_fd(&child->input_fd);
    close_fd(&child->errors_fd);
    pid_t pid;
    do
        pid = waitpid(child->pid, ret_status, 0);
    while (pid < 0 && errno == EINTR);
    return pid == child->pid;
}
