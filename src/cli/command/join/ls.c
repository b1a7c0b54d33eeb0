/* boxcar join ls: a page of joins. */
#include "join.h"

static struct { char *grouping_key, *status, *before, *message; } given;

static struct poptOption OPTIONS[] = {
    OPTION_TEXT("grouping-key", given.grouping_key, "only joins with this key", "TEXT"),
    OPTION_TEXT("status", given.status, "pending, completed, failed or cancelled", "STATUS"),
    OPTION_TEXT("before", given.before, "only those started before", "TIME"),
    OPTION_TEXT("message", given.message, "only joins that have this message as a member", "MESSAGE"),
    OPTION_LIMIT,
    OPTION_AFTER("start after the last join of a page", "JOIN"),
    POPT_TABLEEND,
};

static const char *const COLUMNS[] = {"join_id",    "grouping_key",    "progress", "status", "reason",
                                      "created_at", "last_updated_at", "deadline", NULL};

static json_t *row(const void *join) { return join_json(join, false); }

static json_t *row_for_people(const void *join) { return join_json(join, true); }

static int read_status(const struct cli *cli, boxcar_join_filter *filter) {
    filter->by_status = given.status != NULL;
    if (given.status && !VALUE_NAMED(given.status, boxcar_join_status_name, &filter->status))
        return cli_usage(cli, "--status is '%.64s': give pending, completed, failed or cancelled",
                         given.status);
    return CLI_DONE;
}

static int run(struct cli *cli) {
    AUTO_LIST boxcar_join_list *list = NULL;
    boxcar_join_filter filter = BOXCAR_JOIN_FILTER_INIT;
    filter.grouping_key = boxcar_str_of(given.grouping_key);
    TRY(read_status(cli, &filter));
    if (!value_time(cli, "--before", given.before, &filter.before) ||
        !value_count(cli, "--limit", common_given.limit, &filter.limit) ||
        !value_join_id(cli, "--after", common_given.after, &filter.after) ||
        !value_message_id(cli, "--message", given.message, &filter.message_id))
        return CLI_USAGE;
    TRY(cli_store_open(cli));
    TRY(cli_check(cli, boxcar_join_page(cli->store, &filter, &list, &cli->err)));
    return common_print_list(cli, COLUMNS, cli_is_for_people(cli) ? row_for_people : row, list->items,
                             list->count);
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
