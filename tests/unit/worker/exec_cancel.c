/* Ending a handler's program: at its deadline, when the lease is lost, when the worker stops. */
#include "unit.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "exec_fixture.h"

/* A run that is cancelled by another thread as soon as the program has made the file NAME. */
struct stopping {
    struct trial trial;
    struct exec_command *command;
    enum cancel_reason reason;
    const char *ready;
    pthread_t runner, stopper;
    bool was_ready;
};

static void *run_it(void *context) {
    struct stopping *stopping = context;

    stopping->trial.verdict = exec_run(stopping->command, &stopping->trial.delivery);
    return NULL;
}

static void *stop_it(void *context) {
    struct stopping *stopping = context;

    stopping->was_ready = fixture_wait_for(stopping->ready);
    delivery_cancel(&stopping->trial.delivery, stopping->reason);
    return NULL;
}

static void begin(struct stopping *stopping, const char *command, const char *ready,
                  enum cancel_reason reason) {
    boxcar_error err = BOXCAR_ERROR_INIT;

    memset(stopping, 0, sizeof(*stopping));
    trial_init(&stopping->trial);
    stopping->ready = ready;
    stopping->reason = reason;
    fixture_remove(ready);
    if (exec_command_new(boxcar_str_of(command), &stopping->command, &err) != BOXCAR_OK)
        fail_msg("%s: %s", command, err.message);
    delivery_start(&stopping->trial.delivery, &stopping->trial.message, INT64_MAX);
    assert_int_equal(pthread_create(&stopping->runner, NULL, run_it, stopping), 0);
    assert_int_equal(pthread_create(&stopping->stopper, NULL, stop_it, stopping), 0);
}

static void end(struct stopping *stopping) {
    struct trial *trial = &stopping->trial;

    pthread_join(stopping->runner, NULL);
    pthread_join(stopping->stopper, NULL);
    assert_true(stopping->was_ready);
    trial->error = delivery_take_error(&trial->delivery, &trial->error_len);
}

static void release(struct stopping *stopping) {
    exec_command_free(stopping->command);
    trial_release(&stopping->trial);
}

static void assert_said_first(const struct trial *trial, const char *text) {
    assert_non_null(trial->error);
    if (strncmp(trial->error, text, strlen(text)) != 0)
        fail_msg("\"%s\" does not begin with \"%s\"", trial->error, text);
}

/* An orphan of the program; this process is its parent now. */
static void assert_killed(const char *name) {
    pid_t pid = fixture_read_pid(name);
    int status = 0;

    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGKILL);
}

static void assert_no_children(void) {
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

/* Also one that does not read its input. */
static void a_program_is_ended_at_its_deadline(void **state) {
    static char payload[1 << 20];
    struct exec_command *command = NULL;
    struct trial trial;

    (void)state;
    trial_init(&trial);
    trial.message.payload = (boxcar_str){payload, sizeof(payload)};
    assert_int_equal(exec_command_new(BOXCAR_STR("sleep 60"), &command, NULL), BOXCAR_OK);
    trial_run_command(&trial, command, clock_ms() + 100);
    assert_int_equal(trial.verdict, BOXCAR_VERDICT_RETRY);
    assert_said_first(&trial, "timed out after ");
    assert_null(strchr(trial.error, ':'));
    assert_no_children();
    exec_command_free(command);
    trial_release(&trial);
}

static void what_it_said_before_its_time_was_over_is_kept(void **state) {
    struct stopping stopping;
    char command[256];

    (void)state;
    snprintf(command, sizeof(command), "sh -c 'echo half way >&2; : >%s; exec sleep 60'",
             fixture_path("ready"));
    begin(&stopping, command, "ready", CANCEL_TIMEOUT);
    end(&stopping);
    assert_int_equal(stopping.trial.verdict, BOXCAR_VERDICT_RETRY);
    assert_said_first(&stopping.trial, "timed out after ");
    assert_non_null(strstr(stopping.trial.error, "s: half way"));
    release(&stopping);
    assert_no_children();
}

/* A reason and all the program says: 4 KiB together (BX-010). */
static void a_program_that_never_stops_talking_is_ended(void **state) {
    struct stopping stopping;
    char command[256];

    (void)state;
    snprintf(command, sizeof(command), "sh -c 'yes | head -c 100000 >&2; : >%s; exec yes >&2'",
             fixture_path("ready"));
    begin(&stopping, command, "ready", CANCEL_TIMEOUT);
    end(&stopping);
    assert_int_equal(stopping.trial.verdict, BOXCAR_VERDICT_RETRY);
    assert_said_first(&stopping.trial, "timed out after ");
    assert_in_range(stopping.trial.error_len, 4090, 4096);
    assert_string_equal(stopping.trial.error + stopping.trial.error_len - 3, "y\ny");
    release(&stopping);
}

static void assert_verdict_after_term(int status, boxcar_verdict expected) {
    struct stopping stopping;
    char command[256];

    snprintf(command, sizeof(command), "sh -c 'trap \"exit %d\" TERM; : >%s; while :; do :; done'", status,
             fixture_path("ready"));
    begin(&stopping, command, "ready", CANCEL_STOP);
    end(&stopping);
    assert_int_equal(stopping.trial.verdict, expected);
    if (expected == BOXCAR_VERDICT_ACK)
        assert_null(stopping.trial.error);
    else
        assert_said(&stopping.trial, "stopped: the worker is stopping");
    release(&stopping);
}

/* OBX-057: the program is told, and may still do its work. */
static void an_exit_status_counts_after_sigterm_too(void **state) {
    (void)state;
    assert_verdict_after_term(0, BOXCAR_VERDICT_ACK);
    assert_verdict_after_term(65, BOXCAR_VERDICT_FAIL);
    assert_verdict_after_term(75, BOXCAR_VERDICT_RETRY);
}

/* Design 7: TERM, then KILL, to the group. BX-023: a handler whose lease is lost is killed. The three
 * wait side by side. */
static void programs_that_ignore_sigterm_are_killed_with_their_children(void **state) {
    static const struct {
        enum cancel_reason reason;
        const char *ready, *child, *says;
    } cases[] = {
        {CANCEL_TIMEOUT, "ready-1", "pid-1", "timed out after "},
        {CANCEL_LEASE_LOST, "ready-2", "pid-2", "stopped: the lease was lost"},
        {CANCEL_STOP, "ready-3", "pid-3", "stopped: the worker is stopping"},
    };
    static struct stopping stopping[COUNT_OF(cases)];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char command[256];
        snprintf(command, sizeof(command), "sh -c 'trap \"\" TERM; sleep 60 & echo $! >%s; : >%s; wait'",
                 fixture_path(cases[i].child), fixture_path(cases[i].ready));
        begin(&stopping[i], command, cases[i].ready, cases[i].reason);
    }
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        end(&stopping[i]);
        assert_int_equal(stopping[i].trial.verdict, BOXCAR_VERDICT_RETRY);
        assert_said_first(&stopping[i].trial, cases[i].says);
        release(&stopping[i]);
        assert_killed(cases[i].child);
    }
    assert_no_children();
}

/* BX-023: nothing of a cancelled handler still runs during the next attempt. */
static void children_do_not_outlive_a_program_that_obeys_sigterm(void **state) {
    struct stopping stopping;
    char command[512];

    (void)state;
    snprintf(
        command, sizeof(command),
        "sh -c '(trap \"\" TERM; : >%s; exec sleep 60) & echo $! >%s; until test -e %s; do :; done; : >%s; "
        "exec sleep 60'",
        fixture_path("deaf"), fixture_path("pid"), fixture_path("deaf"), fixture_path("ready"));
    fixture_remove("deaf");
    fixture_remove("pid");
    begin(&stopping, command, "ready", CANCEL_LEASE_LOST);
    end(&stopping);
    assert_int_equal(stopping.trial.verdict, BOXCAR_VERDICT_RETRY);
    release(&stopping);
    assert_killed("pid");
    assert_no_children();
}

/* This program again, as a handler that is not content with its group. Long enough to be noticed. */
static void write_ready(const char *path) {
    FILE *file = fopen(path, "we");

    if (file)
        fclose(file);
    sleep(20);
    _exit(0);
}

static void leave_session(void (*then)(const char *ready), const char *ready) {
    if (fork() != 0)
        return;
    setsid();
    signal(SIGTERM, SIG_IGN);
    then(ready);
    raise(SIGKILL); /* only one that was overlooked exits */
}

/* Not even a zombie: the program has waited for it. */
static void await_gone(pid_t pid) {
    while (kill(pid, 0) == 0)
        usleep(1000);
}

static void become_orphan(const char *ready) {
    pid_t parent = getpid();

    if (fork() != 0)
        return;
    await_gone(parent);
    write_ready(ready);
}

static void forget_environment(const char *ready) {
    if (fork() == 0)
        execle("/proc/self/exe", "leaver", "stay", ready, (char *)NULL, (char *const[]){NULL});
    sleep(20);
}

static void become_clean_orphan(const char *ready) {
    pid_t parent = getpid();

    if (fork() != 0)
        return;
    await_gone(parent);
    execle("/proc/self/exe", "leaver", "stay", ready, (char *)NULL, (char *const[]){NULL});
}

static int leave(const char *how, const char *ready) {
    if (strcmp(how, "stay") == 0)
        write_ready(ready);
    else if (strcmp(how, "group") == 0 && setpgid(0, getpgid(getppid())) == 0)
        write_ready(ready);
    else if (strcmp(how, "session") == 0)
        leave_session(write_ready, ready);
    else if (strcmp(how, "orphan") == 0)
        leave_session(become_orphan, ready);
    else if (strcmp(how, "environment") == 0)
        leave_session(forget_environment, ready);
    else if (strcmp(how, "everything") == 0)
        leave_session(become_clean_orphan, ready);
    if (strcmp(how, "orphan") == 0 || strcmp(how, "everything") == 0)
        wait(NULL); /* nothing is left of the one in between, not even a zombie */
    sleep(20);
    return 0;
}

/* Orphans of the program are ours now: none has come to an end of its own. */
static void assert_leaver_is_ended(const char *how) {
    struct stopping stopping;
    char command[512], program[256] = "";
    int status;

    assert_true(readlink("/proc/self/exe", program, sizeof(program) - 1) > 0);
    snprintf(command, sizeof(command), "'%s' %s %s", program, how, fixture_path("ready"));
    begin(&stopping, command, "ready", CANCEL_LEASE_LOST);
    end(&stopping);
    assert_int_equal(stopping.trial.verdict, BOXCAR_VERDICT_RETRY);
    release(&stopping);
    while (waitpid(-1, &status, 0) > 0) {
        if (!WIFSIGNALED(status))
            fail_msg("a process went on after its program (%s)", how);
    }
}

/* BX-023: nothing of a cancelled handler still runs during the next attempt, wherever it went. */
static void processes_that_leave_their_group_are_ended(void **state) {
    struct rlimit before, own;

    (void)state;
    assert_leaver_is_ended("group");
    assert_leaver_is_ended("session");
    assert_leaver_is_ended("environment");
    assert_leaver_is_ended("orphan");
    assert_leaver_is_ended("everything");
    /* Where the limit is in use the variable has to do. */
    assert_int_equal(getrlimit(RLIMIT_RTTIME, &before), 0);
    own = (struct rlimit){.rlim_cur = 1000000000, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_RTTIME, &own), 0);
    assert_leaver_is_ended("orphan");
    assert_int_equal(setrlimit(RLIMIT_RTTIME, &before), 0);
}

/* BX-023: another worker may run the message already. */
static void a_cancelled_delivery_starts_nothing(void **state) {
    struct exec_command *command = NULL;
    struct trial trial;
    char text[256];

    (void)state;
    fixture_remove("started");
    snprintf(text, sizeof(text), "touch %s", fixture_path("started"));
    assert_int_equal(exec_command_new(boxcar_str_of(text), &command, NULL), BOXCAR_OK);
    trial_init(&trial);
    delivery_start(&trial.delivery, &trial.message, INT64_MAX);
    delivery_cancel(&trial.delivery, CANCEL_LEASE_LOST);
    assert_int_equal(exec_run(command, &trial.delivery), BOXCAR_VERDICT_RETRY);
    assert_int_equal(access(fixture_path("started"), F_OK), -1);
    trial.error = delivery_take_error(&trial.delivery, &trial.error_len);
    assert_said_first(&trial, "not started");
    trial_run_command(&trial, command, INT64_MAX);
    assert_int_equal(trial.verdict, BOXCAR_VERDICT_ACK);
    assert_int_equal(access(fixture_path("started"), F_OK), 0);
    exec_command_free(command);
    trial_release(&trial);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_is_ended_at_its_deadline),
        cmocka_unit_test(what_it_said_before_its_time_was_over_is_kept),
        cmocka_unit_test(a_program_that_never_stops_talking_is_ended),
        cmocka_unit_test(an_exit_status_counts_after_sigterm_too),
        cmocka_unit_test(programs_that_ignore_sigterm_are_killed_with_their_children),
        cmocka_unit_test(children_do_not_outlive_a_program_that_obeys_sigterm),
        cmocka_unit_test(processes_that_leave_their_group_are_ended),
        cmocka_unit_test(a_cancelled_delivery_starts_nothing),
    };

    if (argc > 2)
        return leave(argv[1], argv[2]);
    return cmocka_run_group_tests_name("exec_cancel", tests, fixture_setup, fixture_teardown);
}
