/* boxcar claim: leases messages to an owner. */
#include "common.h"

static struct {
    char *owner, *lease, *batch_size, *batch_bytes;
    char **topics;
} given;

static struct poptOption OPTIONS[] = {
    OPTION_TEXT("owner", given.owner, "the claimer's id; needed to settle", "UUID"),
    OPTION_TEXT("lease", given.lease, "100ms to 24h (default 30s)", "DUR"),
    OPTION_TEXT("batch-size", given.batch_size, "the most to claim, 1 to 10000 (default 50)", "N"),
    OPTION_TEXT("batch-bytes", given.batch_bytes,
                "claim no more once messages have this many bytes, 1KiB to 1GiB (default 64MiB)", "SIZE"),
    OPTION_LIST("topic", given.topics, "only this topic, or PREFIX*; may be repeated", "TOPIC"),
    OPTIONS_READER,
    POPT_TABLEEND,
};

static const char *const COLUMNS[] = {"work_id",     "epoch",   "message_id", "topic",
                                      "retry_count", "payload", NULL};

static json_t *row(const void *message) {
    return common_with_subscription(message_json(message, MESSAGE_WITH_PAYLOAD));
}

static int run(struct cli *cli) {
    boxcar_claimer claimer = BOXCAR_CLAIMER_INIT;
    if (!common_check_reader(cli) || !value_owner(cli, given.owner, &claimer.owner) ||
        !value_lease_time(cli, given.lease, &claimer.lease_ms) ||
        !value_count(cli, "--batch-size", given.batch_size, &claimer.batch_size) ||
        !value_size(cli, "--batch-bytes", given.batch_bytes, BOXCAR_BATCH_BYTES_MIN, BOXCAR_BATCH_BYTES_MAX,
                    &claimer.batch_bytes))
        return CLI_USAGE;
    AUTO_FREE boxcar_str *topics = common_texts(given.topics, &claimer.topic_count);
    AUTO_LIST boxcar_message_list *list = NULL;
    if (!topics)
        return cli_no_memory(cli);
    claimer.topics = topics;
    TRY(common_open_reader(cli, &claimer.box));
    TRY(cli_check(cli, boxcar_claim(cli->store, &claimer, &list, &cli->err)));
    return common_print_list(cli, COLUMNS, row, list->items, list->count);
}

static const struct command CMD_CLAIM = {
    .name = "claim",
    .summary = "lease messages that are ready",
    .usage = "--owner UUID [--lease DUR] [--batch-size N] [--batch-bytes SIZE] [--topic TOPIC]... "
             "[--box BOX|--subscription NAME]",
    .description =
        "Leases messages to an owner, oldest first, and prints them with their payload, as JSON\n"
        "Lines unless -o says otherwise. If nothing is ready, it prints nothing and succeeds. Settle\n"
        "each message before its lease ends: ack, abandon, defer or fail with WORK_ID:EPOCH, or renew\n"
        "it. A lease that ends spends an attempt, and the message is claimed alone from then on.\n"
        "\n"
        "Without --topic it claims all messages except waits for joins (topic join.wait): these are claimed\n"
        "only if --topic names them exactly. If you ack a wait by hand, its continuation is lost.\n"
        "\n"
        "With --subscription it claims for that subscription. Give the same option to settle.\n",
    .examples = "boxcar claim --owner 0b0e7d5e-7d2c-4f0e-8f0f-3d9f4a1c2b11\n"
                "boxcar claim --owner 0b0e7d5e-7d2c-4f0e-8f0f-3d9f4a1c2b11 --topic 'orders.*' --batch-size 1 "
                "--lease 2m\n",
    .options = OPTIONS,
    .format = CLI_FORMAT_JSONL,
    .run = run,
};

const struct command_noun CLAIM_COMMANDS = {"Work by hand",
                                            (const struct command *const[]){&CMD_CLAIM, NULL}};
