/* boxcar join ls: a page of joins. */
#include "cli/command/commands.h"
#include "cli/input/values.h"
#include "cli/output/output.h"
#include "cli/output/report.h"
#include "join.h"

static struct { char *grouping_key, *status, *before, *limit, *after, *message; } given;

static struct poptOption OPTIONS[] = {
    {"grouping-key", 0, POPT_ARG_STRING, &given.grouping_key, 0, "only joins with this key", "TEXT"},
    {"status", 0, POPT_ARG_STRING, &given.status, 0, "pending, completed, failed or cancelled", "STATUS"},
    {"before", 0, POPT_ARG_STRING, &given.before, 0, "only those started before", "TIME"},
    {"message", 0, POPT_ARG_STRING, &given.message, 0, "only joins that have this message as a member",
     "MESSAGE"},
    {"limit", 0, POPT_ARG_STRING, &given.limit, 0, "how many, 1 to 10000 (default 50)", "N"},
    {"after", 0, POPT_ARG_STRING, &given.after, 0, "start after the last join of a page", "JOIN"},
    POPT_TABLEEND};

static const char *const COLUMNS[] = {"join_id",    "grouping_key",    "progress", "status", "reason",
                                      "created_at", "last_updated_at", "deadline", NULL};

static bool read_status(const struct cli *cli, boxcar_join_filter *filter) {
    if (!given.status)
        return true;
    filter->by_status = VALUE_NAMED(given.status, boxcar_join_status_name, &filter->status);
    if (!filter->by_status)
        cli_usage(cli, "--status is '%.64s': give pending, completed, failed or cancelled", given.status);
    return filter->by_status;
}

static int print(const struct cli *cli, const boxcar_join_list *list) {
    struct output output;
    output_list_begin(&output, cli, CLI_FORMAT_TABLE, COLUMNS);
    for (size_t i = 0; i < list->count; i++) {
        json_t *row = join_json(list->items[i], output.format == CLI_FORMAT_TABLE);
        if (!output_list_add(&output, row))
            break;
    }
    return output_list_end(&output, cli);
}

static int list_page(struct cli *cli, const boxcar_join_filter *filter) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_join_list *list = NULL;
    int result = cli_store_open(cli);
    if (result != CLI_DONE)
        return result;
    if (boxcar_join_page(cli->store, filter, &list, &err) != BOXCAR_OK)
        return cli_fail_with(cli, &err);
    result = print(cli, list);
    boxcar_list_free(list);
    return result;
}

static int run(struct cli *cli, const char *const *args) {
    boxcar_join_filter filter = BOXCAR_JOIN_FILTER_INIT;
    filter.grouping_key = boxcar_str_of(given.grouping_key);
    if (!cli_args_at_most(cli, args, 0) || !read_status(cli, &filter) ||
        !value_time(cli, "--before", given.before, &filter.before) ||
        !value_count(cli, "--limit", given.limit, &filter.limit) ||
        !value_join_id(cli, "--after", given.after, &filter.after) ||
        !value_message_id(cli, "--message", given.message, &filter.message_id))
        return CLI_USAGE;
    return list_page(cli, &filter);
}

const struct command CMD_JOIN_LS = {
    .name = "join ls",
    .summary = "list joins, newest first",
    .usage = "[--grouping-key TEXT] [--status STATUS] [--before TIME] [--message MESSAGE] [--limit N]\n"
             "[--after JOIN]",
    .description =
        "One page of joins. All conditions must hold. For the next page give the last id of this one to\n"
        "--after. With -o json an array, with -o jsonl one object a line.\n",
    .examples = "boxcar join ls\n"
                "boxcar join ls --status pending --grouping-key order-42 -o jsonl\n",
    .options = OPTIONS,
    .run = run,
};
