/* boxcar renew: extend leases. */
#include "commands.h"
#include "settle.h"

static struct { char *owner, *box, *lease; } given;

static struct poptOption OPTIONS[] = {
    SETTLE_OPTION_OWNER(given),
    {"lease", 0, POPT_ARG_STRING, &given.lease, 0, "from now on, 100ms to 24h (default 30s)", "DUR"},
    OPTION_BOX(given.box),
    POPT_TABLEEND};

static boxcar_status settle(boxcar_store *store, boxcar_box box, boxcar_owner owner,
                            const boxcar_settlement *settlements, size_t count, int64_t lease_ms,
                            boxcar_work_id *ret_affected, size_t *ret_affected_count, boxcar_error *err) {
    return (box == BOXCAR_INBOX ? boxcar_inbox_renew : boxcar_renew)(
        store, owner, settlements, count, lease_ms, ret_affected, ret_affected_count, err);
}

static int run(struct cli *cli, const char *const *args) {
    struct settle_given typed = {.owner = given.owner, .box = given.box, .lease = given.lease};
    return settle_run(cli, settle, &typed, args);
}

const struct command CMD_RENEW = {
    .name = "renew",
    .summary = "extend leases",
    .usage = "--owner UUID WORK_ID[:EPOCH]... [--lease DUR] [--box BOX]",
    .description =
        "The leases end the given time from now, never earlier than before. An id that is not printed\n"
        "is lost: somebody else may work on that message already.\n"
        "\n" SETTLE_OUTPUT,
    .examples = "boxcar renew --owner 0b0e7d5e-7d2c-4f0e-8f0f-3d9f4a1c2b11 1 --lease 2m\n",
    .options = OPTIONS,
    .run = run,
};
