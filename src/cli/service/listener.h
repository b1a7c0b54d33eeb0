/* A socket that listens where a text says. */
#ifndef BOXCAR_CLI_SERVICE_LISTENER_H
#define BOXCAR_CLI_SERVICE_LISTENER_H

#include "cli/cli.h"

/* "[", an IPv6 address with its zone, "]:", a port. */
#define LISTENER_ADDRESS_SIZE 96

struct listener {
    int fd;
    bool is_loopback;                    /* only programs on this host can connect */
    char address[LISTENER_ADDRESS_SIZE]; /* ADDRESS:PORT with the port that it has got */
};

/* Whether a text has the form that listener_open() wants. */
bool listener_is_address(const char *text);

/* `text` is ADDRESS:PORT, [ADDRESS]:PORT or :PORT, which means 127.0.0.1; port 0 is any that is free.
 * `option` is what error texts call it. Returns an enum cli_exit and has reported what went wrong; the
 * caller owns the descriptor. */
int listener_open(const struct cli *cli, const char *option, const char *text, struct listener *ret_listener);

#endif
