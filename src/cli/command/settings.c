/* boxcar settings: what the store keeps for every program that uses it. */
#include <stdio.h>
#include <string.h>

#include "cli/input/suggest.h"
#include "cli/output/message_json.h"
#include "cli/output/output.h"
#include "cli/output/report.h"
#include "commands.h"

static int reset;

static struct poptOption OPTIONS[] = {
    {"reset", 0, POPT_ARG_NONE, &reset, 0, "restore the default of NAME", NULL}, POPT_TABLEEND};

static const char *const COLUMNS[] = {"name", "value", "default", "help", NULL};

static json_t *setting_json(const boxcar_setting *setting) {
    json_t *object = json_object();
    bool good = json_put_text(object, "name", setting->name) &&
                json_put_text(object, "value", setting->value) &&
                json_put_text(object, "default", setting->default_value) &&
                json_put_text(object, "help", setting->help);
    return json_finish(object, good);
}

static int print_all(const struct cli *cli, const boxcar_setting_list *list) {
    struct output output;
    output_list_begin(&output, cli, CLI_FORMAT_TABLE, COLUMNS);
    for (size_t i = 0; i < list->count; i++)
        if (!output_list_add(&output, setting_json(list->items[i])))
            break;
    return output_list_end(&output, cli);
}

static int print_one(const struct cli *cli, const boxcar_setting *setting) {
    if (output_format(cli, CLI_FORMAT_TABLE) != CLI_FORMAT_TABLE)
        return output_object(cli, setting_json(setting));
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
    if (suggestion.best) {
        return cli_fail(cli, CLI_NOT_FOUND, "there is no setting '%.64s', did you mean '%s'?", name,
                        suggestion.best);
    }
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
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_setting_list *list = NULL;
    if (boxcar_setting_read(cli->store, &list, &err) != BOXCAR_OK)
        return cli_fail_with(cli, &err);
    const boxcar_setting *setting = name ? find(list, name) : NULL;
    int result = CLI_DONE;
    if (name && !setting)
        result = unknown(cli, list, name);
    else if (!check_only)
        result = setting ? print_one(cli, setting) : print_all(cli, list);
    boxcar_list_free(list);
    return result;
}

static int change(struct cli *cli, const char *name, const char *value) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    int result = show(cli, name, true);
    if (result != CLI_DONE)
        return result;
    if (boxcar_setting_write(cli->store, boxcar_str_of(name), boxcar_str_of(value), &err) != BOXCAR_OK)
        return cli_fail_with(cli, &err);
    return show(cli, name, false);
}

static int run(struct cli *cli, const char *const *args) {
    if (!cli_args_at_most(cli, args, 2))
        return CLI_USAGE;
    if (reset && (!args[0] || args[1]))
        return cli_usage(cli, "--reset needs the NAME of a setting and no VALUE");
    int result = cli_store_open(cli);
    if (result != CLI_DONE)
        return result;
    return args[0] && (args[1] || reset) ? change(cli, args[0], args[1]) : show(cli, args[0], false);
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
    .run = run,
};

const struct command_noun SETTINGS_COMMANDS = {"Set up",
                                               (const struct command *const[]){&CMD_SETTINGS, NULL}};
