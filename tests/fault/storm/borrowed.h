/* A connection of the program's own with a store borrowed over it: Boxcar's calls become part of
 * the program's transactions. */
#ifndef BOXCAR_TESTS_BORROWED_H
#define BOXCAR_TESTS_BORROWED_H

#include <libpq-fe.h>
#include <sqlite3.h>

#include "storm.h"

struct borrowed {
    sqlite3 *db;
    PGconn *conn;
    boxcar_store *store;
};

/* False: the server is away (and was waited for a little). */
bool borrowed_open(struct borrowed *borrowed, struct client *client);
void borrowed_close(struct borrowed *borrowed);
/* Runs a statement. False: the connection was lost; nobody knows whether it took effect. Anything
 * else that goes wrong is a complaint. */
bool borrowed_run(struct borrowed *borrowed, struct client *client, const char *sql);

#endif
