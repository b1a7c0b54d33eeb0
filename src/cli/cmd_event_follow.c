/* boxcar event follow: events of all streams as they come, in one order. */
#include <stdlib.h>

#include "commands.h"
#include "event.h"
#include "output.h"
#include "report.h"
#include "stop.h"
#include "values.h"

/* The most events of one call, and how long one may wait for a store that is away: a signal wants an answer
 * soon. */
enum { PAGE = 1000, PATIENCE_MS = 1000 };

static struct {
    char *after, *limit, *stream, *poll;
    char **types;
    int once;
} given;

static struct poptOption OPTIONS[] = {
    {"after", 0, POPT_ARG_STRING, &given.after, 0, "the last position that was seen (default 0)", "N"},
    {"limit", 0, POPT_ARG_STRING, &given.limit, 0, "end after this many events", "N"},
    {"type", 0, POPT_ARG_ARGV, &given.types, 0, "only this type, or prefix*; may be repeated", "TYPE"},
    {"stream", 0, POPT_ARG_STRING, &given.stream, 0, "only this stream, or prefix*", "STREAM"},
    {"once", 0, POPT_ARG_NONE, &given.once, 0, "end when there is no more", NULL},
    {"poll", 0, POPT_ARG_STRING, &given.poll, 0, "how often to look, 10ms to 24h (default 500ms)", "DUR"},
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

static int print(const struct cli *cli, const boxcar_event_list *list) {
    struct output output;
    output_list_begin(&output, cli, CLI_FORMAT_JSONL, NULL);
    for (size_t i = 0; i < boxcar_event_list_count(list); i++)
        if (!output_list_add(&output, event_json(boxcar_event_list_get(list, i))))
            break;
    int result = output_list_end(&output, cli);
    return result == CLI_DONE ? output_flush(cli) : result;
}

/* One page. *ret_more: there may be another one at once. A store that is away is waited for: the library has
 * said so in the log, once. */
static int follow_on(struct cli *cli, struct following *following, bool *ret_more) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_event_list *list = NULL;
    *ret_more = false;
    following->filter.limit = following->left < PAGE ? (int)following->left : PAGE;
    if (boxcar_event_read_all(cli->store, &following->filter, &list, &err) != BOXCAR_OK) {
        if (!err.retryable || given.once)
            return cli_fail_with(cli, &err);
        return CLI_DONE;
    }
    int result = print(cli, list);
    *ret_more = boxcar_event_list_position(list) > following->filter.after;
    following->filter.after = boxcar_event_list_position(list);
    following->left -= (int64_t)boxcar_event_list_count(list);
    boxcar_event_list_free(list);
    return result;
}

static int follow(struct cli *cli, struct following *following) {
    int result = CLI_DONE;
    bool more = true;
    stop_catch_signals();
    while (result == CLI_DONE && following->left > 0 && !stop_wanted() && (more || !given.once)) {
        if (!more && !stop_wait_read_ms(following->poll_ms))
            break;
        if (!stop_wanted())
            result = follow_on(cli, following, &more);
    }
    return result;
}

static bool read_limit(const struct cli *cli, int64_t *ret_limit) {
    if (!event_number_read(cli, "--limit", given.limit, ret_limit))
        return false;
    if (*ret_limit < 1)
        cli_usage(cli, "--limit is 0: give 1 or more");
    return *ret_limit >= 1;
}

static int run_with_types(struct cli *cli, struct following *following) {
    size_t count = given.types ? cli_args_count((const char *const *)given.types) : 0;
    boxcar_str *types = calloc(count + 1, sizeof(*types));
    if (!types)
        return cli_no_memory(cli);
    for (size_t i = 0; i < count; i++)
        types[i] = boxcar_str_of(given.types[i]);
    following->filter.types = types;
    following->filter.type_count = count;
    int result = open_store(cli);
    if (result == CLI_DONE)
        result = follow(cli, following);
    free(types);
    return result;
}

static int run(struct cli *cli, const char *const *args) {
    struct following following = {.filter = BOXCAR_EVENT_FILTER_INIT, .left = INT64_MAX, .poll_ms = 500};
    if (!cli_args_at_most(cli, args, 0) ||
        !event_number_read(cli, "--after", given.after, &following.filter.after) ||
        !read_limit(cli, &following.left) ||
        !value_duration(cli, "--poll", given.poll, 10, INT64_C(86400000), &following.poll_ms))
        return CLI_USAGE;
    if (output_format(cli, CLI_FORMAT_JSONL) != CLI_FORMAT_JSONL)
        return cli_usage(cli,
                         "--output is not jsonl: events that follow have no end, so they are JSON Lines");
    following.filter.stream = boxcar_str_of(given.stream);
    return run_with_types(cli, &following);
}

const struct command CMD_EVENT_FOLLOW = {
    .name = "event follow",
    .summary = "events of all streams as they come, in one order",
    .usage = "[--after N] [--limit N] [--type TYPE]... [--stream STREAM] [--once] [--poll DUR]",
    .description =
        "Prints events as JSON Lines in the order of their positions, beginning behind --after, and goes\n"
        "on until SIGTERM or SIGINT, which end it with exit status 0. Remember the last position you have\n"
        "dealt with and give it to --after: nothing is missed, however late it commits, and nothing comes\n"
        "out of order. TYPE and STREAM are exact, or end in * for a prefix. It also ends when nobody reads\n"
        "its output any more.\n"
        "\n"
        "A store that goes away is waited for, if it was there at the start. With --once it ends when there\n"
        "is no more. When the store is away at the start, or with --once, the exit status is 5.\n",
    .examples = "boxcar event follow --once\n"
                "boxcar event follow --after 2 --limit 1 --once\n"
                "boxcar event follow --type 'order.*' --stream 'order-*' --once\n",
    .options = OPTIONS,
    .run = run,
};
