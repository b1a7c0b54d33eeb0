/* Workers that are running: boxcar instance and instance ls. */
#include "cli/output/message_json.h"
#include "cli/output/output.h"
#include "cli/output/report.h"
#include "commands.h"

/* ---- boxcar instance: the group of commands about workers that are running ---- */

static int run_instance(struct cli *cli, const char *const *args) {
    (void)args;
    return cli_usage(cli, "no command given: give ls");
}

static const struct command CMD_INSTANCE = {
    .name = "instance",
    .summary = "workers that are running",
    .usage = "COMMAND",
    .description =
        "Workers send a heartbeat every few seconds. The keys of streams are spread over partitions, and\n"
        "the partitions over the live workers, so that a stream stays with one of them.\n",
    .examples = "boxcar instance ls\n",
    .run = run_instance,
};

/* ---- boxcar instance ls: the workers that are running ---- */

static json_t *instance_json(const boxcar_instance *instance) {
    json_t *object = json_object();
    bool good = json_put(object, "instance_id", json_from_owner(instance->owner)) &&
                json_put(object, "box", json_string(boxcar_box_name(instance->box))) &&
                json_put_text(object, "host", instance->host) &&
                json_put(object, "pid", json_integer(instance->pid)) &&
                json_put(object, "concurrency", json_integer(instance->concurrency)) &&
                json_put(object, "started_at", json_from_time(instance->started_at)) &&
                json_put(object, "seen_at", json_from_time(instance->seen_at)) &&
                json_put(object, "rank", json_integer(instance->rank)) &&
                json_put(object, "first_partition", json_integer(instance->first_partition)) &&
                json_put(object, "partition_count", json_integer(instance->partition_count)) &&
                json_put(object, "leased", json_integer(instance->leased)) &&
                json_put(object, "oldest_lease_at", json_from_time(instance->oldest_lease_at));
    return json_finish(object, good);
}

static const char *const LS_COLUMNS[] = {"instance_id",
                                         "box",
                                         "host",
                                         "pid",
                                         "concurrency",
                                         "rank",
                                         "first_partition",
                                         "partition_count",
                                         "leased",
                                         "oldest_lease_at",
                                         "seen_at",
                                         NULL};

static int print_ls(const struct cli *cli, const boxcar_instance_list *list) {
    struct output output;
    output_list_begin(&output, cli, CLI_FORMAT_TABLE, LS_COLUMNS);
    for (size_t i = 0; i < list->count; i++)
        if (!output_list_add(&output, instance_json(list->items[i])))
            break;
    return output_list_end(&output, cli);
}

static int run_ls(struct cli *cli, const char *const *args) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_instance_list *list = NULL;
    if (!cli_args_at_most(cli, args, 0))
        return CLI_USAGE;
    int result = cli_store_open(cli);
    if (result != CLI_DONE)
        return result;
    if (boxcar_instance_read(cli->store, &list, &err) != BOXCAR_OK)
        return cli_fail_with(cli, &err);
    result = print_ls(cli, list);
    boxcar_list_free(list);
    return result;
}

static const struct command CMD_INSTANCE_LS = {
    .name = "instance ls",
    .summary = "list the workers that are running",
    .usage = "",
    .description =
        "The workers that sent a heartbeat within the setting instance_timeout, by rank. For each it shows\n"
        "the partitions that it should have, how many messages it holds and since when it holds the oldest.\n"
        "instance_id is the owner of its leases; on PostgreSQL, roles without admin access see another id\n"
        "instead. With -o json an array, with -o jsonl one object a line.\n",
    .examples = "boxcar instance ls\n"
                "boxcar instance ls -o json\n",
    .run = run_ls,
};

const struct command_noun INSTANCE_COMMANDS = {
    "Streams", (const struct command *const[]){&CMD_INSTANCE, &CMD_INSTANCE_LS, NULL}};
