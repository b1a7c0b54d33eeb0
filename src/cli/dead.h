/* The choice of dead letters: dead ls, replay and purge read it the same way. */
#ifndef BOXCAR_CLI_DEAD_H
#define BOXCAR_CLI_DEAD_H

#include "options.h"

struct dead_given {
    char *topic, *reason, *before, *box;
    int all;
};

#define DEAD_OPTIONS(given, all_text) \
    {"topic", 0, POPT_ARG_STRING, &(given).topic, 0, "only this topic, or PREFIX*", "TOPIC"}, \
        {"reason",        0, POPT_ARG_STRING, \
         &(given).reason, 0, "rejected, exhausted, expired, no_handler or cancelled", \
         "REASON"}, \
        {"before", 0, POPT_ARG_STRING, &(given).before, 0, "only those that died before", "TIME"}, \
        {"all", 0, POPT_ARG_NONE, &(given).all, 0, all_text, NULL}, OPTION_BOX((given).box)

/* Fills in a filter from the options and the ID arguments. Returns an enum cli_exit and has
 * reported what is wrong. The caller frees filter->refs. */
int dead_filter_read(const struct cli *cli, const struct dead_given *given, const char *const *args,
                     boxcar_dead_filter *ret_filter);
void dead_filter_release(boxcar_dead_filter *filter);

/* replay and purge: reads the choice, which must not be empty, calls `act`, and prints how many
 * under `name`. Ids of which none is a dead letter are "not found". */
typedef boxcar_status dead_fn(boxcar_store *store, const boxcar_dead_filter *filter, const char *note,
                              int64_t *ret_count, boxcar_error *err);
int dead_act(struct cli *cli, const struct dead_given *given, const char *const *args, dead_fn *act,
             const char *note, const char *name);

#endif
