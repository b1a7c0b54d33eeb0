#include "setup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output/report.h"
#include "cli/service/listener.h"
#include "handlers.h"

static void curve_set(boxcar_backoff_curve *curve, enum config_id id, double number) {
    switch (id) {
    case CONFIG_BACKOFF_BASE:
        curve->base_ms = (int64_t)number;
        break;
    case CONFIG_BACKOFF_FACTOR:
        curve->factor = number;
        break;
    case CONFIG_BACKOFF_CAP:
        curve->cap_ms = (int64_t)number;
        break;
    default:
        curve->jitter = number;
    }
}

/* `values` are those of [backoff] or of [backoff TOPIC]. Returns whether there was any. */
static bool curve_overlay(boxcar_backoff_curve *curve, const struct config_value *values) {
    bool any = false;
    for (int i = 0; i < CONFIG_CURVE_KEYS; i++) {
        if (!values[i].from)
            continue;
        curve_set(curve, (enum config_id)(CONFIG_BACKOFF_BASE + i), values[i].number);
        any = true;
    }
    return any;
}

/* The store calls them backoff_base and so on. */
static void take_setting(const boxcar_setting *setting, struct complaints *complaints,
                         boxcar_backoff_curve *curve) {
    for (int id = CONFIG_BACKOFF_BASE; id <= CONFIG_BACKOFF_JITTER; id++) {
        char name[64], text[64];
        double number;
        snprintf(name, sizeof(name), CONFIG_BACKOFF "_%s", CONFIG_TABLE[id].key);
        if (setting->name.len != strlen(name) || memcmp(setting->name.data, name, setting->name.len) != 0)
            continue;
        snprintf(text, sizeof(text), "%.*s", (int)setting->value.len, setting->value.data);
        if (config_value_parse(&CONFIG_TABLE[id], name, text, complaints, &number))
            curve_set(curve, (enum config_id)id, number);
    }
}

int worker_store_curve(struct cli *cli, boxcar_backoff_curve *ret_curve) {
    AUTO_LIST boxcar_setting_list *list = NULL;
    boxcar_backoff_curve curve = BOXCAR_BACKOFF_CURVE_INIT;
    struct complaints complaints = complaints_to_user(cli);
    TRY(cli_check(cli, boxcar_setting_read(cli->store, &list, &cli->err)));
    for (size_t i = 0; i < list->count; i++)
        take_setting(list->items[i], &complaints, &curve);
    if (complaints.count > 0)
        return CLI_ERROR;
    *ret_curve = curve;
    return CLI_DONE;
}

/* Without any value the store decides, with its settings as they are at each retry. */
static bool backoff_read(const struct config *config, const boxcar_backoff_curve *store_curve,
                         struct worker_backoff *ret_backoff, bool *ret_is_own) {
    struct worker_backoff backoff = {.policy = BOXCAR_BACKOFF_POLICY_INIT};
    backoff.policy.curve = *store_curve;
    bool any = curve_overlay(&backoff.policy.curve, &config->values[CONFIG_BACKOFF_BASE]);
    backoff.topics = calloc(config->curve_count + 1, sizeof(*backoff.topics));
    if (!backoff.topics)
        return false;
    for (size_t i = 0; i < config->curve_count; i++) {
        backoff.topics[i].topic = boxcar_str_of(config->curves[i].topic);
        backoff.topics[i].curve = backoff.policy.curve;
        curve_overlay(&backoff.topics[i].curve, config->curves[i].values);
    }
    backoff.policy.topics = backoff.topics;
    backoff.policy.topic_count = config->curve_count;
    *ret_backoff = backoff;
    *ret_is_own = any || config->curve_count > 0;
    return true;
}

/* In the order of the setting's choices. */
static const boxcar_strategy STRATEGIES[] = {BOXCAR_STRATEGY_IMMEDIATE, BOXCAR_STRATEGY_INTERVAL,
                                             BOXCAR_STRATEGY_SIZE};

boxcar_str worker_subscription(const struct config *config) {
    const char *name = config_text(config, CONFIG_WORKER_SUBSCRIPTION);
    return name && name[0] ? boxcar_str_of(name) : BOXCAR_NO_STR;
}

bool worker_options_read(const struct config *config, const boxcar_backoff_curve *store_curve,
                         boxcar_worker_options *ret_options, struct worker_backoff *ret_backoff) {
    bool has_own_backoff;
    if (!backoff_read(config, store_curve, ret_backoff, &has_own_backoff))
        return false;
    boxcar_worker_options options = BOXCAR_WORKER_OPTIONS_INIT;
    options.subscription = worker_subscription(config);
    options.concurrency = (int)config_number(config, CONFIG_WORKER_CONCURRENCY);
    options.batch_size = (int)config_number(config, CONFIG_WORKER_BATCH_SIZE);
    options.batch_limit = (int)config_number(config, CONFIG_WORKER_BATCH_LIMIT);
    options.batch_bytes = (int64_t)config_number(config, CONFIG_WORKER_BATCH_BYTES);
    options.lease_ms = (int64_t)config_number(config, CONFIG_WORKER_LEASE);
    options.poll_ms = (int64_t)config_number(config, CONFIG_WORKER_POLL);
    options.handler_timeout_ms = (int64_t)config_number(config, CONFIG_WORKER_HANDLER_TIMEOUT);
    options.grace_ms = (int64_t)config_number(config, CONFIG_WORKER_GRACE);
    options.maintain_ms = (int64_t)config_number(config, CONFIG_WORKER_MAINTAIN);
    options.fail_unhandled = config_number(config, CONFIG_WORKER_FAIL_UNHANDLED) != 0;
    options.fanout = config_number(config, CONFIG_WORKER_FANOUT) != 0;
    options.strategy = STRATEGIES[(size_t)config_number(config, CONFIG_WORKER_STRATEGY)];
    options.flush_interval_ms = (int64_t)config_number(config, CONFIG_WORKER_FLUSH_INTERVAL);
    options.flush_size = (int)config_number(config, CONFIG_WORKER_FLUSH_SIZE);
    options.backoff = has_own_backoff ? &ret_backoff->policy : NULL;
    *ret_options = options;
    return true;
}

void worker_backoff_release(struct worker_backoff *backoff) {
    free(backoff->topics);
    *backoff = (struct worker_backoff){0};
}

static bool listen_check(const struct config *config, struct complaints *complaints) {
    const struct config_value *listen = &config->values[CONFIG_METRICS_LISTEN];
    if (!listen->text || !listen->text[0] || listener_is_address(listen->text))
        return true;
    return complain(complaints, "%s: listen is '%.80s': give ADDRESS:PORT, such as 127.0.0.1:9464",
                    listen->from ? listen->from : config->path, listen->text);
}

bool worker_check(const struct config *config, struct complaints *complaints) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_store_options store = BOXCAR_STORE_OPTIONS_INIT;
    boxcar_backoff_curve curve = BOXCAR_BACKOFF_CURVE_INIT;
    boxcar_worker_options options;
    struct worker_backoff backoff;
    boxcar_worker *worker = NULL;
    if (!worker_options_read(config, &curve, &options, &backoff))
        return complain_no_memory(complaints);
    store.url = boxcar_str_of(config_text(config, CONFIG_STORE_URL));
    store.schema = boxcar_str_of(config_text(config, CONFIG_STORE_SCHEMA));
    options.store = &store;
    boxcar_status status = boxcar_worker_new(&options, &worker, &err);
    bool good = status == BOXCAR_OK            ? handlers_register(config, worker, complaints)
                : status == BOXCAR_E_NO_MEMORY ? complain_no_memory(complaints)
                                               : complain(complaints, "%s: %s", config->path, err.message);
    boxcar_worker_free(worker);
    worker_backoff_release(&backoff);
    return listen_check(config, complaints) && good;
}
