/* boxcar enqueue: stores one message, or a file of them. What enqueue.h declares, inbox enqueue uses too. */
#include "enqueue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/input/batch/message_file.h"
#include "cli/input/batch/reader.h"
#include "cli/input/new_message.h"
#include "cli/input/payload.h"
#include "cli/input/values.h"
#include "cli/output/message_json.h"
#include "cli/output/output.h"
#include "cli/output/progress.h"
#include "cli/output/report.h"
#include "commands.h"

static int print_ids(const boxcar_enqueued *enqueued, size_t count) {
    for (size_t i = 0; i < count; i++) {
        char text[BOXCAR_UUID_TEXT_SIZE];
        boxcar_uuid_format(enqueued[i].message_id.uuid, text);
        puts(text);
    }
    return CLI_DONE;
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

int enqueue_print(const struct cli *cli, const struct enqueue_kind *kind, const boxcar_enqueued *enqueued,
                  size_t count, bool is_list) {
    struct output output;
    if (cli->format == CLI_FORMAT_UNSET) {
        note_duplicates(cli, enqueued, count);
        return print_ids(enqueued, count);
    }
    if (!is_list && cli->format != CLI_FORMAT_TABLE)
        return output_object(cli, kind->row(enqueued));
    output_list_begin(&output, cli, CLI_FORMAT_TABLE, kind->columns);
    for (size_t i = 0; i < count && output_list_add(&output, kind->row(&enqueued[i])); i++) {
    }
    return output_list_end(&output, cli);
}

int enqueue_one(struct cli *cli, const struct enqueue_kind *kind, const boxcar_new_message *message) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_enqueued enqueued;
    int result = cli_store_open(cli);
    if (result != CLI_DONE)
        return result;
    if (boxcar_enqueue(cli->store, kind->box, message, &enqueued, &err) != BOXCAR_OK)
        return cli_fail_with(cli, &err);
    return enqueue_print(cli, kind, &enqueued, 1, false);
}

static boxcar_status store_all(struct cli *cli, const struct enqueue_kind *kind,
                               const struct json_lines *file, boxcar_enqueued *ret_enqueued,
                               boxcar_error *err) {
    char text[48];
    snprintf(text, sizeof(text), "storing %zu messages", file->count);
    struct progress *progress = progress_begin(cli, text);
    boxcar_status status =
        boxcar_enqueue_many(cli->store, kind->box, file->items, file->count, ret_enqueued, err);
    progress_end(progress);
    return status;
}

static int enqueue_lines(struct cli *cli, const struct enqueue_kind *kind, const struct json_lines *file) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_enqueued *enqueued = calloc(file->count + 1, sizeof(*enqueued));
    int result = enqueued ? cli_store_open(cli) : cli_no_memory(cli);
    if (result == CLI_DONE) {
        boxcar_status status = store_all(cli, kind, file, enqueued, &err);
        result = status == BOXCAR_OK ? enqueue_print(cli, kind, enqueued, file->count, true)
                                     : json_lines_fail(cli, file, &err);
    }
    free(enqueued);
    return result;
}

int enqueue_file(struct cli *cli, const struct enqueue_kind *kind, const char *path) {
    struct json_lines file;
    int result = batch_file_load(cli, path, kind->box, &file);
    if (result == CLI_DONE)
        result = enqueue_lines(cli, kind, &file);
    json_lines_release(&file);
    return result;
}

struct feed {
    struct cli *cli;
    struct batch_reader *reader;
    struct progress *progress; /* of reading, then of storing */
};

static void show_storing(struct feed *feed) {
    char text[48];
    snprintf(text, sizeof(text), "storing %zu messages", batch_reader_count(feed->reader));
    progress_end(feed->progress);
    feed->progress = progress_begin(feed->cli, text);
}

/* A fault of the file ends the call; its text is the reader's. */
static boxcar_status next_chunk(void *context, int64_t wait_ms, boxcar_chunk *ret_chunk, boxcar_error *err) {
    struct feed *feed = context;
    const struct batch_chunk *chunk = batch_reader_take(feed->reader, wait_ms, &ret_chunk->is_last);
    if (!chunk && batch_reader_fault(feed->reader)) {
        err->status = BOXCAR_E_INVALID;
        return BOXCAR_E_INVALID;
    }
    if (ret_chunk->is_last)
        show_storing(feed);
    if (!chunk)
        return BOXCAR_OK;
    ret_chunk->messages = chunk->lines.items;
    ret_chunk->count = chunk->lines.count;
    ret_chunk->enqueued = chunk->enqueued;
    return BOXCAR_OK;
}

static int fail(const struct feed *feed, const boxcar_error *err) {
    const struct json_fault *fault = batch_reader_fault(feed->reader);
    const struct batch_chunk *chunk = batch_reader_chunks(feed->reader);
    size_t index;
    if (!json_lines_index_of(err, &index))
        return fault ? cli_fail(feed->cli, fault->exit, "%s", fault->text) : cli_fail_with(feed->cli, err);
    for (; chunk && index >= chunk->lines.count; chunk = chunk->next)
        index -= chunk->lines.count;
    return chunk ? json_lines_fail_at(feed->cli, &chunk->lines, index, err) : cli_fail_with(feed->cli, err);
}

static int print_all(const struct feed *feed, const struct enqueue_kind *kind) {
    boxcar_enqueued *all = calloc(batch_reader_count(feed->reader) + 1, sizeof(*all));
    size_t count = 0;
    if (!all)
        return cli_no_memory(feed->cli);
    for (const struct batch_chunk *chunk = batch_reader_chunks(feed->reader); chunk; chunk = chunk->next) {
        memcpy(all + count, chunk->enqueued, chunk->lines.count * sizeof(*all));
        count += chunk->lines.count;
    }
    int result = enqueue_print(feed->cli, kind, all, count, true);
    free(all);
    return result;
}

/* A small file is found to be good before the store is opened. */
static int store_all_feed(struct feed *feed, const struct enqueue_kind *kind) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    batch_reader_await(feed->reader);
    if (batch_reader_fault(feed->reader))
        return fail(feed, &err);
    int result = cli_store_open(feed->cli);
    if (result != CLI_DONE)
        return result;
    boxcar_status status = boxcar_enqueue_feed(feed->cli->store, kind->box, next_chunk, feed, &err);
    if (status != BOXCAR_OK)
        return fail(feed, &err);
    progress_end(feed->progress);
    feed->progress = NULL;
    return print_all(feed, kind);
}

/* Returns an enum cli_exit and has reported what went wrong. `kind` is one of the outbox. */
static int enqueue_feed(struct cli *cli, const struct enqueue_kind *kind, const char *path) {
    struct feed feed = {.cli = cli, .progress = progress_begin(cli, batch_file_kind(kind->box)->doing)};
    int result = batch_reader_start(cli, path, feed.progress, &feed.reader);
    if (result == CLI_DONE)
        result = store_all_feed(&feed, kind);
    batch_reader_free(feed.reader); /* it tells the progress */
    progress_end(feed.progress);
    return result;
}

/* ---- boxcar enqueue: stores one message, or a file of them ---- */

static struct {
    char *batch, *message_id, *key, *join;
    int unique;
} enqueue_given;
static struct new_message_given given_message;

static struct poptOption ENQUEUE_OPTIONS[] = {
    {"batch", 0, POPT_ARG_STRING, &enqueue_given.batch, 0,
     "read messages from JSON Lines; - is standard input", "FILE|-"},
    NEW_MESSAGE_OPTIONS(given_message),
    {"message-id", 0, POPT_ARG_STRING, &enqueue_given.message_id, 0,
     "the message's id; one that exists is a no-op", "UUID"},
    {"key", 0, POPT_ARG_STRING, &enqueue_given.key, 0,
     "stored once for this text and the topic, as long as the message is kept", "TEXT"},
    {"unique", 0, POPT_ARG_NONE, &enqueue_given.unique, 0,
     "the key is free again once its message is done or dead", NULL},
    {"join", 0, POPT_ARG_STRING, &enqueue_given.join, 0, "make the message a member of this join", "JOIN"},
    POPT_TABLEEND};

/* Everything the message borrows that is not on the command line. */
struct borrowed {
    char *payload;
    char *headers;
};

static const char *const ENQUEUE_COLUMNS[] = {"work_id", "message_id", "duplicate", NULL};

static const struct enqueue_kind OUTBOX = {
    .box = BOXCAR_OUTBOX, .row = enqueued_json, .columns = ENQUEUE_COLUMNS};

static bool read_ids(const struct cli *cli, boxcar_new_message *message) {
    if (enqueue_given.message_id && enqueue_given.key) {
        cli_usage(cli, "--message-id and --key are both given: give one of them");
        return false;
    }
    if (enqueue_given.unique && !enqueue_given.key) {
        cli_usage(cli, "--unique needs a key: give --key TEXT");
        return false;
    }
    return value_message_id(cli, "--message-id", enqueue_given.message_id, &message->message_id) &&
           value_join_id(cli, "--join", enqueue_given.join, &message->join_id);
}

/* Standard input comes last, so that a bad option does not wait for it. */
static int read_message(const struct cli *cli, const char *const *args, boxcar_new_message *message,
                        struct borrowed *borrowed) {
    message->topic = boxcar_str_of(args[0]);
    message->key = boxcar_str_of(enqueue_given.key);
    message->unique = enqueue_given.unique != 0;
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
    return new_message_is_given(&given_message) || enqueue_given.message_id || enqueue_given.key ||
           enqueue_given.unique || enqueue_given.join;
}

static int run_batch(struct cli *cli, const char *const *args) {
    if (args[0] || has_message_options()) {
        return cli_usage(cli, "--batch is given: every message comes from the file, "
                              "so give no TOPIC, PAYLOAD or options of a message");
    }
    return enqueue_feed(cli, &OUTBOX, enqueue_given.batch);
}

static int run_enqueue(struct cli *cli, const char *const *args) {
    return enqueue_given.batch ? run_batch(cli, args) : run_one(cli, args);
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
        "done or 30 days after it died, see boxcar help settings. With --unique the key is free again as\n"
        "soon as its message is done or dead, and the next message with this key has a new id.\n"
        "\n"
        "--join makes the message a member of a join, in the same transaction; see boxcar help join. If the\n"
        "join does not exist, the exit status is 3, if it has ended 4, and nothing is stored.\n"
        "\n"
        "A message of a stream can also be an event: then it is appended to the event stream of the same\n"
        "name, in the same transaction, once. It is an event with --event or --event-type, or if its topic\n"
        "ends in Event. With --no-event it never is. See boxcar help event.\n"
        "\n"
        "--batch reads JSON Lines: one object a line with topic, payload, correlation_id, causation_id, "
        "due,\n"
        "delay, ttl, stream, headers and metadata (objects), message_id, key, unique, is_event (true or\n"
        "false), event_type, max_attempts, join_id (or join). Any other name is refused, exit\n"
        "status 2. A payload that is not a string is stored as its compact JSON.\n"
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
    .options = ENQUEUE_OPTIONS,
    .run = run_enqueue,
};

const struct command_noun ENQUEUE_COMMANDS = {"Send", (const struct command *const[]){&CMD_ENQUEUE, NULL}};
