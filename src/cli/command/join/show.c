/* boxcar join show: one join and a page of its members. */
#include <stdio.h>

#include "cli/command/commands.h"
#include "cli/input/values.h"
#include "cli/output/message_json.h"
#include "cli/output/output.h"
#include "cli/output/report.h"
#include "join.h"

static struct { char *limit, *after; } given;

static struct poptOption OPTIONS[] = {
    {"limit", 0, POPT_ARG_STRING, &given.limit, 0, "how many members, 1 to 10000 (default 50)", "N"},
    {"after", 0, POPT_ARG_STRING, &given.after, 0, "start after the last member of a page", "MESSAGE"},
    POPT_TABLEEND};

static const char *const COLUMNS[] = {"message_id", "work_id", "status", "created_at", NULL};

/* What is shown. */
struct page {
    boxcar_join_list *joins; /* exactly one */
    boxcar_join_member_list *members;
    bool has_more; /* members, after these */
};

static boxcar_message_id last_member(const struct page *page) {
    size_t count = page->members->count;
    return page->members->items[count - 1]->message_id;
}

static json_t *members_json(const boxcar_join_member_list *members) {
    json_t *array = json_array();
    bool good = true;
    for (size_t i = 0; good && i < members->count; i++)
        good = json_array_append_new(array, join_member_json(members->items[i])) == 0;
    return json_finish(array, good);
}

static int print_members(const struct cli *cli, const boxcar_join_member_list *members) {
    struct output output;
    putchar('\n');
    output_list_begin(&output, cli, CLI_FORMAT_TABLE, COLUMNS);
    for (size_t i = 0; i < members->count; i++)
        if (!output_list_add(&output, join_member_json(members->items[i])))
            break;
    return output_list_end(&output, cli);
}

/* How many members are shown and, when there are more, the command that shows them. */
static void print_count(const struct page *page) {
    char join_id[BOXCAR_UUID_TEXT_SIZE], last[BOXCAR_UUID_TEXT_SIZE];
    size_t count = page->members->count;
    printf("\n%zu member%s shown", count, count == 1 ? "" : "s");
    if (page->has_more) {
        boxcar_uuid_format(page->joins->items[0]->join_id.uuid, join_id);
        boxcar_uuid_format(last_member(page).uuid, last);
        printf("; there are more: boxcar join show %s --limit %zu --after %s", join_id, count, last);
    }
    putchar('\n');
}

static int print_for_people(const struct cli *cli, const struct page *page) {
    int result = output_object(cli, join_json(page->joins->items[0], true));
    if (result != CLI_DONE || page->members->count == 0)
        return result;
    result = print_members(cli, page->members);
    if (result == CLI_DONE)
        print_count(page);
    return result;
}

static int print(const struct cli *cli, const struct page *page) {
    if (output_format(cli, CLI_FORMAT_TABLE) == CLI_FORMAT_TABLE)
        return print_for_people(cli, page);
    json_t *object = join_json(page->joins->items[0], false);
    bool good = object && json_put(object, "members", members_json(page->members));
    return output_object(cli, json_finish(object, good));
}

/* Whether a member follows a page that is full. */
static boxcar_status look_further(boxcar_store *store, boxcar_join_id join_id, int limit, struct page *page,
                                  boxcar_error *err) {
    boxcar_join_member_list *next = NULL;
    if (page->members->count < (size_t)limit)
        return BOXCAR_OK;
    boxcar_status status = boxcar_join_member_page(store, join_id, last_member(page), 1, &next, err);
    page->has_more = status == BOXCAR_OK && next->count > 0;
    boxcar_list_free(next);
    return status;
}

static int show(struct cli *cli, boxcar_join_id join_id, boxcar_message_id after, int limit) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    struct page page = {0};
    int result = cli_store_open(cli);
    if (result != CLI_DONE)
        return result;
    boxcar_status status = boxcar_join_find(cli->store, join_id, &page.joins, &err);
    if (status == BOXCAR_OK)
        status = boxcar_join_member_page(cli->store, join_id, after, limit, &page.members, &err);
    if (status == BOXCAR_OK && output_format(cli, CLI_FORMAT_TABLE) == CLI_FORMAT_TABLE)
        status = look_further(cli->store, join_id, limit, &page, &err);
    result = status == BOXCAR_OK ? print(cli, &page) : cli_fail_with(cli, &err);
    boxcar_list_free(page.members);
    boxcar_list_free(page.joins);
    return result;
}

static int run(struct cli *cli, const char *const *args) {
    boxcar_join_id join_id;
    boxcar_message_id after = {0};
    int limit = 50;
    if (!join_id_read(cli, args, &join_id) || !cli_args_at_most(cli, args, 1) ||
        !value_count(cli, "--limit", given.limit, &limit) ||
        !value_message_id(cli, "--after", given.after, &after))
        return CLI_USAGE;
    return show(cli, join_id, after, limit);
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
    .run = run,
};
