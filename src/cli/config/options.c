/* Options of the command line made from the table of settings. */
#include <stdio.h>
#include <string.h>

#include "cli/input/options.h"
#include "config.h"

/* Where popt puts what was typed for an option that is not a global one. */
static char *texts[CONFIG_SETTINGS];
static int flags[CONFIG_SETTINGS];

static char *const *global_of(enum config_id id) {
    switch (id) {
    case CONFIG_STORE_URL:
        return &global_options.store;
    case CONFIG_STORE_SCHEMA:
        return &global_options.schema;
    case CONFIG_LOG_LEVEL:
        return &global_options.log_level;
    case CONFIG_LOG_FORMAT:
        return &global_options.log_format;
    default:
        return NULL;
    }
}

const char *config_option_given(enum config_id id) {
    char *const *global = global_of(id);
    if (global)
        return *global;
    return flags[id] ? "yes" : texts[id];
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

static struct poptOption option_of(enum config_id id) {
    const struct config_setting *setting = &CONFIG_TABLE[id];
    bool is_flag = setting->type == CONFIG_BOOLEAN;
    return (struct poptOption){.longName = setting->option,
                               .argInfo = is_flag ? POPT_ARG_NONE : POPT_ARG_STRING,
                               .arg = is_flag ? (void *)&flags[id] : (void *)&texts[id],
                               .descrip = describe(id),
                               .argDescrip = setting->metavar};
}

void config_options(struct poptOption *ret_options, size_t own_count) {
    size_t count = own_count;
    for (size_t i = 0; i < CONFIG_SETTINGS; i++)
        if (CONFIG_TABLE[i].option && !global_of((enum config_id)i))
            ret_options[count++] = option_of((enum config_id)i);
    ret_options[count] = (struct poptOption)POPT_TABLEEND;
}
