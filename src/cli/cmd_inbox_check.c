/* boxcar inbox check: whether a message from outside has been processed. */
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "inbox.h"
#include "message_json.h"
#include "output.h"
#include "report.h"

static char *hash;
static int peek;

static struct poptOption OPTIONS[] = {
    {"hash", 0, POPT_ARG_STRING, &hash, 0, "of the content; another than the first is reported", "TEXT"},
    {"peek", 0, POPT_ARG_NONE, &peek, 0, "only look: leave no note that it was seen", NULL},
    POPT_TABLEEND};

static bool differs(boxcar_str kept) {
    return hash && hash[0] && kept.data &&
           (strlen(hash) != kept.len || memcmp(hash, kept.data, kept.len) != 0);
}

/* A key that nobody has heard of has not been processed. */
static boxcar_status look(boxcar_store *store, boxcar_inbox_key key, bool *ret_processed, bool *ret_mismatch,
                          boxcar_error *err) {
    boxcar_inbox_receipt_list *list = NULL;
    boxcar_status status = boxcar_inbox_find(store, key, &list, err);
    if (status == BOXCAR_E_NOT_FOUND)
        return BOXCAR_OK;
    if (status != BOXCAR_OK)
        return status;
    *ret_processed = boxcar_inbox_receipt_list_get(list, 0)->state == BOXCAR_INBOX_DONE;
    *ret_mismatch = differs(boxcar_inbox_receipt_list_get(list, 0)->content_hash);
    boxcar_inbox_receipt_list_free(list);
    return BOXCAR_OK;
}

static int print(const struct cli *cli, bool processed, bool mismatch) {
    if (output_format(cli, CLI_FORMAT_TABLE) != CLI_FORMAT_TABLE)
        return output_object(cli, json_pack("{s:b, s:b}", "processed", processed, "hash_mismatch", mismatch));
    puts(processed ? "processed" : "not processed");
    return CLI_DONE;
}

static int run(struct cli *cli, const char *const *args) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    boxcar_inbox_key key;
    bool processed = false, mismatch = false;
    if (!inbox_key_read(cli, args, &key) || !cli_args_at_most(cli, args, 2))
        return CLI_USAGE;
    int result = cli_store_open(cli);
    if (result != CLI_DONE)
        return result;
    boxcar_status status = peek ? look(cli->store, key, &processed, &mismatch, &err)
                                : boxcar_inbox_already_processed(cli->store, key, boxcar_str_of(hash),
                                                                 &processed, &mismatch, &err);
    return status == BOXCAR_OK ? print(cli, processed, mismatch) : cli_fail_with(cli, &err);
}

const struct command CMD_INBOX_CHECK = {
    .name = "inbox check",
    .summary = "say whether a message has been processed",
    .usage = "SOURCE ID [--hash TEXT] [--peek]",
    .description =
        "Prints \"processed\" or \"not processed\"; with -o json {\"processed\": true, \"hash_mismatch\": "
        "false}.\n"
        "The exit status is 0 in both cases. A message has been processed when it was acked, or accepted by\n"
        "a program in its own transaction.\n"
        "\n"
        "Asking leaves a note that the message was seen, and refreshes when it was last seen; --peek does "
        "not.\n",
    .examples = "boxcar inbox check shop order-42\n"
                "boxcar inbox check shop order-42 --peek -o json\n",
    .options = OPTIONS,
    .run = run,
};
