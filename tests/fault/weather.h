/* The parent's side of the storm: it starts the clients, ends some of them, and ends their server. */
#ifndef BOXCAR_TESTS_WEATHER_H
#define BOXCAR_TESTS_WEATHER_H

#include <sys/types.h>

#include "storm.h"

#define CREW_MAX 24

struct crew {
    struct client self; /* the parent's own chance and journal */
    struct {
        pid_t pid; /* 0: nobody */
        enum role role;
    } places[CREW_MAX];
    int size;
    int next_number;
};

void crew_start(struct crew *crew, struct storm *storm);
void crew_hire(struct crew *crew, enum role role);
/* Until every message asked for is enqueued or the time is up; false: the time was up. */
bool crew_weather(struct crew *crew);
/* Waits until all have ended by themselves; those that do not are ended. */
void crew_dismiss(struct crew *crew);

#endif
