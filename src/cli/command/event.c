/* Events: boxcar event, event append, event read and event follow. */
#include <stdio.h>

#include "cli/input/batch/message_file.h"
#include "cli/input/payload.h"
#include "cli/service/stop.h"
#include "common.h"

/* A version or a position: a whole number from 0 on. As in input/values.h. */
static bool read_number(const struct cli *cli, const char *option, const char *text, int64_t *ret_number) {
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
    return json_from_message_id((boxcar_message_id){id.uuid});
}

/* With the names of the view. */
static json_t *event_row(const void *item) {
    const boxcar_event *event = item;
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
};

/* ---- boxcar event append: appends one event to a stream, or a file of them ---- */

static struct {
    char *batch, *expected, *event_id, *correlation_id, *causation_id, *topic;
    char **headers;
} append_given;

static struct poptOption APPEND_OPTIONS[] = {
    OPTION_TEXT("expected", append_given.expected, "the version the stream must have; 0 = it must be new",
                "N"),
    OPTION_TEXT("event-id", append_given.event_id, "the event's id; one the stream has is a no-op", "UUID"),
    OPTION_LIST("header", append_given.headers, "a header; may be repeated", "K=V"),
    OPTION_TEXT("causation-id", append_given.causation_id,
                "the id of the message or call that caused the event", "TEXT"),
    OPTION_TEXT("correlation-id", append_given.correlation_id, "up to 255 characters for tracing", "TEXT"),
    OPTION_TEXT("topic", append_given.topic, "enqueue it as a message with this topic, too", "TOPIC"),
    OPTION_TEXT("batch", append_given.batch, "read events from JSON Lines; - is standard input", "FILE|-"),
    POPT_TABLEEND,
};

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
    for (size_t i = 0; i < count && output_list_add(&output, appended_json(&appended[i])); i++)
        continue;
    return output_list_end(&output, cli);
}

static int read_event_id(const struct cli *cli, boxcar_event_id *ret_id) {
    const char *text = append_given.event_id;
    if (text && (!boxcar_uuid_parse(boxcar_str_of(text), &ret_id->uuid) || boxcar_uuid_is_none(ret_id->uuid)))
        return cli_usage(cli, "--event-id is '%.64s': give the id of the event, a UUID other than nil", text);
    return CLI_DONE;
}

/* Standard input comes last, so that a bad option does not wait for it. */
static int append_one(struct cli *cli, int64_t expected) {
    const char *const *args = cli->args;
    boxcar_new_event event = BOXCAR_NEW_EVENT_INIT;
    boxcar_appended appended = BOXCAR_APPENDED_INIT;
    AUTO_FREE char *payload = NULL, *headers = NULL;
    if (!args[1] || !args[2])
        return cli_usage(cli,
                         "%s is missing: give STREAM, TYPE and PAYLOAD (or - to read it from standard input)",
                         args[1] ? "payload" : "type");
    if (args[3]) /* what is too much may be a part of the payload: not shown (BX-010) */
        return cli_usage(cli, "more arguments than STREAM, TYPE and PAYLOAD: put quotes around the payload");
    event.type = boxcar_str_of(args[1]);
    event.correlation_id = boxcar_str_of(append_given.correlation_id);
    event.causation_id = boxcar_str_of(append_given.causation_id);
    event.topic = boxcar_str_of(append_given.topic);
    TRY(read_event_id(cli, &event.event_id));
    if (!headers_read(cli, append_given.headers, &event.headers, &headers))
        return CLI_USAGE;
    TRY(payload_read(cli, args[2], &payload, &event.payload));
    TRY(cli_store_open(cli));
    TRY(cli_check(cli, boxcar_event_append(cli->store, boxcar_str_of(args[0]), expected, &event, 1, &appended,
                                           &cli->err)));
    return print_append(cli, &appended, 1, false);
}

static int append_file(struct cli *cli, int64_t expected) {
    CLEANUP(json_lines_release) struct json_lines file = {0};
    if (cli->args[1] || append_given.event_id || append_given.headers || append_given.correlation_id ||
        append_given.causation_id || append_given.topic)
        return cli_usage(cli,
                         "--batch is given: every event comes from the file, so give no TYPE, PAYLOAD or "
                         "options of an event");
    TRY(event_file_load(cli, append_given.batch, &file));
    AUTO_FREE boxcar_appended *appended = calloc(file.count + 1, sizeof(*appended));
    if (!appended)
        return cli_no_memory(cli);
    appended[0] = BOXCAR_APPENDED_INIT;
    TRY(cli_store_open(cli));
    if (boxcar_event_append(cli->store, boxcar_str_of(cli->args[0]), expected, file.items, file.count,
                            appended, &cli->err) != BOXCAR_OK)
        return json_lines_fail(cli, &file, &cli->err);
    return print_append(cli, appended, file.count, true);
}

static int run_append(struct cli *cli) {
    int64_t expected = BOXCAR_ANY_VERSION;
    if (!read_number(cli, "--expected", append_given.expected, &expected))
        return CLI_USAGE;
    return append_given.batch ? append_file(cli, expected) : append_one(cli, expected);
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
        "(an object), correlation_id, causation_id, topic. A payload that is not a string is stored as its\n"
        "compact JSON. All are appended or none, and the versions are printed one a line.\n",
    .examples =
        "boxcar event append order-42 order.placed '{\"total\": 12}' --expected 0\n"
        "echo 'from a pipe' | boxcar event append order-42 order.noted - --header by=me --topic orders\n"
        "printf '{\"type\":\"a\",\"payload\":{\"n\":1}}\\n{\"type\":\"b\",\"payload\":\"text\"}\\n' | boxcar "
        "event append "
        "order-43 --batch - -o json\n",
    .options = APPEND_OPTIONS,
    .missing = "stream is missing: give STREAM, TYPE and PAYLOAD, or STREAM --batch FILE",
    .most_args = CLI_ANY_ARGS,
    .run = run_append,
};

/* ---- boxcar event read: the events of a stream ---- */

static char *from_given;

static struct poptOption READ_OPTIONS[] = {
    OPTION_TEXT("from", from_given, "begin at this version (default 1)", "N"),
    OPTION_TEXT("limit", common_given.limit, "how many, 1 to 10000 (default 1000)", "N"),
    POPT_TABLEEND,
};

static const char *const READ_COLUMNS[] = {"version",        "position", "type", "created_at",
                                           "correlation_id", "event_id", NULL};

/* Page by page: of large events one call brings few. */
static int print_pages(struct cli *cli, int64_t from, int limit, struct output *output) {
    bool more = true;
    while (more) {
        AUTO_LIST boxcar_event_list *list = NULL;
        TRY(cli_check(
            cli, boxcar_event_read(cli->store, boxcar_str_of(cli->args[0]), from, limit, &list, &cli->err)));
        limit -= (int)list->count;
        more = common_print_page(output, event_row, list->items, list->count) && list->count > 0 && limit > 0;
        if (more)
            from = list->items[list->count - 1]->version + 1;
    }
    return CLI_DONE;
}

static int run_read(struct cli *cli) {
    struct output output;
    int64_t from = 1;
    int limit = 1000;
    if (!read_number(cli, "--from", from_given, &from) ||
        !value_count(cli, "--limit", common_given.limit, &limit))
        return CLI_USAGE;
    TRY(cli_store_open(cli));
    output_list_begin(&output, cli, CLI_FORMAT_TABLE, READ_COLUMNS);
    return common_end_pages(cli, &output, print_pages(cli, from, limit, &output));
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
    .missing = "stream is missing: give STREAM",
    .most_args = 1,
    .run = run_read,
};

/* ---- boxcar event follow: events of all streams as they come, in one order ---- */

/* The most events of one call, and how long one may wait for a store that is away: a signal wants an answer
 * soon. */
enum { PAGE = 1000, PATIENCE_MS = 1000 };

static struct {
    char *stream, *poll;
    char **types;
    int once;
} follow_given;

static struct poptOption FOLLOW_OPTIONS[] = {
    OPTION_AFTER("the last position that was seen (default 0)", "N"),
    OPTION_TEXT("limit", common_given.limit, "end after this many events", "N"),
    OPTION_LIST("type", follow_given.types, "only this type, or prefix*; may be repeated", "TYPE"),
    OPTION_TEXT("stream", follow_given.stream, "only this stream, or prefix*", "STREAM"),
    OPTION_FLAG("once", follow_given.once, "end when there are no more events"),
    OPTION_TEXT("poll", follow_given.poll, "how often to look, 10ms to 24h (default 500ms)", "DUR"),
    POPT_TABLEEND,
};

struct following {
    boxcar_event_filter filter;
    int64_t left; /* events until --limit */
    int64_t poll_ms;
};

/* Prints one page. *ret_more: there may be another one now. If the store is away, the next call tries again;
 * the library has logged the outage once. */
static int follow_on(struct cli *cli, struct following *following, bool *ret_more) {
    AUTO_LIST boxcar_event_list *list = NULL;
    *ret_more = false;
    following->filter.limit = following->left < PAGE ? (int)following->left : PAGE;
    boxcar_status status = boxcar_event_read_all(cli->store, &following->filter, &list, &cli->err);
    if (status != BOXCAR_OK && cli->err.retryable && !follow_given.once)
        return CLI_DONE;
    TRY(cli_check(cli, status));
    *ret_more = list->position > following->filter.after;
    following->filter.after = list->position;
    following->left -= (int64_t)list->count;
    TRY(common_print_list(cli, NULL, event_row, list->items, list->count));
    return output_flush(cli);
}

static int follow(struct cli *cli, struct following *following) {
    bool more = true;
    stop_catch_signals();
    while (following->left > 0 && !stop_wanted() && (more || !follow_given.once)) {
        if (!more && !stop_wait_read_ms(following->poll_ms))
            break;
        if (!stop_wanted())
            TRY(follow_on(cli, following, &more));
    }
    return CLI_DONE;
}

static int read_following(const struct cli *cli, struct following *following) {
    if (!read_number(cli, "--after", common_given.after, &following->filter.after) ||
        !read_number(cli, "--limit", common_given.limit, &following->left))
        return CLI_USAGE;
    if (following->left < 1)
        return cli_usage(cli, "--limit is 0: give 1 or more");
    if (!value_duration(cli, "--poll", follow_given.poll, 10, INT64_C(86400000), &following->poll_ms))
        return CLI_USAGE;
    if (cli->format != CLI_FORMAT_JSONL)
        return cli_usage(cli,
                         "--output is not jsonl: events that follow have no end, so they are JSON Lines");
    following->filter.stream = boxcar_str_of(follow_given.stream);
    return CLI_DONE;
}

static int run_follow(struct cli *cli) {
    struct following following = {.filter = BOXCAR_EVENT_FILTER_INIT, .left = INT64_MAX, .poll_ms = 500};
    TRY(read_following(cli, &following));
    AUTO_FREE boxcar_str *types = common_texts(follow_given.types, &following.filter.type_count);
    if (!types)
        return cli_no_memory(cli);
    following.filter.types = types;
    boxcar_store_options store = cli_store_options(cli);
    store.busy_timeout_ms = PATIENCE_MS;
    TRY(cli_check(cli, boxcar_store_open(&store, &cli->store, &cli->err)));
    return follow(cli, &following);
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
    .format = CLI_FORMAT_JSONL,
    .run = run_follow,
};

const struct command_noun EVENT_COMMANDS = {
    "Events",
    (const struct command *const[]){&CMD_EVENT, &CMD_EVENT_APPEND, &CMD_EVENT_READ, &CMD_EVENT_FOLLOW, NULL}};
