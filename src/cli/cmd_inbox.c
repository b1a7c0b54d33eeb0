/* boxcar inbox: the group of commands about messages from outside. */
#include "commands.h"
#include "report.h"

static int run(struct cli *cli, const char *const *args) {
    (void)args;
    return cli_usage(cli, "no command given: give enqueue, check, show, ls or revive");
}

const struct command CMD_INBOX = {
    .name = "inbox",
    .summary = "messages from outside, each handled once",
    .usage = "enqueue|check|show|ls|revive",
    .description =
        "A message from outside has a key: its SOURCE and the ID it has there. The inbox stores it once,\n"
        "however often it is delivered, and remembers the key for 30 days after it was last seen (setting\n"
        "retention_inbox), longer while the message is in the store.\n"
        "\n"
        "Messages of the inbox are claimed and settled like those of the outbox: claim, ack, abandon, "
        "defer,\n"
        "fail, renew, reap, cancel, show, ls, stats and dead take --box inbox.\n",
    .examples = "boxcar inbox enqueue shop order-42 orders.paid '{\"order\": 42}'\n"
                "boxcar inbox show shop order-42\n"
                "boxcar help inbox enqueue\n",
    .run = run,
};
