/* boxcar event read: the events of a stream. */
#include "commands.h"
#include "event.h"
#include "output.h"
#include "report.h"
#include "values.h"

static struct { char *from, *limit; } given;

static struct poptOption OPTIONS[] = {
    {"from", 0, POPT_ARG_STRING, &given.from, 0, "begin at this version (default 1)", "N"},
    {"limit", 0, POPT_ARG_STRING, &given.limit, 0, "how many, 1 to 10000 (default 1000)", "N"},
    POPT_TABLEEND};

static const char *const COLUMNS[] = {"version",        "position", "type", "created_at",
                                      "correlation_id", "event_id", NULL};

static int print(const struct cli *cli, const boxcar_event_list *list) {
    struct output output;
    output_list_begin(&output, cli, CLI_FORMAT_TABLE, COLUMNS);
    for (size_t i = 0; i < boxcar_event_list_count(list); i++)
        if (!output_list_add(&output, event_json(boxcar_event_list_get(list, i))))
            break;
    return output_list_end(&output, cli);
}

static int run(struct cli *cli, const char *const *args) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_event_list *list = NULL;
    int64_t from = 1;
    int limit = 1000;
    if (!args[0])
        return cli_usage(cli, "stream is missing: give STREAM");
    if (!cli_args_at_most(cli, args, 1) || !event_number_read(cli, "--from", given.from, &from) ||
        !value_count(cli, "--limit", given.limit, &limit))
        return CLI_USAGE;
    int result = cli_store_open(cli);
    if (result != CLI_DONE)
        return result;
    if (boxcar_event_read(cli->store, boxcar_str_of(args[0]), from, limit, &list, &err) != BOXCAR_OK)
        return cli_fail_with(cli, &err);
    result = print(cli, list);
    boxcar_event_list_free(list);
    return result;
}

const struct command CMD_EVENT_READ = {
    .name = "event read",
    .summary = "the events of a stream, in order",
    .usage = "STREAM [--from N] [--limit N]",
    .description =
        "Lists the events of a stream by version. A stream without events is empty, which is no error.\n"
        "With -o json an array of all fields and payloads, with -o jsonl one object a line. The position\n"
        "is null until somebody who follows, or maintenance, has given it out.\n",
    .examples = "boxcar event read order-42\n"
                "boxcar event read order-42 --from 2 --limit 10 -o jsonl\n",
    .options = OPTIONS,
    .run = run,
};
