/* Exec handlers as processes (design 7): what a program inherits from the worker, and that
 * nothing of a run stays behind in the worker. */
#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exec_fixture.h"

/* Kernels before 5.3 know no pidfd_open: this stands for them. */
static bool WITHOUT_PIDFD;

long __real_syscall(long number, ...);
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f);

long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f) {
    if (WITHOUT_PIDFD && number == SYS_pidfd_open) {
        errno = ENOSYS;
        return -1;
    }
    return __real_syscall(number, a, b, c, d, e, f);
}

static void a_program_has_no_descriptors_of_ours(void **state) {
    int leaked = open("/dev/null", O_RDONLY); /* not close-on-exec, as embedding programs do */
    int high = fcntl(leaked, F_DUPFD, 50);
    struct trial trial;

    (void)state;
    assert_true(high >= 50);
    trial_init(&trial);
    trial.message.payload = BOXCAR_NO_STR;
    trial_run(&trial, "sh -c 'test ! -e /proc/$$/fd/%d && test ! -e /proc/$$/fd/%d'", leaked, high);
    assert_int_equal(trial.verdict, BOXCAR_VERDICT_ACK);
    close(leaked);
    close(high);
    trial_release(&trial);
}

static void a_program_has_default_signals_and_its_own_group(void **state) {
    unsigned long long is_blocked = 1, is_ignored = 1;
    char *status;
    size_t len;
    sigset_t blocked, before;
    struct trial trial;

    (void)state;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    sigaddset(&blocked, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &blocked, &before);
    signal(SIGHUP, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    trial_init(&trial);
    trial_run(&trial, "cp /proc/self/status %s", fixture_path("got")); /* shells unblock signals themselves */
    status = fixture_read("got", &len);
    assert_int_equal(sscanf(strstr(status, "SigBlk"), "SigBlk: %llx SigIgn: %llx", &is_blocked, &is_ignored),
                     2);
    free(status);
    assert_int_equal(is_blocked, 0);
    assert_int_equal(is_ignored & 0x7FFFFFFF, 0); /* the C library keeps 32 and 33 for itself */
    trial_run(&trial, "sh -c 'read -r pid name status parent group rest </proc/$$/stat; test $group = $$'");
    assert_int_equal(trial.verdict, BOXCAR_VERDICT_ACK);
    signal(SIGHUP, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    trial_release(&trial);
}

/* Also when they hold standard error open, or write to it without end. */
static void what_a_program_leaves_in_the_background_is_not_waited_for(void **state) {
    struct trial trial;
    int status;

    (void)state;
    trial_init(&trial);
    trial_run(&trial, "sh -c 'sleep 60 & echo $! >%s; echo said >&2; exit 3'", fixture_path("pid"));
    assert_int_equal(trial.verdict, BOXCAR_VERDICT_RETRY);
    assert_said(&trial, "said");
    assert_int_equal(waitpid(fixture_read_pid("pid"), &status, WNOHANG), 0); /* still there */
    assert_int_equal(kill(fixture_read_pid("pid"), SIGKILL), 0);
    assert_int_equal(waitpid(fixture_read_pid("pid"), &status, 0), fixture_read_pid("pid"));
    trial_run(&trial, "sh -c 'yes >&2 & echo $! >%s; exit 1'", fixture_path("pid"));
    assert_int_equal(trial.verdict, BOXCAR_VERDICT_RETRY);
    assert_int_equal(waitpid(fixture_read_pid("pid"), &status, 0), fixture_read_pid("pid"));
    assert_true(WIFSIGNALED(status)); /* nobody reads any more */
    trial_release(&trial);
}

static size_t count_descriptors(void) {
    DIR *folder = opendir("/proc/self/fd");
    size_t count = 0;

    assert_non_null(folder);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

static void runs_leave_no_descriptor_and_no_zombie(void **state) {
    size_t before;
    char *bytes = fixture_noise(MIB);
    struct exec_command *gone = fixture_script("gone", BOXCAR_STR("#!/bin/sh\n"));
    struct trial trial;

    (void)state;
    fixture_remove("gone");
    trial_init(&trial);
    before = count_descriptors();
    for (int i = 0; i < 50; i++) {
        trial.message.payload = (boxcar_str){bytes, i % 2 ? MIB : 10};
        trial_run(&trial, "true");
        trial_run(&trial, "sh -c 'exit 3'");
        trial_run(&trial, "sh -c 'kill -9 $$'");
        trial_run_command(&trial, gone, INT64_MAX);
        assert_int_equal(trial.verdict, BOXCAR_VERDICT_RETRY);
    }
    assert_int_equal(count_descriptors(), before);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    exec_command_free(gone);
    trial_release(&trial);
    free(bytes);
}

static void other_children_are_left_to_their_parent(void **state) {
    pid_t other = fork();
    struct trial trial;
    int status = 0;

    (void)state;
    if (other == 0)
        _exit(7);
    assert_true(other > 0);
    trial_init(&trial);
    for (int i = 0; i < 5; i++)
        trial_run(&trial, "true");
    assert_int_equal(waitpid(other, &status, 0), other);
    assert_int_equal(WEXITSTATUS(status), 7);
    trial_release(&trial);
}

/* Nothing can be known about the end then; it must not be taken for a good one, nor waited for. */
static void an_exit_status_that_somebody_else_took_is_retried(void **state) {
    struct trial trial;

    (void)state;
    trial_init(&trial);
    signal(SIGCHLD, SIG_IGN);
    trial_run(&trial, "true");
    WITHOUT_PIDFD = true;
    trial_run(&trial, "true");
    WITHOUT_PIDFD = false;
    signal(SIGCHLD, SIG_DFL);
    assert_int_equal(trial.verdict, BOXCAR_VERDICT_RETRY);
    assert_non_null(strstr(trial.error, "SIGCHLD"));
    trial_release(&trial);
}

static void the_end_is_noticed_without_a_pidfd(void **state) {
    char *bytes = fixture_noise(MIB);
    struct trial trial;

    (void)state;
    WITHOUT_PIDFD = true;
    trial_init(&trial);
    trial.message.payload = (boxcar_str){bytes, MIB};
    /* It closes everything a while before its end, which only looking can notice then. */
    trial_run(&trial, "sh -c 'cat >%s; exec 2>&-; sleep 0.02; exit 65'", fixture_path("got"));
    WITHOUT_PIDFD = false;
    assert_int_equal(trial.verdict, BOXCAR_VERDICT_FAIL);
    fixture_assert_file("got", trial.message.payload);
    trial_release(&trial);
    free(bytes);
}

/* The machine's fault, not the message's: no attempt is spent. */
static void a_shortage_of_descriptors_defers(void **state) {
    struct rlimit limit, none;
    struct exec_command *command = NULL;
    struct trial trial;
    int highest;

    (void)state;
    trial_init(&trial);
    assert_int_equal(exec_command_new(BOXCAR_STR("true"), &command, NULL), BOXCAR_OK);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    highest = dup(0);
    close(highest);
    none = (struct rlimit){.rlim_cur = (rlim_t)highest + 1, .rlim_max = limit.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    trial_run_command(&trial, command, INT64_MAX);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(trial.verdict, BOXCAR_VERDICT_DEFER);
    assert_true(trial.delivery.is_shortage);
    assert_non_null(strstr(trial.error, "Too many open files"));
    trial_run_command(&trial, command, INT64_MAX);
    assert_int_equal(trial.verdict, BOXCAR_VERDICT_ACK);
    assert_false(trial.delivery.is_shortage);
    exec_command_free(command);
    trial_release(&trial);
}

/* In a process of its own, because cmocka needs them. */
static int run_without_descriptors(unsigned closed) {
    struct trial trial = {.message = {.payload = BOXCAR_STR("in")}, .delivery = {.timer_fd = -1}};
    struct exec_command *command = NULL;

    for (int fd = 0; fd <= 2; fd++) {
        if (closed & 1u << fd)
            close(fd);
    }
    if (exec_command_new(BOXCAR_STR("sh -c 'cat >&2; exit 65'"), &command, NULL) != BOXCAR_OK)
        return 1;
    trial_run_command(&trial, command, INT64_MAX);
    return trial.verdict == BOXCAR_VERDICT_FAIL && trial.error && strcmp(trial.error, "in") == 0 ? 0 : 2;
}

static void closed_standard_descriptors_do_not_matter(void **state) {
    (void)state;
    fflush(NULL);
    for (unsigned closed = 0; closed < 8; closed++) {
        pid_t pid = fork();
        int status = 0;

        if (pid == 0)
            _exit(run_without_descriptors(closed));
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
}

#define THREADS 8
#define RUNS_PER_THREAD 25

struct lane {
    struct trial trial;
    struct exec_command *command;
    char stream[16];
    int good;
};

/* Payloads larger than a pipe, so that programs and their feeders overlap. */
static void *run_many(void *context) {
    struct lane *lane = context;

    for (int i = 0; i < RUNS_PER_THREAD; i++) {
        trial_run_command(&lane->trial, lane->command, INT64_MAX);
        lane->good += lane->trial.verdict == BOXCAR_VERDICT_FAIL && lane->trial.error &&
                      strcmp(lane->trial.error, lane->stream) == 0;
    }
    return NULL;
}

/* Says which message it got, and whether all of it came. */
static void threads_share_a_command(void **state) {
    static struct lane lanes[THREADS];
    struct exec_command *command =
        fixture_script("echo", BOXCAR_STR("#!/bin/sh\ntest $(wc -c) = 200000 || exit 1\n"
                                          "printf %s \"$BOXCAR_STREAM\" >&2\nexit 65\n"));
    char *bytes = fixture_noise(200000);
    pthread_t threads[THREADS];

    (void)state;
    for (int i = 0; i < THREADS; i++) {
        trial_init(&lanes[i].trial);
        snprintf(lanes[i].stream, sizeof(lanes[i].stream), "stream %d", i);
        lanes[i].trial.message.stream = boxcar_str_of(lanes[i].stream);
        lanes[i].trial.message.payload = (boxcar_str){bytes, 200000};
        lanes[i].command = command;
        assert_int_equal(pthread_create(&threads[i], NULL, run_many, &lanes[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(lanes[i].good, RUNS_PER_THREAD);
        trial_release(&lanes[i].trial);
    }
    exec_command_free(command);
    free(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_has_no_descriptors_of_ours),
        cmocka_unit_test(a_program_has_default_signals_and_its_own_group),
        cmocka_unit_test(what_a_program_leaves_in_the_background_is_not_waited_for),
        cmocka_unit_test(runs_leave_no_descriptor_and_no_zombie),
        cmocka_unit_test(other_children_are_left_to_their_parent),
        cmocka_unit_test(an_exit_status_that_somebody_else_took_is_retried),
        cmocka_unit_test(the_end_is_noticed_without_a_pidfd),
        cmocka_unit_test(a_shortage_of_descriptors_defers),
        cmocka_unit_test(closed_standard_descriptors_do_not_matter),
        cmocka_unit_test(threads_share_a_command),
    };

    return cmocka_run_group_tests_name("exec_process", tests, fixture_setup, fixture_teardown);
}
