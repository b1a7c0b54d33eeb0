/* How a caller chooses messages, as parameters: by either id, by a topic pattern, from a cursor on. */
#ifndef BOXCAR_STORE_POSTGRES_PG_CHOICE_H
#define BOXCAR_STORE_POSTGRES_PG_CHOICE_H

#include "boxcar/inspect.h"
#include "pg_params.h"

/* Two parameters: work id and message id, one of them null. */
void pg_params_ref(struct pg_params *params, boxcar_message_ref ref);
/* Two: the topic or the prefix, and whether it is a prefix. Absent = null. */
void pg_params_topic(struct pg_params *params, boxcar_str topic);
/* One: null for the start. */
void pg_params_after(struct pg_params *params, boxcar_work_id after);

#endif
