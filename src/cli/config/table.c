/* The settings. Ranges and defaults are the library's own, so that the two cannot differ. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/input/values.h"
#include "config.h"

#define TIMEOUT_MS_MAX (INT64_C(24) * 60 * 60 * 1000)
#define FROM_STORE "the store's setting"

static const char *const DURABILITIES[] = {
    [BOXCAR_DURABILITY_FULL] = "full", [BOXCAR_DURABILITY_NORMAL] = "normal", NULL};
static const char *const LOG_LEVELS[] = {[BOXCAR_LOG_DEBUG] = "debug",
                                         [BOXCAR_LOG_INFO] = "info",
                                         [BOXCAR_LOG_WARN] = "warn",
                                         [BOXCAR_LOG_ERROR] = "error",
                                         NULL};
static const char *const LOG_FORMATS[] = {[LOG_FORMAT_LOGFMT] = "logfmt", [LOG_FORMAT_JSON] = "json", NULL};
static const char *const STRATEGIES[] = {"immediate", "interval", "size", NULL}; /* of a worker */

const struct config_setting CONFIG_TABLE[CONFIG_SETTINGS] = {
    [CONFIG_STORE_URL] = {.section = "store",
                          .key = "url",
                          .type = CONFIG_TEXT,
                          .default_text = "sqlite:boxcar.db",
                          .environment = "BOXCAR_STORE",
                          .option = "store",
                          .metavar = "URL",
                          .help = "where the messages are: sqlite:PATH or a postgres:// URL"},
    [CONFIG_STORE_SCHEMA] = {.section = "store",
                             .key = "schema",
                             .type = CONFIG_TEXT,
                             .default_text = "boxcar",
                             .environment = "BOXCAR_SCHEMA",
                             .option = "schema",
                             .metavar = "NAME",
                             .help = "PostgreSQL schema that holds the tables"},
    [CONFIG_STORE_DURABILITY] = {.section = "store",
                                 .key = "durability",
                                 .type = CONFIG_CHOICE,
                                 .choices = DURABILITIES,
                                 .default_text = "full",
                                 .environment = "BOXCAR_DURABILITY",
                                 .help = "SQLite: normal may lose the last commits with the power"},
    [CONFIG_STORE_BUSY_TIMEOUT] = {.section = "store",
                                   .key = "busy_timeout",
                                   .type = CONFIG_DURATION,
                                   .min = 1,
                                   .max = TIMEOUT_MS_MAX,
                                   .default_number = 30000,
                                   .environment = "BOXCAR_BUSY_TIMEOUT",
                                   .help = "how long a call waits for other writers or a lost connection"},
    [CONFIG_STORE_ANSWER_TIMEOUT] = {.section = "store",
                                     .key = "answer_timeout",
                                     .type = CONFIG_DURATION,
                                     .min = 1,
                                     .max = TIMEOUT_MS_MAX,
                                     .default_number = 30000,
                                     .environment = "BOXCAR_ANSWER_TIMEOUT",
                                     .help = "PostgreSQL: how long the server may be silent during a call"},
    [CONFIG_WORKER_CONCURRENCY] = {.section = "worker",
                                   .key = "concurrency",
                                   .type = CONFIG_COUNT,
                                   .min = 1,
                                   .max = BOXCAR_CONCURRENCY_MAX,
                                   .default_number = BOXCAR_CONCURRENCY_DEFAULT,
                                   .environment = "BOXCAR_CONCURRENCY",
                                   .option = "concurrency",
                                   .metavar = "N",
                                   .reloads = true,
                                   .help = "handlers at a time"},
    [CONFIG_WORKER_BATCH_SIZE] = {.section = "worker",
                                  .key = "batch_size",
                                  .type = CONFIG_COUNT,
                                  .min = 1,
                                  .max = BOXCAR_BATCH_SIZE_MAX,
                                  .default_number = BOXCAR_BATCH_SIZE_DEFAULT,
                                  .environment = "BOXCAR_BATCH_SIZE",
                                  .option = "batch-size",
                                  .metavar = "N",
                                  .reloads = true,
                                  .help = "the most that one claim brings at first"},
    [CONFIG_WORKER_BATCH_LIMIT] = {.section = "worker",
                                   .key = "batch_limit",
                                   .type = CONFIG_COUNT,
                                   .min = 1,
                                   .max = BOXCAR_BATCH_SIZE_MAX,
                                   .default_number = BOXCAR_BATCH_LIMIT_DEFAULT,
                                   .environment = "BOXCAR_BATCH_LIMIT",
                                   .option = "batch-limit",
                                   .metavar = "N",
                                   .reloads = true,
                                   .help = "how far batches grow while claims come back full"},
    [CONFIG_WORKER_BATCH_BYTES] = {.section = "worker",
                                   .key = "batch_bytes",
                                   .type = CONFIG_SIZE,
                                   .min = BOXCAR_BATCH_BYTES_MIN,
                                   .max = BOXCAR_BATCH_BYTES_MAX,
                                   .default_number = BOXCAR_BATCH_BYTES_DEFAULT,
                                   .environment = "BOXCAR_BATCH_BYTES",
                                   .option = "batch-bytes",
                                   .metavar = "SIZE",
                                   .reloads = true,
                                   .help = "a claim ends once it has this many bytes"},
    [CONFIG_WORKER_LEASE] = {.section = "worker",
                             .key = "lease",
                             .type = CONFIG_DURATION,
                             .min = BOXCAR_LEASE_MS_MIN,
                             .max = BOXCAR_LEASE_MS_MAX,
                             .default_number = BOXCAR_LEASE_MS_DEFAULT,
                             .environment = "BOXCAR_LEASE",
                             .option = "lease",
                             .metavar = "DUR",
                             .reloads = true,
                             .help = "how soon others take over when this worker dies"},
    [CONFIG_WORKER_POLL] = {.section = "worker",
                            .key = "poll",
                            .type = CONFIG_DURATION,
                            .min = BOXCAR_POLL_MS_MIN,
                            .max = BOXCAR_POLL_MS_MAX,
                            .default_number = BOXCAR_POLL_MS_DEFAULT,
                            .environment = "BOXCAR_POLL",
                            .option = "poll",
                            .metavar = "DUR",
                            .reloads = true,
                            .help = "longest pause between looks for work"},
    [CONFIG_WORKER_HANDLER_TIMEOUT] = {.section = "worker",
                                       .key = "handler_timeout",
                                       .type = CONFIG_DURATION,
                                       .min = 0,
                                       .max = BOXCAR_HANDLER_TIMEOUT_MS_MAX,
                                       .default_number = BOXCAR_HANDLER_TIMEOUT_MS_DEFAULT,
                                       .environment = "BOXCAR_HANDLER_TIMEOUT",
                                       .option = "handler-timeout",
                                       .metavar = "DUR",
                                       .reloads = true,
                                       .help = "how long a handler may take, 0 = as long as it likes"},
    [CONFIG_WORKER_GRACE] = {.section = "worker",
                             .key = "grace",
                             .type = CONFIG_DURATION,
                             .min = 0,
                             .max = BOXCAR_GRACE_MS_MAX,
                             .default_number = BOXCAR_GRACE_MS_DEFAULT,
                             .environment = "BOXCAR_GRACE",
                             .option = "grace",
                             .metavar = "DUR",
                             .reloads = true,
                             .help = "how long handlers may go on after SIGTERM"},
    [CONFIG_WORKER_MAINTAIN] = {.section = "worker",
                                .key = "maintain",
                                .type = CONFIG_DURATION,
                                .min = 0,
                                .max = BOXCAR_MAINTAIN_MS_MAX,
                                .default_number = BOXCAR_MAINTAIN_MS_DEFAULT,
                                .environment = "BOXCAR_MAINTAIN",
                                .option = "maintain",
                                .metavar = "DUR",
                                .reloads = true,
                                .help = "between rounds of upkeep, 0 = leave it to boxcar maintain"},
    [CONFIG_WORKER_FAIL_UNHANDLED] = {.section = "worker",
                                      .key = "fail_unhandled",
                                      .type = CONFIG_BOOLEAN,
                                      .default_number = 0,
                                      .environment = "BOXCAR_FAIL_UNHANDLED",
                                      .option = "fail-unhandled",
                                      .reloads = true,
                                      .help = "bury a claimed message that has no handler"},
    [CONFIG_WORKER_STRATEGY] = {.section = "worker",
                                .key = "strategy",
                                .type = CONFIG_CHOICE,
                                .choices = STRATEGIES,
                                .default_text = "immediate",
                                .environment = "BOXCAR_STRATEGY",
                                .option = "strategy",
                                .metavar = "NAME",
                                .reloads = true,
                                .help = "when results are stored"},
    [CONFIG_WORKER_FLUSH_INTERVAL] = {.section = "worker",
                                      .key = "flush_interval",
                                      .type = CONFIG_DURATION,
                                      .min = 1,
                                      .max = BOXCAR_FLUSH_INTERVAL_MS_MAX,
                                      .default_number = BOXCAR_INTERVAL_MS_DEFAULT,
                                      .environment = "BOXCAR_FLUSH_INTERVAL",
                                      .option = "flush-interval",
                                      .metavar = "DUR",
                                      .reloads = true,
                                      .help = "interval and size: how long a result waits"},
    [CONFIG_WORKER_FLUSH_SIZE] = {.section = "worker",
                                  .key = "flush_size",
                                  .type = CONFIG_COUNT,
                                  .min = 1,
                                  .max = BOXCAR_FLUSH_SIZE_MAX,
                                  .default_number = BOXCAR_FLUSH_SIZE_DEFAULT,
                                  .environment = "BOXCAR_FLUSH_SIZE",
                                  .option = "flush-size",
                                  .metavar = "N",
                                  .reloads = true,
                                  .help = "size: flush after this many results"},
    [CONFIG_BACKOFF_BASE] = {.section = CONFIG_BACKOFF,
                             .key = "base",
                             .type = CONFIG_DURATION,
                             .min = 0,
                             .max = BOXCAR_DELAY_MS_MAX,
                             .default_number = NAN,
                             .without = FROM_STORE,
                             .example = "1s",
                             .environment = "BOXCAR_BACKOFF_BASE",
                             .reloads = true,
                             .help = "delay before a retry, before the factor is applied"},
    [CONFIG_BACKOFF_FACTOR] = {.section = CONFIG_BACKOFF,
                               .key = "factor",
                               .type = CONFIG_NUMBER,
                               .min = 1,
                               .max = 100,
                               .default_number = NAN,
                               .without = FROM_STORE,
                               .example = "2",
                               .environment = "BOXCAR_BACKOFF_FACTOR",
                               .reloads = true,
                               .help = "by how much the delay grows with every attempt"},
    [CONFIG_BACKOFF_CAP] = {.section = CONFIG_BACKOFF,
                            .key = "cap",
                            .type = CONFIG_DURATION,
                            .min = 0,
                            .max = BOXCAR_DELAY_MS_MAX,
                            .default_number = NAN,
                            .without = FROM_STORE,
                            .example = "1m",
                            .environment = "BOXCAR_BACKOFF_CAP",
                            .reloads = true,
                            .help = "longest delay before a retry"},
    [CONFIG_BACKOFF_JITTER] = {.section = CONFIG_BACKOFF,
                               .key = "jitter",
                               .type = CONFIG_NUMBER,
                               .min = 0,
                               .max = 1,
                               .default_number = NAN,
                               .without = FROM_STORE,
                               .example = "0.2",
                               .environment = "BOXCAR_BACKOFF_JITTER",
                               .reloads = true,
                               .help = "part of the delay that may be cut at random"},
    [CONFIG_LOG_LEVEL] = {.section = "log",
                          .key = "level",
                          .type = CONFIG_CHOICE,
                          .choices = LOG_LEVELS,
                          .default_text = "info",
                          .environment = "BOXCAR_LOG_LEVEL",
                          .option = "log-level",
                          .metavar = "LEVEL",
                          .reloads = true,
                          .help = "what to log; commands other than worker default to warn"},
    [CONFIG_LOG_FORMAT] = {.section = "log",
                           .key = "format",
                           .type = CONFIG_CHOICE,
                           .choices = LOG_FORMATS,
                           .default_text = "logfmt",
                           .environment = "BOXCAR_LOG_FORMAT",
                           .option = "log-format",
                           .metavar = "FORMAT",
                           .help = "how to write the log on standard error"},
    [CONFIG_METRICS_LISTEN] = {.section = "metrics",
                               .key = "listen",
                               .type = CONFIG_TEXT,
                               .without = "none",
                               .example = "127.0.0.1:9464",
                               .environment = "BOXCAR_METRICS",
                               .option = "metrics",
                               .metavar = "ADDR:PORT",
                               .help = "where to serve metrics for Prometheus over HTTP"},
};

enum config_id config_find(const char *section, const char *key) {
    for (size_t i = 0; i < CONFIG_SETTINGS; i++)
        if (strcmp(CONFIG_TABLE[i].section, section) == 0 && strcmp(CONFIG_TABLE[i].key, key) == 0)
            return (enum config_id)i;
    return CONFIG_SETTINGS;
}

void config_format_number(const struct config_setting *setting, double number,
                          char ret_text[CONFIG_NUMBER_SIZE]) {
    _Static_assert(CONFIG_NUMBER_SIZE >= VALUE_DURATION_SIZE, "a duration must fit");
    _Static_assert(CONFIG_NUMBER_SIZE >= VALUE_SIZE_SIZE, "a size must fit");
    if (setting->type == CONFIG_DURATION)
        value_format_duration((int64_t)number, ret_text);
    else if (setting->type == CONFIG_SIZE)
        value_format_size((int64_t)number, ret_text);
    else if (setting->type == CONFIG_BOOLEAN)
        snprintf(ret_text, CONFIG_NUMBER_SIZE, "%s", number != 0 ? "yes" : "no");
    else
        snprintf(ret_text, CONFIG_NUMBER_SIZE, "%.10g", number);
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
    char min[CONFIG_NUMBER_SIZE], max[CONFIG_NUMBER_SIZE];
    ret_text[0] = '\0';
    if (setting->type == CONFIG_TEXT)
        return;
    if (setting->type == CONFIG_CHOICE) {
        format_choices(setting->choices, ret_text);
        return;
    }
    if (setting->type == CONFIG_BOOLEAN) {
        snprintf(ret_text, CONFIG_RANGE_SIZE, "yes or no");
        return;
    }
    snprintf(min, sizeof(min), "0"); /* not 0ms */
    if (setting->min > 0)
        config_format_number(setting, setting->min, min);
    config_format_number(setting, setting->max, max);
    snprintf(ret_text, CONFIG_RANGE_SIZE, "%s to %s", min, max);
}

static bool has_text_default(const struct config_setting *setting) {
    return setting->type == CONFIG_TEXT || setting->type == CONFIG_CHOICE;
}

void config_format_default(const struct config_setting *setting, char ret_text[CONFIG_RANGE_SIZE]) {
    char number[CONFIG_NUMBER_SIZE];
    ret_text[0] = '\0';
    if (has_text_default(setting)) {
        snprintf(ret_text, CONFIG_RANGE_SIZE, "%s", setting->default_text ? setting->default_text : "");
    } else if (!isnan(setting->default_number)) {
        config_format_number(setting, setting->default_number, number);
        snprintf(ret_text, CONFIG_RANGE_SIZE, "%s", number);
    }
}
