/* Notices of the server. Two kinds of them go into the log. If a statement buries a message and thereby halts
 * a stream (_halt_streams), this is logged once the transaction has succeeded. If upkeep or a claim cannot
 * handle a message (_warn_of_trouble), this is logged at once. A borrowed connection keeps the receiver of
 * its owner, which gets these notices as ordinary warnings. */
#include "connection.h"

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
    int reader = strcmp(field(notice, PG_DIAG_TABLE_NAME), "inbox") == 0 ? BOXCAR_INBOX : BOXCAR_OUTBOX;
    int64_t work_id;

    if (strcmp(field(notice, PG_DIAG_SQLSTATE), TROUBLE) == 0)
        store_log(&pg->base, BOXCAR_LOG_WARN, "trouble", NULL, 0, "%s",
                  field(notice, PG_DIAG_MESSAGE_PRIMARY));
    if (strcmp(field(notice, PG_DIAG_SQLSTATE), STREAM_HALTED) != 0 ||
        sscanf(field(notice, PG_DIAG_MESSAGE_DETAIL), "work_id %" SCNd64 " subscription_number %d", &work_id,
               &reader) < 1)
        return;
    stream_log_remember(&pg->base, &pg->halted, reader, boxcar_str_of(field(notice, PG_DIAG_COLUMN_NAME)),
                        work_id);
}

void pg_notice_tell(struct pg_store *pg, boxcar_status status) {
    if (status == BOXCAR_OK)
        stream_log_remembered(&pg->base, &pg->halted);
    else
        stream_log_forget(&pg->halted);
}
