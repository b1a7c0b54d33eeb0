/* boxcar enqueue: stores one message, or a file of them. What enqueue.h declares, inbox enqueue uses too. */
#include "enqueue.h"

#include <stdio.h>
#include <string.h>

#include "cli/input/batch/message_file.h"
#include "cli/input/batch/reader.h"
#include "cli/input/new_message.h"
#include "cli/input/payload.h"
#include "cli/output/progress.h"
#include "common.h"

static void print_ids(const boxcar_enqueued *enqueued, size_t count) {
    for (size_t i = 0; i < count; i++) {
        char text[BOXCAR_UUID_TEXT_SIZE];
        boxcar_uuid_format(enqueued[i].message_id.uuid, text);
        puts(text);
    }
}

/* Where only ids are printed: everything else has a column for it. */
static void note_duplicates(const struct cli *cli, const boxcar_enqueued *enqueued, size_t count) {
    size_t duplicates = 0;
    for (size_t i = 0; i < count; i++)
        duplicates += enqueued[i].duplicate;
    if (duplicates > 0 && count == 1)
        cli_note(cli, "a duplicate: the store knows this message already, and nothing was stored");
    else if (duplicates > 0)
        cli_note(cli,
                 "%zu of the messages are duplicates, which the store knows already: they were not stored",
                 duplicates);
}

static int print(const struct cli *cli, const struct enqueue_kind *kind, const boxcar_enqueued *enqueued,
                 size_t count, bool is_list) {
    struct output output;
    if (cli->format == CLI_FORMAT_UNSET) {
        note_duplicates(cli, enqueued, count);
        print_ids(enqueued, count);
        return CLI_DONE;
    }
    if (!is_list && cli->format != CLI_FORMAT_TABLE)
        return output_object(cli, kind->row(enqueued));
    output_list_begin(&output, cli, CLI_FORMAT_TABLE, kind->columns);
    for (size_t i = 0; i < count && output_list_add(&output, kind->row(&enqueued[i])); i++)
        continue;
    return output_list_end(&output, cli);
}

int enqueue_one(struct cli *cli, const struct enqueue_kind *kind, const boxcar_new_message *message) {
    boxcar_enqueued enqueued;
    TRY(cli_store_open(cli));
    TRY(cli_check(cli, boxcar_enqueue(cli->store, kind->box, message, &enqueued, &cli->err)));
    return print(cli, kind, &enqueued, 1, false);
}

static struct progress *show_storing(struct cli *cli, size_t count) {
    char text[48];
    snprintf(text, sizeof(text), "storing %zu messages", count);
    return progress_begin(cli, text);
}

int enqueue_file(struct cli *cli, const struct enqueue_kind *kind, const char *path) {
    CLEANUP(json_lines_release) struct json_lines file = {0};
    TRY(batch_file_load(cli, path, kind->box, &file));
    AUTO_FREE boxcar_enqueued *enqueued = calloc(file.count + 1, sizeof(*enqueued));
    if (!enqueued)
        return cli_no_memory(cli);
    TRY(cli_store_open(cli));
    struct progress *progress = show_storing(cli, file.count);
    boxcar_status status =
        boxcar_enqueue_many(cli->store, kind->box, file.items, file.count, enqueued, &cli->err);
    progress_end(progress);
    if (status != BOXCAR_OK)
        return json_lines_fail(cli, &file, &cli->err);
    return print(cli, kind, enqueued, file.count, true);
}

/* ---- a file of messages of the outbox, stored while it is read ---- */

static const char *const COLUMNS[] = {"work_id", "message_id", "duplicate", NULL};

static const struct enqueue_kind OUTBOX = {.box = BOXCAR_OUTBOX, .row = enqueued_json, .columns = COLUMNS};

struct feed {
    struct cli *cli;
    struct batch_reader *reader;
    struct progress *progress; /* of reading, then of storing */
};

/* A fault of the file ends the call; its text is the reader's. */
static boxcar_status next_chunk(void *context, int64_t wait_ms, boxcar_chunk *ret_chunk, boxcar_error *err) {
    struct feed *feed = context;
    const struct batch_chunk *chunk = batch_reader_take(feed->reader, wait_ms, &ret_chunk->is_last);
    if (!chunk && batch_reader_fault(feed->reader)) {
        err->status = BOXCAR_E_INVALID;
        return BOXCAR_E_INVALID;
    }
    if (ret_chunk->is_last) {
        progress_end(feed->progress);
        feed->progress = show_storing(feed->cli, batch_reader_count(feed->reader));
    }
    if (chunk) {
        ret_chunk->messages = chunk->lines.items;
        ret_chunk->count = chunk->lines.count;
        ret_chunk->enqueued = chunk->enqueued;
    }
    return BOXCAR_OK;
}

static int fail(const struct feed *feed) {
    const struct cli *cli = feed->cli;
    const struct json_fault *fault = batch_reader_fault(feed->reader);
    const struct batch_chunk *chunk = batch_reader_chunks(feed->reader);
    size_t index;
    if (!json_lines_index_of(&cli->err, &index))
        return fault ? cli_fail(cli, fault->exit, "%s", fault->text) : cli_fail_with(cli, &cli->err);
    for (; chunk && index >= chunk->lines.count; chunk = chunk->next)
        index -= chunk->lines.count;
    return chunk ? json_lines_fail_at(cli, &chunk->lines, index, &cli->err) : cli_fail_with(cli, &cli->err);
}

static int print_all(const struct feed *feed) {
    AUTO_FREE boxcar_enqueued *all = calloc(batch_reader_count(feed->reader) + 1, sizeof(*all));
    size_t count = 0;
    if (!all)
        return cli_no_memory(feed->cli);
    for (const struct batch_chunk *chunk = batch_reader_chunks(feed->reader); chunk; chunk = chunk->next) {
        memcpy(all + count, chunk->enqueued, chunk->lines.count * sizeof(*all));
        count += chunk->lines.count;
    }
    return print(feed->cli, &OUTBOX, all, count, true);
}

/* A small file is found to be good before the store is opened. */
static int store_all(struct feed *feed) {
    struct cli *cli = feed->cli;
    batch_reader_await(feed->reader);
    if (batch_reader_fault(feed->reader))
        return fail(feed);
    TRY(cli_store_open(cli));
    if (boxcar_enqueue_feed(cli->store, BOXCAR_OUTBOX, next_chunk, feed, &cli->err) != BOXCAR_OK)
        return fail(feed);
    progress_end(feed->progress);
    feed->progress = NULL;
    return print_all(feed);
}

static int enqueue_feed(struct cli *cli, const char *path) {
    struct feed feed = {.cli = cli, .progress = progress_begin(cli, batch_file_kind(BOXCAR_OUTBOX)->doing)};
    int result = batch_reader_start(cli, path, feed.progress, &feed.reader);
    if (result == CLI_DONE)
        result = store_all(&feed);
    batch_reader_free(feed.reader); /* it tells the progress */
    progress_end(feed.progress);
    return result;
}

/* ---- boxcar enqueue: stores one message, or a file of them ---- */

static struct {
    char *batch, *message_id, *key, *join;
    int unique;
} given;
static struct new_message_given given_message;

static struct poptOption OPTIONS[] = {
    OPTION_TEXT("batch", given.batch, "read messages from JSON Lines; - is standard input", "FILE|-"),
    NEW_MESSAGE_OPTIONS(given_message),
    OPTION_TEXT("message-id", given.message_id, "the message's id; one that exists is a no-op", "UUID"),
    OPTION_TEXT("key", given.key, "stored once for this text and the topic, as long as the message is kept",
                "TEXT"),
    OPTION_FLAG("unique", given.unique, "the key is free again once its message is done or dead"),
    OPTION_TEXT("join", given.join, "make the message a member of this join", "JOIN"),
    POPT_TABLEEND,
};

static int read_ids(const struct cli *cli, boxcar_new_message *message) {
    if (given.message_id && given.key)
        return cli_usage(cli, "--message-id and --key are both given: give one of them");
    if (given.unique && !given.key)
        return cli_usage(cli, "--unique needs a key: give --key TEXT");
    bool good = value_message_id(cli, "--message-id", given.message_id, &message->message_id) &&
                value_join_id(cli, "--join", given.join, &message->join_id);
    return good ? CLI_DONE : CLI_USAGE;
}

/* Standard input comes last, so that a bad option does not wait for it. */
static int run_one(struct cli *cli) {
    const char *const *args = cli->args;
    boxcar_new_message message = BOXCAR_NEW_MESSAGE_INIT;
    AUTO_FREE char *payload = NULL, *headers = NULL;
    if (!args[0])
        return cli_usage(cli, "topic is missing: give TOPIC and PAYLOAD, or --batch FILE");
    if (cli_args_count(args) > 2) /* what is too much may be a part of the payload: not shown (BX-010) */
        return cli_usage(cli, "more arguments than TOPIC and PAYLOAD: put quotes around the payload");
    message.topic = boxcar_str_of(args[0]);
    message.key = boxcar_str_of(given.key);
    message.unique = given.unique != 0;
    if (!new_message_read(cli, &given_message, &message, &headers))
        return CLI_USAGE;
    TRY(read_ids(cli, &message));
    if (!args[1])
        return cli_usage(cli, "payload is missing: give PAYLOAD, or - to read it from standard input");
    TRY(payload_read(cli, args[1], &payload, &message.payload));
    return enqueue_one(cli, &OUTBOX, &message);
}

static int run(struct cli *cli) {
    if (!given.batch)
        return run_one(cli);
    if (cli->args[0] || new_message_is_given(&given_message) || given.message_id || given.key ||
        given.unique || given.join)
        return cli_usage(cli, "--batch is given: every message comes from the file, "
                              "so give no TOPIC, PAYLOAD or options of a message");
    return enqueue_feed(cli, given.batch);
}

static const struct command CMD_ENQUEUE = {
    .name = "enqueue",
    .summary = "store a message, or a file of them",
    .usage = "TOPIC PAYLOAD|- [OPTIONS]\n"
             "--batch FILE|-",
    .description =
        "Stores a message durably and prints its message id; with -o json an object with work_id,\n"
        "message_id and duplicate. PAYLOAD - reads standard input, byte for byte. Put -- before a\n"
        "payload that begins with -.\n"
        "\n"
        "If the store already has the message id (or key), nothing is stored: the command prints the ids\n"
        "of the message that is there, with duplicate true. A key belongs to its topic: the same key in two\n"
        "topics is two messages. The key is kept as long as its message: until 7 days after the message is\n"
        "done or 30 days after it died, see boxcar settings. With --unique the key is free again as\n"
        "soon as its message is done or dead, and the next message with this key has a new id.\n"
        "\n"
        "--join makes the message a member of a join, in the same transaction; see boxcar help join. If the\n"
        "join does not exist, the exit status is 3, if it has ended 4, and nothing is stored.\n"
        "\n"
        "A message of a stream can also be an event: then it is appended to the event stream of the same\n"
        "name, in the same transaction, once. It is an event with --event or --event-type, or if its topic\n"
        "ends in Event. With --no-event it never is. See boxcar help event.\n"
        "\n"
        "--batch reads JSON Lines: one object a line with topic, payload, correlation_id, causation_id,\n"
        "due, delay, ttl, stream, headers and metadata (objects), message_id, key, unique, is_event\n"
        "(true or false), event_type, max_attempts, join_id (or join). Any other name is refused (exit\n"
        "status 2). A payload that is not a string is stored as its compact JSON.\n"
        "\n"
        "All lines are stored or none, and the ids are printed one a line, in the order of the file. The\n"
        "messages are stored while the file is read, in one transaction. If a pipe is slow, they are stored\n"
        "after its end instead, so that no other program has to wait.\n",
    .examples =
        "boxcar enqueue orders.paid '{\"order\": 42}'\n"
        "echo 'from a pipe' | boxcar enqueue mail.send - --delay 5m --header trace=abc\n"
        "boxcar enqueue orders.paid 'once only' --key order-42 --stream customer-7 -o json\n"
        "boxcar enqueue search.reindex '' --key products --unique\n"
        "printf '{\"topic\":\"a\",\"payload\":{\"n\":1}}\\n{\"topic\":\"b\",\"payload\":\"text\"}\\n' | "
        "boxcar enqueue --batch -\n",
    .options = OPTIONS,
    .most_args = CLI_ANY_ARGS,
    .run = run,
};

const struct command_noun ENQUEUE_COMMANDS = {"Send", (const struct command *const[]){&CMD_ENQUEUE, NULL}};
