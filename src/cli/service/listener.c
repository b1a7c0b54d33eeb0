#include "listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/memory.h"
#include "cli/output/report.h"

#define BACKLOG 128

static bool is_port(const char *text) {
    size_t length = strlen(text);
    return length >= 1 && length <= 5 && strspn(text, "0123456789") == length && atoi(text) <= 65535;
}

/* Takes "HOST:PORT" apart in place; false when it is not of that form. */
static bool split(char *text, const char **ret_host, const char **ret_port) {
    char *colon = strrchr(text, ':');
    if (!colon || !is_port(colon + 1))
        return false;
    *colon = '\0';
    size_t length = strlen(text);
    bool has_brackets = length > 2 && text[0] == '[' && text[length - 1] == ']';
    if (has_brackets)
        text[length - 1] = '\0';
    else if (strpbrk(text, "[]:")) /* ::1:9000 could be either */
        return false;
    *ret_host = has_brackets ? text + 1 : text[0] ? text : "127.0.0.1";
    *ret_port = colon + 1;
    return true;
}

bool listener_is_address(const char *text) {
    const char *host, *port;
    AUTO_FREE char *copy = strdup(text);
    return !copy || split(copy, &host, &port); /* out of memory is found again where it matters */
}

static bool is_loopback(const struct sockaddr *address) {
    if (address->sa_family == AF_INET6) {
        const struct in6_addr *v6 = &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
        return IN6_IS_ADDR_LOOPBACK(v6) || (IN6_IS_ADDR_V4MAPPED(v6) && v6->s6_addr[12] == 127);
    }
    return ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr) >> 24 == 127;
}

/* -1 and errno. */
static int open_socket(const struct addrinfo *info) {
    int yes = 1;
    int fd = socket(info->ai_family, info->ai_socktype | SOCK_CLOEXEC, info->ai_protocol);
    if (fd < 0)
        return -1;
    /* [::] is IPv6 alone, so that 0.0.0.0 is what makes it reachable by IPv4, not a side effect. */
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) == 0 &&
        (info->ai_family != AF_INET6 || setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof(yes)) == 0) &&
        bind(fd, info->ai_addr, info->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    int error = errno;
    close(fd);
    errno = error;
    return -1;
}

static bool describe(struct listener *listener) {
    struct sockaddr_storage address;
    struct sockaddr *generic = (struct sockaddr *)&address;
    socklen_t size = sizeof(address);
    char host[64], port[8];
    if (getsockname(listener->fd, generic, &size) != 0 ||
        getnameinfo(generic, size, host, sizeof(host), port, sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV))
        return false;
    listener->is_loopback = is_loopback(generic);
    snprintf(listener->address, sizeof(listener->address),
             address.ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
    return true;
}

int listener_open(const struct cli *cli, const char *option, const char *text,
                  struct listener *ret_listener) {
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *info = NULL;
    const char *host, *port;
    AUTO_FREE char *copy = strdup(text);
    if (!copy)
        return cli_no_memory(cli);
    if (!split(copy, &host, &port))
        return cli_usage(cli, "%s is '%.80s': give ADDRESS:PORT, such as 127.0.0.1:9464 or [::1]:9464",
                         option, text);
    int error = getaddrinfo(host, port, &hints, &info);
    if (error)
        return cli_fail(cli, CLI_USAGE, "%s: cannot listen on '%.80s': %s", option, text,
                        gai_strerror(error));
    struct listener listener = {.fd = open_socket(info)};
    error = errno;
    freeaddrinfo(info);
    if (listener.fd < 0)
        return cli_fail(cli, CLI_ERROR, "%s: cannot listen on '%.80s': %s", option, text, strerror(error));
    if (!describe(&listener)) {
        close(listener.fd);
        return cli_fail(cli, CLI_ERROR, "%s: '%.80s' has no address", option, text);
    }
    *ret_listener = listener;
    return CLI_DONE;
}
