/* A proxy before a PostgreSQL server that mangles what the server says (mangle.h): a process with a port of
 * its own, which starts one more for each connection. */
#ifndef BOXCAR_TESTS_PROXY_H
#define BOXCAR_TESTS_PROXY_H

#include <stdint.h>
#include <sys/types.h>

struct proxy {
    pid_t pid;
    int port; /* of 127.0.0.1 */
};

/* To the server of a PostgreSQL URL; ends the process when that cannot be. The n-th connection meets the same
 * chances whenever the seed is the same. */
void proxy_open(struct proxy *proxy, const char *url, uint64_t seed);
void proxy_close(struct proxy *proxy);

#endif
