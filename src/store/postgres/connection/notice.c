/* What the server says beside its answers. Two things of that are for the log. A stream that was halted, which
 * any statement may find out that buries messages (_warn_of_halts), is told once the transaction has
 * succeeded. A message that upkeep or a claim could not deal with (_warn_of_trouble) is told at once. A connection that was lent keeps the receiver its owner gave it: there it is a warning like any
 * other. */
#include "notice.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define STREAM_HALTED "01BX2"
#define TROUBLE "01BX3"

static const char *field(const PGresult *notice, int which) {
    const char *text = PQresultErrorField(notice, which);

    return text ? text : "";
}

void pg_notice_receive(void *context, const PGresult *notice) {
    struct pg_store *pg = context;
    int64_t work_id;

    if (strcmp(field(notice, PG_DIAG_SQLSTATE), TROUBLE) == 0)
        store_log(&pg->base, BOXCAR_LOG_WARN, "trouble", NULL, 0, "%s", field(notice, PG_DIAG_MESSAGE_PRIMARY));
    if (strcmp(field(notice, PG_DIAG_SQLSTATE), STREAM_HALTED) != 0 ||
        sscanf(field(notice, PG_DIAG_MESSAGE_DETAIL), "work_id %" SCNd64, &work_id) != 1)
        return;
    stream_log_remember(&pg->base, &pg->halted,
                        strcmp(field(notice, PG_DIAG_TABLE_NAME), "inbox") == 0 ? BOXCAR_INBOX
                                                                                : BOXCAR_OUTBOX,
                        boxcar_str_of(field(notice, PG_DIAG_COLUMN_NAME)), work_id);
}

void pg_notice_tell(struct pg_store *pg, boxcar_status status) {
    if (status == BOXCAR_OK)
        stream_log_remembered(&pg->base, &pg->halted);
    else
        stream_log_forget(&pg->halted);
}
