/* A connection of the program's own with a store borrowed over it: Boxcar's calls become part of
 * the program's transactions. */
#ifndef BOXCAR_TESTS_LOAN_H
#define BOXCAR_TESTS_LOAN_H

#include <libpq-fe.h>
#include <sqlite3.h>

#include "storm.h"

struct loan {
    sqlite3 *db;
    PGconn *conn;
    boxcar_store *store;
};

/* False: the server is away (and was waited for a little). */
bool loan_open(struct loan *loan, struct client *client);
void loan_close(struct loan *loan);
/* Runs a statement. False: the connection was lost; nobody knows whether it took effect. Anything
 * else that goes wrong is a complaint. */
bool loan_run(struct loan *loan, struct client *client, const char *sql);

#endif
