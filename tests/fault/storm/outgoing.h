/* Messages that are about to be enqueued, and what was written down about them. */
#ifndef BOXCAR_TESTS_OUTGOING_H
#define BOXCAR_TESTS_OUTGOING_H

#include "storm.h"

#define OUTGOING_MAX 512
#define STREAMS 200

struct outgoing {
    size_t count;
    int64_t before;
    boxcar_new_message messages[OUTGOING_MAX];
    boxcar_enqueued enqueued[OUTGOING_MAX];
    char payloads[OUTGOING_MAX][400];
    char streams[OUTGOING_MAX][16];
};

/* Makes `count` new messages with ids of their own and writes down the intent. */
void outgoing_make(struct outgoing *outgoing, struct client *client, size_t count);
/* Stores them, in one transaction of the store's or as a part of the caller's. */
bool outgoing_enqueue(struct outgoing *outgoing, struct client *client, boxcar_store *store);
/* Writes down for sure how it ended: RECORD_ENQUEUED or RECORD_ROLLED_BACK. */
void outgoing_end(struct outgoing *outgoing, struct client *client, enum record_kind kind);

/* The payload every message carries: its id, its length, and filling. False: this is not it. */
bool payload_is_whole(boxcar_message_id id, boxcar_str payload);

#endif
