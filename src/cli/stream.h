/* What the stream commands have in common: their arguments, and streams as JSON. */
#ifndef BOXCAR_CLI_STREAM_H
#define BOXCAR_CLI_STREAM_H

#include <jansson.h>

#include "cli.h"

/* KEY and --box, for a command with no other arguments. On a bad or missing one it has reported it and
 * returns false. */
bool stream_key_read(struct cli *cli, const char *const *args, const char *box_name, boxcar_box *ret_box,
                     boxcar_str *ret_key);

/* NULL = out of memory. */
json_t *stream_json(const boxcar_stream *stream);
json_t *instance_json(const boxcar_instance *instance);

#endif
