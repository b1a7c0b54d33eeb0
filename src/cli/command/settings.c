/* boxcar settings: what the store keeps for every program that uses it. */
#include <stdio.h>
#include <string.h>

#include "cli/input/suggest.h"
#include "common.h"

static int reset;

static struct poptOption OPTIONS[] = {
    OPTION_FLAG("reset", reset, "restore the default of NAME"),
    POPT_TABLEEND,
};

static const char *const COLUMNS[] = {"name", "value", "default", "help", NULL};

static json_t *setting_row(const void *item) {
    const boxcar_setting *setting = item;
    json_t *object = json_object();
    bool good = json_put_text(object, "name", setting->name) &&
                json_put_text(object, "value", setting->value) &&
                json_put_text(object, "default", setting->default_value) &&
                json_put_text(object, "help", setting->help);
    return json_finish(object, good);
}

static int print_one(const struct cli *cli, const boxcar_setting *setting) {
    if (!cli_is_for_people(cli))
        return output_object(cli, setting_row(setting));
    printf("%.*s\n", (int)setting->value.len, setting->value.data);
    return CLI_DONE;
}

static int unknown(const struct cli *cli, const boxcar_setting_list *list, const char *name) {
    struct suggestion suggestion = {.typed = name};
    char names[16][64];
    for (size_t i = 0; i < list->count && i < 16; i++) {
        const boxcar_setting *setting = list->items[i];
        snprintf(names[i], sizeof(names[i]), "%.*s", (int)setting->name.len, setting->name.data);
        suggest_consider(&suggestion, names[i]);
    }
    if (suggestion.best)
        return cli_fail(cli, CLI_NOT_FOUND, "there is no setting '%.64s', did you mean '%s'?", name,
                        suggestion.best);
    return cli_fail(cli, CLI_NOT_FOUND, "there is no setting '%.64s': boxcar settings lists them", name);
}

static const boxcar_setting *find(const boxcar_setting_list *list, const char *name) {
    for (size_t i = 0; i < list->count; i++) {
        const boxcar_setting *setting = list->items[i];
        if (setting->name.len == strlen(name) && memcmp(setting->name.data, name, setting->name.len) == 0)
            return setting;
    }
    return NULL;
}

/* Prints all settings, or the one that is named; `check_only` prints nothing. */
static int show(struct cli *cli, const char *name, bool check_only) {
    AUTO_LIST boxcar_setting_list *list = NULL;
    TRY(cli_check(cli, boxcar_setting_read(cli->store, &list, &cli->err)));
    const boxcar_setting *setting = name ? find(list, name) : NULL;
    if (name && !setting)
        return unknown(cli, list, name);
    if (check_only)
        return CLI_DONE;
    return setting ? print_one(cli, setting)
                   : common_print_list(cli, COLUMNS, setting_row, list->items, list->count);
}

static int run(struct cli *cli) {
    const char *name = cli->args[0], *value = name ? cli->args[1] : NULL;
    if (reset && (!name || value))
        return cli_usage(cli, "--reset needs the NAME of a setting and no VALUE");
    TRY(cli_store_open(cli));
    if (value || reset) {
        TRY(show(cli, name, true));
        TRY(cli_check(
            cli, boxcar_setting_write(cli->store, boxcar_str_of(name), boxcar_str_of(value), &cli->err)));
    }
    return show(cli, name, false);
}

static const struct command CMD_SETTINGS = {
    .name = "settings",
    .summary = "show or change what the store keeps for all programs",
    .usage = "[NAME [VALUE]]\n"
             "NAME --reset",
    .description =
        "Without arguments lists all settings; with NAME prints its value; with VALUE changes it and\n"
        "prints the new value. With -o json an object (or an array of them) with name, value,\n"
        "default and help.\n",
    .examples = "boxcar settings\n"
                "boxcar settings max_attempts\n"
                "boxcar settings retention_done 14d\n"
                "boxcar settings retention_done --reset\n",
    .options = OPTIONS,
    .most_args = 2,
    .run = run,
};

const struct command_noun SETTINGS_COMMANDS = {"Set up",
                                               (const struct command *const[]){&CMD_SETTINGS, NULL}};
