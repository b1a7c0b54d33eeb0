/* Events: boxcar event, event append, event read and event follow. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/input/batch/message_file.h"
#include "cli/input/payload.h"
#include "cli/input/values.h"
#include "cli/output/message_json.h"
#include "cli/output/output.h"
#include "cli/output/report.h"
#include "cli/service/stop.h"
#include "commands.h"

/* A version or a position: a whole number from 0 on. As in input/values.h. */
static bool event_number_read(const struct cli *cli, const char *option, const char *text,
                              int64_t *ret_number) {
    int64_t number;
    if (!text)
        return true;
    if (!value_parse_integer(text, &number) || number < 0) {
        cli_usage(cli, "%s is '%.64s': give a whole number from 0 to 9223372036854775807", option, text);
        return false;
    }
    *ret_number = number;
    return true;
}

static json_t *from_event_id(boxcar_event_id id) {
    char text[BOXCAR_UUID_TEXT_SIZE];
    boxcar_uuid_format(id.uuid, text);
    return json_string(text);
}

/* With the names of the view. NULL = out of memory. */
static json_t *event_json(const boxcar_event *event) {
    json_t *object = json_object();
    bool good = json_put(object, "event_id", from_event_id(event->event_id)) &&
                json_put_text(object, "stream", event->stream) &&
                json_put(object, "version", json_integer(event->version)) &&
                json_put(object, "position", json_from_number(event->position)) &&
                json_put_text(object, "type", event->type) &&
                json_put_text(object, "payload", event->payload) &&
                json_put_headers(object, "headers", event->headers) &&
                json_put_text(object, "correlation_id", event->correlation_id) &&
                json_put_text(object, "causation_id", event->causation_id) &&
                json_put(object, "created_at", json_from_time(event->created_at));
    return json_finish(object, good);
}

static json_t *appended_json(const boxcar_appended *appended) {
    json_t *object = json_object();
    bool good = json_put(object, "event_id", from_event_id(appended->event_id)) &&
                json_put(object, "version", json_integer(appended->version)) &&
                json_put(object, "duplicate", json_boolean(appended->duplicate));
    return json_finish(object, good);
}

/* ---- boxcar event: the group of commands about events ---- */

static int run_event(struct cli *cli, const char *const *args) {
    (void)args;
    return cli_usage(cli, "no command given: give append, read or follow");
}

static const struct command CMD_EVENT = {
    .name = "event",
    .summary = "events: facts kept for ever, in streams",
    .usage = "append|read|follow",
    .description =
        "An event belongs to a stream and has a version there: 1, 2, 3, ... An append can give the version\n"
        "that the stream must have. Each event also has a position among the events of all streams.\n"
        "Programs can follow the positions from any point and miss no event, even if it commits late.\n"
        "Events are never removed.\n",
    .examples = "boxcar event append order-42 order.placed '{\"total\": 12}' --expected 0\n"
                "boxcar event read order-42\n"
                "boxcar event follow --once\n",
    .run = run_event,
};

/* ---- boxcar event append: appends one event to a stream, or a file of them ---- */

static struct {
    char *batch, *expected, *event_id, *correlation_id, *causation_id, *topic;
    char **headers;
} append_given;

static struct poptOption APPEND_OPTIONS[] = {
    {"expected", 0, POPT_ARG_STRING, &append_given.expected, 0,
     "the version the stream must have; 0 = it must be new", "N"},
    {"event-id", 0, POPT_ARG_STRING, &append_given.event_id, 0,
     "the event's id; one the stream has is a no-op", "UUID"},
    {"header", 0, POPT_ARG_ARGV, &append_given.headers, 0, "a header; may be repeated", "K=V"},
    {"causation-id", 0, POPT_ARG_STRING, &append_given.causation_id, 0,
     "of the message or call that caused the event", "TEXT"},
    {"correlation-id", 0, POPT_ARG_STRING, &append_given.correlation_id, 0,
     "up to 255 characters for tracing", "TEXT"},
    {"topic", 0, POPT_ARG_STRING, &append_given.topic, 0, "enqueue it as a message with this topic, too",
     "TOPIC"},
    {"batch", 0, POPT_ARG_STRING, &append_given.batch, 0, "read events from JSON Lines; - is standard input",
     "FILE|-"},
    POPT_TABLEEND};

static const char *const APPEND_COLUMNS[] = {"event_id", "version", "duplicate", NULL};

static int print_append(const struct cli *cli, const boxcar_appended *appended, size_t count, bool is_list) {
    struct output output;
    if (cli->format == CLI_FORMAT_UNSET) {
        for (size_t i = 0; i < count; i++)
            printf("%lld\n", (long long)appended[i].version);
        return CLI_DONE;
    }
    if (!is_list && cli->format != CLI_FORMAT_TABLE)
        return output_object(cli, appended_json(&appended[0]));
    output_list_begin(&output, cli, CLI_FORMAT_TABLE, APPEND_COLUMNS);
    for (size_t i = 0; i < count && output_list_add(&output, appended_json(&appended[i])); i++) {
    }
    return output_list_end(&output, cli);
}

static bool read_event_id(const struct cli *cli, boxcar_event_id *ret_id) {
    if (!append_given.event_id)
        return true;
    if (!boxcar_uuid_parse(boxcar_str_of(append_given.event_id), &ret_id->uuid) ||
        boxcar_uuid_is_none(ret_id->uuid)) {
        cli_usage(cli, "--event-id is '%.64s': give the id of the event, a UUID other than nil",
                  append_given.event_id);
        return false;
    }
    return true;
}

static int append_one(struct cli *cli, boxcar_str stream, int64_t expected, const boxcar_new_event *event) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_appended appended = BOXCAR_APPENDED_INIT;
    int result = cli_store_open(cli);
    if (result != CLI_DONE)
        return result;
    if (boxcar_event_append(cli->store, stream, expected, event, 1, &appended, &err) != BOXCAR_OK)
        return cli_fail_with(cli, &err);
    return print_append(cli, &appended, 1, false);
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
    event.correlation_id = boxcar_str_of(append_given.correlation_id);
    event.causation_id = boxcar_str_of(append_given.causation_id);
    event.topic = boxcar_str_of(append_given.topic);
    int result = CLI_USAGE;
    if (read_event_id(cli, &event.event_id) &&
        headers_read(cli, append_given.headers, &event.headers, &headers))
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
    appended[0] = BOXCAR_APPENDED_INIT;
    int result = cli_store_open(cli);
    if (result == CLI_DONE) {
        boxcar_status status =
            boxcar_event_append(cli->store, stream, expected, file->items, file->count, appended, &err);
        result = status == BOXCAR_OK ? print_append(cli, appended, file->count, true)
                                     : json_lines_fail(cli, file, &err);
    }
    free(appended);
    return result;
}

static int run_batch(struct cli *cli, const char *const *args, int64_t expected) {
    if (args[1] || append_given.event_id || append_given.headers || append_given.correlation_id ||
        append_given.causation_id || append_given.topic)
        return cli_usage(cli,
                         "--batch is given: every event comes from the file, so give no TYPE, PAYLOAD or "
                         "options of an event");
    struct json_lines file;
    int result = event_file_load(cli, append_given.batch, &file);
    if (result == CLI_DONE)
        result = append_file(cli, boxcar_str_of(args[0]), expected, &file);
    json_lines_release(&file);
    return result;
}

static int run_append(struct cli *cli, const char *const *args) {
    int64_t expected = BOXCAR_ANY_VERSION;
    if (!args[0])
        return cli_usage(cli, "stream is missing: give STREAM, TYPE and PAYLOAD, or STREAM --batch FILE");
    if (!event_number_read(cli, "--expected", append_given.expected, &expected))
        return CLI_USAGE;
    return append_given.batch ? run_batch(cli, args, expected) : run_one(cli, args, expected);
}

static const struct command CMD_EVENT_APPEND = {
    .name = "event append",
    .summary = "append an event to a stream, or a file of them",
    .usage = "STREAM TYPE PAYLOAD|- [OPTIONS]\n"
             "STREAM --batch FILE|- [--expected N]",
    .description =
        "Appends an event durably and prints its version in the stream; with -o json an object with\n"
        "event_id, version and duplicate. PAYLOAD - reads standard input, byte for byte. Put -- before a\n"
        "payload that begins with -.\n"
        "\n"
        "With --expected the append fails with exit status 4 if the stream has another version. If the\n"
        "stream already has the event id, nothing is appended: the command prints the version of that event\n"
        "with duplicate true, whatever was expected. So you can repeat an append whose answer was lost. If\n"
        "the id belongs to an event of another stream, the exit status is 4.\n"
        "\n"
        "--topic enqueues a message in the same transaction: same payload, stream, headers and\n"
        "correlation id, and the event id as message id.\n"
        "\n"
        "--batch reads JSON Lines, 1 to 10000: one object a line with type, payload, event_id, headers\n"
        "(an object), correlation_id, causation_id, topic. A payload that is not a string is stored as its "
        "compact\n"
        "JSON. All are appended or none, and the versions are printed one a line.\n",
    .examples =
        "boxcar event append order-42 order.placed '{\"total\": 12}' --expected 0\n"
        "echo 'from a pipe' | boxcar event append order-42 order.noted - --header by=me --topic orders\n"
        "printf '{\"type\":\"a\",\"payload\":{\"n\":1}}\\n{\"type\":\"b\",\"payload\":\"text\"}\\n' | boxcar "
        "event append "
        "order-43 --batch - -o json\n",
    .options = APPEND_OPTIONS,
    .run = run_append,
};

/* ---- boxcar event read: the events of a stream ---- */

static struct { char *from, *limit; } read_given;

static struct poptOption READ_OPTIONS[] = {
    {"from", 0, POPT_ARG_STRING, &read_given.from, 0, "begin at this version (default 1)", "N"},
    {"limit", 0, POPT_ARG_STRING, &read_given.limit, 0, "how many, 1 to 10000 (default 1000)", "N"},
    POPT_TABLEEND};

static const char *const READ_COLUMNS[] = {"version",        "position", "type", "created_at",
                                           "correlation_id", "event_id", NULL};

static bool print_read(struct output *output, const boxcar_event_list *list) {
    for (size_t i = 0; i < list->count; i++)
        if (!output_list_add(output, event_json(list->items[i])))
            return false;
    return true;
}

/* Page by page: of large events one call brings few. */
static int read_pages(struct cli *cli, boxcar_str stream, int64_t from, int limit, struct output *output) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    bool more = true;
    while (more) {
        boxcar_event_list *list = NULL;
        if (boxcar_event_read(cli->store, stream, from, limit, &list, &err) != BOXCAR_OK)
            return cli_fail_with(cli, &err);
        limit -= (int)list->count;
        more = list->count > 0 && limit > 0;
        from = more ? list->items[list->count - 1]->version + 1 : from;
        more = print_read(output, list) && more;
        boxcar_list_free(list);
    }
    return CLI_DONE;
}

static int run_read(struct cli *cli, const char *const *args) {
    struct output output;
    int64_t from = 1;
    int limit = 1000;
    if (!args[0])
        return cli_usage(cli, "stream is missing: give STREAM");
    if (!cli_args_at_most(cli, args, 1) || !event_number_read(cli, "--from", read_given.from, &from) ||
        !value_count(cli, "--limit", read_given.limit, &limit))
        return CLI_USAGE;
    int result = cli_store_open(cli);
    if (result != CLI_DONE)
        return result;
    output_list_begin(&output, cli, CLI_FORMAT_TABLE, READ_COLUMNS);
    result = read_pages(cli, boxcar_str_of(args[0]), from, limit, &output);
    if (result == CLI_DONE)
        return output_list_end(&output, cli);
    json_decref(output.rows);
    return result;
}

static const struct command CMD_EVENT_READ = {
    .name = "event read",
    .summary = "the events of a stream, in order",
    .usage = "STREAM [--from N] [--limit N]",
    .description =
        "Lists the events of a stream by version. For a stream without events it lists nothing and\n"
        "succeeds. With -o json an array of all fields and payloads, with -o jsonl one object a line. The\n"
        "position is null until a follower, or maintenance, has assigned it.\n",
    .examples = "boxcar event read order-42\n"
                "boxcar event read order-42 --from 2 --limit 10 -o jsonl\n",
    .options = READ_OPTIONS,
    .run = run_read,
};

/* ---- boxcar event follow: events of all streams as they come, in one order ---- */

/* The most events of one call, and how long one may wait for a store that is away: a signal wants an answer
 * soon. */
enum { PAGE = 1000, PATIENCE_MS = 1000 };

static struct {
    char *after, *limit, *stream, *poll;
    char **types;
    int once;
} follow_given;

static struct poptOption FOLLOW_OPTIONS[] = {
    {"after", 0, POPT_ARG_STRING, &follow_given.after, 0, "the last position that was seen (default 0)", "N"},
    {"limit", 0, POPT_ARG_STRING, &follow_given.limit, 0, "end after this many events", "N"},
    {"type", 0, POPT_ARG_ARGV, &follow_given.types, 0, "only this type, or prefix*; may be repeated", "TYPE"},
    {"stream", 0, POPT_ARG_STRING, &follow_given.stream, 0, "only this stream, or prefix*", "STREAM"},
    {"once", 0, POPT_ARG_NONE, &follow_given.once, 0, "end when there are no more events", NULL},
    {"poll", 0, POPT_ARG_STRING, &follow_given.poll, 0, "how often to look, 10ms to 24h (default 500ms)",
     "DUR"},
    POPT_TABLEEND};

struct following {
    boxcar_event_filter filter;
    int64_t left; /* events until --limit */
    int64_t poll_ms;
};

static int open_store(struct cli *cli) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_store_options options = cli_store_options(cli);
    options.busy_timeout_ms = PATIENCE_MS;
    return boxcar_store_open(&options, &cli->store, &err) == BOXCAR_OK ? CLI_DONE : cli_fail_with(cli, &err);
}

static int print_follow(const struct cli *cli, const boxcar_event_list *list) {
    struct output output;
    output_list_begin(&output, cli, CLI_FORMAT_JSONL, NULL);
    for (size_t i = 0; i < list->count; i++)
        if (!output_list_add(&output, event_json(list->items[i])))
            break;
    int result = output_list_end(&output, cli);
    return result == CLI_DONE ? output_flush(cli) : result;
}

/* Prints one page. *ret_more: there may be another one now. If the store is away, the next call tries again;
 * the library has logged the outage once. */
static int follow_on(struct cli *cli, struct following *following, bool *ret_more) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_event_list *list = NULL;
    *ret_more = false;
    following->filter.limit = following->left < PAGE ? (int)following->left : PAGE;
    if (boxcar_event_read_all(cli->store, &following->filter, &list, &err) != BOXCAR_OK) {
        if (!err.retryable || follow_given.once)
            return cli_fail_with(cli, &err);
        return CLI_DONE;
    }
    int result = print_follow(cli, list);
    *ret_more = list->position > following->filter.after;
    following->filter.after = list->position;
    following->left -= (int64_t)list->count;
    boxcar_list_free(list);
    return result;
}

static int follow(struct cli *cli, struct following *following) {
    int result = CLI_DONE;
    bool more = true;
    stop_catch_signals();
    while (result == CLI_DONE && following->left > 0 && !stop_wanted() && (more || !follow_given.once)) {
        if (!more && !stop_wait_read_ms(following->poll_ms))
            break;
        if (!stop_wanted())
            result = follow_on(cli, following, &more);
    }
    return result;
}

static bool read_limit(const struct cli *cli, int64_t *ret_limit) {
    if (!event_number_read(cli, "--limit", follow_given.limit, ret_limit))
        return false;
    if (*ret_limit < 1)
        cli_usage(cli, "--limit is 0: give 1 or more");
    return *ret_limit >= 1;
}

static int run_with_types(struct cli *cli, struct following *following) {
    size_t count = follow_given.types ? cli_args_count((const char *const *)follow_given.types) : 0;
    boxcar_str *types = calloc(count + 1, sizeof(*types));
    if (!types)
        return cli_no_memory(cli);
    for (size_t i = 0; i < count; i++)
        types[i] = boxcar_str_of(follow_given.types[i]);
    following->filter.types = types;
    following->filter.type_count = count;
    int result = open_store(cli);
    if (result == CLI_DONE)
        result = follow(cli, following);
    free(types);
    return result;
}

static int run_follow(struct cli *cli, const char *const *args) {
    struct following following = {.filter = BOXCAR_EVENT_FILTER_INIT, .left = INT64_MAX, .poll_ms = 500};
    if (!cli_args_at_most(cli, args, 0) ||
        !event_number_read(cli, "--after", follow_given.after, &following.filter.after) ||
        !read_limit(cli, &following.left) ||
        !value_duration(cli, "--poll", follow_given.poll, 10, INT64_C(86400000), &following.poll_ms))
        return CLI_USAGE;
    if (output_format(cli, CLI_FORMAT_JSONL) != CLI_FORMAT_JSONL)
        return cli_usage(cli,
                         "--output is not jsonl: events that follow have no end, so they are JSON Lines");
    following.filter.stream = boxcar_str_of(follow_given.stream);
    return run_with_types(cli, &following);
}

static const struct command CMD_EVENT_FOLLOW = {
    .name = "event follow",
    .summary = "events of all streams as they come, in one order",
    .usage = "[--after N] [--limit N] [--type TYPE]... [--stream STREAM] [--once] [--poll DUR]",
    .description =
        "Prints events as JSON Lines in the order of their positions, starting after --after. SIGTERM or\n"
        "SIGINT ends it with exit status 0. It also ends when its output is closed. Store the last position\n"
        "that you have handled and give it to --after: then you miss no event, even if it commits late, and\n"
        "get all events in order. TYPE and STREAM are exact, or end in * for a prefix.\n"
        "\n"
        "With --once it ends when there are no more events. If the store becomes unavailable, the command\n"
        "waits until it is back. At the start, or with --once, it ends with exit status 5 instead.\n",
    .examples = "boxcar event follow --once\n"
                "boxcar event follow --after 2 --limit 1 --once\n"
                "boxcar event follow --type 'order.*' --stream 'order-*' --once\n",
    .options = FOLLOW_OPTIONS,
    .run = run_follow,
};

const struct command_noun EVENT_COMMANDS = {
    "Events",
    (const struct command *const[]){&CMD_EVENT, &CMD_EVENT_APPEND, &CMD_EVENT_READ, &CMD_EVENT_FOLLOW, NULL}};
