/* A network link that can be cut: a process that forwards bytes between a port of its own and a server. */
#ifndef BOXCAR_TESTS_LINK_H
#define BOXCAR_TESTS_LINK_H

#include <netinet/in.h>
#include <sys/types.h>

struct link {
    pid_t pid;
    int control;
    int port; /* of 127.0.0.1 */
};

/* To the server of a PostgreSQL URL; ends the process when that cannot be. */
void link_open(struct link *link, const char *url);
/* Nothing goes through any more in either direction, nothing is closed, new connections are dropped. */
void link_cut(struct link *link);
/* Connections that were held go on as if nothing had been. */
void link_resume(struct link *link);
/* Connections that were held are reset; new ones work. */
void link_reset(struct link *link);
/* The n-th answer of the server from now on (1 = the next) does not arrive: its connection is closed instead.
 * 0 = all of them arrive. */
void link_lose_answer(struct link *link, int which);
/* From the n-th answer on (0 = at once) nothing goes through any more in either direction; new connections
 * are taken and hear nothing. link_reset() ends that. */
void link_mute(struct link *link, int which);
void link_close(struct link *link);

/* For programs that forward by themselves: where the server of a URL is (on this host), and a socket of
 * 127.0.0.1 that listens. */
struct sockaddr_in link_address_of(const char *url);
int link_listen(int *ret_port);

#endif
