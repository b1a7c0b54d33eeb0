/* Options of the command line made from the table of settings. */
#include <stdio.h>

#include "cli/input/options.h"
#include "config.h"

/* Where popt puts what was typed for an option that is not a global one. */
static char *texts[CONFIG_SETTINGS];
static int flags[CONFIG_SETTINGS], refusals[CONFIG_SETTINGS]; /* --NAME and --no-NAME */

/* The places of those that are. */
static char *const *const GLOBALS[CONFIG_SETTINGS] = {
    [CONFIG_STORE_URL] = &global_options.store,         [CONFIG_STORE_SCHEMA] = &global_options.schema,
    [CONFIG_FLEET_DISCOVER] = &global_options.discover, [CONFIG_FLEET_QUERY] = &global_options.discover_query,
    [CONFIG_LOG_LEVEL] = &global_options.log_level,     [CONFIG_LOG_FORMAT] = &global_options.log_format};

const char *config_option_given(enum config_id id) {
    if (GLOBALS[id])
        return *GLOBALS[id];
    return refusals[id] ? "no" : flags[id] ? "yes" : texts[id];
}

/* "how soon others take over when this worker dies, 100ms to 24h (default 30s)" */
static const char *describe(enum config_id id) {
    static char descriptions[CONFIG_SETTINGS][256];
    const struct config_setting *setting = &CONFIG_TABLE[id];
    char range[CONFIG_RANGE_SIZE], standard[CONFIG_RANGE_SIZE];
    if (setting->type == CONFIG_BOOLEAN)
        return setting->help;
    config_format_range(setting, range);
    config_format_default(setting, standard);
    snprintf(descriptions[id], sizeof(descriptions[id]), "%s%s%s (default %s)", setting->help,
             range[0] ? ", " : "", range, standard[0] ? standard : setting->without);
    return descriptions[id];
}

/* What holds by default can be refused. */
static struct poptOption refusal(enum config_id id) {
    static char names[CONFIG_SETTINGS][32];
    const struct config_setting *setting = &CONFIG_TABLE[id];
    snprintf(names[id], sizeof(names[id]), "no-%s", setting->option);
    return (struct poptOption){.longName = names[id],
                               .argInfo = POPT_ARG_NONE,
                               .arg = &refusals[id],
                               .descrip = "leave that to other workers"};
}

void config_options(struct poptOption *ret_options, size_t own_count) {
    size_t count = own_count;
    for (size_t i = 0; i < CONFIG_SETTINGS; i++) {
        const struct config_setting *setting = &CONFIG_TABLE[i];
        bool is_flag = setting->type == CONFIG_BOOLEAN;
        if (setting->option && !GLOBALS[i])
            ret_options[count++] = (struct poptOption){.longName = setting->option,
                                                       .argInfo = is_flag ? POPT_ARG_NONE : POPT_ARG_STRING,
                                                       .arg = is_flag ? (void *)&flags[i] : (void *)&texts[i],
                                                       .descrip = describe((enum config_id)i),
                                                       .argDescrip = setting->metavar};
        if (is_flag && setting->default_number > 0)
            ret_options[count++] = refusal((enum config_id)i);
    }
    ret_options[count] = (struct poptOption)POPT_TABLEEND;
}
