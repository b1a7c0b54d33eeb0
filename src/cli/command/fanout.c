/* Policies that forward messages: boxcar fanout, fanout add, ls, show, pause, resume, rewind and rm. */
#include <math.h>
#include <stdio.h>

#include "cli/output/text.h"
#include "common.h"

#define NAME_MISSING "NAME is missing: give the name of a policy, boxcar fanout ls lists them"

/* Each command has some of these options. */
static struct {
    char *from, *place, *then_topic, *else_topic;
    char **to;
    int only, force;
} given;

static boxcar_str name_of(const struct cli *cli) { return boxcar_str_of(cli->args[0]); }

/* What changes a policy prints its name. */
static int print_name(const struct cli *cli) {
    boxcar_str name = name_of(cli);
    AUTO_FREE char *text = text_printable(name, NULL);
    if (!text)
        return cli_no_memory(cli);
    return common_print_word(cli, text, json_pack("{s:s%}", "fanout", name.data, name.len));
}

/* ---- policies and their routes as rows ---- */

static bool put_rules(json_t *object, const boxcar_fanout *policy) {
    return json_put(object, "box", json_string(boxcar_box_name(policy->box))) &&
           json_put(object, "patterns", common_texts_json(policy->patterns, policy->pattern_count)) &&
           json_put_text(object, "then_topic", policy->then_topic) &&
           json_put_text(object, "else_topic", policy->else_topic) &&
           json_put(object, "only", json_boolean(policy->routes[0]->only));
}

static bool put_state(json_t *object, const boxcar_subscription *route) {
    bool is_paused = route->paused_at != BOXCAR_TIME_NONE;
    double lag = round(route->lag_seconds * 1e6) / 1e6;
    return json_put(object, "status", json_string(is_paused ? "paused" : "running")) &&
           json_put(object, "number", json_integer(route->reader)) &&
           json_put(object, "ready", json_integer(route->ready)) &&
           json_put(object, "in_progress", json_integer(route->in_progress)) &&
           json_put(object, "failed", json_integer(route->failed)) &&
           json_put(object, "oldest_unread_at", json_from_time(route->oldest_unread_at)) &&
           json_put(object, "lag_seconds", json_real(lag));
}

static json_t *destination_row(const boxcar_fanout *policy, const boxcar_subscription *route,
                               boxcar_str destination) {
    json_t *object = json_object();
    bool good = json_put_text(object, "name", policy->name) &&
                json_put_text(object, "destination", destination) &&
                json_put_text(object, "subscription", route->name) && put_rules(object, policy) &&
                put_state(object, route);
    return json_finish(object, good);
}

static json_t *route_row(const void *item) {
    const boxcar_subscription *route = item;
    json_t *object = json_object();
    bool good =
        json_put_text(object, "subscription", route->name) &&
        json_put(object, "destinations", common_texts_json(route->destinations, route->destination_count)) &&
        put_state(object, route);
    return json_finish(object, good);
}

static json_t *policy_json(const boxcar_fanout *policy) {
    json_t *object = json_object();
    bool good = json_put_text(object, "name", policy->name) && put_rules(object, policy);
    return json_finish(object, good);
}

/* ---- boxcar fanout: the group ---- */

static const struct command CMD_FANOUT = {
    .name = "fanout",
    .summary = "policies: workers copy messages to topics and stores",
    .usage = "add|ls|show|pause|resume|rewind|rm",
    .description =
        "A policy copies each message whose topic matches its patterns to its destinations. Any worker that\n"
        "serves the store does this; nobody writes a handler. Each destination is a subscription of its\n"
        "own, called POLICY/DESTINATION, with retries, dead letters and lag of its own: commands that take\n"
        "--subscription NAME take this name, too. See docs/fanout.md.\n",
    .examples = "boxcar fanout ls\n"
                "boxcar help fanout add\n",
};

/* ---- boxcar fanout add ---- */

static struct poptOption ADD_OPTIONS[] = {
    OPTION_LIST("to", given.to, "TOPIC, store:NAME[/inbox][/TOPIC] or tenant:HEADER; may be repeated",
                "DESTINATION"),
    OPTION_TEXT("from", given.from, "where it starts: end (default), beginning, or a time", "PLACE"),
    OPTION_FLAG("only", given.only, "the main reader no longer gets these topics"),
    OPTION_TEXT("then", given.then_topic,
                "when all copies of a message are done, enqueue one with this topic", "TOPIC"),
    OPTION_TEXT("else", given.else_topic, "instead, if one of them failed", "TOPIC"),
    OPTION_BOX,
    POPT_TABLEEND,
};

static int add(struct cli *cli, boxcar_new_fanout *fanout) {
    AUTO_FREE boxcar_str *patterns = common_texts((char *const *)&cli->args[1], &fanout->pattern_count);
    AUTO_FREE boxcar_str *destinations = common_texts(given.to, &fanout->destination_count);
    if (!patterns || !destinations)
        return cli_no_memory(cli);
    fanout->patterns = patterns;
    fanout->destinations = destinations;
    TRY(cli_store_open(cli));
    TRY(cli_check(cli, boxcar_fanout_add(cli->store, fanout, &cli->err)));
    return print_name(cli);
}

static int run_add(struct cli *cli) {
    boxcar_new_fanout fanout = BOXCAR_NEW_FANOUT_INIT;
    fanout.name = name_of(cli);
    fanout.only = given.only;
    fanout.then_topic = boxcar_str_of(given.then_topic);
    fanout.else_topic = boxcar_str_of(given.else_topic);
    if (!cli->args[1])
        return cli_usage(cli, "PATTERN is missing: give topics, PREFIX*, or * for every topic");
    if (!given.to)
        return cli_usage(cli, "--to is missing: give a topic, store:NAME or tenant:HEADER");
    if (!value_box(cli, common_given.box, &fanout.box) ||
        !value_start(cli, given.from, &fanout.start, &fanout.start_time))
        return CLI_USAGE;
    return add(cli, &fanout);
}

static const struct command CMD_FANOUT_ADD = {
    .name = "fanout add",
    .summary = "add a policy",
    .usage = "NAME PATTERN... --to DESTINATION... [--from PLACE] [--only] [--box BOX]\n"
             "NAME PATTERN... --to TOPIC... --then TOPIC [--else TOPIC] [--from PLACE] [--only] [--box BOX]",
    .description =
        "PATTERN is a topic, PREFIX*, or * for every topic; quote it. DESTINATION is a TOPIC of this store;\n"
        "store:NAME, the outbox of another store as workers call it; store:NAME/inbox, its inbox; or\n"
        "tenant:HEADER, the outbox of the store that this header of the message names. The topic stays as "
        "it\n"
        "is, unless a TOPIC follows: store:NAME/TOPIC, store:NAME/inbox/TOPIC. {topic} in a TOPIC stands "
        "for\n"
        "the topic of the message.\n"
        "\n"
        "With --then all destinations are topics of this store. The copies of a message are stored together\n"
        "and are the steps of a join; when all are done, a message with this topic and the payload of the\n"
        "original is enqueued. If the name is taken, or copies would come back to the policy, the exit\n"
        "status is 4 (conflict). Prints the name.\n",
    .examples =
        "boxcar fanout add copies 'orders.*' --to 'audit.{topic}' --to store:search/inbox\n"
        "boxcar fanout add checks order.new --to check.stock --to check.credit --then order.checked\n",
    .options = ADD_OPTIONS,
    .missing = "NAME is missing: give the new policy a name",
    .most_args = CLI_ANY_ARGS,
    .run = run_add,
};

/* ---- boxcar fanout ls ---- */

static const char *const LS_COLUMNS[] = {"name",  "destination", "box",    "patterns",    "status",
                                         "ready", "in_progress", "failed", "lag_seconds", NULL};

static bool list_policy(struct output *output, const boxcar_fanout *policy) {
    for (size_t i = 0; i < policy->route_count; i++) {
        const boxcar_subscription *route = policy->routes[i];
        for (size_t j = 0; j < route->destination_count; j++)
            if (!output_list_add(output, destination_row(policy, route, route->destinations[j])))
                return false;
    }
    return true;
}

static int run_ls(struct cli *cli) {
    AUTO_LIST boxcar_fanout_list *list = NULL;
    struct output output;
    TRY(cli_store_open(cli));
    TRY(cli_check(cli, boxcar_fanout_read(cli->store, BOXCAR_NO_STR, &list, &cli->err)));
    output_list_begin(&output, cli, CLI_FORMAT_TABLE, LS_COLUMNS);
    for (size_t i = 0; i < list->count && list_policy(&output, list->items[i]); i++)
        continue;
    return output_list_end(&output, cli);
}

static const struct command CMD_FANOUT_LS = {
    .name = "fanout ls",
    .summary = "list policies by name, a line for each destination",
    .usage = "",
    .description =
        "ready: messages that are to be forwarded. failed: those that could not be, the dead letters of the\n"
        "destination's subscription. lag_seconds: the age of the oldest message that is not forwarded yet.\n"
        "With -o json an array, with -o jsonl one object a line.\n",
    .examples = "boxcar fanout ls\n"
                "boxcar fanout ls -o json\n",
    .run = run_ls,
};

/* ---- boxcar fanout show ---- */

static const char *const ROUTE_COLUMNS[] = {"subscription", "destinations", "status",      "ready",
                                            "in_progress",  "failed",       "lag_seconds", NULL};

static int run_show(struct cli *cli) {
    AUTO_LIST boxcar_fanout_list *list = NULL; /* exactly one */
    TRY(cli_store_open(cli));
    TRY(cli_check(cli, boxcar_fanout_read(cli->store, name_of(cli), &list, &cli->err)));
    const boxcar_fanout *policy = list->items[0];
    if (cli_is_for_people(cli)) {
        TRY(output_object(cli, policy_json(policy)));
        putchar('\n');
        return common_print_list(cli, ROUTE_COLUMNS, route_row, policy->routes, policy->route_count);
    }
    json_t *object = policy_json(policy);
    bool good =
        object && json_put(object, "routes", common_array(route_row, policy->routes, policy->route_count));
    return output_object(cli, json_finish(object, good));
}

static const struct command CMD_FANOUT_SHOW = {
    .name = "fanout show",
    .summary = "show a policy and the subscriptions that do its work",
    .usage = "NAME",
    .description = "With -o json one object whose routes are an array: subscription, destinations and "
                   "figures. If there\n"
                   "is no such policy, the exit status is 3 (not found).\n",
    .examples = "boxcar fanout show copies\n"
                "boxcar fanout show copies -o json\n",
    .missing = NAME_MISSING,
    .most_args = 1,
    .run = run_show,
};

/* ---- boxcar fanout pause, resume ---- */

static int run_pause(struct cli *cli) {
    TRY(cli_store_open(cli));
    TRY(cli_check(cli, boxcar_fanout_pause(cli->store, name_of(cli), &cli->err)));
    return print_name(cli);
}

static const struct command CMD_FANOUT_PAUSE = {
    .name = "fanout pause",
    .summary = "forward no more messages of a policy",
    .usage = "NAME",
    .description =
        "Nothing is forwarded until it is resumed, to no destination. Its messages are kept meanwhile. For\n"
        "one destination: boxcar subscription pause POLICY/DESTINATION. Prints the name.\n",
    .examples = "boxcar fanout pause copies\n",
    .missing = NAME_MISSING,
    .most_args = 1,
    .run = run_pause,
};

static int run_resume(struct cli *cli) {
    TRY(cli_store_open(cli));
    TRY(cli_check(cli, boxcar_fanout_resume(cli->store, name_of(cli), &cli->err)));
    return print_name(cli);
}

static const struct command CMD_FANOUT_RESUME = {
    .name = "fanout resume",
    .summary = "let a paused policy go on",
    .usage = "NAME",
    .description = "Every destination continues where it was paused. Prints the name.\n",
    .examples = "boxcar fanout resume copies\n",
    .missing = NAME_MISSING,
    .most_args = 1,
    .run = run_resume,
};

/* ---- boxcar fanout rewind ---- */

static struct poptOption REWIND_OPTIONS[] = {
    OPTION_TEXT("to", given.place, "beginning, a time, or a work id", "PLACE"),
    POPT_TABLEEND,
};

static int run_rewind(struct cli *cli) {
    boxcar_place place = BOXCAR_PLACE_INIT;
    int64_t count = 0;
    if (!value_place(cli, given.place, &place))
        return CLI_USAGE;
    TRY(cli_store_open(cli));
    TRY(cli_check(cli, boxcar_fanout_rewind(cli->store, name_of(cli), &place, &count, &cli->err)));
    return output_count(cli, "ahead", count);
}

static const struct command CMD_FANOUT_REWIND = {
    .name = "fanout rewind",
    .summary = "forward messages of a policy again",
    .usage = "NAME --to PLACE",
    .description =
        "Forwards again every message that is kept from this place on: from the beginning of what is kept,\n"
        "from a time, or from the message with a work id. A copy has the same message id as before, so a\n"
        "destination that still knows it does not store it again. If the place lies before what is kept,\n"
        "the exit status is 4 (conflict). Prints how many messages are ahead now, summed over the\n"
        "destinations; with -o json {\"ahead\": N}.\n",
    .examples = "boxcar fanout rewind copies --to beginning\n",
    .options = REWIND_OPTIONS,
    .missing = NAME_MISSING,
    .most_args = 1,
    .run = run_rewind,
};

/* ---- boxcar fanout rm ---- */

static struct poptOption RM_OPTIONS[] = {
    OPTION_FLAG("force", given.force, "even if messages are being forwarded"),
    POPT_TABLEEND,
};

static int run_rm(struct cli *cli) {
    TRY(cli_store_open(cli));
    TRY(cli_check(cli, boxcar_fanout_remove(cli->store, name_of(cli), given.force, &cli->err)));
    return print_name(cli);
}

static const struct command CMD_FANOUT_RM = {
    .name = "fanout rm",
    .summary = "remove a policy",
    .usage = "NAME [--force]",
    .description =
        "What is not forwarded yet is not forwarded any more, and the dead letters of its subscriptions are\n"
        "gone. Copies stay. If messages are being forwarded, the exit status is 4 (conflict), unless "
        "--force\n"
        "is given. Prints the name.\n",
    .examples = "boxcar fanout rm copies\n"
                "boxcar fanout rm copies --force\n",
    .options = RM_OPTIONS,
    .missing = NAME_MISSING,
    .most_args = 1,
    .run = run_rm,
};

const struct command_noun FANOUT_COMMANDS = {
    "Fanout and schedules",
    (const struct command *const[]){&CMD_FANOUT, &CMD_FANOUT_ADD, &CMD_FANOUT_LS, &CMD_FANOUT_SHOW,
                                    &CMD_FANOUT_PAUSE, &CMD_FANOUT_RESUME, &CMD_FANOUT_REWIND, &CMD_FANOUT_RM,
                                    NULL}};
