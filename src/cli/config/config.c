/* Values: where they come from, and which of them counts. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "cli/input/options.h"
#include "cli/input/values.h"
#include "cli/output/redact.h"
#include "cli/output/report.h"

static void value_release(struct config_value *value) {
    free(value->text);
    free(value->from);
}

static void handler_release(struct config_handler *handler) {
    free(handler->topic);
    free(handler->action);
    free(handler->from);
}

static void store_release(struct config_store *store) {
    free(store->key);
    free(store->url);
}

void config_release(struct config *config) {
    for (size_t i = 0; i < CONFIG_SETTINGS; i++)
        value_release(&config->values[i]);
    for (size_t i = 0; i < config->handler_count; i++)
        handler_release(&config->handlers[i]);
    for (size_t i = 0; i < config->curve_count; i++) {
        free(config->curves[i].topic);
        for (size_t k = 0; k < CONFIG_CURVE_KEYS; k++)
            value_release(&config->curves[i].values[k]);
    }
    for (size_t i = 0; i < config->store_count; i++)
        store_release(&config->stores[i]);
    free(config->stores);
    free(config->handlers);
    free(config->curves);
    free(config->path);
    *config = (struct config){0};
}

bool config_put(struct config_value *value, enum config_id id, const char *label, const char *from,
                const char *text, struct complaints *complaints) {
    struct config_value set = {0};
    if (!config_value_parse(&CONFIG_TABLE[id], label, text, complaints, &set.number))
        return false;
    set.text = strdup(text);
    set.from = from ? strdup(from) : NULL;
    if (!set.text || (from && !set.from)) {
        value_release(&set);
        return complain_no_memory(complaints);
    }
    value_release(value);
    *value = set;
    return true;
}

static bool handler_append(struct config *config, struct config_handler handler) {
    struct config_handler *handlers =
        reallocarray(config->handlers, config->handler_count + 1, sizeof(*config->handlers));
    config->handlers = handlers ? handlers : config->handlers;
    if (!handlers || !handler.topic || !handler.action || !handler.from) {
        handler_release(&handler);
        return false;
    }
    handlers[config->handler_count++] = handler;
    return true;
}

/* BX-024: two handlers for one topic is an error at the start. */
bool config_put_handler(struct config *config, boxcar_box box, const char *topic, const char *action,
                        struct complaints *complaints) {
    for (size_t i = 0; i < config->handler_count; i++)
        if (config->handlers[i].box == box && strcmp(config->handlers[i].topic, topic) == 0)
            return complain(complaints, "topic '%.255s' has a handler already, from %s", topic,
                            config->handlers[i].from);
    struct config_handler handler = {box, strdup(topic), strdup(action), strdup(complaints->place)};
    return handler_append(config, handler) || complain_no_memory(complaints);
}

bool config_put_store(struct config *config, const char *key, const char *url,
                      struct complaints *complaints) {
    for (size_t i = 0; i < config->store_count; i++)
        if (strcmp(config->stores[i].key, key) == 0)
            return complain(complaints, "the key '%.255s' is there twice: give each store a key of its own",
                            key);
    struct config_store *stores =
        reallocarray(config->stores, config->store_count + 1, sizeof(*config->stores));
    config->stores = stores ? stores : config->stores;
    struct config_store store = {strdup(key), strdup(url)};
    if (!stores || !store.key || !store.url) {
        store_release(&store);
        return complain_no_memory(complaints);
    }
    stores[config->store_count++] = store;
    return true;
}

static bool put_defaults(struct config *config, struct complaints *complaints) {
    bool good = true;
    for (size_t i = 0; i < CONFIG_SETTINGS; i++) {
        char text[CONFIG_RANGE_SIZE];
        config_format_default(&CONFIG_TABLE[i], text);
        if (text[0])
            good = config_put(&config->values[i], (enum config_id)i, CONFIG_TABLE[i].key, NULL, text,
                              complaints) &&
                   good;
    }
    return good;
}

static const char *environment(const char *name) {
    const char *value = getenv(name);
    return value && value[0] ? value : NULL;
}

static bool is_in_scope(const struct config_setting *setting, enum config_scope scope) {
    return scope == CONFIG_SCOPE_ALL || strcmp(setting->section, "store") == 0 ||
           strcmp(setting->section, "fleet") == 0 || strcmp(setting->section, "log") == 0;
}

/* A variable, and above it an option. */
static bool put_given(struct config *config, enum config_id id, struct complaints *complaints) {
    const struct config_setting *setting = &CONFIG_TABLE[id];
    const char *typed = config_option_given(id);
    const char *from = setting->environment, *text = environment(from);
    char option[64];
    if (typed) {
        snprintf(option, sizeof(option), "--%s", setting->option);
        from = option;
        text = typed;
    }
    return !text || config_put(&config->values[id], id, from, from, text, complaints);
}

/* TOPIC=exec:COMMAND or TOPIC=discard. The split is where an action begins, so that a topic may
 * contain = itself. */
static const char *find_action(const char *text) {
    for (const char *at = strchr(text, '='); at; at = strchr(at + 1, '='))
        if (strncmp(at + 1, "exec:", 5) == 0 || strcmp(at + 1, "discard") == 0)
            return at;
    return strchr(text, '=');
}

static bool put_handler_option(struct config *config, boxcar_box box, const char *text,
                               struct complaints *complaints) {
    const char *option = box == BOXCAR_INBOX ? "--inbox-handler" : "--handler", *split = find_action(text);
    if (!split)
        return complain(complaints, "%s is '%.64s': give TOPIC=exec:COMMAND or TOPIC=discard", option, text);
    AUTO_FREE char *topic = strndup(text, (size_t)(split - text));
    if (!topic)
        return complain_no_memory(complaints);
    complaints->place = option;
    bool good = config_put_handler(config, box, topic, split + 1, complaints);
    complaints->place = NULL;
    return good;
}

bool config_file_check(const char *path, struct complaints *complaints, struct config *ret_config) {
    *ret_config = (struct config){0};
    return put_defaults(ret_config, complaints) && config_file_read(path, complaints, ret_config);
}

bool config_load(const char *path, enum config_scope scope, const struct config_given *given,
                 struct complaints *complaints, struct config *ret_config) {
    *ret_config = (struct config){0};
    bool good = put_defaults(ret_config, complaints);
    if (path)
        good = config_file_read(path, complaints, ret_config) && good;
    for (size_t i = 0; i < CONFIG_SETTINGS; i++)
        if (is_in_scope(&CONFIG_TABLE[i], scope))
            good = put_given(ret_config, (enum config_id)i, complaints) && good;
    for (int box = BOXCAR_OUTBOX; given && box <= BOXCAR_INBOX; box++)
        for (char **handler = given->handlers[box]; handler && *handler; handler++)
            good = put_handler_option(ret_config, (boxcar_box)box, *handler, complaints) && good;
    return good;
}

/* Other users of the machine can read a command line; the environment they cannot. */
static void warn_of_password_in_option(const struct cli *cli) {
    for (char **store = global_options.stores; store && *store; store++)
        if (redact_needed(*store)) {
            cli_warn(cli, "--store contains a password that other users can see: "
                          "use BOXCAR_STORE, PGPASSFILE or a service file");
            return;
        }
    if (global_options.discover && redact_needed(global_options.discover))
        cli_warn(cli, "--discover contains a password that other users can see: "
                      "use BOXCAR_DISCOVER, PGPASSFILE or a service file");
}

static bool is_from_file(const struct config *config, const struct config_value *value) {
    size_t length = config->path ? strlen(config->path) : 0;
    return length > 0 && value->from && strncmp(value->from, config->path, length) == 0 &&
           value->from[length] == ':';
}

/* In the URL of the store, in where stores are listed, or in the URL of one of many. */
static bool has_password_in_file(const struct config *config) {
    for (size_t i = 0; i < CONFIG_SETTINGS; i++)
        if (is_from_file(config, &config->values[i]) && config->values[i].text &&
            redact_needed(config->values[i].text))
            return true;
    for (size_t i = 0; i < config->store_count; i++)
        if (redact_needed(config->stores[i].url))
            return true;
    return false;
}

void config_warn_of_password(const struct cli *cli, const struct config *config) {
    struct stat status;
    if (has_password_in_file(config) && stat(config->path, &status) == 0 && (status.st_mode & S_IROTH)) {
        cli_warn(cli, "%s contains a password and every user can read it: chmod o-r it", config->path);
    }
}

static void apply_store(struct cli *cli, const struct config *config) {
    const struct config_value *url = &config->values[CONFIG_STORE_URL];
    const struct config_value *schema = &config->values[CONFIG_STORE_SCHEMA];
    cli->store_url = url->text;
    cli->store_url_from = url->from ? url->from : "--store";
    cli->schema = schema->from ? schema->text : NULL;
    cli->schema_from = schema->from ? schema->from : "--schema";
}

int config_apply(struct cli *cli, enum config_scope scope, const struct config_given *given) {
    static struct config config;
    const char *path = global_options.config ? global_options.config : environment("BOXCAR_CONFIG");
    struct complaints complaints = complaints_to_user(cli);
    config_release(&config);
    if (!config_load(path, scope, given, &complaints, &config))
        return CLI_USAGE;
    cli->config = &config;
    if (scope == CONFIG_SCOPE_ALL || config.values[CONFIG_LOG_LEVEL].from)
        cli->log.level = (boxcar_log_level)config_number(&config, CONFIG_LOG_LEVEL);
    cli->log.format = (enum log_format)config_number(&config, CONFIG_LOG_FORMAT);
    apply_store(cli, &config);
    warn_of_password_in_option(cli);
    config_warn_of_password(cli, &config);
    return CLI_DONE;
}

int option_apply_globals(struct cli *cli) {
    static const char *const FORMATS[] = {"table", "json", "jsonl", NULL}; /* from CLI_FORMAT_TABLE on */
    int64_t format;
    if (global_options.output) {
        if (!value_choice(FORMATS, global_options.output, &format))
            return cli_usage(cli, "--output is '%.64s': give table, json or jsonl", global_options.output);
        cli->format = (enum cli_format)(CLI_FORMAT_TABLE + format);
    }
    if (!cli->command || cli->command->loads_config)
        return CLI_DONE;
    return config_apply(cli, CONFIG_SCOPE_STORE_AND_LOG, NULL);
}
