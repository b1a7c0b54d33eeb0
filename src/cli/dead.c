#include "dead.h"

#include <stdlib.h>

#include "output.h"
#include "progress.h"
#include "report.h"
#include "values.h"

static bool read_reason(const struct cli *cli, const char *text, boxcar_reason *ret_reason) {
    if (!text)
        return true;
    if (!boxcar_reason_parse(boxcar_str_of(text), ret_reason) || *ret_reason == BOXCAR_REASON_NONE) {
        cli_usage(cli, "--reason is '%.64s': give rejected, exhausted, expired, no_handler or cancelled",
                  text);
        return false;
    }
    return true;
}

int dead_filter_read(const struct cli *cli, const struct dead_given *given, const char *const *args,
                     boxcar_dead_filter *ret_filter) {
    boxcar_dead_filter filter = BOXCAR_DEAD_FILTER_INIT;
    boxcar_message_ref *refs = NULL;
    filter.topic = boxcar_str_of(given->topic);
    filter.all = given->all;
    if (!read_reason(cli, given->reason, &filter.reason) ||
        !value_time(cli, "--before", given->before, &filter.before) ||
        !value_box(cli, given->box, &filter.box) || !value_refs(cli, args, &refs, &filter.ref_count))
        return CLI_USAGE;
    filter.refs = refs;
    *ret_filter = filter;
    return CLI_DONE;
}

void dead_filter_release(boxcar_dead_filter *filter) {
    free((void *)filter->refs);
    filter->refs = NULL;
}

static bool chooses_something(const struct dead_given *given, const char *const *args) {
    return given->all || given->topic || given->reason || given->before || args[0];
}

static int act_on(struct cli *cli, const boxcar_dead_filter *filter, dead_fn *act, const char *note,
                  const char *name) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    int64_t count = 0;
    int result = cli_store_open(cli);
    if (result != CLI_DONE)
        return result;
    struct progress *progress = progress_begin(cli, "working through dead letters");
    boxcar_status status = act(cli->store, filter, note, &count, &err);
    progress_end(progress);
    if (status != BOXCAR_OK)
        return cli_fail_with(cli, &err);
    result = output_count(cli, name, count);
    if (result == CLI_DONE && filter->ref_count && count == 0)
        return cli_fail(cli, CLI_NOT_FOUND, "none of the ids is a dead letter: see boxcar dead ls");
    return result;
}

int dead_act(struct cli *cli, const struct dead_given *given, const char *const *args, dead_fn *act,
             const char *note, const char *name) {
    boxcar_dead_filter filter;
    if (!chooses_something(given, args))
        return cli_usage(cli, "nothing is chosen: give ids, --topic, --reason, --before, or --all");
    int result = dead_filter_read(cli, given, args, &filter);
    if (result != CLI_DONE)
        return result;
    result = act_on(cli, &filter, act, note, name);
    dead_filter_release(&filter);
    return result;
}
