/* boxcar inbox enqueue: stores a message from outside, or a file of them, once for each key. */
#include "cli/command/enqueue.h"
#include "cli/command/common.h"
#include "cli/input/new_message.h"
#include "cli/input/payload.h"
#include "inbox.h"

static struct { char *batch, *hash; } given;
static struct new_message_given given_message;

static struct poptOption OPTIONS[] = {
    OPTION_TEXT("batch", given.batch, "read messages from JSON Lines; - is standard input", "FILE|-"),
    OPTION_TEXT("hash", given.hash, "of the content, up to 255 characters; another one later is reported",
                "TEXT"),
    NEW_MESSAGE_OPTIONS(given_message),
    POPT_TABLEEND,
};

static const char *const COLUMNS[] = {"work_id", "message_id", "duplicate", "hash_mismatch", NULL};

static json_t *enqueued_row(const boxcar_enqueued *enqueued) {
    json_t *object = json_object();
    bool good = json_put(object, "work_id", json_from_number(enqueued->work_id.value)) &&
                json_put(object, "message_id", json_from_message_id(enqueued->message_id)) &&
                json_put(object, "duplicate", json_boolean(enqueued->duplicate)) &&
                json_put(object, "hash_mismatch", json_boolean(enqueued->hash_mismatch));
    return json_finish(object, good);
}

static const struct enqueue_kind INBOX = {.box = BOXCAR_INBOX, .row = enqueued_row, .columns = COLUMNS};

static int run_one(struct cli *cli) {
    const char *const *args = cli->args;
    boxcar_new_message message = BOXCAR_NEW_MESSAGE_INIT;
    AUTO_FREE char *payload = NULL, *headers = NULL;
    size_t count = cli_args_count(args);
    if (count < 3)
        return cli_usage(cli, "%s is missing: give SOURCE, ID, TOPIC and PAYLOAD, or --batch FILE",
                         count == 0   ? "SOURCE"
                         : count == 1 ? "ID"
                                      : "TOPIC");
    if (count > 4) /* what is too much may be a part of the payload: not shown (BX-010) */
        return cli_usage(cli,
                         "more arguments than SOURCE, ID, TOPIC and PAYLOAD: put quotes around the payload");
    if (!args[3])
        return cli_usage(cli, "payload is missing: give PAYLOAD, or - to read it from standard input");
    message.source = boxcar_str_of(args[0]);
    message.external_id = boxcar_str_of(args[1]);
    message.topic = boxcar_str_of(args[2]);
    message.content_hash = boxcar_str_of(given.hash);
    if (!new_message_read(cli, &given_message, &message, &headers))
        return CLI_USAGE;
    TRY(payload_read(cli, args[3], &payload, &message.payload));
    return enqueue_one(cli, &INBOX, &message);
}

static int run(struct cli *cli) {
    if (!given.batch)
        return run_one(cli);
    if (cli->args[0] || given.hash || new_message_is_given(&given_message))
        return cli_usage(cli, "--batch is given: every message comes from the file, "
                              "so give no SOURCE, ID, TOPIC, PAYLOAD or options of a message");
    return enqueue_file(cli, &INBOX, given.batch);
}

const struct command CMD_INBOX_ENQUEUE = {
    .name = "inbox enqueue",
    .summary = "store a message from outside, once",
    .usage = "SOURCE ID TOPIC PAYLOAD|- [OPTIONS]\n"
             "--batch FILE|-",
    .description =
        "Stores a message for its key, SOURCE and ID, and prints its message id; with -o json an object\n"
        "with work_id, message_id, duplicate and hash_mismatch. If the key is known, nothing is stored:\n"
        "duplicate is true, also when the message is done, dead or long gone (work_id null). Without -o\n"
        "json a note says so. PAYLOAD - reads standard input, byte for byte. Put -- before a payload that\n"
        "begins with -.\n"
        "\n"
        "--hash: the first hash of a key is kept. A different one later is only logged and reported\n"
        "(hash_mismatch).\n"
        "\n"
        "--batch reads JSON Lines: one object a line with source, id, content_hash, topic, payload,\n"
        "correlation_id, causation_id, due, delay, ttl, stream, headers and metadata (objects),\n"
        "max_attempts, is_event, event_type. Any other name is refused, exit status 2. A payload that is\n"
        "not a string is stored as its compact JSON. All lines are stored or none; a key that comes twice\n"
        "is stored once.\n",
    .examples =
        "boxcar inbox enqueue shop order-42 orders.paid '{\"order\": 42}'\n"
        "echo 'from a pipe' | boxcar inbox enqueue shop order-43 orders.paid - --hash 5d41402a -o json\n"
        "printf '{\"source\":\"shop\",\"id\":\"1\",\"topic\":\"a\",\"payload\":{\"n\":1}}\\n' | boxcar inbox "
        "enqueue --batch -\n",
    .options = OPTIONS,
    .most_args = CLI_ANY_ARGS,
    .run = run,
};
