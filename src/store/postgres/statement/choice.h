/* How a caller chooses messages, as parameters: by either id, by a topic pattern, from a cursor on. */
#ifndef BOXCAR_STORE_POSTGRES_STATEMENT_CHOICE_H
#define BOXCAR_STORE_POSTGRES_STATEMENT_CHOICE_H

#include "boxcar/inspect.h"
#include "params.h"

/* Two parameters: work id and message id, one of them null. */
void pg_params_ref(struct pg_params *params, boxcar_message_ref ref);
/* Two: the topic or the prefix, and whether it is a prefix. Absent = null. */
void pg_params_topic(struct pg_params *params, boxcar_str topic);
/* Two: exact topics, and prefixes without their *; both null = every topic. */
void pg_params_topics(struct pg_params *params, const boxcar_str *topics, size_t count);
/* The same for what is kept in rows: every topic is the empty prefix there, nothing is null. */
void pg_params_patterns(struct pg_params *params, const boxcar_str *topics, size_t count);
/* One: null for the start. */
void pg_params_after(struct pg_params *params, boxcar_work_id after);

#endif
