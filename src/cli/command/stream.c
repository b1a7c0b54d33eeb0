/* Streams: boxcar stream, stream ls, stream show, stream resume, stream skip and stream policy. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "cli/input/options.h"
#include "cli/input/values.h"
#include "cli/output/message_json.h"
#include "cli/output/output.h"
#include "cli/output/report.h"
#include "cli/output/text.h"
#include "commands.h"

/* KEY and --box, for a command with no other arguments. On a bad or missing one it has reported it and
 * returns false. */
static bool stream_key_read(struct cli *cli, const char *const *args, const char *box_name,
                            boxcar_box *ret_box, boxcar_str *ret_key) {
    *ret_box = BOXCAR_OUTBOX;
    if (!args[0]) {
        cli_usage(cli, "KEY is missing: give the key of a stream, boxcar stream ls lists them");
        return false;
    }
    *ret_key = boxcar_str_of(args[0]);
    return cli_args_at_most(cli, args, 1) && value_box(cli, box_name, ret_box);
}

/* NULL = out of memory. */
static json_t *stream_json(const boxcar_stream *stream) {
    bool has_head = stream->head.value > 0;
    json_t *object = json_object();
    bool good = json_put_text(object, "stream", stream->stream) &&
                json_put(object, "box", json_string(boxcar_box_name(stream->box))) &&
                json_put(object, "state", json_string(boxcar_stream_state_name(stream->state))) &&
                json_put(object, "partition", json_integer(stream->partition)) &&
                json_put(object, "pending", json_integer(stream->pending)) &&
                json_put(object, "head", json_from_number(stream->head.value)) &&
                json_put_text(object, "topic", has_head ? stream->topic : BOXCAR_NO_STR) &&
                json_put(object, "available_at", json_from_time(stream->available_at)) &&
                json_put(object, "retry_count", has_head ? json_integer(stream->retry_count) : json_null()) &&
                json_put(object, "owner", json_from_owner(stream->owner)) &&
                json_put(object, "halted_at", json_from_time(stream->halted_at)) &&
                json_put(object, "halted_by", json_from_number(stream->halted_by.value));
    return json_finish(object, good);
}

/* ---- boxcar stream: the group of commands about streams ---- */

static int run_stream(struct cli *cli, const char *const *args) {
    (void)args;
    return cli_usage(cli, "no command given: give ls, show, resume, skip or policy");
}

static const struct command CMD_STREAM = {
    .name = "stream",
    .summary = "streams: messages that are handled in order",
    .usage = "ls|show|resume|skip|policy",
    .description =
        "Messages enqueued with --stream KEY are handled one at a time, in the order of arrival. While a\n"
        "message waits for its retry, its stream waits. When a message dies, the policy of its stream\n"
        "decides: the stream continues, or it halts until you resume it.\n",
    .examples = "boxcar stream ls --halted\n"
                "boxcar stream policy 'order-*' halt\n"
                "boxcar stream resume order-42 --replay\n",
    .run = run_stream,
};

/* ---- boxcar stream ls: a page of streams ---- */

static struct {
    int halted;
    char *prefix, *limit, *after, *box;
} ls_given;

static struct poptOption LS_OPTIONS[] = {
    {"halted", 0, POPT_ARG_NONE, &ls_given.halted, 0, "only streams that are halted", NULL},
    {"prefix", 0, POPT_ARG_STRING, &ls_given.prefix, 0, "only keys that begin with TEXT", "TEXT"},
    {"limit", 0, POPT_ARG_STRING, &ls_given.limit, 0, "how many, 1 to 10000 (default 50)", "N"},
    {"after", 0, POPT_ARG_STRING, &ls_given.after, 0, "start after the last key of a page", "KEY"},
    OPTION_BOX(ls_given.box),
    POPT_TABLEEND};

static const char *const LS_COLUMNS[] = {"stream",    "state",        "pending",   "head",
                                         "topic",     "available_at", "partition", "retry_count",
                                         "halted_by", "halted_at",    NULL};

static int print_ls(const struct cli *cli, const boxcar_stream_list *list) {
    struct output output;
    output_list_begin(&output, cli, CLI_FORMAT_TABLE, LS_COLUMNS);
    for (size_t i = 0; i < list->count; i++)
        if (!output_list_add(&output, stream_json(list->items[i])))
            break;
    return output_list_end(&output, cli);
}

static int list_page(struct cli *cli, const boxcar_stream_filter *filter) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_stream_list *list = NULL;
    int result = cli_store_open(cli);
    if (result != CLI_DONE)
        return result;
    if (boxcar_stream_page(cli->store, filter, &list, &err) != BOXCAR_OK)
        return cli_fail_with(cli, &err);
    result = print_ls(cli, list);
    boxcar_list_free(list);
    return result;
}

static int run_ls(struct cli *cli, const char *const *args) {
    boxcar_stream_filter filter = BOXCAR_STREAM_FILTER_INIT;
    filter.halted = ls_given.halted;
    filter.prefix = boxcar_str_of(ls_given.prefix);
    filter.after = boxcar_str_of(ls_given.after);
    if (!cli_args_at_most(cli, args, 0) || !value_box(cli, ls_given.box, &filter.box) ||
        !value_count(cli, "--limit", ls_given.limit, &filter.limit))
        return CLI_USAGE;
    return list_page(cli, &filter);
}

static const struct command CMD_STREAM_LS = {
    .name = "stream ls",
    .summary = "list streams by key",
    .usage = "[--halted] [--prefix TEXT] [--limit N] [--after KEY] [--box BOX]",
    .description =
        "One page of the streams that have unfinished messages or are halted, in the order of their keys.\n"
        "The state is ready (the next message can be claimed), waiting (the next message is due later),\n"
        "in_progress or halted. head is the next message; pending is counted up to 1000. For the next page\n"
        "give the last key of this one to --after. With -o json an array, with -o jsonl one object a line.\n",
    .examples = "boxcar stream ls\n"
                "boxcar stream ls --halted\n"
                "boxcar stream ls --prefix order- --limit 1000 -o jsonl\n",
    .options = LS_OPTIONS,
    .run = run_ls,
};

/* ---- boxcar stream show: one stream ---- */

static struct { char *box; } show_given;

static struct poptOption SHOW_OPTIONS[] = {OPTION_BOX(show_given.box), POPT_TABLEEND};

static int run_show(struct cli *cli, const char *const *args) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_stream_list *list = NULL;
    boxcar_box box;
    boxcar_str key;
    if (!stream_key_read(cli, args, show_given.box, &box, &key))
        return CLI_USAGE;
    int result = cli_store_open(cli);
    if (result != CLI_DONE)
        return result;
    if (boxcar_stream_find(cli->store, box, key, &list, &err) != BOXCAR_OK)
        return cli_fail_with(cli, &err);
    result = output_object(cli, stream_json(list->items[0]));
    boxcar_list_free(list);
    return result;
}

static const struct command CMD_STREAM_SHOW = {
    .name = "stream show",
    .summary = "show a stream",
    .usage = "KEY [--box BOX]",
    .description =
        "Shows all fields of a stream. If it has no unfinished message and is not halted, it is not found\n"
        "(exit status 3).\n",
    .examples = "boxcar stream show order-42\n"
                "boxcar stream show order-42 -o json\n",
    .options = SHOW_OPTIONS,
    .run = run_show,
};

/* ---- boxcar stream resume: lets a halted stream go on ---- */

static struct {
    int replay;
    char *box;
} resume_given;

static struct poptOption RESUME_OPTIONS[] = {
    {"replay", 0, POPT_ARG_NONE, &resume_given.replay, 0, "begin with the message that halted it", NULL},
    OPTION_BOX(resume_given.box),
    POPT_TABLEEND};

static int print_resume(const struct cli *cli, boxcar_str key) {
    if (output_format(cli, CLI_FORMAT_TABLE) != CLI_FORMAT_TABLE)
        return output_object(cli, json_pack("{s:s%}", "stream", key.data, key.len));
    char *text = text_printable(key, NULL);
    if (!text)
        return cli_no_memory(cli);
    puts(text);
    free(text);
    return CLI_DONE;
}

static int run_resume(struct cli *cli, const char *const *args) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_box box;
    boxcar_str key;
    if (!stream_key_read(cli, args, resume_given.box, &box, &key))
        return CLI_USAGE;
    int result = cli_store_open(cli);
    if (result != CLI_DONE)
        return result;
    if (boxcar_stream_resume(cli->store, box, key, resume_given.replay, &err) != BOXCAR_OK)
        return cli_fail_with(cli, &err);
    return print_resume(cli, key);
}

static const struct command CMD_STREAM_RESUME = {
    .name = "stream resume",
    .summary = "let a halted stream go on",
    .usage = "KEY [--replay] [--box BOX]",
    .description =
        "The stream continues after the message that halted it; that message stays a dead letter. With\n"
        "--replay the stream continues with that message, whose attempts start anew; boxcar dead replay of\n"
        "the message does the same. If the stream is not halted, the exit status is 4 (conflict). If it\n"
        "does not exist, or --replay is given and the dead letter was purged, it is 3 (not found). Prints\n"
        "the key; with -o json {\"stream\": ...}.\n",
    .examples = "boxcar stream resume order-42\n"
                "boxcar stream resume order-42 --replay\n",
    .options = RESUME_OPTIONS,
    .run = run_resume,
};

/* ---- boxcar stream skip: gives up on the next message of a stream ---- */

static struct { char *box; } skip_given;

static struct poptOption SKIP_OPTIONS[] = {OPTION_BOX(skip_given.box), POPT_TABLEEND};

static int run_skip(struct cli *cli, const char *const *args) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_work_id work_id;
    boxcar_box box;
    boxcar_str key;
    if (!stream_key_read(cli, args, skip_given.box, &box, &key))
        return CLI_USAGE;
    int result = cli_store_open(cli);
    if (result != CLI_DONE)
        return result;
    if (boxcar_stream_skip(cli->store, box, key, &work_id, &err) != BOXCAR_OK)
        return cli_fail_with(cli, &err);
    return output_count(cli, "work_id", work_id.value);
}

static const struct command CMD_STREAM_SKIP = {
    .name = "stream skip",
    .summary = "give up on the next message of a stream",
    .usage = "KEY [--box BOX]",
    .description =
        "The next message becomes a dead letter (reason cancelled), and the stream continues after it,\n"
        "whatever its policy. A halted stream is only resumed, because the message that halted it is dead\n"
        "already. Prints the work id of the skipped message; with -o json {\"work_id\": ...}. If a message\n"
        "of the stream is in progress, the exit status is 4 (conflict); if the stream has no message, 3\n"
        "(not found).\n",
    .examples = "boxcar stream skip order-42\n",
    .options = SKIP_OPTIONS,
    .run = run_skip,
};

/* ---- boxcar stream policy: what happens when a message of a stream dies ---- */

static const char *const POLICY_COLUMNS[] = {"pattern", "policy", NULL};

static json_t *rule_json(const boxcar_stream_rule *rule) {
    json_t *object = json_object();
    bool good = json_put_text(object, "pattern", rule->pattern) &&
                json_put(object, "policy", json_string(boxcar_stream_policy_name(rule->policy)));
    return json_finish(object, good);
}

static bool is_prefix(boxcar_str pattern) { return pattern.len > 0 && pattern.data[pattern.len - 1] == '*'; }

/* How well a pattern fits a key, or another pattern; 0 = not at all. What is the same fits best. */
static size_t fit_of(boxcar_str pattern, boxcar_str key) {
    size_t length = is_prefix(pattern) ? pattern.len - 1 : pattern.len;
    if (pattern.len == key.len && memcmp(pattern.data, key.data, key.len) == 0)
        return SIZE_MAX;
    return is_prefix(pattern) && key.len >= length && memcmp(pattern.data, key.data, length) == 0 ? length + 1
                                                                                                  : 0;
}

static const boxcar_stream_rule *deciding_rule(const boxcar_stream_rule_list *list, boxcar_str key) {
    const boxcar_stream_rule *best = NULL;
    for (size_t i = 0; i < list->count; i++) {
        const boxcar_stream_rule *rule = list->items[i];
        if (fit_of(rule->pattern, key) > (best ? fit_of(best->pattern, key) : 0))
            best = rule;
    }
    return best;
}

/* What counts for keys without a rule. */
static boxcar_status read_setting(struct cli *cli, boxcar_stream_policy *ret_policy, boxcar_error *err) {
    const boxcar_str name = BOXCAR_STR("stream_policy");
    boxcar_setting_list *list = NULL;
    boxcar_status status = boxcar_setting_read(cli->store, &list, err);
    for (size_t i = 0; status == BOXCAR_OK && i < list->count; i++) {
        const boxcar_setting *setting = list->items[i];
        if (setting->name.len == name.len && memcmp(setting->name.data, name.data, name.len) == 0)
            VALUE_NAMED(setting->value.data, boxcar_stream_policy_name, ret_policy);
    }
    boxcar_list_free(list);
    return status;
}

static int print_all(struct cli *cli, const boxcar_stream_rule_list *list) {
    struct output output;
    output_list_begin(&output, cli, CLI_FORMAT_TABLE, POLICY_COLUMNS);
    for (size_t i = 0; i < list->count; i++)
        if (!output_list_add(&output, rule_json(list->items[i])))
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
    output_list_begin(&output, cli, CLI_FORMAT_TABLE, POLICY_COLUMNS);
    output_list_add(&output, rule_json(rule ? rule : &by_setting));
    return output_list_end(&output, cli);
}

/* All rules, or what counts for a key. */
static int show(struct cli *cli, const char *key) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_stream_rule_list *list = NULL;
    if (boxcar_stream_rule_read(cli->store, &list, &err) != BOXCAR_OK)
        return cli_fail_with(cli, &err);
    int result = key ? print_deciding(cli, list, key) : print_all(cli, list);
    boxcar_list_free(list);
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
    boxcar_stream_policy policy = BOXCAR_STREAM_DEFAULT;
    VALUE_NAMED(word, boxcar_stream_policy_name, &policy);
    if (boxcar_stream_rule_write(cli->store, boxcar_str_of(pattern), policy, &err) != BOXCAR_OK)
        return cli_fail_with(cli, &err);
    note_star(cli, pattern);
    return show(cli, NULL);
}

static int run_policy(struct cli *cli, const char *const *args) {
    boxcar_stream_policy policy;
    const char *word = args[0] ? args[1] : NULL;
    if (!cli_args_at_most(cli, args, 2))
        return CLI_USAGE;
    if (word && strcmp(word, "default") != 0 && !VALUE_NAMED(word, boxcar_stream_policy_name, &policy))
        return cli_usage(cli, "the policy is '%.64s': give continue, halt or default", word);
    int result = cli_store_open(cli);
    if (result != CLI_DONE)
        return result;
    return word ? change(cli, args[0], word) : show(cli, args[0]);
}

static const struct command CMD_STREAM_POLICY = {
    .name = "stream policy",
    .summary = "what streams do when a message dies",
    .usage = "[PATTERN continue|halt|default]\n"
             "KEY",
    .description =
        "Without arguments lists the rules. With a pattern and a policy sets the rule of that pattern;\n"
        "default removes it. A pattern is a key, or a prefix that ends in * (a * elsewhere has no special\n"
        "meaning). The longest match decides; without a match the setting stream_policy does (boxcar\n"
        "settings stream_policy halt). A change counts for messages that die after it. Rules hold for both\n"
        "boxes. Prints the rules.\n"
        "\n"
        "With only a key prints the policy of that stream: the rule that decides, or the setting without a\n"
        "pattern.\n",
    .examples = "boxcar stream policy\n"
                "boxcar stream policy 'order-*' halt\n"
                "boxcar stream policy order-42\n"
                "boxcar stream policy 'order-*' default\n",
    .run = run_policy,
};

const struct command_noun STREAM_COMMANDS = {
    "Streams",
    (const struct command *const[]){&CMD_STREAM, &CMD_STREAM_LS, &CMD_STREAM_SHOW, &CMD_STREAM_RESUME,
                                    &CMD_STREAM_SKIP, &CMD_STREAM_POLICY, NULL}};
