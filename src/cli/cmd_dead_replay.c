/* boxcar dead replay: makes dead letters ready again. */
#include "commands.h"
#include "dead.h"

static struct dead_given given;
static char *note_text;

static struct poptOption OPTIONS[] = {
    DEAD_OPTIONS(given, "every dead letter"),
    {"note", 0, POPT_ARG_STRING, &note_text, 0, "kept in the message's history", "TEXT"},
    POPT_TABLEEND};

static boxcar_status replay(boxcar_store *store, const boxcar_dead_filter *filter, const char *note,
                            int64_t *ret_count, boxcar_error *err) {
    return boxcar_dead_replay(store, filter, boxcar_str_of(note), ret_count, err);
}

static int run(struct cli *cli, const char *const *args) {
    return dead_act(cli, &given, args, replay, note_text, "replayed");
}

const struct command CMD_DEAD_REPLAY = {
    .name = "dead replay",
    .summary = "make dead letters ready again",
    .usage = "ID... [--note TEXT]\n"
             "[--topic TOPIC] [--reason REASON] [--before TIME] [--note TEXT]\n"
             "--all [--note TEXT]",
    .description =
        "The chosen messages are ready at once, or when they are due, with retry_count 0; an expiry no\n"
        "longer applies. The replay is recorded in their history. Prints how many; with -o json\n"
        "{\"replayed\": N}. Ids of which none is a dead letter give exit status 3.\n",
    .examples = "boxcar dead replay 1 --note 'customer added'\n"
                "boxcar dead replay --topic 'orders.*' --reason exhausted\n",
    .options = OPTIONS,
    .run = run,
};
