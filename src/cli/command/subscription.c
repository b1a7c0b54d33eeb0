/* Further readers of a box: boxcar subscription, subscription add, ls, show, pause, resume, change, rewind
 * and rm. */
#include <math.h>

#include "cli/output/text.h"
#include "common.h"

#define NAME_MISSING "NAME is missing: give the name of a subscription, boxcar subscription ls lists them"

/* Each command has some of these options. */
static struct {
    char *from, *to, *max_lag;
    int only, force;
} given;

static boxcar_str name_of(const struct cli *cli) { return boxcar_str_of(cli->args[0]); }

/* What changes a subscription prints its name. */
static int print_name(const struct cli *cli) {
    boxcar_str name = name_of(cli);
    AUTO_FREE char *text = text_printable(name, NULL);
    if (!text)
        return cli_no_memory(cli);
    return common_print_word(cli, text, json_pack("{s:s%}", "subscription", name.data, name.len));
}

/* ---- a subscription as a row ---- */

/* 0 = there is none. */
static json_t *seconds_or_null(int64_t ms) {
    if (ms == 0)
        return json_null();
    return ms % 1000 == 0 ? json_integer(ms / 1000) : json_real((double)ms / 1000);
}

static bool put_rules(json_t *object, const boxcar_subscription *subscription) {
    bool is_paused = subscription->paused_at != BOXCAR_TIME_NONE;
    return json_put_text(object, "name", subscription->name) &&
           json_put(object, "box", json_string(boxcar_box_name(subscription->box))) &&
           json_put(object, "patterns",
                    common_texts_json(subscription->patterns, subscription->pattern_count)) &&
           json_put(object, "only", json_boolean(subscription->only)) &&
           json_put(object, "status", json_string(is_paused ? "paused" : "running")) &&
           json_put(object, "created_at", json_from_time(subscription->created_at)) &&
           json_put_text(object, "start_at", subscription->start_at) &&
           json_put(object, "number", json_integer(subscription->reader));
}

static bool put_numbers(json_t *object, const boxcar_subscription *subscription) {
    double lag = round(subscription->lag_seconds * 1e6) / 1e6;
    return json_put(object, "ready", json_integer(subscription->ready)) &&
           json_put(object, "in_progress", json_integer(subscription->in_progress)) &&
           json_put(object, "failed", json_integer(subscription->failed)) &&
           json_put(object, "oldest_unread_at", json_from_time(subscription->oldest_unread_at)) &&
           json_put(object, "lag_seconds", json_real(lag)) &&
           json_put(object, "held_messages", json_integer(subscription->held_messages)) &&
           json_put(object, "max_lag_seconds", seconds_or_null(subscription->max_lag_ms)) &&
           json_put(object, "max_lag_count", json_from_number(subscription->max_lag_count)) &&
           json_put(object, "paused_at", json_from_time(subscription->paused_at)) &&
           json_put(object, "rewound_at", json_from_time(subscription->rewound_at));
}

/* null: it is no policy's. */
static bool put_destinations(json_t *object, const boxcar_subscription *subscription) {
    json_t *destinations =
        subscription->destination_count > 0
            ? common_texts_json(subscription->destinations, subscription->destination_count)
            : json_null();
    return json_put(object, "destinations", destinations) &&
           json_put_text(object, "then_topic", subscription->then_topic) &&
           json_put_text(object, "else_topic", subscription->else_topic);
}

static json_t *subscription_row(const void *item) {
    json_t *object = json_object();
    return json_finish(object, put_rules(object, item) && put_numbers(object, item) &&
                                   put_destinations(object, item));
}

/* ---- boxcar subscription: the group ---- */

static const struct command CMD_SUBSCRIPTION = {
    .name = "subscription",
    .summary = "further readers of a box, with messages of their own choice",
    .usage = "add|ls|show|pause|resume|change|rewind|rm",
    .description =
        "A subscription is a named reader of the outbox or the inbox. It gets each message whose topic\n"
        "matches its patterns, besides the main reader, with retries, order, halts and dead letters of its\n"
        "own. Nothing is copied, and enqueue does nothing for it. Commands that look at messages or settle\n"
        "them take --subscription NAME, as boxcar worker does. See docs/subscriptions.md.\n",
    .examples = "boxcar subscription ls\n"
                "boxcar help subscription add\n",
};

/* ---- boxcar subscription add ---- */

#define OPTION_MAX_LAG                                                                                       \
    OPTION_TEXT("max-lag", given.max_lag,                                                                    \
                "lose the oldest unread messages beyond this age or number (default never)", "DUR|N")

static struct poptOption ADD_OPTIONS[] = {
    OPTION_TEXT("from", given.from, "where it starts: end (default), beginning, or a time", "PLACE"),
    OPTION_FLAG("only", given.only, "the main reader no longer gets these topics"),
    OPTION_BOX,
    OPTION_MAX_LAG,
    POPT_TABLEEND,
};

/* Digits alone are a number of messages. */
static bool read_max_lag(const struct cli *cli, int64_t *ret_ms, int64_t *ret_count) {
    int64_t count;
    if (!given.max_lag)
        return true;
    if (!value_parse_integer(given.max_lag, &count))
        return value_duration(cli, "--max-lag", given.max_lag, BOXCAR_MAX_LAG_MS_MIN, BOXCAR_MAX_LAG_MS_MAX,
                              ret_ms);
    if (count < 1)
        return cli_refuse(cli, "--max-lag is %.64s: give a number from 1 on, or a duration such as 7d",
                          given.max_lag);
    *ret_count = count;
    return true;
}

static int run_add(struct cli *cli) {
    boxcar_new_subscription subscription = BOXCAR_NEW_SUBSCRIPTION_INIT;
    subscription.name = name_of(cli);
    subscription.only = given.only;
    if (!cli->args[1])
        return cli_usage(cli, "PATTERN is missing: give topics, PREFIX*, or * for every topic");
    if (!value_box(cli, common_given.box, &subscription.box) ||
        !value_start(cli, given.from, &subscription.start, &subscription.start_time) ||
        !read_max_lag(cli, &subscription.max_lag_ms, &subscription.max_lag_count))
        return CLI_USAGE;
    AUTO_FREE boxcar_str *patterns = common_texts((char *const *)&cli->args[1], &subscription.pattern_count);
    if (!patterns)
        return cli_no_memory(cli);
    subscription.patterns = patterns;
    TRY(cli_store_open(cli));
    TRY(cli_check(cli, boxcar_subscription_add(cli->store, &subscription, NULL, &cli->err)));
    return print_name(cli);
}

static const struct command CMD_SUBSCRIPTION_ADD = {
    .name = "subscription add",
    .summary = "add a reader",
    .usage = "NAME PATTERN... [--from PLACE] [--only] [--max-lag DUR|N] [--box BOX]",
    .description =
        "PATTERN is a topic, PREFIX*, or * for every topic; quote it. --from end begins with what is stored\n"
        "from now on, beginning with the oldest message that is kept, a time with what was stored then.\n"
        "Messages whose transaction commits late are not missed.\n"
        "\n"
        "A message is kept until every reader that wants it has ended it. A reader that stands still keeps\n"
        "messages for ever. With --max-lag it loses the oldest ones instead: they become its dead letters\n"
        "(expired). With --only the main reader no longer gets messages of these topics, and they cannot\n"
        "be steps of joins. If the name is taken, the exit status is 4 (conflict). Prints the name.\n",
    .examples = "boxcar subscription add audit '*' --from beginning\n"
                "boxcar subscription add search 'orders.*' 'products.*' --max-lag 7d\n",
    .options = ADD_OPTIONS,
    .missing = "NAME is missing: give the new subscription a name",
    .most_args = CLI_ANY_ARGS,
    .run = run_add,
};

/* ---- boxcar subscription ls ---- */

static const char *const LS_COLUMNS[] = {"name",        "box",    "status",      "patterns",      "ready",
                                         "in_progress", "failed", "lag_seconds", "held_messages", NULL};

static int run_ls(struct cli *cli) {
    AUTO_LIST boxcar_subscription_list *list = NULL;
    TRY(cli_store_open(cli));
    TRY(cli_check(cli, boxcar_subscription_read(cli->store, BOXCAR_NO_STR, &list, &cli->err)));
    return common_print_list(cli, LS_COLUMNS, subscription_row, list->items, list->count);
}

static const struct command CMD_SUBSCRIPTION_LS = {
    .name = "subscription ls",
    .summary = "list subscriptions by name",
    .usage = "",
    .description =
        "ready: messages that it has not begun. failed: its dead letters. lag_seconds: the age of the "
        "oldest\n"
        "message that it has not ended. held_messages: messages that are kept only for it. Large numbers\n"
        "are estimates. The subscription of a policy (boxcar fanout) is called POLICY/DESTINATION; -o json\n"
        "has its destinations. With -o json an array, with -o jsonl one object a line.\n",
    .examples = "boxcar subscription ls\n"
                "boxcar subscription ls -o json\n",
    .run = run_ls,
};

/* ---- boxcar subscription show ---- */

static int run_show(struct cli *cli) {
    AUTO_LIST boxcar_subscription_list *list = NULL;
    TRY(cli_store_open(cli));
    TRY(cli_check(cli, boxcar_subscription_read(cli->store, name_of(cli), &list, &cli->err)));
    return output_object(cli, subscription_row(list->items[0]));
}

static const struct command CMD_SUBSCRIPTION_SHOW = {
    .name = "subscription show",
    .summary = "show a subscription",
    .usage = "NAME",
    .description = "Shows all fields. If there is no such subscription, the exit status is 3 (not found).\n",
    .examples = "boxcar subscription show audit\n"
                "boxcar subscription show audit -o json\n",
    .missing = NAME_MISSING,
    .most_args = 1,
    .run = run_show,
};

/* ---- boxcar subscription pause, resume ---- */

static int run_pause(struct cli *cli) {
    TRY(cli_store_open(cli));
    TRY(cli_check(cli, boxcar_subscription_pause(cli->store, name_of(cli), &cli->err)));
    return print_name(cli);
}

static const struct command CMD_SUBSCRIPTION_PAUSE = {
    .name = "subscription pause",
    .summary = "hand out no more messages to a subscription",
    .usage = "NAME",
    .description =
        "Its claims bring nothing until it is resumed. What is leased ends as ever. Other readers do not\n"
        "notice. Its messages are kept meanwhile. Prints the name.\n",
    .examples = "boxcar subscription pause audit\n",
    .missing = NAME_MISSING,
    .most_args = 1,
    .run = run_pause,
};

static int run_resume(struct cli *cli) {
    TRY(cli_store_open(cli));
    TRY(cli_check(cli, boxcar_subscription_resume(cli->store, name_of(cli), &cli->err)));
    return print_name(cli);
}

static const struct command CMD_SUBSCRIPTION_RESUME = {
    .name = "subscription resume",
    .summary = "let a paused subscription go on",
    .usage = "NAME",
    .description = "It continues where it was paused. Prints the name.\n",
    .examples = "boxcar subscription resume audit\n",
    .missing = NAME_MISSING,
    .most_args = 1,
    .run = run_resume,
};

/* ---- boxcar subscription change ---- */

static struct poptOption CHANGE_OPTIONS[] = {OPTION_MAX_LAG, POPT_TABLEEND};

/* `off` takes both limits away. */
static bool read_new_max_lag(const struct cli *cli, boxcar_subscription_changes *changes) {
    if (!given.max_lag || strcmp(given.max_lag, "off") != 0)
        return read_max_lag(cli, &changes->max_lag_ms, &changes->max_lag_count);
    changes->max_lag_ms = changes->max_lag_count = 0;
    return true;
}

static int run_change(struct cli *cli) {
    boxcar_subscription_changes changes = BOXCAR_SUBSCRIPTION_CHANGES_INIT;
    if (!cli->args[1] && !given.max_lag)
        return cli_usage(cli, "nothing is to change: give patterns, or --max-lag");
    if (!read_new_max_lag(cli, &changes))
        return CLI_USAGE;
    AUTO_FREE boxcar_str *patterns = common_texts((char *const *)&cli->args[1], &changes.pattern_count);
    if (!patterns)
        return cli_no_memory(cli);
    changes.patterns = patterns;
    TRY(cli_store_open(cli));
    TRY(cli_check(cli, boxcar_subscription_change(cli->store, name_of(cli), &changes, &cli->err)));
    return print_name(cli);
}

static const struct command CMD_SUBSCRIPTION_CHANGE = {
    .name = "subscription change",
    .summary = "give a subscription other patterns, or another limit",
    .usage = "NAME [PATTERN...] [--max-lag DUR|N|off]",
    .description =
        "New patterns replace all old ones. They count for what the subscription has not read yet. A time\n"
        "and a number are limits of their own: --max-lag changes the one that it gives, and off takes both\n"
        "away. Prints the name.\n",
    .examples = "boxcar subscription change audit 'orders.*' 'payments.*'\n"
                "boxcar subscription change audit --max-lag 100000\n",
    .options = CHANGE_OPTIONS,
    .missing = NAME_MISSING,
    .most_args = CLI_ANY_ARGS,
    .run = run_change,
};

/* ---- boxcar subscription rewind ---- */

static struct poptOption REWIND_OPTIONS[] = {
    OPTION_TEXT("to", given.to, "beginning, a time, or a work id", "PLACE"),
    POPT_TABLEEND,
};

static int run_rewind(struct cli *cli) {
    boxcar_place place = BOXCAR_PLACE_INIT;
    int64_t count = 0;
    if (!value_place(cli, given.to, &place))
        return CLI_USAGE;
    TRY(cli_store_open(cli));
    TRY(cli_check(cli, boxcar_subscription_rewind(cli->store, name_of(cli), &place, &count, &cli->err)));
    return output_count(cli, "ahead", count);
}

static const struct command CMD_SUBSCRIPTION_REWIND = {
    .name = "subscription rewind",
    .summary = "deliver messages again to a subscription",
    .usage = "NAME --to PLACE",
    .description =
        "Delivers again every message that is kept from this place on: from the beginning of what is kept,\n"
        "from a time, or from the message with a work id. What the subscription knew of these messages is\n"
        "forgotten: leases, retries, dead letters, what is done. The rewind is recorded. If the place lies\n"
        "before what is kept, the exit status is 4 (conflict). Prints how many messages are ahead now, as\n"
        "far as the store can tell; with -o json {\"ahead\": N}.\n",
    .examples = "boxcar subscription rewind audit --to beginning\n"
                "boxcar subscription rewind audit --to 2\n",
    .options = REWIND_OPTIONS,
    .missing = NAME_MISSING,
    .most_args = 1,
    .run = run_rewind,
};

/* ---- boxcar subscription rm ---- */

static struct poptOption RM_OPTIONS[] = {
    OPTION_FLAG("force", given.force, "even if messages are leased"),
    POPT_TABLEEND,
};

static int run_rm(struct cli *cli) {
    TRY(cli_store_open(cli));
    TRY(cli_check(cli, boxcar_subscription_remove(cli->store, name_of(cli), given.force, &cli->err)));
    return print_name(cli);
}

static const struct command CMD_SUBSCRIPTION_RM = {
    .name = "subscription rm",
    .summary = "remove a subscription",
    .usage = "NAME [--force]",
    .description =
        "Its dead letters and everything else that it knows are gone; maintenance removes them in small\n"
        "steps. Messages stay for the other readers. If messages are leased to its workers, the exit status\n"
        "is 4 (conflict), unless --force is given. Its workers end. The subscription of a policy is removed\n"
        "with the policy only: boxcar fanout rm. Prints the name.\n",
    .examples = "boxcar subscription rm audit\n"
                "boxcar subscription rm audit --force\n",
    .options = RM_OPTIONS,
    .missing = NAME_MISSING,
    .most_args = 1,
    .run = run_rm,
};

const struct command_noun SUBSCRIPTION_COMMANDS = {
    "Subscriptions", (const struct command *const[]){
                         &CMD_SUBSCRIPTION, &CMD_SUBSCRIPTION_ADD, &CMD_SUBSCRIPTION_LS,
                         &CMD_SUBSCRIPTION_SHOW, &CMD_SUBSCRIPTION_PAUSE, &CMD_SUBSCRIPTION_RESUME,
                         &CMD_SUBSCRIPTION_CHANGE, &CMD_SUBSCRIPTION_REWIND, &CMD_SUBSCRIPTION_RM, NULL}};
