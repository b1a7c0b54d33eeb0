/* What systemd is told, received on a socket as systemd does. */
#include "unit.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/service/health.h"
#include "cli/service/service.h"
#include "fake_worker.h"

/* Far longer than anything here takes; reached only when it never comes. */
#define PATIENCE_MS 20000

static const struct cli cli;
static struct sockaddr_un address = {.sun_family = AF_UNIX};
static char folder[32];
static int listener;
static char received[512];

static int listen_for_news(void **state) {
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/boxcar-service-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(address.sun_path, sizeof(address.sun_path), "%s/notify", folder);
    listener = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    setenv("NOTIFY_SOCKET", address.sun_path, 1);
    unsetenv("WATCHDOG_USEC");
    unsetenv("WATCHDOG_PID");
    return listener < 0 ? -1 : bind(listener, (struct sockaddr *)&address, sizeof(address));
}

static int stop_listening(void **state) {
    (void)state;
    close(listener);
    unlink(address.sun_path);
    return rmdir(folder);
}

/* The next datagram, in `said`; false = none came. */
static bool hear(int timeout_ms) {
    struct pollfd ready = {.fd = listener, .events = POLLIN};
    if (poll(&ready, 1, timeout_ms) != 1)
        return false;
    ssize_t size = recv(listener, received, sizeof(received) - 1, 0);
    received[size > 0 ? size : 0] = '\0';
    return size >= 0;
}

static void expect(const char *text) {
    assert_true(hear(PATIENCE_MS));
    assert_string_equal(received, text);
}

static void set_worker(boxcar_worker_state state, int64_t loop_age_ms, int64_t claims) {
    boxcar_worker_stats stats = BOXCAR_WORKER_STATS_INIT;
    stats.state = state;
    stats.loop_age_ms = loop_age_ms;
    stats.claims = claims;
    fake_worker_set(&stats);
}

static void without_a_service_manager_nothing_happens(void **state) {
    struct service *service = NULL;
    (void)state;
    unsetenv("NOTIFY_SOCKET");
    assert_int_equal(service_start(&cli, fake_worker(), &service), CLI_DONE);
    assert_null(service);
    service_reloading(service);
    service_reloaded(service);
    service_stop(service);
    assert_false(hear(0));
}

static void readiness_is_said_once_and_changes_as_they_come(void **state) {
    struct service *service = NULL;
    (void)state;
    set_worker(BOXCAR_WORKER_STARTING, 0, 0);
    assert_int_equal(service_start(&cli, fake_worker(), &service), CLI_DONE);
    expect("STATUS=Opening the store");
    set_worker(BOXCAR_WORKER_RUNNING, 0, 1);
    expect("READY=1");
    expect("STATUS=Running");
    set_worker(BOXCAR_WORKER_DETACHED, 0, 1);
    expect("STATUS=The store cannot be used now, trying again");
    set_worker(BOXCAR_WORKER_RUNNING, 0, 2);
    expect("STATUS=Running");
    set_worker(BOXCAR_WORKER_STOPPING, 0, 2);
    expect("STATUS=Stopping, handlers may finish");
    expect("STOPPING=1");
    set_worker(BOXCAR_WORKER_STOPPED, 0, 2);
    service_stop(service);
    expect("STATUS=Stopped");
    assert_false(hear(0));
}

static void a_worker_that_ran_between_two_looks_was_ready(void **state) {
    struct service *service = NULL;
    (void)state;
    set_worker(BOXCAR_WORKER_STOPPED, 0, 1);
    assert_int_equal(service_start(&cli, fake_worker(), &service), CLI_DONE);
    service_stop(service);
    expect("READY=1");
    expect("STATUS=Stopped");
    expect("STOPPING=1");
    assert_false(hear(0));
}

static void a_worker_that_never_ran_was_never_ready(void **state) {
    struct service *service = NULL;
    (void)state;
    set_worker(BOXCAR_WORKER_STOPPED, 0, 0);
    assert_int_equal(service_start(&cli, fake_worker(), &service), CLI_DONE);
    service_stop(service);
    expect("STATUS=Stopped");
    assert_false(hear(0));
}

static void reloading_ends_with_ready(void **state) {
    struct service *service = NULL;
    (void)state;
    set_worker(BOXCAR_WORKER_RUNNING, 0, 1);
    assert_int_equal(service_start(&cli, fake_worker(), &service), CLI_DONE);
    expect("READY=1");
    expect("STATUS=Running");
    service_reloading(service);
    assert_true(hear(PATIENCE_MS));
    assert_memory_equal(received, "RELOADING=1\nMONOTONIC_USEC=", 27);
    service_reloaded(service);
    expect("READY=1");
    service_stop(service);
}

static void watchdog_is_fed_while_the_work_loop_turns(void **state) {
    struct service *service = NULL;
    (void)state;
    setenv("WATCHDOG_USEC", "20000", 1);
    set_worker(BOXCAR_WORKER_RUNNING, 0, 1);
    assert_int_equal(service_start(&cli, fake_worker(), &service), CLI_DONE);
    expect("READY=1");
    expect("STATUS=Running");
    for (int i = 0; i < 5; i++)
        expect("WATCHDOG=1");
    service_stop(service);
}

static void watchdog_starves_when_the_work_loop_is_stuck(void **state) {
    struct service *service = NULL;
    (void)state;
    setenv("WATCHDOG_USEC", "20000", 1);
    set_worker(BOXCAR_WORKER_RUNNING, HEALTH_LOOP_AGE_MS_MAX + 1, 1);
    assert_int_equal(service_start(&cli, fake_worker(), &service), CLI_DONE);
    expect("READY=1");
    expect("STATUS=Running");
    assert_false(hear(200)); /* ten times what the watchdog waits */
    set_worker(BOXCAR_WORKER_RUNNING, 0, 1);
    expect("WATCHDOG=1");
    service_stop(service);
}

static void watchdog_of_another_process_is_not_ours(void **state) {
    struct service *service = NULL;
    (void)state;
    setenv("WATCHDOG_USEC", "20000", 1);
    setenv("WATCHDOG_PID", "1", 1);
    set_worker(BOXCAR_WORKER_RUNNING, 0, 1);
    assert_int_equal(service_start(&cli, fake_worker(), &service), CLI_DONE);
    expect("READY=1");
    expect("STATUS=Running");
    assert_false(hear(200));
    service_stop(service);
}

static void a_listener_that_is_gone_does_no_harm(void **state) {
    struct service *service = NULL;
    (void)state;
    setenv("NOTIFY_SOCKET", "/nonexistent/notify", 1);
    set_worker(BOXCAR_WORKER_RUNNING, 0, 1);
    assert_int_equal(service_start(&cli, fake_worker(), &service), CLI_DONE);
    assert_non_null(service);
    service_stop(service);
}

#define HEARD(test) cmocka_unit_test_setup_teardown(test, listen_for_news, stop_listening)

int main(void) {
    const struct CMUnitTest tests[] = {
        HEARD(without_a_service_manager_nothing_happens),
        HEARD(readiness_is_said_once_and_changes_as_they_come),
        HEARD(a_worker_that_ran_between_two_looks_was_ready),
        HEARD(a_worker_that_never_ran_was_never_ready),
        HEARD(reloading_ends_with_ready),
        HEARD(watchdog_is_fed_while_the_work_loop_turns),
        HEARD(watchdog_starves_when_the_work_loop_is_stuck),
        HEARD(watchdog_of_another_process_is_not_ours),
        HEARD(a_listener_that_is_gone_does_no_harm),
    };

    return cmocka_run_group_tests_name("service", tests, NULL, NULL);
}
