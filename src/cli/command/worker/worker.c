/* boxcar worker: claims messages, runs handlers, settles. */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/command/common.h"
#include "cli/command/stores.h"
#include "cli/config/config.h"
#include "cli/service/metrics.h"
#include "cli/service/secrets.h"
#include "cli/service/service.h"
#include "handlers.h"
#include "session.h"
#include "setup.h"

static struct {
    struct config_given config;
    char *owner;
    int drain;
} given;

enum { OWN_OPTIONS = 4 };
static struct poptOption OPTIONS[OWN_OPTIONS + CONFIG_OPTIONS] = {
    OPTION_LIST("handler", given.config.handlers[BOXCAR_OUTBOX],
                "exec:COMMAND or discard for a topic; may be repeated", "TOPIC=ACTION"),
    OPTION_LIST("inbox-handler", given.config.handlers[BOXCAR_INBOX],
                "the same for a topic of the inbox; may be repeated", "TOPIC=ACTION"),
    OPTION_FLAG("drain", given.drain, "stop when nothing is left to do"),
    OPTION_TEXT("owner", given.owner, "the owner of its leases (default a new one)", "UUID")};

static void prepare(void) { config_options(OPTIONS, OWN_OPTIONS); }

void worker_session_log(const struct worker_session *session, boxcar_log_level level, const char *event,
                        const char *text, const boxcar_log_field *fields, size_t field_count) {
    const boxcar_log_record record = {.level = level,
                                      .event = event,
                                      .text = text,
                                      .store_id = session->store_id,
                                      .fields = fields,
                                      .field_count = field_count};
    log_writer_write(&session->cli->log, &record);
}

static void log_start(const struct worker_session *session) {
    const struct config *config = session->cli->config;
    char owner[BOXCAR_UUID_TEXT_SIZE];
    AUTO_FREE char *topics = handlers_topics(config);
    boxcar_uuid_format(boxcar_worker_owner(session->worker).uuid, owner);
    const boxcar_log_field fields[] = {
        {"owner", boxcar_str_of(owner)},
        {"handlers", boxcar_str_of(topics ? topics : "")},
        {"concurrency", boxcar_str_of(config_text(config, CONFIG_WORKER_CONCURRENCY))},
        {"config", boxcar_str_of(config->path ? config->path : "none")},
        {"subscription", worker_subscription(config)}};
    size_t count = sizeof(fields) / sizeof(fields[0]) - (fields[4].value.data == NULL);
    worker_session_log(session, BOXCAR_LOG_INFO, "worker_start", "worker starts", fields, count);
}

static void log_end(const struct worker_session *session) {
    enum { NUMBERS = 7 };
    static const char *const NAMES[NUMBERS] = {"claimed", "acked",    "retried", "failed",
                                               "dead",    "deferred", "lost"};
    boxcar_worker_stats worker = BOXCAR_WORKER_STATS_INIT;
    boxcar_handler_stats stats = BOXCAR_HANDLER_STATS_INIT;
    boxcar_worker_stats_read(session->worker, &worker);
    int64_t numbers[NUMBERS] = {worker.claimed};
    for (size_t i = 0; boxcar_worker_handler_stats_read(session->worker, i, &stats); i++) {
        const int64_t added[NUMBERS] = {0,          stats.acked,    stats.retried, stats.failed,
                                        stats.dead, stats.deferred, stats.lost};
        for (size_t k = 0; k < NUMBERS; k++)
            numbers[k] += added[k];
    }
    char texts[NUMBERS][24];
    boxcar_log_field fields[NUMBERS];
    for (size_t i = 0; i < NUMBERS; i++) {
        snprintf(texts[i], sizeof(texts[i]), "%lld", (long long)numbers[i]);
        fields[i] = (boxcar_log_field){NAMES[i], boxcar_str_of(texts[i])};
    }
    worker_session_log(session, BOXCAR_LOG_INFO, "worker_end", "worker ends", fields, NUMBERS);
}

/* A first look at the store: its name for the log, its backoff, and its faults before anything else
 * happens. The worker opens connections of its own. */
static int look_at_store(struct worker_session *session) {
    struct cli *cli = session->cli;
    if (stores_are_many(cli)) { /* the worker finds out how they are */
        session->store_curve = BOXCAR_BACKOFF_CURVE_INIT;
        session->store_id = strdup("");
        return session->store_id ? CLI_DONE : cli_no_memory(cli);
    }
    TRY(cli_store_open(cli));
    TRY(worker_store_curve(cli, &session->store_curve));
    session->store_id = strdup(boxcar_store_id(cli->store));
    boxcar_store_close(cli->store);
    cli->store = NULL;
    return session->store_id ? CLI_DONE : cli_no_memory(cli);
}

/* A thread has a timer, and pipes to its program: more threads than usual need more descriptors. */
static void raise_descriptor_limit(const struct cli *cli) {
    struct rlimit limit;
    const char *listen = config_text(cli->config, CONFIG_METRICS_LISTEN);
    rlim_t needed = (rlim_t)config_number(cli->config, CONFIG_WORKER_CONCURRENCY) * 6 + 64;
    if (stores_are_many(cli)) /* a connection is up to six files */
        needed += (rlim_t)config_number(cli->config, CONFIG_FLEET_CONNECTIONS) * 8;
    if (listen && listen[0])
        needed += METRICS_CONNECTIONS_MAX;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed)
        return;
    if (needed > limit.rlim_max)
        cli_warn(cli,
                 "at most %llu files may be open, %llu may be needed: handlers will wait for each other; "
                 "raise the limit (ulimit -n, LimitNOFILE=), or lower the concurrency",
                 (unsigned long long)limit.rlim_max, (unsigned long long)needed);
    limit.rlim_cur = needed < limit.rlim_max ? needed : limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

static int new_worker(struct worker_session *session, boxcar_owner owner) {
    struct cli *cli = session->cli;
    boxcar_store_options store = cli_store_options(cli);
    boxcar_worker_options options;
    struct worker_backoff backoff;
    if (!worker_options_read(cli->config, &session->store_curve, &options, &backoff))
        return cli_no_memory(cli);
    CLEANUP(stores_release) struct stores stores = {.entries = NULL};
    int chosen = stores_are_many(cli) ? stores_read(cli, &stores) : CLI_DONE;
    options.store = &store;
    options.fleet = stores.entries ? &stores.options : NULL;
    options.owner = owner;
    options.drain = given.drain;
    boxcar_status status = BOXCAR_OK;
    if (chosen == CLI_DONE)
        status = boxcar_worker_new(&options, &session->worker, &cli->err);
    worker_backoff_release(&backoff);
    TRY(chosen);
    TRY(cli_check(cli, status));
    struct complaints complaints = complaints_to_user(cli);
    return handlers_register(cli->config, session->worker, &complaints) ? CLI_DONE : CLI_USAGE;
}

static int work(struct worker_session *session) {
    struct cli *cli = session->cli;
    log_start(session);
    TRY(worker_signals_begin(session));
    boxcar_status status = boxcar_worker_run(session->worker, &cli->err);
    worker_signals_end(session);
    log_end(session);
    return cli_check(cli, status);
}

/* Runs the worker together with the metrics server and the notifications to systemd. */
static int work_watched(struct worker_session *session) {
    struct cli *cli = session->cli;
    const char *listen = config_text(cli->config, CONFIG_METRICS_LISTEN);
    struct metrics *metrics = NULL;
    int result = CLI_DONE;
    if (listen && listen[0])
        result = metrics_start(cli, session->worker, stores_are_many(cli), listen, &metrics);
    if (result == CLI_DONE)
        result = service_start(cli, session->worker, &session->service);
    if (result == CLI_DONE)
        result = work(session);
    service_stop(session->service);
    metrics_stop(metrics);
    return result;
}

static void release(struct worker_session *session) {
    boxcar_worker_free(session->worker);
    free(session->store_id);
}

static int run(struct cli *cli) {
    CLEANUP(release) struct worker_session session = {.cli = cli, .given = &given.config};
    boxcar_owner owner = {0};
    if (given.owner && !value_owner(cli, given.owner, &owner))
        return CLI_USAGE;
    TRY(config_apply(cli, CONFIG_SCOPE_ALL, &given.config));
    secrets_close(cli->argv);
    session.shows_progress = given.drain && isatty(STDERR_FILENO);
    cli->log.clears_line = session.shows_progress;
    raise_descriptor_limit(cli);
    TRY(look_at_store(&session));
    worker_signals_block(); /* from here on they are the worker's */
    TRY(new_worker(&session, owner));
    return work_watched(&session);
}

static const struct command CMD_WORKER = {
    .name = "worker",
    .summary = "claim messages and run handlers for them",
    .usage = "[--handler TOPIC=exec:COMMAND|discard]... [--inbox-handler TOPIC=ACTION]... [--drain]\n"
             "--store URL --store URL... [--select NAME] --handler ...\n"
             "--discover KIND:WHERE [--select NAME] --handler ...\n"
             "--subscription NAME --handler TOPIC=ACTION...\n"
             "--config FILE",
    .description =
        "TOPIC is exact, or PREFIX*; the longest match wins. exec:COMMAND runs a program for each message,\n"
        "without a shell. The program reads the payload on its standard input. Its environment has\n"
        "BOXCAR_TOPIC, BOXCAR_MESSAGE_ID and others, and of the worker's environment only PATH, HOME,\n"
        "USER, LOGNAME, LANG, LC_*, TZ and TMPDIR: pass anything else in arguments or files. Exit status 0\n"
        "means done, 65 fails the message for good, and any other status tries it again later. The end of\n"
        "its standard error becomes the last error. discard drops the messages of a topic.\n"
        "\n"
        "A worker serves the boxes that it has handlers for: the outbox with --handler, the inbox with\n"
        "--inbox-handler, or both, and then one round trip claims from both. BOXCAR_BOX names the box of\n"
        "the message.\n"
        "\n"
        "With --store again and again, or --discover, it serves many stores with the same handlers:\n"
        "file:PATH has a store a line (URL, or KEY URL, or KEY URL SCHEMA), directory:PATH an SQLite file\n"
        "NAME.db for each, sql:URL is asked by --discover-query, and command:PROGRAM prints what a file\n"
        "would have. BOXCAR_STORE_ID names the store of a message. See docs/many-stores.md.\n"
        "\n"
        "With --subscription it works for that subscription alone: give --handler if it reads the outbox,\n"
        "--inbox-handler if it reads the inbox. BOXCAR_SUBSCRIPTION names it to programs. When it is\n"
        "removed, the worker ends with exit status 3. See boxcar help subscription.\n"
        "\n"
        "It also does what policies and schedules of the store say, for which nobody writes a handler; with\n"
        "--no-fanout it leaves that to other workers. See boxcar help fanout.\n"
        "\n"
        "After SIGTERM or SIGINT it claims no more, lets handlers finish within the grace time, gives back\n"
        "the rest and exits with status 0. A second signal, at least a second later, gives handlers one\n"
        "more second. SIGHUP reads the configuration file again. Handlers can also be set in that file,\n"
        "all other options except --drain and --owner in the file or by a variable: see boxcar config,\n"
        "docs/configuration.md and docs/worker.md.\n",
    .examples = "boxcar worker --drain --handler 'orders.*=exec:/bin/cat'\n"
                "boxcar worker --drain --handler 'orders.*=exec:grep -q .' --handler 'audit.*=discard'\n",
    .options = OPTIONS,
    .prepare = prepare,
    .loads_config = true,
    .takes_stores = true,
    .run = run,
};

const struct command_noun WORKER_COMMANDS = {"Work", (const struct command *const[]){&CMD_WORKER, NULL}};
