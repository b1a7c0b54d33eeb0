/* boxcar event append: appends one event to a stream, or a file of them. */
#include <stdio.h>
#include <stdlib.h>

#include "commands.h"
#include "event.h"
#include "event_file.h"
#include "headers.h"
#include "output.h"
#include "payload.h"
#include "report.h"
#include "values.h"

static struct {
    char *batch, *expected, *event_id, *correlation_id, *topic;
    char **headers;
} given;

static struct poptOption OPTIONS[] = {
    {"expected", 0, POPT_ARG_STRING, &given.expected, 0,
     "the version the stream must have; 0 = it must be new", "N"},
    {"event-id", 0, POPT_ARG_STRING, &given.event_id, 0, "the event's id; one the stream has is a no-op",
     "UUID"},
    {"header", 0, POPT_ARG_ARGV, &given.headers, 0, "a header; may be repeated", "K=V"},
    {"correlation-id", 0, POPT_ARG_STRING, &given.correlation_id, 0, "up to 255 characters for tracing",
     "TEXT"},
    {"topic", 0, POPT_ARG_STRING, &given.topic, 0, "enqueue it as a message with this topic, too", "TOPIC"},
    {"batch", 0, POPT_ARG_STRING, &given.batch, 0, "read events from JSON Lines; - is standard input",
     "FILE|-"},
    POPT_TABLEEND};

static const char *const COLUMNS[] = {"event_id", "version", "duplicate", NULL};

static int print(const struct cli *cli, const boxcar_appended *appended, size_t count, bool is_list) {
    struct output output;
    if (cli->format == CLI_FORMAT_UNSET) {
        for (size_t i = 0; i < count; i++)
            printf("%lld\n", (long long)appended[i].version);
        return CLI_DONE;
    }
    if (!is_list && cli->format != CLI_FORMAT_TABLE)
        return output_object(cli, appended_json(&appended[0]));
    output_list_begin(&output, cli, CLI_FORMAT_TABLE, COLUMNS);
    for (size_t i = 0; i < count && output_list_add(&output, appended_json(&appended[i])); i++) {
    }
    return output_list_end(&output, cli);
}

static bool read_event_id(const struct cli *cli, boxcar_event_id *ret_id) {
    if (!given.event_id)
        return true;
    if (!boxcar_event_id_parse(boxcar_str_of(given.event_id), ret_id) || boxcar_event_id_is_none(*ret_id)) {
        cli_usage(cli, "--event-id is '%.64s': give the id of the event, a UUID other than nil", given.event_id);
        return false;
    }
    return true;
}

static int append_one(struct cli *cli, boxcar_str stream, int64_t expected, const boxcar_new_event *event) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_appended appended;
    int result = cli_store_open(cli);
    if (result != CLI_DONE)
        return result;
    if (boxcar_event_append(cli->store, stream, expected, event, 1, &appended, &err) != BOXCAR_OK)
        return cli_fail_with(cli, &err);
    return print(cli, &appended, 1, false);
}

/* Standard input comes last, so that a bad option does not wait for it. */
static int run_one(struct cli *cli, const char *const *args, int64_t expected) {
    boxcar_new_event event = BOXCAR_NEW_EVENT_INIT;
    char *payload = NULL, *headers = NULL;
    if (!args[1] || !args[2])
        return cli_usage(cli,
                         "%s is missing: give STREAM, TYPE and PAYLOAD (or - to read it from standard input)",
                         args[1] ? "payload" : "type");
    if (cli_args_count(args) > 3) /* what is too much may be a part of the payload: not shown (BX-010) */
        return cli_usage(cli, "more arguments than STREAM, TYPE and PAYLOAD: put quotes around the payload");
    event.type = boxcar_str_of(args[1]);
    event.correlation_id = boxcar_str_of(given.correlation_id);
    event.topic = boxcar_str_of(given.topic);
    int result = CLI_USAGE;
    if (read_event_id(cli, &event.event_id) && headers_read(cli, given.headers, &event.headers, &headers))
        result = payload_read(cli, args[2], &payload, &event.payload);
    if (result == CLI_DONE)
        result = append_one(cli, boxcar_str_of(args[0]), expected, &event);
    free(payload);
    free(headers);
    return result;
}

static int append_file(struct cli *cli, boxcar_str stream, int64_t expected, const struct json_lines *file) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_appended *appended = calloc(file->count + 1, sizeof(*appended));
    if (!appended)
        return cli_no_memory(cli);
    int result = cli_store_open(cli);
    if (result == CLI_DONE) {
        boxcar_status status =
            boxcar_event_append(cli->store, stream, expected, file->items, file->count, appended, &err);
        result =
            status == BOXCAR_OK ? print(cli, appended, file->count, true) : json_lines_fail(cli, file, &err);
    }
    free(appended);
    return result;
}

static int run_batch(struct cli *cli, const char *const *args, int64_t expected) {
    if (args[1] || given.event_id || given.headers || given.correlation_id || given.topic)
        return cli_usage(cli,
                         "--batch is given: every event comes from the file, so give no TYPE, PAYLOAD or "
                         "options of an event");
    struct json_lines file;
    int result = event_file_load(cli, given.batch, &file);
    if (result == CLI_DONE)
        result = append_file(cli, boxcar_str_of(args[0]), expected, &file);
    json_lines_release(&file);
    return result;
}

static int run(struct cli *cli, const char *const *args) {
    int64_t expected = BOXCAR_ANY_VERSION;
    if (!args[0])
        return cli_usage(cli, "stream is missing: give STREAM, TYPE and PAYLOAD, or STREAM --batch FILE");
    if (!event_number_read(cli, "--expected", given.expected, &expected))
        return CLI_USAGE;
    return given.batch ? run_batch(cli, args, expected) : run_one(cli, args, expected);
}

const struct command CMD_EVENT_APPEND = {
    .name = "event append",
    .summary = "append an event to a stream, or a file of them",
    .usage = "STREAM TYPE PAYLOAD|- [OPTIONS]\n"
             "STREAM --batch FILE|- [--expected N]",
    .description =
        "Appends an event durably and prints its version in the stream; with -o json an object with\n"
        "event_id, version and duplicate. PAYLOAD - reads standard input, byte for byte. Put -- before a\n"
        "payload that begins with -.\n"
        "\n"
        "--expected refuses the append, exit status 4, when the stream has another version. An event id\n"
        "that the stream has already makes it a no-op that prints its version, duplicate true, whatever\n"
        "was expected: so an append whose answer was lost can be repeated. An id of another stream's\n"
        "event gives exit status 4.\n"
        "\n"
        "--topic enqueues a message in the same transaction: same payload, stream, headers and\n"
        "correlation id, and the event id as message id.\n"
        "\n"
        "--batch reads JSON Lines, 1 to 10000: one object a line with type, payload, event_id, headers\n"
        "(an object), correlation_id, topic. A payload that is not a string is stored as its compact\n"
        "JSON. All are appended or none, and the versions are printed one a line.\n",
    .examples =
        "boxcar event append order-42 order.placed '{\"total\": 12}' --expected 0\n"
        "echo 'from a pipe' | boxcar event append order-42 order.noted - --header by=me --topic orders\n"
        "printf '{\"type\":\"a\",\"payload\":{\"n\":1}}\\n{\"type\":\"b\",\"payload\":\"text\"}\\n' | boxcar "
        "event append "
        "order-43 --batch - -o json\n",
    .options = OPTIONS,
    .run = run,
};
