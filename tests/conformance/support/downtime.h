/* A store that can be taken away and given back: on PostgreSQL by locking out a role of its own, on SQLite
 * by holding the file. */
#ifndef BOXCAR_TESTS_DOWNTIME_H
#define BOXCAR_TESTS_DOWNTIME_H

#include "conformance.h"

struct downtime {
    struct fixture *f;
    char role[80], url[512];
    sqlite3 *holder;
    bool is_down;
};

/* *ret_options lead to the store as a role that can be locked out, with little patience. */
void downtime_setup(struct fixture *f, struct downtime *d, boxcar_store_options *ret_options);
void downtime_begin(struct downtime *d);
void downtime_end(struct downtime *d);
void downtime_teardown(struct downtime *d);
/* PostgreSQL: ends the connections that there are; new ones may come. */
void downtime_cut(struct downtime *d);

#endif
