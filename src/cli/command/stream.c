/* Streams: boxcar stream, stream ls, stream show, stream resume, stream skip and stream policy. */
#include <string.h>

#include "cli/output/text.h"
#include "common.h"

#define KEY_MISSING "KEY is missing: give the key of a stream, boxcar stream ls lists them"

static json_t *stream_row(const void *item) {
    const boxcar_stream *stream = item;
    bool has_head = stream->head.value > 0;
    json_t *object = json_object();
    bool good = json_put_text(object, "stream", stream->stream) &&
                json_put(object, "box", json_string(common_box_name(stream->box))) &&
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
    return common_with_subscription(json_finish(object, good));
}

/* ---- boxcar stream: the group of commands about streams ---- */

static const struct command CMD_STREAM = {
    .name = "stream",
    .summary = "streams: messages that are handled in order",
    .usage = "ls|show|resume|skip|policy",
    .description =
        "Messages enqueued with --stream KEY are handled one at a time, in the order of arrival. While a\n"
        "message waits for its retry, its stream waits. When a message dies, the policy of its stream\n"
        "decides: the stream continues, or it halts until you resume it. Each subscription has a place of\n"
        "its own in every stream: give --subscription.\n",
    .examples = "boxcar stream ls --halted\n"
                "boxcar stream policy 'order-*' halt\n"
                "boxcar stream resume order-42 --replay\n",
};

/* ---- boxcar stream ls: a page of streams ---- */

static int halted;
static char *prefix;

static struct poptOption LS_OPTIONS[] = {
    OPTION_FLAG("halted", halted, "only streams that are halted"),
    OPTION_TEXT("prefix", prefix, "only keys that begin with TEXT", "TEXT"),
    OPTION_LIMIT,
    OPTION_AFTER("start after the last key of a page", "KEY"),
    OPTIONS_READER,
    POPT_TABLEEND,
};

static const char *const LS_COLUMNS[] = {"stream",    "state",        "pending",   "head",
                                         "topic",     "available_at", "partition", "retry_count",
                                         "halted_by", "halted_at",    NULL};

static int run_ls(struct cli *cli) {
    AUTO_LIST boxcar_stream_list *list = NULL;
    boxcar_stream_filter filter = BOXCAR_STREAM_FILTER_INIT;
    filter.halted = halted;
    filter.prefix = boxcar_str_of(prefix);
    filter.after = boxcar_str_of(common_given.after);
    if (!common_check_reader(cli) || !value_count(cli, "--limit", common_given.limit, &filter.limit))
        return CLI_USAGE;
    TRY(common_open_reader(cli, &filter.box));
    TRY(cli_check(cli, boxcar_stream_page(cli->store, &filter, &list, &cli->err)));
    return common_print_list(cli, LS_COLUMNS, stream_row, list->items, list->count);
}

static const struct command CMD_STREAM_LS = {
    .name = "stream ls",
    .summary = "list streams by key",
    .usage = "[--halted] [--prefix TEXT] [--limit N] [--after KEY] [--box BOX|--subscription NAME]",
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

static int run_show(struct cli *cli) {
    AUTO_LIST boxcar_stream_list *list = NULL;
    boxcar_box reader;
    TRY(common_open_reader(cli, &reader));
    TRY(cli_check(cli,
                  boxcar_stream_find(cli->store, reader, boxcar_str_of(cli->args[0]), &list, &cli->err)));
    return output_object(cli, stream_row(list->items[0]));
}

static const struct command CMD_STREAM_SHOW = {
    .name = "stream show",
    .summary = "show a stream",
    .usage = "KEY [--box BOX|--subscription NAME]",
    .description =
        "Shows all fields of a stream. If it has no unfinished message and is not halted, it is not found\n"
        "(exit status 3).\n",
    .examples = "boxcar stream show order-42\n"
                "boxcar stream show order-42 -o json\n",
    .options = COMMON_READER_OPTIONS,
    .missing = KEY_MISSING,
    .most_args = 1,
    .run = run_show,
};

/* ---- boxcar stream resume: lets a halted stream go on ---- */

static int replay;

static struct poptOption RESUME_OPTIONS[] = {
    OPTION_FLAG("replay", replay, "begin with the message that halted it"),
    OPTIONS_READER,
    POPT_TABLEEND,
};

static int run_resume(struct cli *cli) {
    boxcar_str key = boxcar_str_of(cli->args[0]);
    boxcar_box reader;
    TRY(common_open_reader(cli, &reader));
    TRY(cli_check(cli, boxcar_stream_resume(cli->store, reader, key, replay, &cli->err)));
    AUTO_FREE char *text = text_printable(key, NULL);
    if (!text)
        return cli_no_memory(cli);
    return common_print_word(cli, text, json_pack("{s:s%}", "stream", key.data, key.len));
}

static const struct command CMD_STREAM_RESUME = {
    .name = "stream resume",
    .summary = "let a halted stream go on",
    .usage = "KEY [--replay] [--box BOX|--subscription NAME]",
    .description =
        "The stream continues after the message that halted it; that message stays a dead letter. With\n"
        "--replay the stream continues with that message, whose attempts start anew; boxcar dead replay of\n"
        "the message does the same. If the stream is not halted, the exit status is 4 (conflict). If it\n"
        "does not exist, or --replay is given and the dead letter was purged, it is 3 (not found). Prints\n"
        "the key; with -o json {\"stream\": ...}.\n",
    .examples = "boxcar stream resume order-42\n"
                "boxcar stream resume order-42 --replay\n",
    .options = RESUME_OPTIONS,
    .missing = KEY_MISSING,
    .most_args = 1,
    .run = run_resume,
};

/* ---- boxcar stream skip: gives up on the next message of a stream ---- */

static int run_skip(struct cli *cli) {
    boxcar_work_id work_id;
    boxcar_box reader;
    TRY(common_open_reader(cli, &reader));
    TRY(cli_check(cli,
                  boxcar_stream_skip(cli->store, reader, boxcar_str_of(cli->args[0]), &work_id, &cli->err)));
    return output_count(cli, "work_id", work_id.value);
}

static const struct command CMD_STREAM_SKIP = {
    .name = "stream skip",
    .summary = "give up on the next message of a stream",
    .usage = "KEY [--box BOX|--subscription NAME]",
    .description =
        "The next message becomes a dead letter (reason cancelled), and the stream continues after it,\n"
        "whatever its policy. A halted stream is only resumed, because the message that halted it is dead\n"
        "already. Prints the work id of the skipped message; with -o json {\"work_id\": ...}. If a message\n"
        "of the stream is in progress, the exit status is 4 (conflict); if the stream has no message, 3\n"
        "(not found).\n",
    .examples = "boxcar stream skip order-42\n",
    .options = COMMON_READER_OPTIONS,
    .missing = KEY_MISSING,
    .most_args = 1,
    .run = run_skip,
};

/* ---- boxcar stream policy: what happens when a message of a stream dies ---- */

static const char *const POLICY_COLUMNS[] = {"pattern", "policy", NULL};

static json_t *rule_row(const void *item) {
    const boxcar_stream_rule *rule = item;
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
static int read_setting(struct cli *cli, boxcar_stream_policy *ret_policy) {
    const boxcar_str name = BOXCAR_STR("stream_policy");
    AUTO_LIST boxcar_setting_list *list = NULL;
    TRY(cli_check(cli, boxcar_setting_read(cli->store, &list, &cli->err)));
    for (size_t i = 0; i < list->count; i++) {
        const boxcar_setting *setting = list->items[i];
        if (setting->name.len == name.len && memcmp(setting->name.data, name.data, name.len) == 0)
            VALUE_NAMED(setting->value.data, boxcar_stream_policy_name, ret_policy);
    }
    return CLI_DONE;
}

/* All rules, or what counts for a key. */
static int show(struct cli *cli, const char *key) {
    AUTO_LIST boxcar_stream_rule_list *list = NULL;
    boxcar_stream_rule by_setting = {.policy = BOXCAR_STREAM_CONTINUE};
    TRY(cli_check(cli, boxcar_stream_rule_read(cli->store, &list, &cli->err)));
    if (!key)
        return common_print_list(cli, POLICY_COLUMNS, rule_row, list->items, list->count);
    const boxcar_stream_rule *rule = deciding_rule(list, boxcar_str_of(key));
    if (!rule) {
        TRY(read_setting(cli, &by_setting.policy));
        rule = &by_setting;
    }
    return common_print_list(cli, POLICY_COLUMNS, rule_row, &rule, 1);
}

/* Keys may have one, so it is no error. */
static void note_star(const struct cli *cli, const char *pattern) {
    const char *star = strchr(pattern, '*');
    if (star && star[1])
        cli_note(cli, "only a * at the end stands for anything: the others stand for themselves");
}

static int run_policy(struct cli *cli) {
    const char *pattern = cli->args[0], *word = pattern ? cli->args[1] : NULL;
    boxcar_stream_policy policy = BOXCAR_STREAM_DEFAULT;
    if (word && strcmp(word, "default") != 0 && !VALUE_NAMED(word, boxcar_stream_policy_name, &policy))
        return cli_usage(cli, "the policy is '%.64s': give continue, halt or default", word);
    TRY(cli_store_open(cli));
    if (!word)
        return show(cli, pattern);
    TRY(cli_check(cli, boxcar_stream_rule_write(cli->store, boxcar_str_of(pattern), policy, &cli->err)));
    note_star(cli, pattern);
    return show(cli, NULL);
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
    .most_args = 2,
    .run = run_policy,
};

const struct command_noun STREAM_COMMANDS = {
    "Streams",
    (const struct command *const[]){&CMD_STREAM, &CMD_STREAM_LS, &CMD_STREAM_SHOW, &CMD_STREAM_RESUME,
                                    &CMD_STREAM_SKIP, &CMD_STREAM_POLICY, NULL}};
