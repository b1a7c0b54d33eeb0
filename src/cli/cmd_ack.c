/* boxcar ack: mark leased messages as done. */
#include "commands.h"
#include "settle.h"

static struct { char *owner, *box; } given;

static struct poptOption OPTIONS[] = {SETTLE_OPTION_OWNER(given), OPTION_BOX(given.box), POPT_TABLEEND};

static boxcar_status settle(boxcar_store *store, boxcar_box box, boxcar_owner owner,
                            const boxcar_settlement *settlements, size_t count, int64_t lease_ms,
                            boxcar_work_id *ret_affected, size_t *ret_affected_count, boxcar_error *err) {
    (void)lease_ms;
    return (box == BOXCAR_INBOX ? boxcar_inbox_ack : boxcar_ack)(
        store, owner, settlements, count, ret_affected, ret_affected_count, err);
}

static int run(struct cli *cli, const char *const *args) {
    struct settle_given typed = {.owner = given.owner, .box = given.box};
    return settle_run(cli, settle, &typed, args);
}

const struct command CMD_ACK = {
    .name = "ack",
    .summary = "mark leased messages as done",
    .usage = "--owner UUID WORK_ID[:EPOCH]... [--box BOX]",
    .description =
        "Finishes messages for good. With :EPOCH only the lease that claim printed counts, without it\n"
        "any lease that this owner holds. An ack that comes after the lease ended still counts until\n"
        "somebody else takes the message.\n"
        "\n" SETTLE_OUTPUT,
    .examples = "boxcar ack --owner 0b0e7d5e-7d2c-4f0e-8f0f-3d9f4a1c2b11 1 2:1700000000000000\n",
    .options = OPTIONS,
    .run = run,
};
