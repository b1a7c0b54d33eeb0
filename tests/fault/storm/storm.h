/* The storm: many client processes that enqueue, claim, settle, roll back, dawdle and die, a parent
 * that kills them and their database under them, and checks afterwards of what every client
 * wrote down (journal.h) and what the store says.
 *
 * Times are CLOCK_MONOTONIC in microseconds: one clock for all processes. */
#ifndef BOXCAR_TESTS_STORM_H
#define BOXCAR_TESTS_STORM_H

#include <stdatomic.h>

#include "../../support/claimers.h"
#include <stdbool.h>
#include <stdint.h>

#include "boxcar/store.h"
#include "journal.h"

enum tally {
    TALLY_ENQUEUED, /* reported as stored, each message once */
    TALLY_DUPLICATES,
    TALLY_ROLLBACKS,
    TALLY_LONG_TRANSACTIONS,
    TALLY_SAT,     /* transactions that claimed and stayed open */
    TALLY_HUNG_UP, /* of these, ended by a lost connection */
    TALLY_CLAIMED,
    TALLY_SUSPECTS, /* claims of one that a lease had expired on */
    TALLY_LATE,     /* settled after the lease had run out */
    TALLY_LATE_COUNTED,
    TALLY_REFUSED, /* wrong owner or epoch */
    TALLY_UNAVAILABLE,
    TALLY_DEATHS, /* a client that ended itself while it held leases */
    TALLY_KILLS,
    TALLY_TERMINATIONS,
    TALLY_RESTARTS,
    TALLY_REPLAYS,
    TALLY_CANCELS,
    TALLY_COMPLAINTS, /* what a client saw that must not be */
    TALLIES
};

/* In memory that all processes share. */
struct board {
    _Atomic int64_t tallies[TALLIES];
    _Atomic int64_t last_work_id;
    _Atomic bool stop_producing;
    _Atomic bool stop;
};

struct storm {
    bool postgres;
    char url[512];
    char schema[64]; /* "" for SQLite */
    char directory[256];
    int64_t messages;
    uint64_t seed;
    int seconds; /* for the storm itself; draining and checking come after it */
    bool big;    /* room for longer leases, and crashes farther apart */
    int max_attempts;
    int64_t lease_max_ms;
    struct board *board;
};

enum role { ROLE_PRODUCER, ROLE_CONSUMER, ROLE_SITTER, ROLE_UPKEEP, ROLE_DRAIN };

/* One client process. */
struct client {
    struct storm *storm;
    int number;
    enum role role;
    uint64_t chance;
    boxcar_owner owner;
    boxcar_store *store;
    struct journal journal;
    int64_t reconnects; /* how often the library lost its connection */
};

int64_t now_us(void);
void pause_ms(int64_t ms);

/* splitmix64: every client has its own sequence, all of them follow from the seed. */
uint64_t draw(uint64_t *chance);
int64_t draw_between(struct client *client, int64_t low, int64_t high);
bool draw_percent(struct client *client, int percent);
/* From 1 to high, small numbers as often as big ones. */
int64_t draw_size(struct client *client, int64_t high);

void count(struct client *client, enum tally tally, int64_t by);
/* Something that must not be: shown, counted, and the run fails. */
void complain(struct client *client, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* True for success. A server that is away is waited for (PostgreSQL only); everything else is a complaint. */
bool accept_status(struct client *client, boxcar_status status, const boxcar_error *err, const char *what);

/* A number from 0 to `most` on a command line; -1 for anything else. */
int64_t storm_parse_number(const char *text, int64_t most);
uint64_t storm_new_seed(void);
/* Fills in directory, url and schema; makes the directory. */
void storm_choose_place(struct storm *storm);
/* Deploys the store there, with short backoffs, and makes the board. */
void storm_deploy(struct storm *storm);
boxcar_store_options storm_store_options(const struct storm *storm);
/* Opens client->store, however long the server takes; false: it never came. */
bool client_open(struct client *client);

/* What each role does until it is told to stop. */
void produce(struct client *client);
void consume(struct client *client);
void sit(struct client *client);
void look_after(struct client *client);
void drain(struct client *client);

#endif
