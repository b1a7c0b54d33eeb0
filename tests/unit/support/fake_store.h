/* A store that only remembers what it was asked and answers what the test wants: for the public functions,
 * which check and hand down. It knows every operation and no message. What stores do with requests is
 * memory_store.h: for coordinators and workers, which depend on what became of the messages before. */
#ifndef BOXCAR_TESTS_FAKE_STORE_H
#define BOXCAR_TESTS_FAKE_STORE_H

#include "store/store.h"

#define FAKE_ROOM 16

struct fake_store {
    struct boxcar_store store; /* first: this is what the API sees */
    /* The answer. */
    boxcar_status answer; /* of every operation */
    int64_t reaped;
    size_t claimed_count;
    int64_t dead_left; /* dead_act works this off */
    struct setting_value setting;
    boxcar_join ended[2]; /* by every batch */
    size_t ended_count;
    struct join_change change;
    boxcar_attached attached[FAKE_ROOM];
    boxcar_message found; /* what find gives */
    boxcar_enqueued delivered[FAKE_ROOM];
    bool inbox_answer, hash_mismatch;
    size_t stream_count; /* of every page */
    /* What was asked. */
    int calls;
    struct request batch; /* the last one; messages and settlements copied below */
    boxcar_new_message messages[FAKE_ROOM];
    boxcar_settlement settlements[FAKE_ROOM];
    boxcar_message_filter list_options;
    boxcar_dead_filter filter;
    boxcar_str note;
    int dead_calls;
    boxcar_str setting_name;
    double setting_number;
    boxcar_str setting_text;
    boxcar_new_join join;
    boxcar_join_id join_id;
    boxcar_message_id message_id; /* of a report, or where a page of members begins */
    boxcar_member_status outcome;
    size_t attach_count;
    char wait_payload[600];
    boxcar_join_filter join_filter;
    int member_limit;
    bool setting_was_reset;
    struct inbox_origin origins[FAKE_ROOM];
    size_t origin_count;
    enum inbox_question question; /* about a key */
    boxcar_box box;               /* of a find, or of a call about a stream */
    boxcar_message_ref ref;
    boxcar_new_event events[FAKE_ROOM]; /* of the last append */
    size_t event_count;
    boxcar_str stream; /* of an append, of the last call about one, or the pattern of a rule */
    int64_t version;   /* expected, or to read from */
    boxcar_event_filter event_filter;
    bool knows_events; /* tells every event as a duplicate */
    boxcar_stream_filter stream_filter;
    boxcar_stream_policy policy;
    enum stream_action action;
    /* What was logged: the last record, and how many. */
    int records;
    boxcar_log_level level;
    char event[32], text[600], fields[600], store_id[32];
};

void fake_store_init(struct fake_store *fake);

#endif
