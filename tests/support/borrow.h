/* A connection of the caller's own with a store borrowed from it, and a table of the caller's
 * own (`effect`) next to Boxcar's, on any database. */
#ifndef BOXCAR_TESTS_BORROW_H
#define BOXCAR_TESTS_BORROW_H

#include "actions.h"

struct borrowed {
    sqlite3 *db;
    PGconn *conn;
    boxcar_store *store;
};

struct borrowed borrow(struct fixture *f);
struct borrowed borrow_with(struct fixture *f, const boxcar_store_options *options);
/* One statement that both databases understand; asserts that it works. */
void borrowed_exec(struct borrowed *b, const char *sql);
bool borrowed_in_transaction(const struct borrowed *b);
void borrowed_close(struct borrowed *b);

/* Writes a row of the caller's own; counts the committed ones from outside. */
void borrowed_write_effect(struct fixture *f, struct borrowed *b);
int64_t count_effects(struct fixture *f);
boxcar_enqueued borrowed_enqueue(struct fixture *f, struct borrowed *b, const char *payload);

#endif
