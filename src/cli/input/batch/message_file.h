/* JSON Lines with one new message an object: what `enqueue --batch` and `inbox enqueue --batch` read. */
#ifndef BOXCAR_CLI_INPUT_BATCH_MESSAGE_FILE_H
#define BOXCAR_CLI_INPUT_BATCH_MESSAGE_FILE_H

#include "json_lines.h"

/* Items are boxcar_new_message. See json_lines_load(). */
const struct json_lines_kind *batch_file_kind(boxcar_box box);
int batch_file_load(struct cli *cli, const char *path, boxcar_box box, struct json_lines *ret_messages);

#endif
