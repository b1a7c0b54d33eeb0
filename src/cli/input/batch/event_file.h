/* JSON Lines with one new event an object: what `event append --batch` reads. */
#ifndef BOXCAR_CLI_INPUT_BATCH_EVENT_FILE_H
#define BOXCAR_CLI_INPUT_BATCH_EVENT_FILE_H

#include "json_lines.h"

/* Items are boxcar_new_event; as many as one append takes. See json_lines_load(). */
int event_file_load(struct cli *cli, const char *path, struct json_lines *ret_events);

#endif
