/* Enumerations by the names that stores write. The public headers have the other direction. */
#ifndef BOXCAR_CORE_NAMES_H
#define BOXCAR_CORE_NAMES_H

#include "boxcar/join.h"
#include "boxcar/stream.h"
#include "boxcar/types.h"

/* False, and the output is left alone, for anything else than a name. */
bool box_parse(boxcar_str name, boxcar_box *ret_box);
bool message_status_parse(boxcar_str name, boxcar_message_status *ret_status);
bool join_status_parse(boxcar_str name, boxcar_join_status *ret_status);
bool stream_state_parse(boxcar_str name, boxcar_stream_state *ret_state);
bool stream_policy_parse(boxcar_str name, boxcar_stream_policy *ret_policy);

/* What kind of reader has this number, for error texts: "outbox", "inbox", "subscription". */
const char *reader_kind(boxcar_box reader);

#endif
