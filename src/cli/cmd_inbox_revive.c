/* boxcar inbox revive: makes a dead letter of the inbox ready again. */
#include <stdio.h>

#include "commands.h"
#include "inbox.h"
#include "message_json.h"
#include "output.h"
#include "report.h"

static char *reason;

static struct poptOption OPTIONS[] = {
    {"reason", 0, POPT_ARG_STRING, &reason, 0, "why; kept in the message's history", "TEXT"}, POPT_TABLEEND};

static int print(const struct cli *cli, boxcar_work_id work_id) {
    if (output_format(cli, CLI_FORMAT_TABLE) != CLI_FORMAT_TABLE)
        return output_object(cli, json_pack("{s:I}", "work_id", (json_int_t)work_id.value));
    printf("%lld\n", (long long)work_id.value);
    return CLI_DONE;
}

static int run(struct cli *cli, const char *const *args) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_message_ref ref;
    boxcar_inbox_key key;
    boxcar_work_id work_id;
    if (!inbox_ref_read(cli, args, &ref, &key))
        return CLI_USAGE;
    if (!reason)
        return cli_usage(cli, "--reason is missing: say why the message is revived");
    int result = cli_store_open(cli);
    if (result != CLI_DONE)
        return result;
    if (boxcar_inbox_revive(cli->store, ref, boxcar_str_of(reason), &work_id, &err) != BOXCAR_OK)
        return cli_fail_with(cli, &err);
    return print(cli, work_id);
}

const struct command CMD_INBOX_REVIVE = {
    .name = "inbox revive",
    .summary = "make a dead letter of the inbox ready again",
    .usage = "SOURCE ID --reason TEXT\n"
             "WORK_ID|MESSAGE_ID --reason TEXT",
    .description =
        "The message is ready at once, or when it is due, with retry_count 0; an expiry no longer\n"
        "applies. The reason is kept in its history. Prints its work id; with -o json {\"work_id\": N}.\n"
        "A message that does not exist gives exit status 3, one that is not dead 4.\n",
    .examples = "boxcar inbox revive shop order-42 --reason 'customer added'\n",
    .options = OPTIONS,
    .run = run,
};
