/* boxcar join show: one join and a page of its members. */
#include <stdio.h>

#include "join.h"

static struct poptOption OPTIONS[] = {
    OPTION_TEXT("limit", common_given.limit, "how many members, 1 to 10000 (default 50)", "N"),
    OPTION_AFTER("start after the last member of a page", "MESSAGE"),
    POPT_TABLEEND,
};

static const char *const COLUMNS[] = {"message_id", "work_id", "status", "created_at", NULL};

static json_t *member_row(const void *item) {
    const boxcar_join_member *member = item;
    json_t *object = json_object();
    bool good = json_put(object, "message_id", json_from_message_id(member->message_id)) &&
                json_put(object, "work_id", json_from_number(member->work_id.value)) &&
                json_put(object, "status", json_string(boxcar_member_status_name(member->status))) &&
                json_put(object, "created_at", json_from_time(member->created_at));
    return json_finish(object, good);
}

/* Whether a member follows a page that is full. */
static int look_further(struct cli *cli, boxcar_join_id join_id, boxcar_message_id last, bool *ret_has_more) {
    AUTO_LIST boxcar_join_member_list *next = NULL;
    TRY(cli_check(cli, boxcar_join_member_page(cli->store, join_id, last, 1, &next, &cli->err)));
    *ret_has_more = next->count > 0;
    return CLI_DONE;
}

/* How many members are shown and, when there are more, the command that shows them. */
static void print_count(size_t count, bool has_more, boxcar_join_id join_id, boxcar_message_id last) {
    printf("\n%zu member%s shown", count, count == 1 ? "" : "s");
    if (has_more) {
        char join_text[BOXCAR_UUID_TEXT_SIZE], last_text[BOXCAR_UUID_TEXT_SIZE];
        boxcar_uuid_format(join_id.uuid, join_text);
        boxcar_uuid_format(last.uuid, last_text);
        printf("; there are more: boxcar join show %s --limit %zu --after %s", join_text, count, last_text);
    }
    putchar('\n');
}

static int print_for_people(struct cli *cli, const boxcar_join *join, const boxcar_join_member_list *members,
                            int limit) {
    size_t count = members->count;
    boxcar_message_id last = count ? members->items[count - 1]->message_id : (boxcar_message_id){0};
    bool has_more = false;
    if (count >= (size_t)limit)
        TRY(look_further(cli, join->join_id, last, &has_more));
    TRY(output_object(cli, join_json(join, true)));
    if (count == 0)
        return CLI_DONE;
    putchar('\n');
    TRY(common_print_list(cli, COLUMNS, member_row, members->items, count));
    print_count(count, has_more, join->join_id, last);
    return CLI_DONE;
}

static int run(struct cli *cli) {
    AUTO_LIST boxcar_join_list *joins = NULL; /* exactly one */
    AUTO_LIST boxcar_join_member_list *members = NULL;
    boxcar_join_id join_id;
    boxcar_message_id after = {0};
    int limit = 50;
    if (!value_join_id(cli, "JOIN", cli->args[0], &join_id) || !cli_args_at_most(cli, 1) ||
        !value_count(cli, "--limit", common_given.limit, &limit) ||
        !value_message_id(cli, "--after", common_given.after, &after))
        return CLI_USAGE;
    TRY(cli_store_open(cli));
    TRY(cli_check(cli, boxcar_join_find(cli->store, join_id, &joins, &cli->err)));
    TRY(cli_check(cli, boxcar_join_member_page(cli->store, join_id, after, limit, &members, &cli->err)));
    if (cli_is_for_people(cli))
        return print_for_people(cli, joins->items[0], members, limit);
    json_t *object = join_json(joins->items[0], false);
    bool good =
        object && json_put(object, "members", common_array(member_row, members->items, members->count));
    return output_object(cli, json_finish(object, good));
}

const struct command CMD_JOIN_SHOW = {
    .name = "join show",
    .summary = "show a join and its members",
    .usage = "JOIN [--limit N] [--after MESSAGE]",
    .description =
        "Shows all fields of the join, its progress, and a page of its members by message id. For the next\n"
        "page give the last message id of this one to --after. If there is a next page, the last line is\n"
        "the command that shows it. With -o json one object whose members are an array of objects with\n"
        "message_id, work_id (null: no such message yet), status and created_at.\n",
    .examples = "boxcar join show 0190f3c2-7b1e-7c2d-9a55-3f1d2c4b5a69\n"
                "boxcar join show 0190f3c2-7b1e-7c2d-9a55-3f1d2c4b5a69 --limit 1000 -o json\n",
    .options = OPTIONS,
    .missing = JOIN_MISSING,
    .most_args = CLI_ANY_ARGS,
    .run = run,
};
