/* Work that is done again and again, in slices: boxcar schedule, schedule add, ls, show, pause, resume,
 * complete, plan and rm. */
#include <stdio.h>

#include "cli/output/text.h"
#include "common.h"

#define TOPIC_MISSING                                                                                        \
    "TOPIC is missing: give the topic and the work key of a schedule, boxcar schedule ls lists them"

static struct {
    char *every, *jitter, *shards, *then_topic, *else_topic;
    char *owner, *lease, *fence;
} given;

/* The schedule that the first two arguments name. */
struct schedule_name {
    boxcar_str topic, work_key;
};

static int read_name(const struct cli *cli, size_t most_args, struct schedule_name *ret_name) {
    if (!cli->args[1])
        return cli_usage(cli, "WORK_KEY is missing: give the topic and the work key of a schedule");
    if (!cli_args_at_most(cli, most_args))
        return CLI_USAGE;
    *ret_name = (struct schedule_name){boxcar_str_of(cli->args[0]), boxcar_str_of(cli->args[1])};
    return CLI_DONE;
}

/* What changes a schedule prints the topic of its messages. */
static int print_name(const struct cli *cli, struct schedule_name name) {
    AUTO_FREE char *topic = text_printable(name.topic, NULL);
    AUTO_FREE char *work_key = text_printable(name.work_key, NULL);
    AUTO_FREE char *text = NULL;
    if (!topic || !work_key || asprintf(&text, "%s%s:%s", BOXCAR_SLICE_TOPIC_PREFIX, topic, work_key) < 0) {
        text = NULL;
        return cli_no_memory(cli);
    }
    return common_print_word(cli, text,
                             json_pack("{s:s%,s:s%}", "topic", name.topic.data, name.topic.len, "work_key",
                                       name.work_key.data, name.work_key.len));
}

/* ---- rows ---- */

static json_t *seconds(int64_t ms) {
    return ms % 1000 == 0 ? json_integer(ms / 1000) : json_real((double)ms / 1000);
}

static json_t *schedule_row(const void *item) {
    const boxcar_schedule *schedule = item;
    bool is_paused = schedule->paused_at != BOXCAR_TIME_NONE;
    json_t *object = json_object();
    bool good = json_put_text(object, "topic", schedule->topic) &&
                json_put_text(object, "work_key", schedule->work_key) &&
                json_put(object, "every_seconds", seconds(schedule->every_ms)) &&
                json_put(object, "jitter_seconds", seconds(schedule->jitter_ms)) &&
                json_put(object, "shards", json_integer(schedule->shards)) &&
                json_put_text(object, "then_topic", schedule->then_topic) &&
                json_put_text(object, "else_topic", schedule->else_topic) &&
                json_put(object, "status", json_string(is_paused ? "paused" : "running")) &&
                json_put(object, "open_slices", json_integer(schedule->open_slices)) &&
                json_put(object, "next_due_at", json_from_time(schedule->next_due_at)) &&
                json_put(object, "created_at", json_from_time(schedule->created_at)) &&
                json_put(object, "paused_at", json_from_time(schedule->paused_at));
    return json_finish(object, good);
}

/* A shard has none before its first slice. */
static json_t *message_id_or_null(const boxcar_slice *slice) {
    return slice->slice > 0 ? json_from_message_id(slice->message_id) : json_null();
}

static json_t *slice_row(const void *item) {
    const boxcar_slice *slice = item;
    json_t *object = json_object();
    bool good = json_put(object, "shard", json_integer(slice->shard)) &&
                json_put(object, "slice", json_from_number(slice->slice)) &&
                json_put(object, "message_id", message_id_or_null(slice)) &&
                json_put(object, "tries", json_integer(slice->tries)) &&
                json_put(object, "enqueued_at", json_from_time(slice->enqueued_at)) &&
                json_put(object, "completed_at", json_from_time(slice->completed_at)) &&
                json_put(object, "due_at", json_from_time(slice->due_at));
    return json_finish(object, good);
}

/* ---- boxcar schedule: the group ---- */

static const struct command CMD_SCHEDULE = {
    .name = "schedule",
    .summary = "schedules: work that is done again and again, in slices",
    .usage = "add|ls|show|pause|resume|complete|plan|rm",
    .description =
        "A schedule has a topic, a work key, a cadence and a number of shards. When the last completed "
        "slice\n"
        "of a shard is older than the cadence, a message for the next slice is enqueued, with the topic\n"
        "fanout:TOPIC:WORK_KEY and the payload {\"topic\", \"work_key\", \"shard\", \"shards\", \"slice\"}.\n"
        "Workers plan this. See docs/fanout.md.\n",
    .examples = "boxcar schedule ls\n"
                "boxcar help schedule add\n",
};

/* ---- boxcar schedule add ---- */

static struct poptOption ADD_OPTIONS[] = {
    OPTION_TEXT("every", given.every, "from the completion of a slice to the next one, 1s to 366d", "DUR"),
    OPTION_TEXT("jitter", given.jitter, "delay each shard by a random time up to this (default 0)", "DUR"),
    OPTION_TEXT("shards", given.shards, "how many shards, 1 to 10000 (default 1)", "N"),
    OPTION_TEXT("then", given.then_topic,
                "when slices that are enqueued together are done, a message with this topic", "TOPIC"),
    OPTION_TEXT("else", given.else_topic, "instead, if one of them failed", "TOPIC"),
    POPT_TABLEEND,
};

static bool read_shards(const struct cli *cli, int *ret_shards) {
    int64_t count;
    if (!given.shards)
        return true;
    if (!value_parse_integer(given.shards, &count) || count < 1 || count > BOXCAR_SHARDS_MAX)
        return cli_refuse(cli, "--shards is '%.64s': give a number from 1 to %d", given.shards,
                          BOXCAR_SHARDS_MAX);
    *ret_shards = (int)count;
    return true;
}

static int run_add(struct cli *cli) {
    boxcar_new_schedule schedule = BOXCAR_NEW_SCHEDULE_INIT;
    struct schedule_name name;
    TRY(read_name(cli, 2, &name));
    schedule.topic = name.topic;
    schedule.work_key = name.work_key;
    schedule.then_topic = boxcar_str_of(given.then_topic);
    schedule.else_topic = boxcar_str_of(given.else_topic);
    if (!given.every)
        return cli_usage(cli, "--every is missing: give a duration such as 15m");
    if (!value_duration(cli, "--every", given.every, BOXCAR_EVERY_MS_MIN, BOXCAR_EVERY_MS_MAX,
                        &schedule.every_ms) ||
        !value_duration(cli, "--jitter", given.jitter, 0, BOXCAR_EVERY_MS_MAX, &schedule.jitter_ms) ||
        !read_shards(cli, &schedule.shards))
        return CLI_USAGE;
    TRY(cli_store_open(cli));
    TRY(cli_check(cli, boxcar_schedule_add(cli->store, &schedule, &cli->err)));
    return print_name(cli, name);
}

static const struct command CMD_SCHEDULE_ADD = {
    .name = "schedule add",
    .summary = "add a schedule",
    .usage = "TOPIC WORK_KEY --every DUR [--jitter DUR] [--shards N] [--then TOPIC [--else TOPIC]]",
    .description =
        "All shards are due at once, but for the jitter, which is at most --every. A slice is completed "
        "when\n"
        "its message is done. If the message dies or is cancelled, the slice is enqueued again. With --then\n"
        "slices that are enqueued together are the steps of a join. If there is a schedule with this topic\n"
        "and work key, the exit status is 4 (conflict). Prints the topic of its messages.\n",
    .examples = "boxcar schedule add reindex products --every 15m --shards 16 --jitter 1m\n"
                "boxcar schedule add report daily --every 1d --then report.ready\n",
    .options = ADD_OPTIONS,
    .missing = "TOPIC is missing: give the new schedule a topic and a work key",
    .most_args = CLI_ANY_ARGS,
    .run = run_add,
};

/* ---- boxcar schedule ls ---- */

static const char *const LS_COLUMNS[] = {"topic",          "work_key",    "every_seconds",
                                         "jitter_seconds", "shards",      "status",
                                         "open_slices",    "next_due_at", NULL};

static int run_ls(struct cli *cli) {
    AUTO_LIST boxcar_schedule_list *list = NULL;
    TRY(cli_store_open(cli));
    TRY(cli_check(cli, boxcar_schedule_read(cli->store, BOXCAR_NO_STR, BOXCAR_NO_STR, &list, &cli->err)));
    return common_print_list(cli, LS_COLUMNS, schedule_row, list->items, list->count);
}

static const struct command CMD_SCHEDULE_LS = {
    .name = "schedule ls",
    .summary = "list schedules by topic and work key",
    .usage = "",
    .description =
        "open_slices: shards whose slice is enqueued and not completed. next_due_at: when the first of the\n"
        "other shards is due. With -o json an array, with -o jsonl one object a line.\n",
    .examples = "boxcar schedule ls\n"
                "boxcar schedule ls -o json\n",
    .run = run_ls,
};

/* ---- boxcar schedule show ---- */

static const char *const SLICE_COLUMNS[] = {"shard",        "slice",  "tries", "enqueued_at",
                                            "completed_at", "due_at", NULL};

static int show(const struct cli *cli, const boxcar_schedule *schedule, const boxcar_slice_list *slices) {
    if (cli_is_for_people(cli)) {
        TRY(output_object(cli, schedule_row(schedule)));
        putchar('\n');
        return common_print_list(cli, SLICE_COLUMNS, slice_row, slices->items, slices->count);
    }
    json_t *object = schedule_row(schedule);
    bool good = object && json_put(object, "slices", common_array(slice_row, slices->items, slices->count));
    return output_object(cli, json_finish(object, good));
}

static int run_show(struct cli *cli) {
    AUTO_LIST boxcar_schedule_list *schedules = NULL; /* exactly one */
    AUTO_LIST boxcar_slice_list *slices = NULL;
    struct schedule_name name;
    TRY(read_name(cli, 2, &name));
    TRY(cli_store_open(cli));
    TRY(cli_check(cli, boxcar_schedule_read(cli->store, name.topic, name.work_key, &schedules, &cli->err)));
    TRY(cli_check(cli,
                  boxcar_schedule_slice_read(cli->store, name.topic, name.work_key, &slices, &cli->err)));
    return show(cli, schedules->items[0], slices);
}

static const struct command CMD_SCHEDULE_SHOW = {
    .name = "schedule show",
    .summary = "show a schedule and the newest slice of each shard",
    .usage = "TOPIC WORK_KEY",
    .description =
        "tries: how often the slice was enqueued. due_at: when the next one is. With -o json one object\n"
        "whose slices are an array. If there is no such schedule, the exit status is 3 (not found).\n",
    .examples = "boxcar schedule show reindex products\n"
                "boxcar schedule show reindex products -o json\n",
    .missing = TOPIC_MISSING,
    .most_args = CLI_ANY_ARGS,
    .run = run_show,
};

/* ---- boxcar schedule pause, resume, rm ---- */

static int change(struct cli *cli, boxcar_status (*how)(boxcar_store *store, boxcar_str topic,
                                                        boxcar_str work_key, boxcar_error *err)) {
    struct schedule_name name;
    TRY(read_name(cli, 2, &name));
    TRY(cli_store_open(cli));
    TRY(cli_check(cli, how(cli->store, name.topic, name.work_key, &cli->err)));
    return print_name(cli, name);
}

static int run_pause(struct cli *cli) { return change(cli, boxcar_schedule_pause); }

static const struct command CMD_SCHEDULE_PAUSE = {
    .name = "schedule pause",
    .summary = "plan no more slices of a schedule",
    .usage = "TOPIC WORK_KEY",
    .description = "What is enqueued stays. Prints the topic of its messages.\n",
    .examples = "boxcar schedule pause reindex products\n",
    .missing = TOPIC_MISSING,
    .most_args = CLI_ANY_ARGS,
    .run = run_pause,
};

static int run_resume(struct cli *cli) { return change(cli, boxcar_schedule_resume); }

static const struct command CMD_SCHEDULE_RESUME = {
    .name = "schedule resume",
    .summary = "let a paused schedule go on",
    .usage = "TOPIC WORK_KEY",
    .description =
        "Shards that have become due meanwhile are enqueued soon, once each. Prints the topic of its\n"
        "messages.\n",
    .examples = "boxcar schedule resume reindex products\n",
    .missing = TOPIC_MISSING,
    .most_args = CLI_ANY_ARGS,
    .run = run_resume,
};

static int run_rm(struct cli *cli) { return change(cli, boxcar_schedule_remove); }

static const struct command CMD_SCHEDULE_RM = {
    .name = "schedule rm",
    .summary = "remove a schedule",
    .usage = "TOPIC WORK_KEY",
    .description = "Messages that are enqueued stay. Prints the topic of its messages.\n",
    .examples = "boxcar schedule rm reindex products\n",
    .missing = TOPIC_MISSING,
    .most_args = CLI_ANY_ARGS,
    .run = run_rm,
};

/* ---- boxcar schedule complete ---- */

static int run_complete(struct cli *cli) {
    struct schedule_name name;
    int64_t shard, slice;
    bool has_changed = false;
    TRY(read_name(cli, 4, &name));
    if (!cli->args[2] || !cli->args[3])
        return cli_usage(cli, "%s is missing: the payload of the message has it",
                         cli->args[2] ? "SLICE" : "SHARD");
    if (!value_parse_integer(cli->args[2], &shard) || shard < 0 || shard >= BOXCAR_SHARDS_MAX)
        return cli_usage(cli, "SHARD is '%.64s': give a number from 0 to %d", cli->args[2],
                         BOXCAR_SHARDS_MAX - 1);
    if (!value_parse_integer(cli->args[3], &slice) || slice < 1)
        return cli_usage(cli, "SLICE is '%.64s': give a number from 1 on", cli->args[3]);
    TRY(cli_store_open(cli));
    TRY(cli_check(cli, boxcar_schedule_complete(cli->store, name.topic, name.work_key, (int)shard, slice,
                                                &has_changed, &cli->err)));
    return common_print_word(cli, has_changed ? "completed" : "not completed",
                             json_pack("{s:b}", "completed", has_changed));
}

static const struct command CMD_SCHEDULE_COMPLETE = {
    .name = "schedule complete",
    .summary = "mark a slice as completed before its message is done",
    .usage = "TOPIC WORK_KEY SHARD SLICE",
    .description =
        "Prints \"completed\", or \"not completed\" if it is not the newest slice of its shard or was "
        "completed\n"
        "before; with -o json {\"completed\": true}. If there is no such schedule, the exit status is 3.\n",
    .examples = "boxcar schedule complete reindex products 0 1\n",
    .missing = TOPIC_MISSING,
    .most_args = CLI_ANY_ARGS,
    .run = run_complete,
};

/* ---- boxcar schedule plan ---- */

static struct poptOption PLAN_OPTIONS[] = {
    OPTION_TEXT("owner", given.owner, "who plans (default: a new UUID)", "UUID"),
    OPTION_TEXT("lease", given.lease, "how long nobody else may plan (default 100ms)", "DUR"),
    OPTION_TEXT("fence", given.fence,
                "the fence that an earlier plan printed: conflict if the lease was lost since", "N"),
    POPT_TABLEEND,
};

static bool read_plan(const struct cli *cli, boxcar_plan *plan) {
    plan->lease_ms = BOXCAR_LEASE_MS_MIN;
    if (!given.owner)
        plan->owner = (boxcar_owner){boxcar_uuid_new()};
    else if (!value_owner(cli, given.owner, &plan->owner))
        return false;
    if (given.fence && (!value_parse_integer(given.fence, &plan->fence) || plan->fence < 1))
        return cli_refuse(cli, "--fence is '%.64s': give that of an earlier plan, a number from 1 on",
                          given.fence);
    return value_lease_time(cli, given.lease, &plan->lease_ms);
}

static json_t *planned_json(const boxcar_planned *planned) {
    json_t *object = json_object();
    bool good = json_put(object, "fence", json_from_number(planned->fence)) &&
                json_put(object, "count", json_integer(planned->count)) &&
                json_put(object, "next_due_at", json_from_time(planned->next_due_at));
    return json_finish(object, good);
}

static int run_plan(struct cli *cli) {
    boxcar_plan plan = BOXCAR_PLAN_INIT;
    boxcar_planned planned = BOXCAR_PLANNED_INIT;
    char count[24];
    if (!read_plan(cli, &plan))
        return CLI_USAGE;
    TRY(cli_store_open(cli));
    TRY(cli_check(cli, boxcar_schedule_plan(cli->store, &plan, &planned, &cli->err)));
    if (planned.fence == 0)
        cli_note(cli, "another planner has the lease: it enqueues what is due");
    snprintf(count, sizeof(count), "%lld", (long long)planned.count);
    return common_print_word(cli, count, planned_json(&planned));
}

static const struct command CMD_SCHEDULE_PLAN = {
    .name = "schedule plan",
    .summary = "enqueue the slices that are due, as workers do",
    .usage = "[--owner UUID] [--lease DUR] [--fence N]",
    .description =
        "Workers plan by themselves; this is for scripts, and where no worker runs. One planner at a time\n"
        "has the lease: while another one has it, nothing is enqueued. With --fence, a number that a plan "
        "of\n"
        "this owner has printed, the exit status is 4 (conflict) if the lease went to somebody else. Prints\n"
        "how many slices were enqueued; with -o json {\"fence\", \"count\", \"next_due_at\"}, where the "
        "fence is\n"
        "null if another planner has the lease.\n",
    .examples = "boxcar schedule plan\n"
                "boxcar schedule plan --owner 0b0e7d5e-7d2c-4f0e-8f0f-3d9f4a1c2b11 -o json\n",
    .options = PLAN_OPTIONS,
    .run = run_plan,
};

const struct command_noun SCHEDULE_COMMANDS = {
    "Fanout and schedules",
    (const struct command *const[]){&CMD_SCHEDULE, &CMD_SCHEDULE_ADD, &CMD_SCHEDULE_LS, &CMD_SCHEDULE_SHOW,
                                    &CMD_SCHEDULE_PAUSE, &CMD_SCHEDULE_RESUME, &CMD_SCHEDULE_COMPLETE,
                                    &CMD_SCHEDULE_PLAN, &CMD_SCHEDULE_RM, NULL}};
