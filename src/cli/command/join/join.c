/* Joins: boxcar join, and what changes one by hand: join complete, join fail and join cancel. */
#include "join.h"

static json_t *from_join_id(boxcar_join_id id) { return json_from_message_id((boxcar_message_id){id.uuid}); }

int join_print_id(const struct cli *cli, boxcar_join_id join_id) {
    return common_print_uuid(cli, join_id.uuid, json_pack("{s:o}", "join_id", from_join_id(join_id)));
}

static json_t *from_reason(boxcar_join_reason reason) {
    return reason == BOXCAR_JOIN_REASON_NONE ? json_null() : json_string(boxcar_join_reason_name(reason));
}

static json_t *progress_text(const boxcar_join *join) {
    long long ended = (long long)(join->completed_steps + join->failed_steps);
    if (join->failed_steps == 0)
        return json_sprintf("%lld of %lld", ended, (long long)join->expected_steps);
    return json_sprintf("%lld of %lld, %lld failed", ended, (long long)join->expected_steps,
                        (long long)join->failed_steps);
}

json_t *join_json(const boxcar_join *join, bool for_people) {
    json_t *object = json_object();
    bool good = json_put(object, "join_id", from_join_id(join->join_id)) &&
                json_put_text(object, "grouping_key", join->grouping_key) &&
                (!for_people || json_put(object, "progress", progress_text(join))) &&
                json_put(object, "expected_steps", json_integer(join->expected_steps)) &&
                json_put(object, "completed_steps", json_integer(join->completed_steps)) &&
                json_put(object, "failed_steps", json_integer(join->failed_steps)) &&
                json_put(object, "status", json_string(boxcar_join_status_name(join->status))) &&
                json_put(object, "reason", from_reason(join->reason)) &&
                json_put(object, "created_at", json_from_time(join->created_at)) &&
                json_put(object, "last_updated_at", json_from_time(join->last_updated_at)) &&
                json_put(object, "deadline", json_from_time(join->deadline)) &&
                json_put_text(object, "metadata", join->metadata);
    return json_finish(object, good);
}

/* ---- boxcar join: the group of commands about joins ---- */

static const struct command CMD_JOIN = {
    .name = "join",
    .summary = "joins: wait for many messages, then enqueue one",
    .usage = "start|attach|complete|fail|wait|cancel|show|ls",
    .description =
        "A join counts steps. Its members are messages: each counts as completed when it is acked, as\n"
        "failed when it becomes a dead letter. A join ends when all expected steps are counted. It is\n"
        "then completed, or failed if any step failed. A wait is a message that stays in the store until\n"
        "the join ends, and spends no attempt. The program that ends the join replaces the wait by its\n"
        "continuation.\n",
    .examples = "boxcar join ls\n"
                "boxcar join start --expected 3\n"
                "boxcar help join wait\n",
};

/* ---- boxcar join complete, join fail: count a step by hand ---- */

#define REPORT_DESCRIPTION                                                                                   \
    "For work that is not a message. MESSAGE is the id of a member: attach an id of your own first.\n"       \
    "\n"                                                                                                     \
    "If the member is a message, do not use this: its ack or its death counts the step. The first\n"         \
    "outcome of a step wins. Prints \"counted\" or \"not counted\"; with -o json {\"counted\": true}. The\n" \
    "exit status is 3 if the join or the member does not exist, and 4 if the join ended without this\n"      \
    "step.\n"

static int report(struct cli *cli, boxcar_member_status outcome) {
    boxcar_join_id join_id;
    boxcar_message_id message_id;
    bool counted = false;
    if (!value_join_id(cli, "JOIN", cli->args[0], &join_id))
        return CLI_USAGE;
    if (!cli->args[1])
        return cli_usage(cli, "MESSAGE is missing: give the message id of the step");
    if (!cli_args_at_most(cli, 2) || !value_message_id(cli, "MESSAGE", cli->args[1], &message_id))
        return CLI_USAGE;
    TRY(cli_store_open(cli));
    TRY(cli_check(cli, boxcar_join_report(cli->store, join_id, message_id, outcome, &counted, &cli->err)));
    return common_print_word(cli, counted ? "counted" : "not counted",
                             json_pack("{s:b}", "counted", counted));
}

static int run_complete(struct cli *cli) { return report(cli, BOXCAR_MEMBER_COMPLETED); }

static int run_fail(struct cli *cli) { return report(cli, BOXCAR_MEMBER_FAILED); }

static const struct command CMD_JOIN_COMPLETE = {
    .name = "join complete",
    .summary = "count a step as completed by hand",
    .usage = "JOIN MESSAGE",
    .description = REPORT_DESCRIPTION,
    .examples = "boxcar join complete 0190f3c2-7b1e-7c2d-9a55-3f1d2c4b5a69 "
                "0190f3c2-8c2f-7d3e-8b66-4a2e3d5c6b70\n",
    .missing = JOIN_MISSING,
    .most_args = CLI_ANY_ARGS,
    .run = run_complete,
};

static const struct command CMD_JOIN_FAIL = {
    .name = "join fail",
    .summary = "count a step as failed by hand",
    .usage = "JOIN MESSAGE",
    .description = REPORT_DESCRIPTION,
    .examples = "boxcar join fail 0190f3c2-7b1e-7c2d-9a55-3f1d2c4b5a69 "
                "0190f3c2-8c2f-7d3e-8b66-4a2e3d5c6b70\n",
    .missing = JOIN_MISSING,
    .most_args = CLI_ANY_ARGS,
    .run = run_fail,
};

/* ---- boxcar join cancel: ends a pending join ---- */

static int run_cancel(struct cli *cli) {
    boxcar_join_id join_id;
    if (!value_join_id(cli, "JOIN", cli->args[0], &join_id) || !cli_args_at_most(cli, 1))
        return CLI_USAGE;
    TRY(cli_store_open(cli));
    TRY(cli_check(cli, boxcar_join_cancel(cli->store, join_id, &cli->err)));
    return join_print_id(cli, join_id);
}

static const struct command CMD_JOIN_CANCEL = {
    .name = "join cancel",
    .summary = "end a pending join",
    .usage = "JOIN",
    .description =
        "The join becomes cancelled and its waits take the failure path. Its members stay as they are.\n"
        "If the join has ended already, the exit status is 4 (conflict); if it does not exist, 3 (not\n"
        "found). Prints its id; with -o json {\"join_id\": ...}.\n",
    .examples = "boxcar join cancel 0190f3c2-7b1e-7c2d-9a55-3f1d2c4b5a69\n",
    .missing = JOIN_MISSING,
    .most_args = CLI_ANY_ARGS,
    .run = run_cancel,
};

const struct command_noun JOIN_COMMANDS = {
    "Joins", (const struct command *const[]){&CMD_JOIN, &CMD_JOIN_START, &CMD_JOIN_ATTACH, &CMD_JOIN_COMPLETE,
                                             &CMD_JOIN_FAIL, &CMD_JOIN_WAIT, &CMD_JOIN_CANCEL, &CMD_JOIN_SHOW,
                                             &CMD_JOIN_LS, NULL}};
