/* Which messages are events, and of what type. sql/postgres has the same rule in _event_type. */
#ifndef BOXCAR_CORE_EVENT_TYPE_H
#define BOXCAR_CORE_EVENT_TYPE_H

#include "boxcar/message.h"

/* The type of the event that a message is; absent = it is none. is_event says so, or a type of its own does.
 * Without either, a message of a stream is an event if its topic ends in "Event". The type is then the last
 * part of the topic, behind the last dot, colon or slash. The text is borrowed from the message, which has
 * been checked. */
boxcar_str event_type_of(const boxcar_new_message *message);

#endif
