/* The HTTP server of the worker, over a worker that says what the test wants. */
#include "unit.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../support/lack.h"
#include "cli/service/health.h"
#include "cli/service/metrics.h"
#include "fake_worker.h"

#define ANSWER_SIZE 65536

/* A store that is never there: what is served does not depend on it. */
static struct cli cli = {.store_url = "sqlite:/nonexistent/boxcar.db",
                         .log = {.level = BOXCAR_LOG_ERROR + 1}};
static struct metrics *metrics;

static void set_state(boxcar_worker_state state, int64_t loop_age_ms) {
    boxcar_worker_stats stats = BOXCAR_WORKER_STATS_INIT;
    stats.state = state;
    stats.loop_age_ms = loop_age_ms;
    fake_worker_set(&stats);
}

static int start_server(void **state) {
    (void)state;
    set_state(BOXCAR_WORKER_RUNNING, 0);
    return metrics_start(&cli, fake_worker(), false, "127.0.0.1:0", &metrics);
}

static int stop_server(void **state) {
    (void)state;
    metrics_stop(metrics);
    metrics = NULL;
    return 0;
}

static int connect_to(const struct metrics *server) {
    struct sockaddr_in address = {.sin_family = AF_INET};
    const char *port = strrchr(metrics_address(server), ':') + 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons((uint16_t)atoi(port));
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
        return -1;
    return fd;
}

/* Sends `size` bytes and reads until the server closes; the length of the answer, -1 = no connection.
 * A server that closes early is no failure of this. */
static ssize_t exchange(const char *request, size_t size, char answer[ANSWER_SIZE]) {
    size_t length = 0;
    ssize_t count;
    int fd = connect_to(metrics);
    if (fd < 0)
        return -1;
    for (size_t sent = 0; sent < size; sent += (size_t)count)
        if ((count = send(fd, request + sent, size - sent, MSG_NOSIGNAL)) <= 0)
            break;
    shutdown(fd, SHUT_WR);
    while (length < ANSWER_SIZE - 1 && (count = recv(fd, answer + length, ANSWER_SIZE - 1 - length, 0)) > 0)
        length += (size_t)count;
    answer[length] = '\0';
    close(fd);
    return (ssize_t)length;
}

static char answer[ANSWER_SIZE];

/* The status of the answer to METHOD PATH, which is left in `answer`. */
static int ask(const char *method, const char *path) {
    char request[512];
    int size = snprintf(request, sizeof(request), "%s %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
                        method, path);
    assert_true(size > 0 && (size_t)size < sizeof(request));
    assert_true(exchange(request, (size_t)size, answer) > 0);
    assert_memory_equal(answer, "HTTP/1.1 ", 9);
    return atoi(answer + 9);
}

static const char *body(void) {
    const char *end = strstr(answer, "\r\n\r\n");
    assert_non_null(end);
    return end + 4;
}

static void metrics_are_served_as_prometheus_text(void **state) {
    (void)state;
    boxcar_handler_stats handler = BOXCAR_HANDLER_STATS_INIT;
    handler.topic = BOXCAR_STR("orders.*");
    handler.acked = 42;
    fake_worker_set_handlers(&handler, 1);
    assert_int_equal(ask("GET", "/metrics"), 200);
    fake_worker_set_handlers(NULL, 0);
    assert_non_null(strstr(answer, "Content-Type: text/plain; version=0.0.4"));
    assert_non_null(strstr(
        body(), "\nboxcar_messages_settled_total{topic=\"orders.*\",box=\"outbox\",outcome=\"acked\"} 42\n"));
}

static void query_does_not_matter(void **state) {
    (void)state;
    assert_int_equal(ask("GET", "/metrics?x=1"), 200);
}

static void health_is_about_the_work_loop(void **state) {
    (void)state;
    assert_int_equal(ask("GET", "/healthz"), 200);
    assert_string_equal(body(), "ok\n");
    set_state(BOXCAR_WORKER_DETACHED, 0);
    assert_int_equal(ask("GET", "/healthz"), 200);
    set_state(BOXCAR_WORKER_RUNNING, HEALTH_LOOP_AGE_MS_MAX + 1);
    assert_int_equal(ask("GET", "/healthz"), 503);
}

static void readiness_is_the_running_state(void **state) {
    static const struct {
        boxcar_worker_state state;
        int status;
        const char *name;
    } CASES[] = {{BOXCAR_WORKER_IDLE, 503, "idle\n"},         {BOXCAR_WORKER_STARTING, 503, "starting\n"},
                 {BOXCAR_WORKER_RUNNING, 200, "running\n"},   {BOXCAR_WORKER_DETACHED, 503, "detached\n"},
                 {BOXCAR_WORKER_STOPPING, 503, "stopping\n"}, {BOXCAR_WORKER_STOPPED, 503, "stopped\n"}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        set_state(CASES[i].state, 0);
        assert_int_equal(ask("GET", "/readyz"), CASES[i].status);
        assert_string_equal(body(), CASES[i].name);
    }
}

static void head_has_headers_and_no_body(void **state) {
    (void)state;
    assert_int_equal(ask("HEAD", "/metrics"), 200);
    assert_non_null(strstr(answer, "Content-Length: "));
    assert_null(strstr(answer, "Content-Length: 0\r\n"));
    assert_string_equal(body(), "");
}

static void other_methods_are_refused(void **state) {
    static const char *const METHODS[] = {"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(METHODS); i++) {
        assert_int_equal(ask(METHODS[i], "/metrics"), 405);
        assert_non_null(strstr(answer, "Allow: GET, HEAD\r\n"));
    }
}

static void a_posted_body_is_refused(void **state) {
    static const char REQUEST[] =
        "POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nConnection: close\r\n"
        "\r\nhello";
    (void)state;
    assert_true(exchange(REQUEST, sizeof(REQUEST) - 1, answer) > 0);
    assert_memory_equal(answer, "HTTP/1.1 405", 12);
}

static void other_paths_are_not_found(void **state) {
    static const char *const PATHS[] = {"/",         "/metrics/",   "/metric",           "/METRICS",
                                        "//metrics", "/../metrics", "/healthz/../readyz"};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(PATHS); i++)
        assert_int_equal(ask("GET", PATHS[i]), 404);
}

static void garbage_leaves_the_server_working(void **state) {
    static const struct {
        const char *bytes;
        size_t size;
    } REQUESTS[] = {
        {"", 0},
        {"\r\n\r\n\r\n", 6},
        {"\0\0\0\0\r\n\r\n", 8},
        {"GET\r\n\r\n", 7},
        {"GET /metrics\r\n\r\n", 16},
        {"GET /metrics HTTP/9.9\r\n\r\n", 25},
        {"GET /metrics HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 45},
        {"GET /metrics HTTP/1.1\r\nHost", 27},
        {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(REQUESTS); i++) {
        assert_true(exchange(REQUESTS[i].bytes, REQUESTS[i].size, answer) >= 0);
        assert_int_equal(ask("GET", "/healthz"), 200);
    }
}

static void headers_without_end_are_refused(void **state) {
    size_t size = 1 << 20;
    char *request = malloc(size);
    (void)state;
    assert_non_null(request);
    memset(request, 'a', size);
    memcpy(request, "GET /metrics HTTP/1.1\r\nX: ", 26);
    assert_true(exchange(request, size, answer) >= 0);
    assert_null(strstr(answer, "HTTP/1.1 200"));
    free(request);
    assert_int_equal(ask("GET", "/healthz"), 200);
}

static void *scrape(void *context) {
    static const char REQUEST[] = "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    char *text = malloc(ANSWER_SIZE);
    int *good = context;
    *good = text && exchange(REQUEST, sizeof(REQUEST) - 1, text) > 0 &&
            strstr(text, "HTTP/1.1 200") == text && strstr(text, "boxcar_worker_concurrency");
    free(text);
    return NULL;
}

static void a_hundred_at_once_are_all_answered(void **state) {
    pthread_t threads[100];
    int good[100] = {0};
    (void)state;
    for (size_t i = 0; i < 100; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, scrape, &good[i]), 0);
    for (size_t i = 0; i < 100; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < 100; i++)
        assert_true(good[i]);
}

/* Clients that ask as slowly as they can: a byte now and then, so that none is taken for silent. */
struct crowd {
    int fds[METRICS_CONNECTIONS_MAX];
    size_t count;
    pthread_t thread;
    atomic_bool is_over;
};

static void *drip(void *context) {
    struct crowd *crowd = context;
    for (; !crowd->is_over; usleep(50000))
        for (size_t i = 0; i < crowd->count; i++)
            (void)send(crowd->fds[i], "x", 1, MSG_NOSIGNAL);
    return NULL;
}

static void crowd_begin(struct crowd *crowd, size_t count) {
    *crowd = (struct crowd){.count = count};
    for (size_t i = 0; i < count; i++) {
        crowd->fds[i] = connect_to(metrics);
        assert_true(crowd->fds[i] >= 0);
        assert_true(send(crowd->fds[i], "GET /", 5, MSG_NOSIGNAL) == 5);
    }
    assert_int_equal(pthread_create(&crowd->thread, NULL, drip, crowd), 0);
}

static void crowd_end(struct crowd *crowd) {
    crowd->is_over = true;
    pthread_join(crowd->thread, NULL);
    for (size_t i = 0; i < crowd->count; i++)
        close(crowd->fds[i]);
}

static void slow_clients_keep_nobody_out(void **state) {
    struct crowd crowd;
    (void)state;
    crowd_begin(&crowd, 40);
    for (int i = 0; i < 20; i++)
        assert_int_equal(ask("GET", "/healthz"), 200);
    crowd_end(&crowd);
}

/* There is room for no other until those of this address are cut to a few. */
static void an_address_that_takes_all_is_cut_to_a_few(void **state) {
    struct crowd crowd;
    (void)state;
    crowd_begin(&crowd, METRICS_CONNECTIONS_MAX);
    assert_int_equal(ask("GET", "/healthz"), 200);
    crowd_end(&crowd);
}

/* A byte now and then does not keep a connection open; the server ends it. */
static bool drip_until_closed(int fd) {
    for (int i = 0; i < 600; i++, usleep(50000)) {
        char byte;
        if (send(fd, "x", 1, MSG_NOSIGNAL) < 0 || recv(fd, &byte, 1, MSG_DONTWAIT) == 0)
            return true;
    }
    return false;
}

static void a_request_without_end_is_ended(void **state) {
    (void)state;
    int fd = connect_to(metrics);
    assert_true(send(fd, "GET /", 5, MSG_NOSIGNAL) == 5);
    assert_true(drip_until_closed(fd));
    close(fd);
}

/* A server that accepts and says nothing, as a host behind a broken network would. */
static int silent_server(char url[64]) {
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(fd, 8), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    snprintf(url, 64, "postgres://nobody@127.0.0.1:%d/none", ntohs(address.sin_port));
    return fd;
}

static void a_store_that_does_not_answer_holds_nobody_up(void **state) {
    char url[64];
    (void)state;
    int fd = silent_server(url);
    struct cli other = {.store_url = url, .log = cli.log};
    struct metrics *first = metrics;
    assert_int_equal(metrics_start(&other, fake_worker(), false, ":0", &metrics), CLI_DONE);
    assert_int_equal(ask("GET", "/metrics"), 200);
    assert_null(strstr(body(), "boxcar_store_messages"));
    assert_non_null(strstr(body(), "boxcar_worker_concurrency"));
    metrics_stop(metrics);
    metrics = first;
    close(fd);
}

static void store_numbers_come_from_the_store(void **state) {
    char folder[] = "/tmp/boxcar-metrics-XXXXXX", url[64], path[64];
    boxcar_store_options options = BOXCAR_STORE_OPTIONS_INIT;
    boxcar_store *store = NULL;
    boxcar_new_message message = BOXCAR_NEW_MESSAGE_INIT;
    boxcar_enqueued enqueued;
    bool served = false;
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(url, sizeof(url), "sqlite:%s/store.db", folder);
    options.url = boxcar_str_of(url);
    options.deploy = true;
    message.topic = BOXCAR_STR("secret.topic");
    message.payload = BOXCAR_STR("secret payload");
    assert_int_equal(boxcar_store_open(&options, &store, NULL), BOXCAR_OK);
    assert_int_equal(boxcar_enqueue(store, BOXCAR_OUTBOX, &message, &enqueued, NULL), BOXCAR_OK);
    struct cli other = {.store_url = url, .log = cli.log};
    struct metrics *first = metrics;
    assert_int_equal(metrics_start(&other, fake_worker(), false, "localhost:0", &metrics), CLI_DONE);
    for (int i = 0; i < 500 && !served; i++, usleep(20000)) {
        assert_int_equal(ask("GET", "/metrics"), 200);
        served = strstr(body(), "boxcar_store_messages{status=\"ready\",box=\"outbox\"} 1\n");
        assert_null(strstr(answer, "secret")); /* BX-010 */
    }
    assert_true(served);
    metrics_stop(metrics);
    metrics = first;
    boxcar_store_close(store);
    for (const char *const *end = (const char *const[]){"", "-wal", "-shm", NULL}; *end; end++) {
        snprintf(path, sizeof(path), "%s/store.db%s", folder, *end);
        unlink(path);
    }
    rmdir(folder);
}

/* BX-011 */
static void bad_addresses_are_refused(void **state) {
    static const char *const ADDRESSES[] = {"",
                                            "9464",
                                            "127.0.0.1",
                                            "127.0.0.1:",
                                            "127.0.0.1:port",
                                            "127.0.0.1:65536",
                                            "127.0.0.1:-1",
                                            "::1:9464",
                                            "[::1]",
                                            "[::1:9464",
                                            "::1]:9464",
                                            "[]:9464",
                                            "256.0.0.1:0",
                                            "a b:0",
                                            "1.2.3.4:0x",
                                            "127.0.0.1:99999999999999999999"};
    struct metrics *none = NULL;
    (void)state;
    for (size_t i = 0; i < COUNT_OF(ADDRESSES); i++) {
        if (metrics_start(&cli, fake_worker(), false, ADDRESSES[i], &none) != CLI_USAGE)
            fail_msg("'%s' was not refused", ADDRESSES[i]);
        assert_null(none);
    }
}

static void a_port_that_is_taken_is_an_error(void **state) {
    struct metrics *none = NULL;
    (void)state;
    assert_int_equal(metrics_start(&cli, fake_worker(), false, metrics_address(metrics), &none), CLI_ERROR);
    assert_null(none);
}

static void ipv6_addresses_go_in_brackets(void **state) {
    struct metrics *server = NULL;
    (void)state;
    if (access("/proc/net/if_inet6", R_OK) != 0)
        SKIP_LACKING("IPv6");
    assert_int_equal(metrics_start(&cli, fake_worker(), false, "[::1]:0", &server), CLI_DONE);
    assert_memory_equal(metrics_address(server), "[::1]:", 6);
    assert_string_not_equal(metrics_address(server), "[::1]:0");
    metrics_stop(server);
}

#define SERVED(test) cmocka_unit_test_setup_teardown(test, start_server, stop_server)

int main(void) {
    const struct CMUnitTest tests[] = {
        SERVED(metrics_are_served_as_prometheus_text),
        SERVED(query_does_not_matter),
        SERVED(health_is_about_the_work_loop),
        SERVED(readiness_is_the_running_state),
        SERVED(head_has_headers_and_no_body),
        SERVED(other_methods_are_refused),
        SERVED(a_posted_body_is_refused),
        SERVED(other_paths_are_not_found),
        SERVED(garbage_leaves_the_server_working),
        SERVED(headers_without_end_are_refused),
        SERVED(a_hundred_at_once_are_all_answered),
        SERVED(slow_clients_keep_nobody_out),
        SERVED(a_request_without_end_is_ended),
        SERVED(an_address_that_takes_all_is_cut_to_a_few),
        SERVED(a_store_that_does_not_answer_holds_nobody_up),
        SERVED(store_numbers_come_from_the_store),
        SERVED(bad_addresses_are_refused),
        SERVED(a_port_that_is_taken_is_an_error),
        SERVED(ipv6_addresses_go_in_brackets),
    };

    return lack_exit(cmocka_run_group_tests_name("metrics", tests, NULL, NULL));
}
