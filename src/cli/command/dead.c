/* Dead letters: boxcar cancel, dead, dead ls, dead show, dead replay and dead purge. */
#include <stdlib.h>

#include "cli/input/options.h"
#include "cli/input/values.h"
#include "cli/output/message_json.h"
#include "cli/output/output.h"
#include "cli/output/progress.h"
#include "cli/output/report.h"
#include "commands.h"
#include "message.h"

struct dead_given {
    char *topic, *reason, *before, *box;
    int all;
};

#define DEAD_OPTIONS(given, all_text)                                                                        \
    {"topic", 0, POPT_ARG_STRING, &(given).topic, 0, "only this topic, or PREFIX*", "TOPIC"},                \
        {"reason",        0, POPT_ARG_STRING,                                                                \
         &(given).reason, 0, "rejected, exhausted, expired, no_handler or cancelled",                        \
         "REASON"},                                                                                          \
        {"before", 0, POPT_ARG_STRING, &(given).before, 0, "only those that died before", "TIME"},           \
        {"all", 0, POPT_ARG_NONE, &(given).all, 0, all_text, NULL}, OPTION_BOX((given).box)

/* replay and purge: reads the choice, which must not be empty, calls `act`, and prints how many
 * under `name`. Ids of which none is a dead letter are "not found". */
typedef boxcar_status dead_fn(boxcar_store *store, const boxcar_dead_filter *filter, const char *note,
                              int64_t *ret_count, boxcar_error *err);

static bool read_reason(const struct cli *cli, const char *text, boxcar_reason *ret_reason) {
    if (!text)
        return true;
    if (!VALUE_NAMED(text, boxcar_reason_name, ret_reason) || *ret_reason == BOXCAR_REASON_NONE) {
        cli_usage(cli, "--reason is '%.64s': give rejected, exhausted, expired, no_handler or cancelled",
                  text);
        return false;
    }
    return true;
}

/* Fills in a filter from the options and the ID arguments. Returns an enum cli_exit and has
 * reported what is wrong. The caller frees filter->refs. */
static int dead_filter_read(const struct cli *cli, const struct dead_given *given, const char *const *args,
                            boxcar_dead_filter *ret_filter) {
    boxcar_dead_filter filter = BOXCAR_DEAD_FILTER_INIT;
    boxcar_message_ref *refs = NULL;
    filter.topic = boxcar_str_of(given->topic);
    filter.all = given->all;
    if (!read_reason(cli, given->reason, &filter.reason) ||
        !value_time(cli, "--before", given->before, &filter.before) ||
        !value_box(cli, given->box, &filter.box) || !value_refs(cli, args, &refs, &filter.ref_count))
        return CLI_USAGE;
    filter.refs = refs;
    *ret_filter = filter;
    return CLI_DONE;
}

static void dead_filter_release(boxcar_dead_filter *filter) {
    free((void *)filter->refs);
    filter->refs = NULL;
}

static bool chooses_something(const struct dead_given *given, const char *const *args) {
    return given->all || given->topic || given->reason || given->before || args[0];
}

static int act_on(struct cli *cli, const boxcar_dead_filter *filter, dead_fn *act, const char *note,
                  const char *name) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    int64_t count = 0;
    int result = cli_store_open(cli);
    if (result != CLI_DONE)
        return result;
    struct progress *progress = progress_begin(cli, "working through dead letters");
    boxcar_status status = act(cli->store, filter, note, &count, &err);
    progress_end(progress);
    if (status != BOXCAR_OK)
        return cli_fail_with(cli, &err);
    result = output_count(cli, name, count);
    if (result == CLI_DONE && filter->ref_count && count == 0)
        return cli_fail(cli, CLI_NOT_FOUND, "none of the ids is a dead letter: see boxcar dead ls");
    return result;
}

static int dead_act(struct cli *cli, const struct dead_given *given, const char *const *args, dead_fn *act,
                    const char *note, const char *name) {
    boxcar_dead_filter filter;
    if (!chooses_something(given, args))
        return cli_usage(cli, "nothing is chosen: give ids, --topic, --reason, --before, or --all");
    int result = dead_filter_read(cli, given, args, &filter);
    if (result != CLI_DONE)
        return result;
    result = act_on(cli, &filter, act, note, name);
    dead_filter_release(&filter);
    return result;
}

/* ---- boxcar cancel: buries a message that is not in progress ---- */

static char *cancel_box_name;

static struct poptOption CANCEL_OPTIONS[] = {OPTION_BOX(cancel_box_name), POPT_TABLEEND};

static int run_cancel(struct cli *cli, const char *const *args) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_message_ref ref;
    boxcar_box box = BOXCAR_OUTBOX;
    if (!args[0])
        return cli_usage(cli, "ID is missing: give a work id or a message id");
    if (!cli_args_at_most(cli, args, 1) || !value_box(cli, cancel_box_name, &box) ||
        !value_ref(cli, args[0], &ref))
        return CLI_USAGE;
    int result = cli_store_open(cli);
    if (result != CLI_DONE)
        return result;
    if (boxcar_message_cancel(cli->store, box, ref, &err) != BOXCAR_OK)
        return cli_fail_with(cli, &err);
    return output_count(cli, "cancelled", 1);
}

static const struct command CMD_CANCEL = {
    .name = "cancel",
    .summary = "bury a message that is not in progress",
    .usage = "ID [--box BOX]",
    .description =
        "The message becomes a dead letter (reason cancelled). If it is in progress, done or dead, the exit\n"
        "status is 4 (conflict); if it does not exist, 3 (not found). Prints the number of cancelled\n"
        "messages: 1; with -o json {\"cancelled\": 1}.\n",
    .examples = "boxcar cancel 1\n",
    .options = CANCEL_OPTIONS,
    .run = run_cancel,
};

/* ---- boxcar dead: the group of commands about dead letters ---- */

static int run_dead(struct cli *cli, const char *const *args) {
    (void)args;
    return cli_usage(cli, "no command given: give ls, show, replay or purge");
}

static const struct command CMD_DEAD = {
    .name = "dead",
    .summary = "dead letters: messages that failed for good",
    .usage = "ls|show|replay|purge",
    .description =
        "A message becomes a dead letter when it is failed (rejected), when its attempts are used up\n"
        "(exhausted), when its time to live ends (expired), when it has no handler (no_handler), or\n"
        "when it is cancelled. Only a replay makes it ready again.\n",
    .examples = "boxcar dead ls\n"
                "boxcar help dead replay\n",
    .run = run_dead,
};

/* ---- boxcar dead ls: a page of dead letters, or all of them ---- */

static struct dead_given ls_given;
static char *limit_text, *after_text;

static struct poptOption LS_OPTIONS[] = {
    DEAD_OPTIONS(ls_given, "list all pages"),
    {"limit", 0, POPT_ARG_STRING, &limit_text, 0, "how many, 1 to 10000 (default 50)", "N"},
    {"after", 0, POPT_ARG_STRING, &after_text, 0, "start after the last work id of a page", "WORK_ID"},
    POPT_TABLEEND};

static const char *const LS_COLUMNS[] = {"work_id", "message_id",  "topic",      "reason",
                                         "died_at", "retry_count", "last_error", NULL};

/* Adds a page to the output; `after` moves to its last message. Returns how many there were. */
static size_t add_page(struct output *output, const boxcar_message_list *list, boxcar_work_id *after) {
    size_t count = list->count;
    for (size_t i = 0; i < count; i++) {
        const boxcar_message *message = list->items[i];
        *after = message->work_id;
        if (!output_list_add(output, message_json(message, MESSAGE_WITHOUT_PAYLOAD)))
            return 0;
    }
    return count;
}

static int list_pages(struct cli *cli, const boxcar_dead_filter *filter, int limit, boxcar_work_id after) {
    struct output output;
    boxcar_error err = BOXCAR_ERROR_INIT;
    size_t added;
    output_list_begin(&output, cli, CLI_FORMAT_TABLE, LS_COLUMNS);
    do {
        boxcar_message_list *list = NULL;
        if (boxcar_dead_page(cli->store, filter, limit, after, &list, &err) != BOXCAR_OK) {
            json_decref(output.rows);
            return cli_fail_with(cli, &err);
        }
        added = add_page(&output, list, &after);
        boxcar_list_free(list);
    } while (ls_given.all && added == (size_t)limit);
    return output_list_end(&output, cli);
}

static int run_ls(struct cli *cli, const char *const *args) {
    boxcar_dead_filter filter;
    boxcar_work_id after = {0};
    int limit = ls_given.all && !limit_text ? BOXCAR_LIST_LIMIT_MAX : 50;
    if (!value_count(cli, "--limit", limit_text, &limit) ||
        !value_work_id(cli, "--after", after_text, &after))
        return CLI_USAGE;
    int result = dead_filter_read(cli, &ls_given, args, &filter);
    if (result != CLI_DONE)
        return result;
    result = cli_store_open(cli);
    if (result == CLI_DONE)
        result = list_pages(cli, &filter, limit, after);
    dead_filter_release(&filter);
    return result;
}

static const struct command CMD_DEAD_LS = {
    .name = "dead ls",
    .summary = "list dead letters, newest first",
    .usage =
        "[ID]... [--topic TOPIC] [--reason REASON] [--before TIME] [--limit N] [--after WORK_ID] [--all]",
    .description =
        "One page of dead letters with reason, died_at and last_error, without payloads. All conditions\n"
        "must hold. For the next page give the last work id of this one to --after.\n",
    .examples = "boxcar dead ls\n"
                "boxcar dead ls --topic 'orders.*' --reason exhausted -o json\n",
    .options = LS_OPTIONS,
    .run = run_ls,
};

/* ---- boxcar dead show: everything about one dead letter ---- */

static char *show_box;

static struct poptOption SHOW_OPTIONS[] = {OPTION_BOX(show_box), POPT_TABLEEND};

static int run_show(struct cli *cli, const char *const *args) {
    return inspect_show(cli, show_box, args, true);
}

static const struct command CMD_DEAD_SHOW = {
    .name = "dead show",
    .summary = "show everything about one dead letter",
    .usage = "ID [--box BOX]",
    .description =
        "As boxcar show, for dead letters only: any other message is \"not found\" (exit status 3).\n",
    .examples = "boxcar dead show 1\n"
                "boxcar dead show 1 -o json\n",
    .options = SHOW_OPTIONS,
    .run = run_show,
};

/* ---- boxcar dead replay: makes dead letters ready again ---- */

static struct dead_given replay_given;
static char *note_text;

static struct poptOption REPLAY_OPTIONS[] = {
    DEAD_OPTIONS(replay_given, "every dead letter"),
    {"note", 0, POPT_ARG_STRING, &note_text, 0, "kept in the message's history", "TEXT"},
    POPT_TABLEEND};

static boxcar_status replay(boxcar_store *store, const boxcar_dead_filter *filter, const char *note,
                            int64_t *ret_count, boxcar_error *err) {
    return boxcar_dead_replay(store, filter, boxcar_str_of(note), ret_count, err);
}

static int run_replay(struct cli *cli, const char *const *args) {
    return dead_act(cli, &replay_given, args, replay, note_text, "replayed");
}

static const struct command CMD_DEAD_REPLAY = {
    .name = "dead replay",
    .summary = "make dead letters ready again",
    .usage = "ID... [--note TEXT]\n"
             "[--topic TOPIC] [--reason REASON] [--before TIME] [--note TEXT]\n"
             "--all [--note TEXT]",
    .description =
        "The chosen messages are ready at once, or when they are due, with retry_count 0. Their time to\n"
        "live no longer counts. The replay is recorded in their history. Prints how many; with -o json\n"
        "{\"replayed\": N}. If none of the ids is a dead letter, the exit status is 3.\n",
    .examples = "boxcar dead replay 1 --note 'customer added'\n"
                "boxcar dead replay --topic 'orders.*' --reason exhausted\n",
    .options = REPLAY_OPTIONS,
    .run = run_replay,
};

/* ---- boxcar dead purge: removes dead letters for good ---- */

static struct dead_given purge_given;

static struct poptOption PURGE_OPTIONS[] = {DEAD_OPTIONS(purge_given, "every dead letter"), POPT_TABLEEND};

static boxcar_status purge(boxcar_store *store, const boxcar_dead_filter *filter, const char *note,
                           int64_t *ret_count, boxcar_error *err) {
    (void)note;
    return boxcar_dead_purge(store, filter, ret_count, err);
}

static int run_purge(struct cli *cli, const char *const *args) {
    return dead_act(cli, &purge_given, args, purge, NULL, "purged");
}

static const struct command CMD_DEAD_PURGE = {
    .name = "dead purge",
    .summary = "remove dead letters for good",
    .usage = "ID...\n"
             "[--topic TOPIC] [--reason REASON] [--before TIME]\n"
             "--all",
    .description = "Removes the chosen messages and their history. Prints how many; with -o json\n"
                   "{\"purged\": N}. If none of the ids is a dead letter, the exit status is 3.\n",
    .examples = "boxcar dead purge 1\n"
                "boxcar dead purge --reason cancelled --before 2026-01-31T12:00:00Z\n",
    .options = PURGE_OPTIONS,
    .run = run_purge,
};

const struct command_noun DEAD_COMMANDS = {
    "Dead letters", (const struct command *const[]){&CMD_CANCEL, &CMD_DEAD, &CMD_DEAD_LS, &CMD_DEAD_SHOW,
                                                    &CMD_DEAD_REPLAY, &CMD_DEAD_PURGE, NULL}};
