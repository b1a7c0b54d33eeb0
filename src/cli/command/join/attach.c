/* boxcar join attach: makes messages members of a join. */
#include <stdio.h>

#include "join.h"

/* The message ids, and the answer for each. */
struct attachments {
    boxcar_message_id *ids;
    boxcar_attached *attached;
    size_t count;
};

static const char *const COLUMNS[] = {"message_id", "attached", "message_exists", NULL};

static json_t *attached_json(boxcar_message_id id, const boxcar_attached *attached) {
    json_t *object = json_object();
    bool good = json_put(object, "message_id", json_from_message_id(id)) &&
                json_put(object, "attached", json_boolean(attached->is_new)) &&
                json_put(object, "message_exists", json_boolean(attached->message_exists));
    return json_finish(object, good);
}

static int print(const struct cli *cli, const struct attachments *all) {
    struct output output;
    if (cli->format == CLI_FORMAT_UNSET) {
        for (size_t i = 0; i < all->count; i++) {
            char text[BOXCAR_UUID_TEXT_SIZE];
            boxcar_uuid_format(all->ids[i].uuid, text);
            if (all->attached[i].is_new)
                puts(text);
        }
        return CLI_DONE;
    }
    output_list_begin(&output, cli, CLI_FORMAT_TABLE, COLUMNS);
    for (size_t i = 0; i < all->count; i++)
        if (!output_list_add(&output, attached_json(all->ids[i], &all->attached[i])))
            break;
    return output_list_end(&output, cli);
}

/* One line about those messages that `concerns`: the id of the only one, or how many. */
static void note(const struct cli *cli, const struct attachments *all,
                 bool (*concerns)(const boxcar_attached *attached), const char *one, const char *many) {
    char text[BOXCAR_UUID_TEXT_SIZE];
    size_t count = 0;
    for (size_t i = 0; i < all->count; i++) {
        if (!concerns(&all->attached[i]))
            continue;
        boxcar_uuid_format(all->ids[i].uuid, text);
        count++;
    }
    if (count == 1)
        cli_note(cli, "%s %s", text, one);
    else if (count > 1)
        cli_note(cli, "%zu of the messages %s", count, many);
}

static bool was_member(const boxcar_attached *attached) { return !attached->is_new; }

static bool is_missing(const boxcar_attached *attached) {
    return attached->is_new && !attached->message_exists;
}

static int attach(struct cli *cli, boxcar_join_id join_id, const struct attachments *all) {
    TRY(cli_store_open(cli));
    TRY(cli_check(cli,
                  boxcar_join_attach(cli->store, join_id, all->ids, all->count, all->attached, &cli->err)));
    note(cli, all, is_missing, "is no message yet: the step counts when one with that id has ended",
         "do not exist yet: their steps count when messages with those ids have ended");
    note(cli, all, was_member, "was a member already", "were members already");
    return print(cli, all);
}

static int run(struct cli *cli) {
    const char *const *messages = cli->args + 1;
    boxcar_join_id join_id;
    if (!value_join_id(cli, "JOIN", cli->args[0], &join_id))
        return CLI_USAGE;
    if (!messages[0])
        return cli_usage(cli, "MESSAGE is missing: give one or more message ids");
    size_t count = cli_args_count(messages);
    AUTO_FREE boxcar_message_id *ids = calloc(count, sizeof(*ids));
    AUTO_FREE boxcar_attached *attached = calloc(count, sizeof(*attached));
    if (!ids || !attached)
        return cli_no_memory(cli);
    attached[0] = BOXCAR_ATTACHED_INIT;
    for (size_t i = 0; i < count; i++)
        if (!value_message_id(cli, "MESSAGE", messages[i], &ids[i]))
            return CLI_USAGE;
    return attach(cli, join_id, &(struct attachments){ids, attached, count});
}

const struct command CMD_JOIN_ATTACH = {
    .name = "join attach",
    .summary = "make messages members of a join",
    .usage = "JOIN MESSAGE...",
    .description =
        "Each MESSAGE is a message id. Prints the ids that are new members, one a line. Standard error says\n"
        "which were members already, and which are not the id of a message (yet). With -o json an array of\n"
        "objects with message_id, attached and message_exists. Attaching counts nothing: a message that has\n"
        "already ended is counted later, when a wait is evaluated or by maintenance.\n"
        "\n"
        "A join that has ended takes no new members (exit status 4). All ids are attached or none. boxcar\n"
        "enqueue --join stores a message and attaches it in one step.\n",
    .examples = "boxcar join attach 0190f3c2-7b1e-7c2d-9a55-3f1d2c4b5a69 "
                "0190f3c2-8c2f-7d3e-8b66-4a2e3d5c6b70\n",
    .missing = JOIN_MISSING,
    .most_args = CLI_ANY_ARGS,
    .run = run,
};
