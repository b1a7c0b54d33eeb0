#include "join.h"

#include <stdio.h>

#include "message_json.h"
#include "output.h"
#include "report.h"
#include "values.h"

bool join_id_read(const struct cli *cli, const char *const *args, boxcar_join_id *ret_id) {
    if (args[0])
        return value_join_id(cli, "JOIN", args[0], ret_id);
    cli_usage(cli, "JOIN is missing: give the id that join start printed");
    return false;
}

static int print_counted(const struct cli *cli, bool counted) {
    if (output_format(cli, CLI_FORMAT_TABLE) != CLI_FORMAT_TABLE)
        return output_object(cli, json_pack("{s:b}", "counted", counted));
    puts(counted ? "counted" : "not counted");
    return CLI_DONE;
}

int join_report(struct cli *cli, const char *const *args, join_report_fn *report) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_join_id join_id;
    boxcar_message_id message_id;
    bool counted = false;
    if (!join_id_read(cli, args, &join_id))
        return CLI_USAGE;
    if (!args[1])
        return cli_usage(cli, "MESSAGE is missing: give the message id of the step");
    if (!cli_args_at_most(cli, args, 2) || !value_message_id(cli, "MESSAGE", args[1], &message_id))
        return CLI_USAGE;
    int result = cli_store_open(cli);
    if (result != CLI_DONE)
        return result;
    if (report(cli->store, join_id, message_id, &counted, &err) != BOXCAR_OK)
        return cli_fail_with(cli, &err);
    return print_counted(cli, counted);
}

static json_t *from_join_id(boxcar_join_id id) {
    char text[BOXCAR_UUID_TEXT_SIZE];
    boxcar_join_id_format(id, text);
    return json_string(text);
}

int join_print_id(const struct cli *cli, boxcar_join_id join_id) {
    char text[BOXCAR_UUID_TEXT_SIZE];
    boxcar_join_id_format(join_id, text);
    if (output_format(cli, CLI_FORMAT_TABLE) != CLI_FORMAT_TABLE)
        return output_object(cli, json_pack("{s:s}", "join_id", text));
    puts(text);
    return CLI_DONE;
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

static bool put_steps(json_t *object, const boxcar_join *join) {
    return json_put(object, "expected_steps", json_integer(join->expected_steps)) &&
           json_put(object, "completed_steps", json_integer(join->completed_steps)) &&
           json_put(object, "failed_steps", json_integer(join->failed_steps));
}

json_t *join_json(const boxcar_join *join, bool for_people) {
    json_t *object = json_object();
    bool good = json_put(object, "join_id", from_join_id(join->join_id)) &&
                json_put(object, "grouping_key", json_from_str(join->grouping_key)) &&
                (!for_people || json_put(object, "progress", progress_text(join))) &&
                put_steps(object, join) &&
                json_put(object, "status", json_string(boxcar_join_status_name(join->status))) &&
                json_put(object, "reason", from_reason(join->reason)) &&
                json_put(object, "created_at", json_from_time(join->created_at)) &&
                json_put(object, "last_updated_at", json_from_time(join->last_updated_at)) &&
                json_put(object, "deadline", json_from_time(join->deadline)) &&
                json_put(object, "metadata", json_from_str(join->metadata));
    return json_finish(object, good);
}

json_t *join_member_json(const boxcar_join_member *member) {
    json_t *object = json_object();
    bool good = json_put(object, "message_id", json_from_message_id(member->message_id)) &&
                json_put(object, "work_id", json_from_number(member->work_id.value)) &&
                json_put(object, "status", json_string(boxcar_member_status_name(member->status))) &&
                json_put(object, "created_at", json_from_time(member->created_at));
    return json_finish(object, good);
}
