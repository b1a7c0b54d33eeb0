/* boxcar stream skip: gives up on the next message of a stream. */
#include "commands.h"
#include "options.h"
#include "output.h"
#include "report.h"
#include "stream.h"

static struct { char *box; } given;

static struct poptOption OPTIONS[] = {OPTION_BOX(given.box), POPT_TABLEEND};

static int run(struct cli *cli, const char *const *args) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_work_id work_id;
    boxcar_box box;
    boxcar_str key;
    if (!stream_key_read(cli, args, given.box, &box, &key))
        return CLI_USAGE;
    int result = cli_store_open(cli);
    if (result != CLI_DONE)
        return result;
    if (boxcar_stream_skip(cli->store, box, key, &work_id, &err) != BOXCAR_OK)
        return cli_fail_with(cli, &err);
    return output_count(cli, "work_id", work_id.value);
}

const struct command CMD_STREAM_SKIP = {
    .name = "stream skip",
    .summary = "give up on the next message of a stream",
    .usage = "KEY [--box BOX]",
    .description =
        "The next message becomes a dead letter (reason cancelled) and the stream goes on behind it, "
        "whatever\n"
        "its policy. A halted stream is resumed instead: what halted it is dead already. Prints the work id\n"
        "of the message that was given up; with -o json {\"work_id\": ...}. While a message of the stream "
        "is\n"
        "in progress it is a conflict (exit status 4); without any message the stream is not found (3).\n",
    .examples = "boxcar stream skip order-42\n",
    .options = OPTIONS,
    .run = run,
};
