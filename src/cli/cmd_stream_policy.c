/* boxcar stream policy: what happens when a message of a stream dies. */
#include <stdio.h>
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

static bool is_shown(const boxcar_stream_rule *rule, const char *pattern) {
    return !pattern || (rule->pattern.len == strlen(pattern) &&
                        memcmp(rule->pattern.data, pattern, rule->pattern.len) == 0);
}

/* All rules, or just that of a pattern. */
static int list_rules(struct cli *cli, const char *pattern) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_stream_rule_list *list = NULL;
    struct output output;
    if (boxcar_stream_rules_read(cli->store, &list, &err) != BOXCAR_OK)
        return cli_fail_with(cli, &err);
    output_list_begin(&output, cli, CLI_FORMAT_TABLE, COLUMNS);
    for (size_t i = 0; i < boxcar_stream_rule_list_count(list); i++) {
        const boxcar_stream_rule *rule = boxcar_stream_rule_list_get(list, i);
        if (is_shown(rule, pattern) && !output_list_add(&output, rule_json(rule)))
            break;
    }
    int result = output_list_end(&output, cli);
    boxcar_stream_rule_list_free(list);
    return result;
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
    return status == BOXCAR_OK ? list_rules(cli, NULL) : cli_fail_with(cli, &err);
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
    return word ? change(cli, args[0], word) : list_rules(cli, args[0]);
}

const struct command CMD_STREAM_POLICY = {
    .name = "stream policy",
    .summary = "what streams do when a message dies",
    .usage = "[PATTERN [continue|halt|default]]",
    .description =
        "Without arguments lists the rules. With a pattern and a policy sets the rule of that pattern; "
        "default\n"
        "removes it. A pattern is a key, or ends in * and stands for all keys that begin so; the longest "
        "that\n"
        "matches decides, without any the setting stream_policy does (boxcar settings stream_policy halt). "
        "A\n"
        "change counts for messages that die from then on. Rules hold for both boxes. Prints the rules.\n",
    .examples = "boxcar stream policy\n"
                "boxcar stream policy 'order-*' halt\n"
                "boxcar stream policy 'order-*' default\n",
    .run = run,
};
