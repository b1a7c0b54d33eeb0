/* Workers that are running: boxcar instance and instance ls. */
#include "common.h"

/* ---- boxcar instance: the group of commands about workers that are running ---- */

static const struct command CMD_INSTANCE = {
    .name = "instance",
    .summary = "workers that are running",
    .usage = "COMMAND",
    .description =
        "Workers send a heartbeat every few seconds. The keys of streams are spread over partitions, and\n"
        "the partitions over the live workers, so that a stream stays with one of them.\n",
    .examples = "boxcar instance ls\n",
};

/* ---- boxcar instance ls: the workers that are running ---- */

/* All of them, if some worker is for one; NULL = none is. */
static boxcar_subscription_list *subscriptions;

static int read_subscriptions(struct cli *cli, const boxcar_instance_list *instances) {
    bool are_wanted = false;
    for (size_t i = 0; i < instances->count; i++)
        are_wanted = are_wanted || instances->items[i]->box > BOXCAR_INBOX;
    return !are_wanted ? CLI_DONE
                       : cli_check(cli, boxcar_subscription_read(cli->store, BOXCAR_NO_STR, &subscriptions,
                                                                 &cli->err));
}

/* NULL: it is a main reader's, or the subscription was removed just now. */
static const boxcar_subscription *subscription_of(const boxcar_instance *instance) {
    for (size_t i = 0; subscriptions && i < subscriptions->count; i++)
        if (subscriptions->items[i]->reader == instance->box)
            return subscriptions->items[i];
    return NULL;
}

static json_t *instance_row(const void *item) {
    const boxcar_instance *instance = item;
    const boxcar_subscription *subscription = subscription_of(instance);
    const char *box = boxcar_box_name(subscription ? subscription->box : instance->box);
    json_t *object = json_object();
    bool good = json_put(object, "instance_id", json_from_owner(instance->owner)) &&
                json_put(object, "box", json_string(box)) && json_put_text(object, "host", instance->host) &&
                json_put(object, "pid", json_integer(instance->pid)) &&
                json_put(object, "concurrency", json_integer(instance->concurrency)) &&
                json_put(object, "started_at", json_from_time(instance->started_at)) &&
                json_put(object, "seen_at", json_from_time(instance->seen_at)) &&
                json_put(object, "rank", json_integer(instance->rank)) &&
                json_put(object, "first_partition", json_integer(instance->first_partition)) &&
                json_put(object, "partition_count", json_integer(instance->partition_count)) &&
                json_put(object, "leased", json_integer(instance->leased)) &&
                json_put(object, "oldest_lease_at", json_from_time(instance->oldest_lease_at)) &&
                json_put_text(object, "subscription", subscription ? subscription->name : BOXCAR_NO_STR);
    return json_finish(object, good);
}

static const char *const LS_COLUMNS[] = {"instance_id",
                                         "box",
                                         "subscription",
                                         "host",
                                         "pid",
                                         "concurrency",
                                         "rank",
                                         "first_partition",
                                         "partition_count",
                                         "leased",
                                         "oldest_lease_at",
                                         "seen_at",
                                         NULL};

static int run_ls(struct cli *cli) {
    AUTO_LIST boxcar_instance_list *list = NULL;
    TRY(cli_store_open(cli));
    TRY(cli_check(cli, boxcar_instance_read(cli->store, &list, &cli->err)));
    TRY(read_subscriptions(cli, list));
    int result = common_print_list(cli, LS_COLUMNS, instance_row, list->items, list->count);
    boxcar_list_free(subscriptions);
    return result;
}

static const struct command CMD_INSTANCE_LS = {
    .name = "instance ls",
    .summary = "list the workers that are running",
    .usage = "",
    .description =
        "Lists the workers that sent a heartbeat within the setting instance_timeout, by rank. For each it\n"
        "shows the partitions that the worker is preferred for, how many messages it holds and since when\n"
        "it holds the oldest. subscription names the one that the worker is for; it is empty for the main\n"
        "readers. instance_id is the owner of its leases; on PostgreSQL, roles without admin access see\n"
        "another id instead. With -o json an array, with -o jsonl one object a line.\n",
    .examples = "boxcar instance ls\n"
                "boxcar instance ls -o json\n",
    .run = run_ls,
};

const struct command_noun INSTANCE_COMMANDS = {
    "Streams", (const struct command *const[]){&CMD_INSTANCE, &CMD_INSTANCE_LS, NULL}};
