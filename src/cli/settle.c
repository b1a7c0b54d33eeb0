#include "settle.h"

#include <stdio.h>
#include <stdlib.h>

#include "output.h"
#include "report.h"
#include "values.h"

struct settlements {
    boxcar_settlement *items;
    boxcar_work_id *affected;
    size_t count, affected_count;
};

static bool read_ids(const struct cli *cli, const char *const *args, struct settlements *settlements) {
    settlements->count = cli_args_count(args);
    settlements->items = calloc(settlements->count + 1, sizeof(*settlements->items));
    settlements->affected = calloc(settlements->count + 1, sizeof(*settlements->affected));
    if (!settlements->items || !settlements->affected) {
        cli_no_memory(cli);
        return false;
    }
    for (size_t i = 0; i < settlements->count; i++)
        if (!value_lease(cli, args[i], &settlements->items[i]))
            return false;
    return true;
}

static json_t *affected_json(const struct settlements *settlements) {
    json_t *array = json_array();
    for (size_t i = 0; i < settlements->affected_count; i++) {
        if (json_array_append_new(array, json_integer(settlements->affected[i].value)) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

static int print(const struct cli *cli, const struct settlements *settlements) {
    enum cli_format format = output_format(cli, CLI_FORMAT_TABLE);
    if (format == CLI_FORMAT_JSON)
        return output_object(cli, affected_json(settlements));
    for (size_t i = 0; i < settlements->affected_count; i++) {
        printf(format == CLI_FORMAT_JSONL ? "{\"work_id\":%lld}\n" : "%lld\n",
               (long long)settlements->affected[i].value);
    }
    return CLI_DONE;
}

static int settle_all(struct cli *cli, settle_fn *settle, boxcar_box box, boxcar_owner owner, int64_t lease_ms,
                      struct settlements *settlements) {
    boxcar_error err = BOXCAR_ERROR_INIT;
    int result = cli_store_open(cli);
    if (result != CLI_DONE)
        return result;
    if (settle(cli->store, box, owner, settlements->items, settlements->count, lease_ms, settlements->affected,
               &settlements->affected_count, &err) != BOXCAR_OK)
        return cli_fail_with(cli, &err);
    return print(cli, settlements);
}

int settle_run(struct cli *cli, settle_fn *settle, const struct settle_given *given,
               const char *const *args) {
    boxcar_owner owner;
    boxcar_box box = BOXCAR_OUTBOX;
    int64_t delay_ms = BOXCAR_BACKOFF, lease_ms = BOXCAR_LEASE_MS_DEFAULT;
    if (!value_owner(cli, given->owner, &owner) || !value_box(cli, given->box, &box) || !value_delay(cli, given->delay, &delay_ms) ||
        !value_lease_time(cli, given->lease, &lease_ms))
        return CLI_USAGE;
    if (!args[0])
        return cli_usage(cli, "WORK_ID is missing: give one or more, as claim printed them");
    struct settlements settlements = {0};
    int result = CLI_USAGE;
    if (read_ids(cli, args, &settlements)) {
        for (size_t i = 0; i < settlements.count; i++) {
            settlements.items[i].delay_ms = delay_ms;
            settlements.items[i].error = boxcar_str_of(given->error);
        }
        result = settle_all(cli, settle, box, owner, lease_ms, &settlements);
    }
    free(settlements.items);
    free(settlements.affected);
    return result;
}
