/* The configuration: one table of settings, and their values from the command line, the
 * environment, a file and the defaults, in this order.
 *
 * The table drives the parsing of the file, the options of `worker`, `boxcar config` in all its
 * forms, and the table in docs/configuration.md. */
#ifndef BOXCAR_CLI_CONFIG_CONFIG_H
#define BOXCAR_CLI_CONFIG_CONFIG_H

#include "cli/cli.h"
#include "complaints.h"

enum config_type {
    CONFIG_TEXT,
    CONFIG_CHOICE,   /* its number is the index among the choices */
    CONFIG_DURATION, /* in milliseconds */
    CONFIG_COUNT,
    CONFIG_SIZE, /* in bytes */
    CONFIG_NUMBER,
    CONFIG_BOOLEAN
};

enum config_id {
    CONFIG_STORE_URL,
    CONFIG_STORE_SCHEMA,
    CONFIG_STORE_DURABILITY,
    CONFIG_STORE_BUSY_TIMEOUT,
    CONFIG_STORE_ANSWER_TIMEOUT,
    CONFIG_WORKER_SUBSCRIPTION,
    CONFIG_WORKER_CONCURRENCY,
    CONFIG_WORKER_BATCH_SIZE,
    CONFIG_WORKER_BATCH_LIMIT,
    CONFIG_WORKER_BATCH_BYTES,
    CONFIG_WORKER_LEASE,
    CONFIG_WORKER_POLL,
    CONFIG_WORKER_HANDLER_TIMEOUT,
    CONFIG_WORKER_GRACE,
    CONFIG_WORKER_MAINTAIN,
    CONFIG_WORKER_FAIL_UNHANDLED,
    CONFIG_WORKER_FANOUT,
    CONFIG_WORKER_STRATEGY,
    CONFIG_WORKER_FLUSH_INTERVAL,
    CONFIG_WORKER_FLUSH_SIZE,
    CONFIG_FLEET_DISCOVER,
    CONFIG_FLEET_QUERY,
    CONFIG_FLEET_REFRESH,
    CONFIG_FLEET_SELECT,
    CONFIG_FLEET_CONNECTIONS,
    CONFIG_FLEET_IDLE,
    CONFIG_FLEET_LOOK,
    CONFIG_BACKOFF_BASE,
    CONFIG_BACKOFF_FACTOR,
    CONFIG_BACKOFF_CAP,
    CONFIG_BACKOFF_JITTER,
    CONFIG_LOG_LEVEL,
    CONFIG_LOG_FORMAT,
    CONFIG_METRICS_LISTEN,
    CONFIG_SETTINGS /* how many there are */
};

struct config_setting {
    const char *section, *key, *help;
    struct {
        enum config_type type;
        const char *metavar; /* what the help calls its value */
        double min, max;
        double default_number;      /* NAN = none */
        const char *default_text;   /* of texts and choices; NULL = none */
        const char *const *choices; /* of CONFIG_CHOICE, ended by NULL */
        const char *without;        /* what holds when there is no value and no default */
        const char *example;        /* what the example file shows then */
    };
    const char *environment; /* its variable */
    const char *option;      /* its option on the command line; NULL = none */
    bool reloads;            /* SIGHUP applies a change; else it needs a restart */
};

extern const struct config_setting CONFIG_TABLE[CONFIG_SETTINGS];

/* Sections that are not in the table: [handlers], [inbox_handlers], [stores] and [backoff TOPIC]. The table
 * has [backoff]. */
#define CONFIG_HANDLERS "handlers"
#define CONFIG_INBOX_HANDLERS "inbox_handlers"
#define CONFIG_BACKOFF "backoff"
#define CONFIG_STORES "stores"

/* What is accepted: "100ms to 24h", "full or normal"; empty when anything is. */
#define CONFIG_RANGE_SIZE 80
void config_format_range(const struct config_setting *setting, char ret_text[CONFIG_RANGE_SIZE]);
/* The default as it is written in a file; empty = none. */
void config_format_default(const struct config_setting *setting, char ret_text[CONFIG_RANGE_SIZE]);

struct config_value {
    char *text;    /* NULL = no value: there is no default */
    double number; /* of everything but texts */
    char *from;    /* "boxcar.ini:3", "BOXCAR_LEASE", "--lease"; NULL = the default */
};

/* Checks `text` and complains under `label`, which is what people call the setting there. */
bool config_value_parse(const struct config_setting *setting, const char *label, const char *text,
                        struct complaints *complaints, double *ret_number);

struct config_handler {
    boxcar_box box;
    char *topic;
    char *action; /* "exec:COMMAND" or "discard" */
    char *from;
};

/* [stores]: a store of many. */
struct config_store {
    char *key, *url;
};

/* [backoff TOPIC]: the values it has; the others are those of [backoff]. */
enum { CONFIG_CURVE_KEYS = CONFIG_BACKOFF_JITTER - CONFIG_BACKOFF_BASE + 1 };
struct config_curve {
    char *topic;
    struct config_value values[CONFIG_CURVE_KEYS];
};

struct config {
    char *path; /* of the file; NULL = there is none */
    struct config_value values[CONFIG_SETTINGS];
    struct config_handler *handlers;
    size_t handler_count;
    struct config_curve *curves;
    size_t curve_count;
    struct config_store *stores;
    size_t store_count;
};

/* Which settings a command looks at. A file is always checked as a whole. */
enum config_scope { CONFIG_SCOPE_STORE_AND_LOG, CONFIG_SCOPE_ALL };

/* Handlers of the command line: the values of --handler and of --inbox-handler, each ended by NULL, or NULL.
 */
struct config_given {
    char **handlers[2]; /* by box */
};

/* Reads everything. Returns false when there were complaints; release *ret_config in any case.
 * `handlers` are those of the command line, or NULL. */
bool config_load(const char *path, enum config_scope scope, const struct config_given *given,
                 struct complaints *complaints, struct config *ret_config);
void config_release(struct config *config);
/* The file above the defaults, and nothing else. */
bool config_file_check(const char *path, struct complaints *complaints, struct config *ret_config);

/* Reads one file into `config` (file.c). */
bool config_file_read(const char *path, struct complaints *complaints, struct config *config);

/* Parts of the above: each takes copies and complains about what is wrong, of the value under `label`. */
bool config_put(struct config_value *value, enum config_id id, const char *label, const char *from,
                const char *text, struct complaints *complaints);
/* It comes from complaints->place. */
bool config_put_handler(struct config *config, boxcar_box box, const char *topic, const char *action,
                        struct complaints *complaints);

bool config_put_store(struct config *config, const char *key, const char *url, struct complaints *complaints);

/* Loads the configuration of this process into cli->config and what every command needs of it into
 * `cli`. Returns an enum cli_exit and has reported what is wrong. */
int config_apply(struct cli *cli, enum config_scope scope, const struct config_given *given);

/* What is asked most. */
static inline double config_number(const struct config *config, enum config_id id) {
    return config->values[id].number;
}
static inline const char *config_text(const struct config *config, enum config_id id) {
    return config->values[id].text;
}

/* Says so when the file holds a password and others may read it. */
void config_warn_of_password(const struct cli *cli, const struct config *config);

/* Options of a command made from the table, all that are not global ones. Writes them and the end
 * mark behind the `own_count` that `ret_options` begins with; there must be room for
 * own_count + CONFIG_OPTIONS. Calling it again changes nothing. */
enum { CONFIG_OPTIONS = CONFIG_SETTINGS + 1 };
void config_options(struct poptOption *ret_options, size_t own_count);
/* What was typed for a setting; NULL = nothing. */
const char *config_option_given(enum config_id id);

/* The forms of the table (print.c). */
void config_print_example(void);
void config_print_docs(void);
int config_print_values(const struct cli *cli, const struct config *config);

/* Checks the global options and writes them, and the settings that every command looks at, into `cli`.
 * Returns an enum cli_exit and has reported what is wrong. */
int option_apply_globals(struct cli *cli);

#endif
