/* boxcar fail: give messages up: they become dead letters. */
#include "commands.h"
#include "settle.h"

static struct { char *owner, *box, *error; } given;

static struct poptOption OPTIONS[] = {
    SETTLE_OPTION_OWNER(given),
    {"error", 0, POPT_ARG_STRING, &given.error, 0, "what went wrong; 4 KiB of it are kept", "TEXT"},
    OPTION_BOX(given.box),
    POPT_TABLEEND};

static boxcar_status settle(boxcar_store *store, boxcar_box box, boxcar_owner owner,
                            const boxcar_settlement *settlements, size_t count, int64_t lease_ms,
                            boxcar_work_id *ret_affected, size_t *ret_affected_count, boxcar_error *err) {
    (void)lease_ms;
    return (box == BOXCAR_INBOX ? boxcar_inbox_fail : boxcar_fail)(
        store, owner, settlements, count, ret_affected, ret_affected_count, err);
}

static int run(struct cli *cli, const char *const *args) {
    struct settle_given typed = {.owner = given.owner, .box = given.box, .error = given.error};
    return settle_run(cli, settle, &typed, args);
}

const struct command CMD_FAIL = {
    .name = "fail",
    .summary = "give messages up: they become dead letters",
    .usage = "--owner UUID WORK_ID[:EPOCH]... [--error TEXT] [--box BOX]",
    .description =
        "Buries messages that no further attempt can help (reason rejected). See boxcar help dead.\n"
        "\n" SETTLE_OUTPUT,
    .examples = "boxcar fail --owner 0b0e7d5e-7d2c-4f0e-8f0f-3d9f4a1c2b11 1 --error 'no such customer'\n",
    .options = OPTIONS,
    .run = run,
};
