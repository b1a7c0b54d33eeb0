/* boxcar stream resume: lets a halted stream go on. */
#include <stdio.h>

#include "commands.h"
#include "options.h"
#include "output.h"
#include "report.h"
#include "stream.h"
#include "text.h"

static struct {
    int replay;
    char *box;
} given;

static struct poptOption OPTIONS[] = {
    {"replay", 0, POPT_ARG_NONE, &given.replay, 0, "begin with the message that halted it", NULL},
    OPTION_BOX(given.box),
    POPT_TABLEEND};

static int print(const struct cli *cli, boxcar_str key) {
    if (output_format(cli, CLI_FORMAT_TABLE) != CLI_FORMAT_TABLE)
        return output_object(cli, json_pack("{s:s%}", "stream", key.data, key.len));
    char *text = text_printable(key, NULL);
    if (!text)
        return cli_no_memory(cli);
    puts(text);
    free(text);
    return CLI_DONE;
}

static int run(struct cli *cli, const char *const *args) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_box box;
    boxcar_str key;
    if (!stream_key_read(cli, args, given.box, &box, &key))
        return CLI_USAGE;
    int result = cli_store_open(cli);
    if (result != CLI_DONE)
        return result;
    if (boxcar_stream_resume(cli->store, box, key, given.replay, &err) != BOXCAR_OK)
        return cli_fail_with(cli, &err);
    return print(cli, key);
}

const struct command CMD_STREAM_RESUME = {
    .name = "stream resume",
    .summary = "let a halted stream go on",
    .usage = "KEY [--replay] [--box BOX]",
    .description =
        "The stream goes on behind the message that halted it, which stays a dead letter; with --replay it\n"
        "begins with that message, whose attempts start anew. boxcar dead replay of that message does the\n"
        "same. A stream that is not halted is a conflict (exit status 4), one that does not exist is not\n"
        "found (3), as is, for --replay, a dead letter that was purged. Prints the key; with -o json\n"
        "{\"stream\": ...}.\n",
    .examples = "boxcar stream resume order-42\n"
                "boxcar stream resume order-42 --replay\n",
    .options = OPTIONS,
    .run = run,
};
