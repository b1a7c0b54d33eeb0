/* boxcar claim: leases messages to an owner. */
#include <stdlib.h>

#include "cli/input/options.h"
#include "cli/input/values.h"
#include "cli/output/message_json.h"
#include "cli/output/output.h"
#include "cli/output/report.h"
#include "commands.h"

static struct {
    char *owner, *lease, *batch_size, *batch_bytes, *box;
    char **topics;
} given;

static struct poptOption OPTIONS[] = {
    {"owner", 0, POPT_ARG_STRING, &given.owner, 0, "the claimer's id; needed to settle", "UUID"},
    {"lease", 0, POPT_ARG_STRING, &given.lease, 0, "100ms to 24h (default 30s)", "DUR"},
    {"batch-size", 0, POPT_ARG_STRING, &given.batch_size, 0, "the most to claim, 1 to 10000 (default 50)",
     "N"},
    {"batch-bytes", 0, POPT_ARG_STRING, &given.batch_bytes, 0,
     "claim no more once messages have this many bytes, 1KiB to 1GiB (default 64MiB)", "SIZE"},
    {"topic", 0, POPT_ARG_ARGV, &given.topics, 0, "only this topic, or PREFIX*; may be repeated", "TOPIC"},
    OPTION_BOX(given.box),
    POPT_TABLEEND};

static const char *const COLUMNS[] = {"work_id",     "epoch",   "message_id", "topic",
                                      "retry_count", "payload", NULL};

static int print(const struct cli *cli, const boxcar_message_list *list) {
    struct output output;
    output_list_begin(&output, cli, CLI_FORMAT_JSONL, COLUMNS);
    for (size_t i = 0; i < list->count; i++)
        if (!output_list_add(&output, message_json(list->items[i], MESSAGE_WITH_PAYLOAD)))
            break;
    return output_list_end(&output, cli);
}

static int claim(struct cli *cli, const boxcar_claimer *claimer) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_message_list *list = NULL;
    int result = cli_store_open(cli);
    if (result != CLI_DONE)
        return result;
    if (boxcar_claim(cli->store, claimer, &list, &err) != BOXCAR_OK)
        return cli_fail_with(cli, &err);
    result = print(cli, list);
    boxcar_list_free(list);
    return result;
}

static boxcar_str *read_topics(size_t *ret_count) {
    size_t count = given.topics ? cli_args_count((const char *const *)given.topics) : 0;
    boxcar_str *topics = calloc(count + 1, sizeof(*topics));
    for (size_t i = 0; topics && i < count; i++)
        topics[i] = boxcar_str_of(given.topics[i]);
    *ret_count = count;
    return topics;
}

static int run(struct cli *cli, const char *const *args) {
    boxcar_claimer claimer = BOXCAR_CLAIMER_INIT;
    if (!cli_args_at_most(cli, args, 0) || !value_box(cli, given.box, &claimer.box) ||
        !value_owner(cli, given.owner, &claimer.owner) ||
        !value_lease_time(cli, given.lease, &claimer.lease_ms) ||
        !value_count(cli, "--batch-size", given.batch_size, &claimer.batch_size) ||
        !value_size(cli, "--batch-bytes", given.batch_bytes, BOXCAR_BATCH_BYTES_MIN, BOXCAR_BATCH_BYTES_MAX,
                    &claimer.batch_bytes))
        return CLI_USAGE;
    boxcar_str *topics = read_topics(&claimer.topic_count);
    if (!topics)
        return cli_no_memory(cli);
    claimer.topics = topics;
    int result = claim(cli, &claimer);
    free(topics);
    return result;
}

static const struct command CMD_CLAIM = {
    .name = "claim",
    .summary = "lease messages that are ready",
    .usage =
        "--owner UUID [--lease DUR] [--batch-size N] [--batch-bytes SIZE] [--topic TOPIC]... [--box BOX]",
    .description =
        "Leases messages to an owner, oldest first, and prints them with their payload, as JSON\n"
        "Lines unless -o says otherwise. If nothing is ready, it prints nothing and succeeds. Settle\n"
        "each message before its lease ends: ack, abandon, defer or fail with WORK_ID:EPOCH, or renew\n"
        "it. A lease that ends spends an attempt, and the message is claimed alone from then on.\n"
        "\n"
        "Without --topic it claims all messages except waits for joins (topic join.wait): these are claimed\n"
        "only if --topic names them exactly. If you ack a wait by hand, its continuation is lost.\n",
    .examples = "boxcar claim --owner 0b0e7d5e-7d2c-4f0e-8f0f-3d9f4a1c2b11\n"
                "boxcar claim --owner 0b0e7d5e-7d2c-4f0e-8f0f-3d9f4a1c2b11 --topic 'orders.*' --batch-size 1 "
                "--lease 2m\n",
    .options = OPTIONS,
    .run = run,
};

const struct command_noun CLAIM_COMMANDS = {"Work by hand",
                                            (const struct command *const[]){&CMD_CLAIM, NULL}};
