/* The parent's side of the storm: it starts the clients, ends some of them, and ends their server. */
#ifndef BOXCAR_TESTS_CLIENTS_H
#define BOXCAR_TESTS_CLIENTS_H

#include <sys/types.h>

#include "storm.h"

#define CLIENTS_MAX 24

struct clients {
    struct client self; /* the parent's own chance and journal */
    struct {
        pid_t pid; /* 0: nobody */
        enum role role;
    } slots[CLIENTS_MAX];
    int size;
    int next_number;
};

void clients_init(struct clients *clients, struct storm *storm);
void clients_add(struct clients *clients, enum role role);
/* Does harm until every message asked for is enqueued or the time is up; false: the time was up. */
bool clients_run(struct clients *clients);
/* Waits until all have ended by themselves; those that do not are ended. */
void clients_stop(struct clients *clients);

#endif
