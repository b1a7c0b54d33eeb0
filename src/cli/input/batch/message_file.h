/* What --batch reads: JSON Lines with one new message or event an object. */
#ifndef BOXCAR_CLI_INPUT_BATCH_MESSAGE_FILE_H
#define BOXCAR_CLI_INPUT_BATCH_MESSAGE_FILE_H

#include "json_lines.h"

/* Of `enqueue --batch` and of `inbox enqueue --batch`: items are boxcar_new_message. See json_lines_load().
 */
const struct json_lines_kind *batch_file_kind(boxcar_box box);
int batch_file_load(struct cli *cli, const char *path, boxcar_box box, struct json_lines *ret_messages);
/* Of `event append --batch`: items are boxcar_new_event; as many as one append takes. */
int event_file_load(struct cli *cli, const char *path, struct json_lines *ret_events);

#endif
