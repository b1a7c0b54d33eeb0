/* Signals that stop a command. */
#include "unit.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/service/stop.h"

/* In a process of its own: how it ended. */
static int status_of(void (*act)(void)) {
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        stop_catch_signals();
        act();
        _exit(stop_wanted() ? 7 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static void raise_once(void) { raise(SIGTERM); }

static void raise_at_once(void) {
    raise(SIGTERM);
    raise(SIGTERM);
    raise(SIGINT);
}

static void raise_later(void) {
    raise(SIGTERM);
    for (int64_t later_ms = clock_ms() + STOP_ECHO_MS + 1;
         clock_ms() < later_ms;) /* no sooner: that is what later means */
        usleep(10000);
    raise(SIGTERM);
}

static void a_signal_asks_to_stop(void **state) {
    (void)state;
    assert_int_equal(WEXITSTATUS(status_of(raise_once)), 7);
}

static void signals_at_once_are_one(void **state) {
    int status = status_of(raise_at_once);

    (void)state;
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 7);
}

static void another_one_later_ends_the_program(void **state) {
    int status = status_of(raise_later);

    (void)state;
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGTERM);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_signal_asks_to_stop),
        cmocka_unit_test(signals_at_once_are_one),
        cmocka_unit_test(another_one_later_ends_the_program),
    };

    return cmocka_run_group_tests_name("stop", tests, NULL, NULL);
}
