/* The table of settings as an example file, as documentation, and with the values that count. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/output/message_json.h"
#include "cli/output/output.h"
#include "cli/output/redact.h"
#include "config.h"

static bool begins_section(size_t i) {
    return i == 0 || strcmp(CONFIG_TABLE[i].section, CONFIG_TABLE[i - 1].section) != 0;
}

/* ---- an example file ---- */

static void print_example_setting(const struct config_setting *setting) {
    char range[CONFIG_RANGE_SIZE], standard[CONFIG_RANGE_SIZE];
    config_format_range(setting, range);
    config_format_default(setting, standard);
    printf("\n# %s%s%s\n", setting->help, range[0] ? "; " : "", range);
    if (!standard[0])
        printf("# (without it: %s)\n", setting->without);
    printf("#%s = %s\n", setting->key, standard[0] ? standard : setting->example);
}

static const char EXAMPLE_HEAD[] =
    "# Configuration of boxcar, read with --config FILE or BOXCAR_CONFIG. Every setting is shown with its\n"
    "# default; take away the # in front of those you want to change. The command line wins over the\n"
    "# environment, the environment over this file. Comments have lines of their own.\n";

static const char EXAMPLE_TAIL[] =
    "\n"
    "# Other delays for some topics, exact or PREFIX*; what is missing is as in [backoff].\n"
    "#[backoff mail.*]\n"
    "#base = 10s\n"
    "#cap = 1h\n"
    "\n"
    "[handlers]\n"
    "\n"
    "# TOPIC = exec:COMMAND runs a program for each message, without a shell, the payload on standard "
    "input;\n"
    "# TOPIC = discard drops the messages. TOPIC is exact, or PREFIX*; the longest match wins.\n"
    "#orders.* = exec:/bin/cat\n"
    "#audit.page_seen = discard\n"
    "\n"
    "[inbox_handlers]\n"
    "\n"
    "# The same for messages of the inbox.\n"
    "#payments.* = exec:/bin/cat\n"
    "\n"
    "[stores]\n"
    "\n"
    "# KEY = URL: many stores instead of the one of [store]. KEY is a name for people and routers.\n"
    "#acme = sqlite:/var/lib/tenants/acme.db\n";

void config_print_example(void) {
    fputs(EXAMPLE_HEAD, stdout);
    for (size_t i = 0; i < CONFIG_SETTINGS; i++) {
        if (begins_section(i))
            printf("\n[%s]\n", CONFIG_TABLE[i].section);
        print_example_setting(&CONFIG_TABLE[i]);
    }
    fputs(EXAMPLE_TAIL, stdout);
}

/* ---- documentation ---- */

static void print_docs_row(const struct config_setting *setting) {
    char range[CONFIG_RANGE_SIZE], standard[CONFIG_RANGE_SIZE], option[64] = "";
    config_format_range(setting, range);
    config_format_default(setting, standard);
    const char *quote = standard[0] ? "`" : "";
    if (setting->option)
        snprintf(option, sizeof(option), "`--%s`", setting->option);
    printf("| `%s` | %s | %s%s%s | %s | `%s` | %s | %s |\n", setting->key, setting->help, quote,
           standard[0] ? standard : setting->without, quote, range, setting->environment, option,
           setting->reloads ? "yes" : "restart");
}

void config_print_docs(void) {
    for (size_t i = 0; i < CONFIG_SETTINGS; i++) {
        if (begins_section(i)) {
            printf("%s### [%s]\n\n", i ? "\n" : "", CONFIG_TABLE[i].section);
            printf("| key | meaning | default | accepted | variable | option | SIGHUP |\n"
                   "|---|---|---|---|---|---|---|\n");
        }
        print_docs_row(&CONFIG_TABLE[i]);
    }
}

/* ---- values ---- */

static const char *const COLUMNS[] = {"section", "key", "value", "from", NULL};

static bool add_row(struct output *output, const char *section, const char *key, const char *text,
                    const char *from) {
    json_t *row = json_object();
    AUTO_FREE char *open = text ? redact(text) : NULL;
    bool good = (open || !text) && json_put(row, "section", json_string(section)) &&
                json_put(row, "key", json_string(key)) && json_put_text(row, "value", boxcar_str_of(open)) &&
                json_put(row, "from", json_string(from ? from : "default"));
    return output_list_add(output, json_finish(row, good));
}

static bool add_curve(struct output *output, const struct config_curve *curve) {
    char *section = NULL;
    if (asprintf(&section, CONFIG_BACKOFF " %s", curve->topic) < 0)
        return output_list_add(output, NULL);
    bool good = true;
    for (size_t i = 0; good && i < CONFIG_CURVE_KEYS; i++) {
        const struct config_value *value = &curve->values[i];
        if (value->from)
            good =
                add_row(output, section, CONFIG_TABLE[CONFIG_BACKOFF_BASE + i].key, value->text, value->from);
    }
    free(section);
    return good;
}

int config_print_values(const struct cli *cli, const struct config *config) {
    struct output output;
    bool good = true;
    output_list_begin(&output, cli, CLI_FORMAT_TABLE, COLUMNS);
    for (size_t i = 0; good && i < CONFIG_SETTINGS; i++)
        good = add_row(&output, CONFIG_TABLE[i].section, CONFIG_TABLE[i].key, config->values[i].text,
                       config->values[i].from);
    for (size_t i = 0; good && i < config->store_count; i++)
        good = add_row(&output, CONFIG_STORES, config->stores[i].key, config->stores[i].url, config->path);
    for (size_t i = 0; good && i < config->curve_count; i++)
        good = add_curve(&output, &config->curves[i]);
    for (size_t i = 0; good && i < config->handler_count; i++) {
        const struct config_handler *handler = &config->handlers[i];
        const char *section = handler->box == BOXCAR_INBOX ? CONFIG_INBOX_HANDLERS : CONFIG_HANDLERS;
        good = add_row(&output, section, handler->topic, handler->action, handler->from);
    }
    return output_list_end(&output, cli);
}
