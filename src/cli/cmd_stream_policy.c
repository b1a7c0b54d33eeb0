/* boxcar stream policy: what happens when a message of a stream dies. */
#include <string.h>

#include "commands.h"
#include "message_json.h"
#include "output.h"
#include "report.h"

static const char *const COLUMNS[] = {"pattern", "policy", NULL};

static json_t *rule_json(const boxcar_stream_rule *rule) {
    json_t *object = json_object();
    bool good = json_put(object, "pattern", json_from_str(rule->pattern)) &&
                json_put(object, "policy", json_string(boxcar_stream_policy_name(rule->policy)));
    return json_finish(object, good);
}

static bool is_prefix(boxcar_str pattern) { return pattern.len > 0 && pattern.data[pattern.len - 1] == '*'; }

/* How well a pattern fits a key, or another pattern; 0 = not at all. What is the same fits best. */
static size_t fit_of(boxcar_str pattern, boxcar_str key) {
    size_t length = is_prefix(pattern) ? pattern.len - 1 : pattern.len;
    if (pattern.len == key.len && memcmp(pattern.data, key.data, key.len) == 0)
        return SIZE_MAX;
    return is_prefix(pattern) && key.len >= length && memcmp(pattern.data, key.data, length) == 0 ? length + 1 : 0;
}

static const boxcar_stream_rule *deciding_rule(const boxcar_stream_rule_list *list, boxcar_str key) {
    const boxcar_stream_rule *best = NULL;
    for (size_t i = 0; i < boxcar_stream_rule_list_count(list); i++) {
        const boxcar_stream_rule *rule = boxcar_stream_rule_list_get(list, i);
        if (fit_of(rule->pattern, key) > (best ? fit_of(best->pattern, key) : 0))
            best = rule;
    }
    return best;
}

/* What counts for keys without a rule. */
static boxcar_status read_setting(struct cli *cli, boxcar_stream_policy *ret_policy, boxcar_error *err) {
    const boxcar_str name = BOXCAR_STR("stream_policy");
    boxcar_setting_list *list = NULL;
    boxcar_status status = boxcar_settings_read(cli->store, &list, err);
    for (size_t i = 0; i < boxcar_setting_list_count(list); i++) {
        const boxcar_setting *setting = boxcar_setting_list_get(list, i);
        if (setting->name.len == name.len && memcmp(setting->name.data, name.data, name.len) == 0)
            boxcar_stream_policy_parse(setting->value, ret_policy);
    }
    boxcar_setting_list_free(list);
    return status;
}

static int print_all(struct cli *cli, const boxcar_stream_rule_list *list) {
    struct output output;
    output_list_begin(&output, cli, CLI_FORMAT_TABLE, COLUMNS);
    for (size_t i = 0; i < boxcar_stream_rule_list_count(list); i++)
        if (!output_list_add(&output, rule_json(boxcar_stream_rule_list_get(list, i))))
            break;
    return output_list_end(&output, cli);
}

static int print_deciding(struct cli *cli, const boxcar_stream_rule_list *list, const char *key) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_stream_rule by_setting = {.policy = BOXCAR_STREAM_CONTINUE};
    const boxcar_stream_rule *rule = deciding_rule(list, boxcar_str_of(key));
    struct output output;
    if (!rule && read_setting(cli, &by_setting.policy, &err) != BOXCAR_OK)
        return cli_fail_with(cli, &err);
    output_list_begin(&output, cli, CLI_FORMAT_TABLE, COLUMNS);
    output_list_add(&output, rule_json(rule ? rule : &by_setting));
    return output_list_end(&output, cli);
}

/* All rules, or what counts for a key. */
static int show(struct cli *cli, const char *key) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_stream_rule_list *list = NULL;
    if (boxcar_stream_rules_read(cli->store, &list, &err) != BOXCAR_OK)
        return cli_fail_with(cli, &err);
    int result = key ? print_deciding(cli, list, key) : print_all(cli, list);
    boxcar_stream_rule_list_free(list);
    return result;
}

/* Keys may have one, so it is no error. */
static void note_star(const struct cli *cli, const char *pattern) {
    const char *star = strchr(pattern, '*');
    if (star && star[1])
        cli_note(cli, "only a * at the end stands for anything: the others stand for themselves");
}

static int change(struct cli *cli, const char *pattern, const char *word) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_stream_policy policy = BOXCAR_STREAM_CONTINUE;
    boxcar_str key = boxcar_str_of(pattern);
    boxcar_status status;
    if (strcmp(word, "default") == 0)
        status = boxcar_stream_rule_remove(cli->store, key, &err);
    else {
        boxcar_stream_policy_parse(boxcar_str_of(word), &policy);
        status = boxcar_stream_rule_write(cli->store, key, policy, &err);
    }
    if (status != BOXCAR_OK)
        return cli_fail_with(cli, &err);
    note_star(cli, pattern);
    return show(cli, NULL);
}

static int run(struct cli *cli, const char *const *args) {
    boxcar_stream_policy policy;
    const char *word = args[0] ? args[1] : NULL;
    if (!cli_args_at_most(cli, args, 2))
        return CLI_USAGE;
    if (word && strcmp(word, "default") != 0 && !boxcar_stream_policy_parse(boxcar_str_of(word), &policy))
        return cli_usage(cli, "the policy is '%.64s': give continue, halt or default", word);
    int result = cli_store_open(cli);
    if (result != CLI_DONE)
        return result;
    return word ? change(cli, args[0], word) : show(cli, args[0]);
}

const struct command CMD_STREAM_POLICY = {
    .name = "stream policy",
    .summary = "what streams do when a message dies",
    .usage = "[PATTERN continue|halt|default]\n"
             "KEY",
    .description =
        "Without arguments lists the rules. With a pattern and a policy sets the rule of that pattern;\n"
        "default removes it. A pattern is a key, or ends in * and stands for all keys that begin so (a *\n"
        "elsewhere stands for itself); the longest that matches decides, without any the setting\n"
        "stream_policy does (boxcar settings stream_policy halt). A change counts for messages that die from\n"
        "then on. Rules hold for both boxes. Prints the rules.\n"
        "\n"
        "With a key alone prints what counts for it: the rule that decides, or, without a pattern, the\n"
        "setting.\n",
    .examples = "boxcar stream policy\n"
                "boxcar stream policy 'order-*' halt\n"
                "boxcar stream policy order-42\n"
                "boxcar stream policy 'order-*' default\n",
    .run = run,
};
