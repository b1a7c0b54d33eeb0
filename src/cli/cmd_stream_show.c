/* boxcar stream show: one stream. */
#include "commands.h"
#include "options.h"
#include "output.h"
#include "report.h"
#include "stream.h"

static struct { char *box; } given;

static struct poptOption OPTIONS[] = {OPTION_BOX(given.box), POPT_TABLEEND};

static int run(struct cli *cli, const char *const *args) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_stream_list *list = NULL;
    boxcar_box box;
    boxcar_str key;
    if (!stream_key_read(cli, args, given.box, &box, &key))
        return CLI_USAGE;
    int result = cli_store_open(cli);
    if (result != CLI_DONE)
        return result;
    if (boxcar_stream_find(cli->store, box, key, &list, &err) != BOXCAR_OK)
        return cli_fail_with(cli, &err);
    result = output_object(cli, stream_json(boxcar_stream_list_get(list, 0)));
    boxcar_stream_list_free(list);
    return result;
}

const struct command CMD_STREAM_SHOW = {
    .name = "stream show",
    .summary = "show a stream",
    .usage = "KEY [--box BOX]",
    .description =
        "Shows all fields of a stream. One of which nothing is unfinished, and which is not halted, does\n"
        "not exist (exit status 3).\n",
    .examples = "boxcar stream show order-42\n"
                "boxcar stream show order-42 -o json\n",
    .options = OPTIONS,
    .run = run,
};
