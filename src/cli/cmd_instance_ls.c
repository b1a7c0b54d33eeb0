/* boxcar instance ls: the workers that are running. */
#include "commands.h"
#include "output.h"
#include "report.h"
#include "stream.h"

static const char *const COLUMNS[] = {"instance_id",     "box",    "host",   "pid",
                                      "concurrency",     "rank",   "first_partition",
                                      "partition_count", "leased", "oldest_lease_at",
                                      "seen_at",         NULL};

static int print(const struct cli *cli, const boxcar_instance_list *list) {
    struct output output;
    output_list_begin(&output, cli, CLI_FORMAT_TABLE, COLUMNS);
    for (size_t i = 0; i < boxcar_instance_list_count(list); i++)
        if (!output_list_add(&output, instance_json(boxcar_instance_list_get(list, i))))
            break;
    return output_list_end(&output, cli);
}

static int run(struct cli *cli, const char *const *args) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_instance_list *list = NULL;
    if (!cli_args_at_most(cli, args, 0))
        return CLI_USAGE;
    int result = cli_store_open(cli);
    if (result != CLI_DONE)
        return result;
    if (boxcar_instances_read(cli->store, &list, &err) != BOXCAR_OK)
        return cli_fail_with(cli, &err);
    result = print(cli, list);
    boxcar_instance_list_free(list);
    return result;
}

const struct command CMD_INSTANCE_LS = {
    .name = "instance ls",
    .summary = "list the workers that are running",
    .usage = "",
    .description =
        "The workers that were heard of within the setting instance_timeout, by rank, with the partitions of streams\n"
        "that each is preferred for, how many messages it holds and since when it holds the oldest.\n"
        "instance_id is the owner of its leases; on PostgreSQL, roles without admin access see another id\n"
        "that stands for it. With -o json an array, with -o jsonl one object a line.\n",
    .examples = "boxcar instance ls\n"
                "boxcar instance ls -o json\n",
    .run = run,
};
