/* boxcar defer: give messages back for later, no attempt spent. */
#include "commands.h"
#include "settle.h"

static struct { char *owner, *box, *delay; } given;

static struct poptOption OPTIONS[] = {
    SETTLE_OPTION_OWNER(given),
    {"delay", 0, POPT_ARG_STRING, &given.delay, 0, "until they are ready again (default: at once)", "DUR"},
    OPTION_BOX(given.box),
    POPT_TABLEEND};

static boxcar_status settle(boxcar_store *store, boxcar_box box, boxcar_owner owner,
                            const boxcar_settlement *settlements, size_t count, int64_t lease_ms,
                            boxcar_work_id *ret_affected, size_t *ret_affected_count, boxcar_error *err) {
    (void)lease_ms;
    return (box == BOXCAR_INBOX ? boxcar_inbox_defer : boxcar_defer)(
        store, owner, settlements, count, ret_affected, ret_affected_count, err);
}

static int run(struct cli *cli, const char *const *args) {
    struct settle_given typed = {.owner = given.owner, .box = given.box, .delay = given.delay};
    return settle_run(cli, settle, &typed, args);
}

const struct command CMD_DEFER = {
    .name = "defer",
    .summary = "give messages back for later, no attempt spent",
    .usage = "--owner UUID WORK_ID[:EPOCH]... [--delay DUR] [--box BOX]",
    .description = "For waiting, rate limits and shutting down with work unstarted.\n"
                   "\n" SETTLE_OUTPUT,
    .examples = "boxcar defer --owner 0b0e7d5e-7d2c-4f0e-8f0f-3d9f4a1c2b11 1 --delay 1m\n",
    .options = OPTIONS,
    .run = run,
};
