/* The settings. Ranges and defaults are the library's own, so that the two cannot differ. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/input/values.h"
#include "config.h"

#define TIMEOUT_MS_MAX (INT64_C(24) * 60 * 60 * 1000)

static const char *const DURABILITIES[] = {
    [BOXCAR_DURABILITY_FULL] = "full", [BOXCAR_DURABILITY_NORMAL] = "normal", NULL};
static const char *const LOG_LEVELS[] = {[BOXCAR_LOG_DEBUG] = "debug",
                                         [BOXCAR_LOG_INFO] = "info",
                                         [BOXCAR_LOG_WARN] = "warn",
                                         [BOXCAR_LOG_ERROR] = "error",
                                         NULL};
static const char *const LOG_FORMATS[] = {[LOG_FORMAT_LOGFMT] = "logfmt", [LOG_FORMAT_JSON] = "json", NULL};
static const char *const SELECTIONS[] = {
    [BOXCAR_SELECT_ROUND_ROBIN] = "round-robin", [BOXCAR_SELECT_DRAIN_FIRST] = "drain-first", NULL};
static const char *const STRATEGIES[] = {"immediate", "interval", "size", NULL}; /* of a worker */

/* What is accepted, and what holds without it. */
#define TEXT(name, standard)                                                                                 \
    { .type = CONFIG_TEXT, .metavar = name, .default_text = standard }
#define CHOICE(name, words, standard)                                                                        \
    { .type = CONFIG_CHOICE, .metavar = name, .choices = words, .default_text = standard }
#define NUMBER(kind, name, least, most, standard)                                                            \
    { .type = kind, .metavar = name, .min = least, .max = most, .default_number = standard }
#define DURATION(least, most, standard) NUMBER(CONFIG_DURATION, "DUR", least, most, standard)
#define COUNT(least, most, standard) NUMBER(CONFIG_COUNT, "N", least, most, standard)
#define FROM_STORE(kind, least, most, sample)                                                                \
    {                                                                                                        \
        .type = kind, .min = least, .max = most, .default_number = NAN, .without = "the store's setting",    \
        .example = sample                                                                                    \
    }

enum { RESTARTS, RELOADS }; /* what applies a change */

const struct config_setting CONFIG_TABLE[CONFIG_SETTINGS] = {
    [CONFIG_STORE_URL] = {"store", "url", "where the messages are: sqlite:PATH or a postgres:// URL",
                          TEXT("URL", "sqlite:boxcar.db"), "BOXCAR_STORE", "store", RESTARTS},
    [CONFIG_STORE_SCHEMA] = {"store", "schema", "PostgreSQL schema that holds the tables",
                             TEXT("NAME", "boxcar"), "BOXCAR_SCHEMA", "schema", RESTARTS},
    [CONFIG_STORE_DURABILITY] = {"store", "durability",
                                 "SQLite: with normal a power cut may lose the last commits",
                                 CHOICE(NULL, DURABILITIES, "full"), "BOXCAR_DURABILITY", NULL, RESTARTS},
    [CONFIG_STORE_BUSY_TIMEOUT] = {"store", "busy_timeout",
                                   "how long a call waits for other writers or a lost connection",
                                   DURATION(1, TIMEOUT_MS_MAX, 30000), "BOXCAR_BUSY_TIMEOUT", NULL, RESTARTS},
    [CONFIG_STORE_ANSWER_TIMEOUT] = {"store", "answer_timeout",
                                     "PostgreSQL: how long the server may be silent during a call",
                                     DURATION(1, TIMEOUT_MS_MAX, 30000), "BOXCAR_ANSWER_TIMEOUT", NULL,
                                     RESTARTS},
    [CONFIG_WORKER_SUBSCRIPTION] =
        {"worker",
         "subscription",
         "work for this subscription instead of the main readers",
         {.type = CONFIG_TEXT, .metavar = "NAME", .without = "none", .example = "billing"},
         "BOXCAR_WORKER_SUBSCRIPTION",
         "subscription",
         RESTARTS},
    [CONFIG_WORKER_CONCURRENCY] = {"worker", "concurrency", "handlers at a time",
                                   COUNT(1, BOXCAR_CONCURRENCY_MAX, BOXCAR_CONCURRENCY_DEFAULT),
                                   "BOXCAR_CONCURRENCY", "concurrency", RELOADS},
    [CONFIG_WORKER_BATCH_SIZE] = {"worker", "batch_size", "the most that one claim brings at first",
                                  COUNT(1, BOXCAR_BATCH_SIZE_MAX, BOXCAR_BATCH_SIZE_DEFAULT),
                                  "BOXCAR_BATCH_SIZE", "batch-size", RELOADS},
    [CONFIG_WORKER_BATCH_LIMIT] = {"worker", "batch_limit",
                                   "how far batches grow while claims come back full",
                                   COUNT(1, BOXCAR_BATCH_SIZE_MAX, BOXCAR_BATCH_LIMIT_DEFAULT),
                                   "BOXCAR_BATCH_LIMIT", "batch-limit", RELOADS},
    [CONFIG_WORKER_BATCH_BYTES] = {"worker", "batch_bytes", "a claim ends once it has this many bytes",
                                   NUMBER(CONFIG_SIZE, "SIZE", BOXCAR_BATCH_BYTES_MIN, BOXCAR_BATCH_BYTES_MAX,
                                          BOXCAR_BATCH_BYTES_DEFAULT),
                                   "BOXCAR_BATCH_BYTES", "batch-bytes", RELOADS},
    [CONFIG_WORKER_LEASE] = {"worker", "lease", "how soon others take over when this worker dies",
                             DURATION(BOXCAR_LEASE_MS_MIN, BOXCAR_LEASE_MS_MAX, BOXCAR_LEASE_MS_DEFAULT),
                             "BOXCAR_LEASE", "lease", RELOADS},
    [CONFIG_WORKER_POLL] = {"worker", "poll", "longest pause between looks for work",
                            DURATION(BOXCAR_POLL_MS_MIN, BOXCAR_POLL_MS_MAX, BOXCAR_POLL_MS_DEFAULT),
                            "BOXCAR_POLL", "poll", RELOADS},
    [CONFIG_WORKER_HANDLER_TIMEOUT] = {"worker", "handler_timeout",
                                       "how long a handler may take, 0 = as long as it likes",
                                       DURATION(0, BOXCAR_HANDLER_TIMEOUT_MS_MAX,
                                                BOXCAR_HANDLER_TIMEOUT_MS_DEFAULT),
                                       "BOXCAR_HANDLER_TIMEOUT", "handler-timeout", RELOADS},
    [CONFIG_WORKER_GRACE] = {"worker", "grace", "how long handlers may go on after SIGTERM",
                             DURATION(0, BOXCAR_GRACE_MS_MAX, BOXCAR_GRACE_MS_DEFAULT), "BOXCAR_GRACE",
                             "grace", RELOADS},
    [CONFIG_WORKER_MAINTAIN] = {"worker", "maintain",
                                "between rounds of maintenance, 0 = boxcar maintain does it",
                                DURATION(0, BOXCAR_MAINTAIN_MS_MAX, BOXCAR_MAINTAIN_MS_DEFAULT),
                                "BOXCAR_MAINTAIN", "maintain", RELOADS},
    [CONFIG_WORKER_FAIL_UNHANDLED] = {"worker",
                                      "fail_unhandled",
                                      "turn a claimed message without a handler into a dead letter",
                                      {.type = CONFIG_BOOLEAN},
                                      "BOXCAR_FAIL_UNHANDLED",
                                      "fail-unhandled",
                                      RELOADS},
    [CONFIG_WORKER_FANOUT] = {"worker",
                              "fanout",
                              "forward what policies say and plan schedules",
                              {.type = CONFIG_BOOLEAN, .default_number = 1},
                              "BOXCAR_FANOUT",
                              "fanout",
                              RESTARTS},
    [CONFIG_WORKER_STRATEGY] = {"worker", "strategy", "when results are stored",
                                CHOICE("NAME", STRATEGIES, "immediate"), "BOXCAR_STRATEGY", "strategy",
                                RELOADS},
    [CONFIG_WORKER_FLUSH_INTERVAL] = {"worker", "flush_interval",
                                      "interval and size: how long a result waits",
                                      DURATION(1, BOXCAR_FLUSH_INTERVAL_MS_MAX, BOXCAR_INTERVAL_MS_DEFAULT),
                                      "BOXCAR_FLUSH_INTERVAL", "flush-interval", RELOADS},
    [CONFIG_WORKER_FLUSH_SIZE] = {"worker", "flush_size", "size: flush after this many results",
                                  COUNT(1, BOXCAR_FLUSH_SIZE_MAX, BOXCAR_FLUSH_SIZE_DEFAULT),
                                  "BOXCAR_FLUSH_SIZE", "flush-size", RELOADS},
    [CONFIG_FLEET_DISCOVER] = {"fleet",
                               "discover",
                               "many stores: file:PATH, directory:PATH, sql:URL or command:PROGRAM",
                               {.type = CONFIG_TEXT,
                                .metavar = "KIND:WHERE",
                                .without = "one store",
                                .example = "directory:/var/lib/tenants"},
                               "BOXCAR_DISCOVER",
                               "discover",
                               RESTARTS},
    [CONFIG_FLEET_QUERY] = {"fleet", "query", "sql: selects url, or key and url, or key, url and schema",
                            TEXT("QUERY", "select url from stores"), "BOXCAR_DISCOVER_QUERY",
                            "discover-query", RESTARTS},
    [CONFIG_FLEET_REFRESH] = {"fleet", "refresh", "between looks for new and removed stores",
                              DURATION(BOXCAR_FLEET_REFRESH_MS_MIN, BOXCAR_FLEET_REFRESH_MS_MAX,
                                       BOXCAR_FLEET_REFRESH_MS_DEFAULT),
                              "BOXCAR_REFRESH", "refresh", RESTARTS},
    [CONFIG_FLEET_SELECT] = {"fleet", "select", "which store claims next",
                             CHOICE("NAME", SELECTIONS, "round-robin"), "BOXCAR_SELECT", "select", RESTARTS},
    [CONFIG_FLEET_CONNECTIONS] = {"fleet", "connections", "how many of many stores are in use at a time",
                                  COUNT(1, BOXCAR_FLEET_CONNECTIONS_MAX, BOXCAR_FLEET_CONNECTIONS_DEFAULT),
                                  "BOXCAR_CONNECTIONS", "connections", RESTARTS},
    [CONFIG_FLEET_IDLE] = {"fleet", "idle", "how long an idle store keeps its connection",
                           DURATION(0, BOXCAR_FLEET_IDLE_MS_MAX, BOXCAR_FLEET_IDLE_MS_DEFAULT), "BOXCAR_IDLE",
                           "idle", RESTARTS},
    [CONFIG_FLEET_LOOK] = {"fleet", "look", "longest pause between looks at an idle store",
                           DURATION(BOXCAR_FLEET_LOOK_MS_MIN, BOXCAR_FLEET_LOOK_MS_MAX,
                                    BOXCAR_FLEET_LOOK_MS_DEFAULT),
                           "BOXCAR_LOOK", "look", RESTARTS},
    [CONFIG_BACKOFF_BASE] = {CONFIG_BACKOFF, "base", "delay before a retry, before the factor is applied",
                             FROM_STORE(CONFIG_DURATION, 0, BOXCAR_DELAY_MS_MAX, "1s"), "BOXCAR_BACKOFF_BASE",
                             NULL, RELOADS},
    [CONFIG_BACKOFF_FACTOR] = {CONFIG_BACKOFF, "factor", "by how much the delay grows with every attempt",
                               FROM_STORE(CONFIG_NUMBER, 1, 100, "2"), "BOXCAR_BACKOFF_FACTOR", NULL,
                               RELOADS},
    [CONFIG_BACKOFF_CAP] = {CONFIG_BACKOFF, "cap", "longest delay before a retry",
                            FROM_STORE(CONFIG_DURATION, 0, BOXCAR_DELAY_MS_MAX, "1m"), "BOXCAR_BACKOFF_CAP",
                            NULL, RELOADS},
    [CONFIG_BACKOFF_JITTER] = {CONFIG_BACKOFF, "jitter", "part of the delay that may be cut at random",
                               FROM_STORE(CONFIG_NUMBER, 0, 1, "0.2"), "BOXCAR_BACKOFF_JITTER", NULL,
                               RELOADS},
    [CONFIG_LOG_LEVEL] = {"log", "level", "what to log; commands other than worker default to warn",
                          CHOICE("LEVEL", LOG_LEVELS, "info"), "BOXCAR_LOG_LEVEL", "log-level", RELOADS},
    [CONFIG_LOG_FORMAT] = {"log", "format", "how to write the log on standard error",
                           CHOICE("FORMAT", LOG_FORMATS, "logfmt"), "BOXCAR_LOG_FORMAT", "log-format",
                           RESTARTS},
    [CONFIG_METRICS_LISTEN] =
        {"metrics",
         "listen",
         "where to serve metrics for Prometheus over HTTP",
         {.type = CONFIG_TEXT, .metavar = "ADDR:PORT", .without = "none", .example = "127.0.0.1:9464"},
         "BOXCAR_METRICS",
         "metrics",
         RESTARTS},
};

/* "30s", "4", "0.5", "no" */
static void format_number(const struct config_setting *setting, double number,
                          char ret_text[VALUE_UNITS_SIZE]) {
    if (setting->type == CONFIG_DURATION)
        value_format_duration((int64_t)number, ret_text);
    else if (setting->type == CONFIG_SIZE)
        value_format_size((int64_t)number, ret_text);
    else if (setting->type == CONFIG_BOOLEAN)
        snprintf(ret_text, VALUE_UNITS_SIZE, "%s", number != 0 ? "yes" : "no");
    else
        snprintf(ret_text, VALUE_UNITS_SIZE, "%.10g", number);
}

/* "debug, info, warn or error" */
static void format_choices(const char *const *choices, char ret_text[CONFIG_RANGE_SIZE]) {
    size_t used = 0;
    ret_text[0] = '\0';
    for (size_t i = 0; choices[i] && used < CONFIG_RANGE_SIZE; i++) {
        const char *separator = i == 0 ? "" : choices[i + 1] ? ", " : " or ";
        int written = snprintf(ret_text + used, CONFIG_RANGE_SIZE - used, "%s%s", separator, choices[i]);
        used += written > 0 ? (size_t)written : 0;
    }
}

void config_format_range(const struct config_setting *setting, char ret_text[CONFIG_RANGE_SIZE]) {
    char min[VALUE_UNITS_SIZE] = "0", max[VALUE_UNITS_SIZE]; /* not 0ms */
    if (setting->type == CONFIG_TEXT) {
        ret_text[0] = '\0';
    } else if (setting->type == CONFIG_CHOICE) {
        format_choices(setting->choices, ret_text);
    } else if (setting->type == CONFIG_BOOLEAN) {
        snprintf(ret_text, CONFIG_RANGE_SIZE, "yes or no");
    } else {
        if (setting->min > 0)
            format_number(setting, setting->min, min);
        format_number(setting, setting->max, max);
        snprintf(ret_text, CONFIG_RANGE_SIZE, "%s to %s", min, max);
    }
}

void config_format_default(const struct config_setting *setting, char ret_text[CONFIG_RANGE_SIZE]) {
    ret_text[0] = '\0';
    if (setting->default_text)
        snprintf(ret_text, CONFIG_RANGE_SIZE, "%s", setting->default_text);
    else if (setting->type != CONFIG_TEXT && !isnan(setting->default_number))
        format_number(setting, setting->default_number, ret_text);
}
