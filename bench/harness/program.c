#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define ARGUMENTS_MAX 31

extern char **environ;

static void spawn(pid_t *ret_pid, const char *const *argv, bool quiet) {
    posix_spawn_file_actions_t actions;
    int rc = posix_spawn_file_actions_init(&actions);

    if (rc == 0 && quiet)
        rc = posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    if (rc == 0)
        rc = posix_spawn(ret_pid, BOXCAR_PROGRAM, &actions, NULL, (char *const *)(uintptr_t)argv, environ);
    if (rc != 0)
        bench_die("%s: %s", BOXCAR_PROGRAM, strerror(rc));
    posix_spawn_file_actions_destroy(&actions);
}

/* Where it works is in its environment: a URL may hold a password. */
pid_t program_start(const struct place *place, const char *const *arguments, bool quiet) {
    const char *argv[ARGUMENTS_MAX + 1] = {BOXCAR_PROGRAM};
    size_t count = 1;
    pid_t pid;

    for (size_t i = 0; arguments[i]; i++) {
        if (count == ARGUMENTS_MAX)
            bench_die("too many arguments");
        argv[count++] = arguments[i];
    }
    argv[count] = NULL;
    setenv("BOXCAR_STORE", place->url, 1);
    setenv("BOXCAR_SCHEMA", place->schema[0] ? place->schema : "boxcar", 1);
    spawn(&pid, argv, quiet);
    return pid;
}

double program_end(pid_t pid, int signal_number) {
    struct rusage usage;
    int status;

    if (signal_number != 0)
        kill(pid, signal_number);
    while (wait4(pid, &status, 0, &usage) < 0)
        if (errno != EINTR)
            bench_die("wait for the program: %s", strerror(errno));
    /* One that has just begun does not know yet what the signal means to it. */
    if (signal_number != 0 && WIFSIGNALED(status) && WTERMSIG(status) == signal_number)
        return 0;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        bench_die("boxcar ended with status %d", status);
    return (double)usage.ru_maxrss * 1024;
}
