/* What the event commands have in common: their arguments, and events as JSON. */
#ifndef BOXCAR_CLI_EVENT_H
#define BOXCAR_CLI_EVENT_H

#include <jansson.h>

#include "cli.h"

/* A version or a position: a whole number from 0 on. As in values.h. */
bool event_number_read(const struct cli *cli, const char *option, const char *text, int64_t *ret_number);

/* With the names of the view. NULL = out of memory. */
json_t *event_json(const boxcar_event *event);
json_t *appended_json(const boxcar_appended *appended);

#endif
