/* boxcar enqueue: stores one message, or a file of them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "batch_file.h"
#include "commands.h"
#include "headers.h"
#include "message_json.h"
#include "output.h"
#include "payload.h"
#include "progress.h"
#include "report.h"
#include "values.h"

static struct {
    char *batch, *correlation_id, *due, *delay, *ttl, *stream, *message_id, *key, *max_attempts, *join;
    char **headers;
} given;

static struct poptOption OPTIONS[] = {
    {"batch", 0, POPT_ARG_STRING, &given.batch, 0, "read messages from JSON Lines; - is standard input",
     "FILE|-"},
    {"correlation-id", 0, POPT_ARG_STRING, &given.correlation_id, 0, "up to 255 characters for tracing",
     "TEXT"},
    {"due", 0, POPT_ARG_STRING, &given.due, 0, "not claimed before this time", "TIME"},
    {"delay", 0, POPT_ARG_STRING, &given.delay, 0, "not claimed before this has passed", "DUR"},
    {"ttl", 0, POPT_ARG_STRING, &given.ttl, 0, "dead (expired) when not finished after this", "DUR"},
    {"stream", 0, POPT_ARG_STRING, &given.stream, 0, "messages of a stream are handled one by one, in order",
     "KEY"},
    {"header", 0, POPT_ARG_ARGV, &given.headers, 0, "a header; may be repeated", "K=V"},
    {"message-id", 0, POPT_ARG_STRING, &given.message_id, 0, "the message's id; one that exists is a no-op",
     "UUID"},
    {"key", 0, POPT_ARG_STRING, &given.key, 0, "derive the message's id from this text", "TEXT"},
    {"max-attempts", 0, POPT_ARG_STRING, &given.max_attempts, 0, "instead of the store's setting", "N"},
    {"join", 0, POPT_ARG_STRING, &given.join, 0, "make the message a member of this join", "JOIN"},
    POPT_TABLEEND};

/* Everything the message borrows that is not on the command line. */
struct borrowed {
    char *payload;
    char *headers;
};

static const char *const COLUMNS[] = {"work_id", "message_id", "duplicate", NULL};

static int print(const struct cli *cli, const boxcar_enqueued *enqueued, size_t count, bool is_list) {
    struct output output;
    if (cli->format == CLI_FORMAT_UNSET) {
        for (size_t i = 0; i < count; i++) {
            char text[BOXCAR_UUID_TEXT_SIZE];
            boxcar_message_id_format(enqueued[i].message_id, text);
            puts(text);
        }
        return CLI_DONE;
    }
    if (!is_list && cli->format != CLI_FORMAT_TABLE)
        return output_object(cli, enqueued_json(&enqueued[0]));
    output_list_begin(&output, cli, CLI_FORMAT_TABLE, COLUMNS);
    for (size_t i = 0; i < count && output_list_add(&output, enqueued_json(&enqueued[i])); i++) {
    }
    return output_list_end(&output, cli);
}

static bool read_ids(const struct cli *cli, boxcar_new_message *message) {
    if (given.message_id && given.key) {
        cli_usage(cli, "--message-id and --key are both given: give one of them");
        return false;
    }
    return value_message_id(cli, "--message-id", given.message_id, &message->message_id) &&
           value_join_id(cli, "--join", given.join, &message->join_id);
}

/* 0 would mean "the store's setting" to the library. */
static bool read_max_attempts(const struct cli *cli, int *ret_max_attempts) {
    int count = 1;
    if (!value_count(cli, "--max-attempts", given.max_attempts, &count))
        return false;
    if (count < 1 || count > BOXCAR_MAX_ATTEMPTS_MAX) {
        cli_usage(cli, "--max-attempts is %d: give 1 to %d", count, BOXCAR_MAX_ATTEMPTS_MAX);
        return false;
    }
    *ret_max_attempts = given.max_attempts ? count : 0;
    return true;
}

static bool read_times(const struct cli *cli, boxcar_new_message *message) {
    if (given.due && given.delay) {
        cli_usage(cli, "--due and --delay are both given: give one of them");
        return false;
    }
    return value_time(cli, "--due", given.due, &message->due_at) &&
           value_delay(cli, given.delay, &message->delay_ms) && value_ttl(cli, given.ttl, &message->ttl_ms);
}

/* Standard input comes last, so that a bad option does not wait for it. */
static int read_message(const struct cli *cli, const char *const *args, boxcar_new_message *message,
                        struct borrowed *borrowed) {
    message->topic = boxcar_str_of(args[0]);
    message->correlation_id = boxcar_str_of(given.correlation_id);
    message->stream = boxcar_str_of(given.stream);
    message->key = boxcar_str_of(given.key);
    if (!read_times(cli, message) || !read_ids(cli, message) ||
        !read_max_attempts(cli, &message->max_attempts) ||
        !headers_read(cli, given.headers, &message->headers, &borrowed->headers))
        return CLI_USAGE;
    if (!args[1])
        return cli_usage(cli, "payload is missing: give PAYLOAD, or - to read it from standard input");
    return payload_read(cli, args[1], &borrowed->payload, &message->payload);
}

static int enqueue_one(struct cli *cli, const boxcar_new_message *message) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_enqueued enqueued;
    int result = cli_store_open(cli);
    if (result != CLI_DONE)
        return result;
    if (boxcar_enqueue(cli->store, message, &enqueued, &err) != BOXCAR_OK)
        return cli_fail_with(cli, &err);
    return print(cli, &enqueued, 1, false);
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
        result = enqueue_one(cli, &message);
    free(borrowed.payload);
    free(borrowed.headers);
    return result;
}

static boxcar_status store_file(struct cli *cli, const struct batch_file *file, boxcar_enqueued *ret_enqueued,
                                boxcar_error *err) {
    char text[48];
    snprintf(text, sizeof(text), "storing %zu messages", file->count);
    struct progress *progress = progress_begin(cli, text);
    boxcar_status status = boxcar_enqueue_many(cli->store, file->messages, file->count, ret_enqueued, err);
    progress_end(progress);
    return status;
}

static int enqueue_file(struct cli *cli, const struct batch_file *file) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_enqueued *enqueued = calloc(file->count + 1, sizeof(*enqueued));
    if (!enqueued)
        return cli_no_memory(cli);
    int result = cli_store_open(cli);
    if (result == CLI_DONE) {
        boxcar_status status = store_file(cli, file, enqueued, &err);
        result =
            status == BOXCAR_OK ? print(cli, enqueued, file->count, true) : batch_file_fail(cli, file, &err);
    }
    free(enqueued);
    return result;
}

static bool has_message_options(void) {
    return given.correlation_id || given.due || given.delay || given.ttl || given.stream || given.headers ||
           given.message_id || given.key || given.max_attempts || given.join;
}

static int run_batch(struct cli *cli, const char *const *args) {
    if (args[0] || has_message_options()) {
        return cli_usage(cli, "--batch is given: every message comes from the file, "
                              "so give no TOPIC, PAYLOAD or options of a message");
    }
    bool is_stdin = strcmp(given.batch, "-") == 0;
    FILE *in = is_stdin ? stdin : fopen(given.batch, "r");
    if (!in)
        return cli_usage(cli, "--batch: cannot open '%.200s': %s", given.batch, strerror(errno));
    struct batch_file file;
    struct progress *progress = progress_begin(cli, "reading messages");
    int result = batch_file_read(cli, in, progress, &file);
    progress_end(progress);
    if (result == CLI_DONE)
        result = enqueue_file(cli, &file);
    batch_file_release(&file);
    if (!is_stdin)
        fclose(in);
    return result;
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
        "what is there, duplicate true.\n"
        "\n"
        "--join makes the message a step of a join, in the same transaction; see boxcar help join. A\n"
        "join that does not exist gives exit status 3, one that has ended 4, and nothing is stored.\n"
        "\n"
        "--batch reads JSON Lines: one object a line with topic, payload, correlation_id, due, delay,\n"
        "ttl, stream, headers (an object), message_id, key, max_attempts, join_id (or join). Any other\n"
        "name is refused, exit status 2. A payload that is not a string is stored as its compact JSON.\n"
        "All lines are stored or none, and the ids are printed one a line, in the order of the file.\n",
    .examples =
        "boxcar enqueue orders.paid '{\"order\": 42}'\n"
        "echo 'from a pipe' | boxcar enqueue mail.send - --delay 5m --header trace=abc\n"
        "boxcar enqueue orders.paid 'once only' --key order-42 --stream customer-7 -o json\n"
        "printf '{\"topic\":\"a\",\"payload\":{\"n\":1}}\\n{\"topic\":\"b\",\"payload\":\"text\"}\\n' | boxcar enqueue --batch -\n",
    .options = OPTIONS,
    .run = run,
};
