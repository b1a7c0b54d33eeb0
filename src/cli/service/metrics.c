#include "metrics.h"

#include <microhttpd.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "cli/config/config.h"
#include "cli/output/report.h"
#include "health.h"
#include "listener.h"
#include "metrics_guard.h"
#include "metrics_store.h"
#include "metrics_text.h"

#define CONNECTION_TIMEOUT_SECONDS 10
#define CONNECTION_MEMORY 16384

static const char PLAIN[] = "text/plain; charset=utf-8";

struct metrics {
    boxcar_worker *worker;
    boxcar_str subscription; /* that it is for; absent = the main readers */
    struct metrics_store *store;
    struct metrics_guard *guard;
    struct MHD_Daemon *daemon;
    char address[LISTENER_ADDRESS_SIZE];
};

/* The answer to a request. */
struct answer {
    unsigned int status;
    const char *content_type;
    char *text; /* malloc'ed; NULL = out of memory */
    size_t length;
};

static struct answer answer_line(unsigned int status, const char *line) {
    struct answer answer = {.status = status, .content_type = PLAIN};
    int length = asprintf(&answer.text, "%s\n", line);
    if (length < 0)
        answer.text = NULL;
    else
        answer.length = (size_t)length;
    return answer;
}

/* The caller frees *ret_handlers; false = out of memory. */
static bool read_handlers(boxcar_worker *worker, boxcar_handler_stats **ret_handlers, size_t *ret_count) {
    boxcar_handler_stats *handlers = NULL;
    boxcar_handler_stats one = BOXCAR_HANDLER_STATS_INIT;
    size_t count = 0;
    while (boxcar_worker_handler_stats_read(worker, count, &one)) {
        boxcar_handler_stats *longer = realloc(handlers, (count + 1) * sizeof(*handlers));
        if (!longer) {
            free(handlers);
            return false;
        }
        handlers = longer;
        handlers[count++] = one;
    }
    *ret_handlers = handlers;
    *ret_count = count;
    return true;
}

/* The same of routes. */
static bool read_routes(boxcar_worker *worker, boxcar_forward_stats **ret_routes, size_t *ret_count) {
    boxcar_forward_stats *routes = NULL;
    boxcar_forward_stats one = BOXCAR_FORWARD_STATS_INIT;
    size_t count = 0;
    while (boxcar_worker_forward_stats_read(worker, count, &one)) {
        boxcar_forward_stats *longer = realloc(routes, (count + 1) * sizeof(*routes));
        if (!longer) {
            free(routes);
            return false;
        }
        routes = longer;
        routes[count++] = one;
    }
    *ret_routes = routes;
    *ret_count = count;
    return true;
}

static struct answer answer_metrics(const struct metrics *metrics) {
    struct answer answer = {.status = MHD_HTTP_OK, .content_type = METRICS_TEXT_CONTENT_TYPE};
    boxcar_worker_stats worker = BOXCAR_WORKER_STATS_INIT;
    AUTO_FREE boxcar_handler_stats *handlers = NULL;
    AUTO_FREE boxcar_forward_stats *routes = NULL;
    struct metrics_reading reading = {.subscriptions = NULL};
    struct metrics_numbers numbers = {
        .version = boxcar_version(), .subscription = metrics->subscription, .worker = &worker};
    boxcar_worker_stats_read(metrics->worker, &worker);
    AUTO_LIST boxcar_fleet_store_list *fleet = NULL;
    if (boxcar_worker_fleet_read(metrics->worker, &fleet, NULL) != BOXCAR_OK)
        return answer;
    numbers.fleet = fleet->items;
    numbers.fleet_count = fleet->count;
    if (metrics->store && metrics_store_read(metrics->store, &reading)) {
        numbers.store = reading.stats;
        numbers.streams = &reading.streams;
        numbers.subscriptions = reading.subscriptions;
        numbers.subscription_count = reading.subscription_count;
        numbers.store_age_seconds = reading.age_seconds;
    }
    AUTO_FREE struct metrics_subscription *subscriptions = reading.subscriptions;
    if (!read_handlers(metrics->worker, &handlers, &numbers.handler_count))
        return answer;
    numbers.handlers = handlers;
    if (!read_routes(metrics->worker, &routes, &numbers.route_count))
        return answer;
    numbers.routes = routes;
    answer.length = metrics_text(&numbers, &answer.text);
    return answer;
}

static struct answer answer_health(const struct metrics *metrics) {
    boxcar_worker_stats worker = BOXCAR_WORKER_STATS_INIT;
    boxcar_worker_stats_read(metrics->worker, &worker);
    return health_is_alive(&worker) ? answer_line(MHD_HTTP_OK, "ok")
                                    : answer_line(MHD_HTTP_SERVICE_UNAVAILABLE, "the work loop is stuck");
}

static struct answer answer_ready(const struct metrics *metrics) {
    boxcar_worker_stats worker = BOXCAR_WORKER_STATS_INIT;
    boxcar_worker_stats_read(metrics->worker, &worker);
    bool is_ready = worker.state == BOXCAR_WORKER_RUNNING;
    return answer_line(is_ready ? MHD_HTTP_OK : MHD_HTTP_SERVICE_UNAVAILABLE,
                       boxcar_worker_state_name(worker.state));
}

static const struct {
    const char *path;
    struct answer (*answer)(const struct metrics *metrics);
} PATHS[] = {
    {"/metrics", answer_metrics},
    {"/healthz", answer_health},
    {"/readyz", answer_ready},
};

static struct answer answer_path(const struct metrics *metrics, const char *path) {
    for (size_t i = 0; i < sizeof(PATHS) / sizeof(PATHS[0]); i++)
        if (strcmp(path, PATHS[i].path) == 0)
            return PATHS[i].answer(metrics);
    return answer_line(MHD_HTTP_NOT_FOUND, "not found: there are /metrics, /healthz and /readyz");
}

/* Takes the text of the answer. MHD_NO closes the connection. */
static enum MHD_Result send_answer(struct MHD_Connection *connection, struct answer answer) {
    if (!answer.text)
        return MHD_NO;
    struct MHD_Response *response =
        MHD_create_response_from_buffer(answer.length, answer.text, MHD_RESPMEM_MUST_FREE);
    if (!response) {
        free(answer.text);
        return MHD_NO;
    }
    bool has_headers =
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, answer.content_type) == MHD_YES &&
        MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store") == MHD_YES &&
        (answer.status != MHD_HTTP_METHOD_NOT_ALLOWED ||
         MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD") == MHD_YES);
    enum MHD_Result result = has_headers ? MHD_queue_response(connection, answer.status, response) : MHD_NO;
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *path,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **request) {
    static char seen; /* any address: marks that the headers have come */
    (void)version;
    (void)upload;
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
        return send_answer(connection, answer_line(MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD"));
    if (!*request) {
        *request = &seen;
        return MHD_YES;
    }
    if (*upload_size > 0) { /* a body that nobody asked for */
        *upload_size = 0;
        return MHD_YES;
    }
    return send_answer(connection, answer_path(context, path));
}

/* The threads started here take no signals: those are for the one that runs the worker. */
static bool start_threads(struct cli *cli, struct metrics *metrics, bool many_stores, int fd) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    if (!many_stores)
        metrics->store = metrics_store_start(cli, boxcar_worker_owner(metrics->worker));
    metrics->guard = metrics_guard_start();
    if ((metrics->store || many_stores) && metrics->guard)
        metrics->daemon = MHD_start_daemon(
            MHD_USE_POLL_INTERNAL_THREAD, 0, NULL, NULL, on_request, metrics, MHD_OPTION_LISTEN_SOCKET, fd,
            MHD_OPTION_NOTIFY_CONNECTION, metrics_guard_on_connection, metrics->guard,
            MHD_OPTION_NOTIFY_COMPLETED, metrics_guard_on_completed, metrics->guard,
            MHD_OPTION_CONNECTION_LIMIT, (unsigned int)METRICS_CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT,
            (unsigned int)CONNECTION_TIMEOUT_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
            (size_t)CONNECTION_MEMORY, MHD_OPTION_END);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return metrics->daemon;
}

/* That the worker is for. */
static boxcar_str subscription_of(const struct cli *cli) {
    const char *name = cli->config ? config_text(cli->config, CONFIG_WORKER_SUBSCRIPTION) : NULL;
    return name && name[0] ? boxcar_str_of(name) : BOXCAR_NO_STR;
}

int metrics_start(struct cli *cli, boxcar_worker *worker, bool many_stores, const char *listen,
                  struct metrics **ret_metrics) {
    struct listener listener;
    TRY(listener_open(cli, "--metrics", listen, &listener));
    struct metrics *metrics = calloc(1, sizeof(*metrics));
    if (!metrics) {
        close(listener.fd);
        return cli_no_memory(cli);
    }
    metrics->worker = worker;
    metrics->subscription = subscription_of(cli);
    memcpy(metrics->address, listener.address, sizeof(metrics->address));
    if (!start_threads(cli, metrics, many_stores, listener.fd)) {
        metrics_store_stop(metrics->store);
        metrics_guard_stop(metrics->guard);
        free(metrics);
        return cli_fail(cli, CLI_ERROR, "--metrics: cannot serve on %s", listener.address);
    }
    log_writer_say(&cli->log, BOXCAR_LOG_INFO, "metrics", "serving metrics", "address", listener.address);
    if (!listener.is_loopback)
        log_writer_say(&cli->log, BOXCAR_LOG_WARN, "metrics",
                       "metrics are open to other hosts, without authentication", "address",
                       listener.address);
    *ret_metrics = metrics;
    return CLI_DONE;
}

const char *metrics_address(const struct metrics *metrics) { return metrics->address; }

void metrics_stop(struct metrics *metrics) {
    if (!metrics)
        return;
    MHD_stop_daemon(metrics->daemon); /* and closes the socket */
    metrics_guard_stop(metrics->guard);
    metrics_store_stop(metrics->store);
    free(metrics);
}
