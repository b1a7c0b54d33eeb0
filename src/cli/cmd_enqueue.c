/* boxcar enqueue: stores one message, or a file of them. */
#include <stdlib.h>

#include "commands.h"
#include "enqueue_feed.h"
#include "message_json.h"
#include "new_message.h"
#include "payload.h"
#include "report.h"
#include "values.h"

static struct {
    char *batch, *message_id, *key, *join;
    int unique;
} given;
static struct new_message_given given_message;

static struct poptOption OPTIONS[] = {
    {"batch", 0, POPT_ARG_STRING, &given.batch, 0, "read messages from JSON Lines; - is standard input",
     "FILE|-"},
    NEW_MESSAGE_OPTIONS(given_message),
    {"message-id", 0, POPT_ARG_STRING, &given.message_id, 0, "the message's id; one that exists is a no-op",
     "UUID"},
    {"key", 0, POPT_ARG_STRING, &given.key, 0,
     "stored once for this text and the topic, as long as the message is kept", "TEXT"},
    {"unique", 0, POPT_ARG_NONE, &given.unique, 0, "the key is free again once its message is done or dead",
     NULL},
    {"join", 0, POPT_ARG_STRING, &given.join, 0, "make the message a member of this join", "JOIN"},
    POPT_TABLEEND};

/* Everything the message borrows that is not on the command line. */
struct borrowed {
    char *payload;
    char *headers;
};

static const char *const COLUMNS[] = {"work_id", "message_id", "duplicate", NULL};

static boxcar_status store_one(boxcar_store *store, const void *message, void *ret_enqueued,
                               boxcar_error *err) {
    return boxcar_enqueue(store, message, ret_enqueued, err);
}

static json_t *enqueued_row(const void *enqueued) { return enqueued_json(enqueued); }

static const struct enqueue_kind OUTBOX = {
    .box = BOXCAR_OUTBOX,
    .store_one = store_one,
    .enqueued_size = sizeof(boxcar_enqueued),
    .id_offset = offsetof(boxcar_enqueued, message_id),
    .duplicate_offset = offsetof(boxcar_enqueued, duplicate),
    .row = enqueued_row,
    .columns = COLUMNS,
};

static bool read_ids(const struct cli *cli, boxcar_new_message *message) {
    if (given.message_id && given.key) {
        cli_usage(cli, "--message-id and --key are both given: give one of them");
        return false;
    }
    if (given.unique && !given.key) {
        cli_usage(cli, "--unique needs a key: give --key TEXT");
        return false;
    }
    return value_message_id(cli, "--message-id", given.message_id, &message->message_id) &&
           value_join_id(cli, "--join", given.join, &message->join_id);
}

/* Standard input comes last, so that a bad option does not wait for it. */
static int read_message(const struct cli *cli, const char *const *args, boxcar_new_message *message,
                        struct borrowed *borrowed) {
    message->topic = boxcar_str_of(args[0]);
    message->key = boxcar_str_of(given.key);
    message->unique = given.unique != 0;
    if (!new_message_read(cli, &given_message, message, &borrowed->headers) || !read_ids(cli, message))
        return CLI_USAGE;
    if (!args[1])
        return cli_usage(cli, "payload is missing: give PAYLOAD, or - to read it from standard input");
    return payload_read(cli, args[1], &borrowed->payload, &message->payload);
}

static int run_one(struct cli *cli, const char *const *args) {
    boxcar_new_message message = BOXCAR_NEW_MESSAGE_INIT;
    struct borrowed borrowed = {0};
    if (!args[0])
        return cli_usage(cli, "topic is missing: give TOPIC and PAYLOAD, or --batch FILE");
    if (cli_args_count(args) > 2) /* what is too much may be a part of the payload: not shown (BX-010) */
        return cli_usage(cli, "more arguments than TOPIC and PAYLOAD: put quotes around the payload");
    int result = read_message(cli, args, &message, &borrowed);
    if (result == CLI_DONE)
        result = enqueue_one(cli, &OUTBOX, &message);
    free(borrowed.payload);
    free(borrowed.headers);
    return result;
}

static bool has_message_options(void) {
    return new_message_is_given(&given_message) || given.message_id || given.key || given.unique || given.join;
}

static int run_batch(struct cli *cli, const char *const *args) {
    if (args[0] || has_message_options()) {
        return cli_usage(cli, "--batch is given: every message comes from the file, "
                              "so give no TOPIC, PAYLOAD or options of a message");
    }
    return enqueue_feed(cli, &OUTBOX, given.batch);
}

static int run(struct cli *cli, const char *const *args) {
    return given.batch ? run_batch(cli, args) : run_one(cli, args);
}

const struct command CMD_ENQUEUE = {
    .name = "enqueue",
    .summary = "store a message, or a file of them",
    .usage = "TOPIC PAYLOAD|- [OPTIONS]\n"
             "--batch FILE|-",
    .description =
        "Stores a message durably and prints its message id; with -o json an object with work_id,\n"
        "message_id and duplicate. PAYLOAD - reads standard input, byte for byte. Put -- before a\n"
        "payload that begins with -.\n"
        "\n"
        "A message id (or key) that the store has already makes it a no-op that prints the ids of\n"
        "what is there, duplicate true. A key belongs to its topic: the same key in two topics is two\n"
        "messages. It is remembered as long as its message: 7 days after it is done and 30 days after\n"
        "it died, see boxcar help settings. With --unique the key is free again as soon as its message\n"
        "is done or dead, and the next one gets an id of its own.\n"
        "\n"
        "--join makes the message a step of a join, in the same transaction; see boxcar help join. A\n"
        "join that does not exist gives exit status 3, one that has ended 4, and nothing is stored.\n"
        "\n"
        "--batch reads JSON Lines: one object a line with topic, payload, correlation_id, due, delay,\n"
        "ttl, stream, headers (an object), message_id, key, unique (true or false), max_attempts, join_id\n"
        "(or join). Any other name is refused, exit status 2. A payload that is not a string is stored as\n"
        "its compact JSON.\n"
        "All lines are stored or none, and the ids are printed one a line, in the order of the file. The\n"
        "messages are stored while the file is read, in one transaction. A slow pipe keeps nobody waiting:\n"
        "then they are stored after its end.\n",
    .examples =
        "boxcar enqueue orders.paid '{\"order\": 42}'\n"
        "echo 'from a pipe' | boxcar enqueue mail.send - --delay 5m --header trace=abc\n"
        "boxcar enqueue orders.paid 'once only' --key order-42 --stream customer-7 -o json\n"
        "boxcar enqueue search.reindex '' --key products --unique\n"
        "printf '{\"topic\":\"a\",\"payload\":{\"n\":1}}\\n{\"topic\":\"b\",\"payload\":\"text\"}\\n' | "
        "boxcar enqueue --batch -\n",
    .options = OPTIONS,
    .run = run,
};
