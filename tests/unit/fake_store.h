/* A store that only remembers what it was asked and answers what the test wants. */
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
    /* What was asked. */
    int calls;
    struct batch batch; /* the last one; messages and settlements copied below */
    boxcar_new_message messages[FAKE_ROOM];
    boxcar_settlement settlements[FAKE_ROOM];
    boxcar_list_options list_options;
    boxcar_dead_filter filter;
    boxcar_str note;
    int dead_calls;
    boxcar_str setting_name;
    double setting_number;
    bool setting_was_reset;
    /* What was logged: the last record, and how many. */
    int records;
    boxcar_log_level level;
    char event[32], text[600], fields[600], store_id[32];
};

void fake_store_init(struct fake_store *fake);

#endif
