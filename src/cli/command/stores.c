#include "stores.h"

#include <stdlib.h>
#include <string.h>

#include "cli/config/config.h"
#include "cli/input/options.h"
#include "cli/output/report.h"

static size_t count_typed(void) {
    return global_options.stores ? cli_args_count((const char *const *)global_options.stores) : 0;
}

static const char *discovery_text(const struct cli *cli) {
    if (global_options.discover)
        return global_options.discover;
    const char *text = count_typed() > 0 ? NULL : config_text(cli->config, CONFIG_FLEET_DISCOVER);
    return text && text[0] ? text : NULL;
}

bool stores_are_many(const struct cli *cli) {
    return count_typed() > 1 || discovery_text(cli) || (count_typed() == 0 && cli->config->store_count > 0);
}

/* ---- what to tell the library ---- */

static int read_discovery(const struct cli *cli, boxcar_fleet_options *options) {
    const char *text = discovery_text(cli), *colon = text ? strchr(text, ':') : NULL;
    if (!text)
        return CLI_DONE;
    for (boxcar_discovery kind = BOXCAR_DISCOVERY_FILE; colon && kind <= BOXCAR_DISCOVERY_COMMAND; kind++) {
        const char *name = boxcar_discovery_name(kind);
        if (strlen(name) != (size_t)(colon - text) || strncmp(name, text, strlen(name)) != 0 || !colon[1])
            continue;
        options->discovery = kind;
        options->where = boxcar_str_of(colon + 1);
        options->query = boxcar_str_of(config_text(cli->config, CONFIG_FLEET_QUERY));
        return CLI_DONE;
    }
    return cli_usage(cli, "--discover is '%.64s': give file:PATH, directory:PATH, sql:URL or command:PROGRAM",
                     text);
}

/* Those that were typed, or else those of the file. */
static bool read_entries(const struct cli *cli, struct stores *stores) {
    size_t typed = count_typed(), count = typed > 0 ? typed : cli->config->store_count;
    stores->entries = calloc(count + 1, sizeof(*stores->entries));
    if (!stores->entries)
        return false;
    for (size_t i = 0; i < count; i++) {
        stores->entries[i] = BOXCAR_STORE_ENTRY_INIT;
        stores->entries[i].url =
            boxcar_str_of(typed > 0 ? global_options.stores[i] : cli->config->stores[i].url);
        if (typed == 0)
            stores->entries[i].key = boxcar_str_of(cli->config->stores[i].key);
    }
    stores->options.stores = stores->entries;
    stores->options.store_count = count;
    return true;
}

/* One store is a list, too. */
static bool add_single(const struct cli *cli, struct stores *stores) {
    if (stores_are_many(cli))
        return true;
    free(stores->entries);
    stores->entries = calloc(1, sizeof(*stores->entries));
    if (!stores->entries)
        return false;
    stores->entries[0] = BOXCAR_STORE_ENTRY_INIT;
    stores->entries[0].url = boxcar_str_of(cli->store_url);
    stores->options.stores = stores->entries;
    stores->options.store_count = 1;
    return true;
}

int stores_read(const struct cli *cli, struct stores *ret_stores) {
    boxcar_fleet_options *options = &ret_stores->options;
    *ret_stores = (struct stores){.options = BOXCAR_FLEET_OPTIONS_INIT};
    TRY(read_discovery(cli, options));
    if (!read_entries(cli, ret_stores) || !add_single(cli, ret_stores))
        return cli_no_memory(cli);
    options->refresh_ms = (int64_t)config_number(cli->config, CONFIG_FLEET_REFRESH);
    options->selection = (boxcar_selection)config_number(cli->config, CONFIG_FLEET_SELECT);
    options->connections = (int)config_number(cli->config, CONFIG_FLEET_CONNECTIONS);
    options->idle_ms = (int64_t)config_number(cli->config, CONFIG_FLEET_IDLE);
    options->look_ms = (int64_t)config_number(cli->config, CONFIG_FLEET_LOOK);
    return CLI_DONE;
}

void stores_release(struct stores *stores) {
    free(stores->entries);
    stores->entries = NULL;
}

/* ---- one after the other ---- */

int stores_list(struct cli *cli, boxcar_found_store_list **ret_list) {
    CLEANUP(stores_release) struct stores stores;
    TRY(stores_read(cli, &stores));
    return cli_check(cli,
                     boxcar_store_discover(&stores.options, boxcar_str_of(cli->schema), ret_list, &cli->err));
}

static int visit_one(struct cli *cli, const boxcar_found_store *found,
                     int (*visit)(struct cli *cli, void *context), void *context) {
    cli->store_url = found->url.data;
    cli->schema = found->schema.data;
    cli->store_label = found->id;
    int result = cli_store_open(cli);
    if (result == CLI_DONE)
        result = visit(cli, context);
    boxcar_store_close(cli->store);
    cli->store = NULL;
    cli->store_label = NULL;
    return result;
}

int stores_each(struct cli *cli, int (*visit)(struct cli *cli, void *context), void *context) {
    AUTO_LIST boxcar_found_store_list *list = NULL;
    int result = CLI_DONE;
    if (!stores_are_many(cli)) {
        TRY(cli_store_open(cli));
        return visit(cli, context);
    }
    const char *url = cli->store_url, *schema = cli->schema;
    TRY(stores_list(cli, &list));
    for (size_t i = 0; i < list->count; i++) {
        int one = visit_one(cli, list->items[i], visit, context);
        result = result == CLI_DONE ? one : result;
    }
    cli->store_url = url;
    cli->schema = schema;
    return result;
}
