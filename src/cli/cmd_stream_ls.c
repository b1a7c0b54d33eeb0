/* boxcar stream ls: a page of streams. */
#include "commands.h"
#include "options.h"
#include "output.h"
#include "report.h"
#include "stream.h"
#include "values.h"

static struct {
    int halted;
    char *prefix, *limit, *after, *box;
} given;

static struct poptOption OPTIONS[] = {
    {"halted", 0, POPT_ARG_NONE, &given.halted, 0, "only streams that are halted", NULL},
    {"prefix", 0, POPT_ARG_STRING, &given.prefix, 0, "only keys that begin with it", "TEXT"},
    {"limit", 0, POPT_ARG_STRING, &given.limit, 0, "how many, 1 to 10000 (default 50)", "N"},
    {"after", 0, POPT_ARG_STRING, &given.after, 0, "go on after the last key of a page", "KEY"},
    OPTION_BOX(given.box),
    POPT_TABLEEND};

static const char *const COLUMNS[] = {"stream",    "state",        "pending",   "head",
                                      "topic",     "available_at", "partition", "retry_count",
                                      "halted_by", "halted_at",    NULL};

static int print(const struct cli *cli, const boxcar_stream_list *list) {
    struct output output;
    output_list_begin(&output, cli, CLI_FORMAT_TABLE, COLUMNS);
    for (size_t i = 0; i < boxcar_stream_list_count(list); i++)
        if (!output_list_add(&output, stream_json(boxcar_stream_list_get(list, i))))
            break;
    return output_list_end(&output, cli);
}

static int list_page(struct cli *cli, const boxcar_stream_filter *filter) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_stream_list *list = NULL;
    int result = cli_store_open(cli);
    if (result != CLI_DONE)
        return result;
    if (boxcar_stream_page(cli->store, filter, &list, &err) != BOXCAR_OK)
        return cli_fail_with(cli, &err);
    result = print(cli, list);
    boxcar_stream_list_free(list);
    return result;
}

static int run(struct cli *cli, const char *const *args) {
    boxcar_stream_filter filter = BOXCAR_STREAM_FILTER_INIT;
    filter.halted = given.halted;
    filter.prefix = boxcar_str_of(given.prefix);
    filter.after = boxcar_str_of(given.after);
    if (!cli_args_at_most(cli, args, 0) || !value_box(cli, given.box, &filter.box) ||
        !value_count(cli, "--limit", given.limit, &filter.limit))
        return CLI_USAGE;
    return list_page(cli, &filter);
}

const struct command CMD_STREAM_LS = {
    .name = "stream ls",
    .summary = "list streams by key",
    .usage = "[--halted] [--prefix TEXT] [--limit N] [--after KEY] [--box BOX]",
    .description =
        "One page of the streams that have unfinished messages or are halted, in the order of their keys.\n"
        "The state is ready (its next message can be claimed), waiting (it is due later), in_progress or\n"
        "halted; head is the next message; pending is counted to 1000. For the next page give the last key\n"
        "of this one to --after. With -o json an array, with -o jsonl one object a line.\n",
    .examples = "boxcar stream ls\n"
                "boxcar stream ls --halted\n"
                "boxcar stream ls --prefix order- --limit 1000 -o jsonl\n",
    .options = OPTIONS,
    .run = run,
};
