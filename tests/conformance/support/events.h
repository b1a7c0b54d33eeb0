/* The steps that the tests of events are made of. As in actions.h the call itself must succeed, and what it
 * returns is for the test to judge. */
#ifndef BOXCAR_TESTS_EVENTS_H
#define BOXCAR_TESTS_EVENTS_H

#include "conformance.h"

boxcar_new_event new_event(const char *type, const char *payload);
boxcar_appended append_this(struct fixture *f, const char *stream, int64_t expected,
                            const boxcar_new_event *event);
/* One event of type "T" and this payload; its version. */
int64_t append(struct fixture *f, const char *stream, int64_t expected, const char *payload);
/* `count` of them in one call. */
void append_many(struct fixture *f, const char *stream, size_t count);
/* Refused as a conflict about the version, and the stream is as it was. */
void assert_append_conflicts(struct fixture *f, const char *stream, int64_t expected);

boxcar_event_list *read_stream(struct fixture *f, const char *stream, int64_t from, int limit);
size_t count_stream(struct fixture *f, const char *stream);
boxcar_event_list *read_all(struct fixture *f, int64_t after, int limit);
boxcar_event_list *read_filtered(struct fixture *f, const boxcar_event_filter *filter);
/* Where the last event is that can be seen now; goes there page by page. */
int64_t last_position(struct fixture *f);
/* Positions are 1, 2, 3, ..., in each stream versions come in order without a gap, and there are this many.
 */
void assert_sequence(struct fixture *f, int64_t count);

boxcar_message_id message_id_of(boxcar_event_id id);
void assert_same_event_id(boxcar_event_id a, boxcar_event_id b);

#endif
