/* Changes what a PostgreSQL server says to its client, by chance: one direction of one connection. The first
 * messages pass as they are, so that most clients come through the login. */
#ifndef BOXCAR_TESTS_MANGLE_H
#define BOXCAR_TESTS_MANGLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mangle {
    uint64_t chance;
    int64_t calm;      /* this many more messages pass as they are */
    bool wild;         /* any byte of any message, not only rows in ways that libpq takes */
    bool drops_column; /* of the answer that is under way: its last */
    int64_t changed;   /* messages */
    unsigned char *in; /* not a whole message yet */
    size_t in_len, in_size;
    unsigned char *out; /* what the client gets next */
    size_t out_len, out_size;
    bool is_over; /* after `out` the connection is closed */
    bool is_mute; /* after `out` nothing comes any more */
};

void mangle_init(struct mangle *mangle, uint64_t seed, uint64_t number);
/* Takes what the server has sent; `out` grows by what the client is to get. */
void mangle_feed(struct mangle *mangle, const void *bytes, size_t len);
void mangle_release(struct mangle *mangle);

#endif
