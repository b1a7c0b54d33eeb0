/* boxcar join wait: enqueues one message when a join has ended. */
#include <string.h>

#include "cli/input/payload.h"
#include "join.h"

enum { TOPIC, PAYLOAD };

static struct {
    char *on_complete[2], *on_fail[2], *correlation_id, *causation_id, *message_id;
    int allow_failures;
} given;

static struct poptOption OPTIONS[] = {
    OPTION_TEXT("on-complete", given.on_complete, "the message that follows on success", "TOPIC PAYLOAD"),
    OPTION_TEXT("on-fail", given.on_fail, "the one that follows on failure (default none)", "TOPIC PAYLOAD"),
    OPTION_FLAG("allow-failures", given.allow_failures, "take --on-complete even if steps failed"),
    OPTION_TEXT("causation-id", given.causation_id, "the id of the message or call that caused the wait",
                "TEXT"),
    OPTION_TEXT("correlation-id", given.correlation_id, "of the wait and of the message that follows",
                "TEXT"),
    OPTION_TEXT("message-id", given.message_id, "the wait's id; one that exists is a no-op", "UUID"),
    POPT_TABLEEND,
};

static bool is_stdin(char *const pair[2]) { return pair[PAYLOAD] && strcmp(pair[PAYLOAD], "-") == 0; }

static int check_pairs(const struct cli *cli) {
    if (!given.on_complete[TOPIC])
        return cli_usage(cli, "--on-complete is missing: give TOPIC PAYLOAD of the message that follows");
    if (given.on_fail[TOPIC] && !given.on_fail[TOPIC][0])
        return cli_usage(cli, "--on-fail has an empty TOPIC: give 1 to %d characters, or leave it out",
                         BOXCAR_TOPIC_MAX);
    if (is_stdin(given.on_complete) && is_stdin(given.on_fail))
        return cli_usage(cli, "both payloads are -: standard input can be read for one of them only");
    return CLI_DONE;
}

static int read_wait(const struct cli *cli, boxcar_new_wait *wait) {
    if (!value_join_id(cli, "JOIN", cli->args[0], &wait->join_id))
        return CLI_USAGE;
    if (cli->args[1]) /* what is too much may be a part of a payload: not shown (BX-010) */
        return cli_usage(cli, "more arguments than JOIN: put quotes around a payload with blanks");
    if (!value_message_id(cli, "--message-id", given.message_id, &wait->message_id))
        return CLI_USAGE;
    wait->on_complete_topic = boxcar_str_of(given.on_complete[TOPIC]);
    wait->on_fail_topic = boxcar_str_of(given.on_fail[TOPIC]);
    wait->correlation_id = boxcar_str_of(given.correlation_id);
    wait->causation_id = boxcar_str_of(given.causation_id);
    wait->allow_failures = given.allow_failures;
    return check_pairs(cli);
}

static void note_duplicate(const struct cli *cli, boxcar_message_id id) {
    char text[BOXCAR_UUID_TEXT_SIZE];
    boxcar_uuid_format(id.uuid, text);
    cli_note(cli, "the message %s existed already and is left as it is", text);
}

/* Standard input comes last, so that a bad option does not wait for it. */
static int run(struct cli *cli) {
    boxcar_new_wait wait = BOXCAR_NEW_WAIT_INIT;
    boxcar_enqueued enqueued;
    AUTO_FREE char *read = NULL; /* one of the payloads */
    TRY(read_wait(cli, &wait));
    TRY(payload_read(cli, given.on_complete[PAYLOAD], &read, &wait.on_complete_payload));
    if (given.on_fail[PAYLOAD])
        TRY(payload_read(cli, given.on_fail[PAYLOAD], &read, &wait.on_fail_payload));
    TRY(cli_store_open(cli));
    TRY(cli_check(cli, boxcar_join_wait(cli->store, &wait, &enqueued, &cli->err)));
    if (enqueued.duplicate)
        note_duplicate(cli, enqueued.message_id);
    return common_print_uuid(cli, enqueued.message_id.uuid, enqueued_json(&enqueued));
}

const struct command CMD_JOIN_WAIT = {
    .name = "join wait",
    .summary = "enqueue a message when a join has ended",
    .usage = "JOIN --on-complete TOPIC PAYLOAD [--on-fail TOPIC PAYLOAD] [--allow-failures] [OPTIONS]",
    .description =
        "Stores a wait and prints its message id; with -o json an object with work_id, message_id and\n"
        "duplicate. When the join has ended, one message replaces the wait, or none:\n"
        "\n"
        "--on-complete when every step was completed, with --allow-failures also when some failed;\n"
        "--on-fail otherwise, and always when the join timed out or was cancelled.\n"
        "\n"
        "Both options take two words. The second word is the payload, unless it is the name of an option,\n"
        "such as --on-fail. '' is an empty payload; - reads standard input byte for byte (for one of the\n"
        "two payloads).\n"
        "\n"
        "Each wait of a join has a continuation of its own. A wait may be stored after the join has ended.\n"
        "The continuation does not name the join: put the id into the payload if its handler needs it. If\n"
        "the message id exists already, nothing is stored, and a note says so. If the join does not exist,\n"
        "the exit status is 3.\n",
    .examples = "boxcar join wait 0190f3c2-7b1e-7c2d-9a55-3f1d2c4b5a69 --on-complete etl.transform '{}' "
                "--on-fail etl.failed ''\n"
                "echo '{\"report\": 7}' | boxcar join wait 0190f3c2-7b1e-7c2d-9a55-3f1d2c4b5a69 "
                "--allow-failures --on-complete report.assemble -\n",
    .options = OPTIONS,
    .missing = JOIN_MISSING,
    .most_args = CLI_ANY_ARGS,
    .run = run,
};
