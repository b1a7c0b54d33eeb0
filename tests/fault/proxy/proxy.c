#include "proxy.h"

#include <err.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "link.h"
#include "mangle.h"

static bool send_all(int fd, const unsigned char *bytes, size_t len) {
    for (ssize_t sent; len > 0; bytes += sent, len -= (size_t)sent) {
        sent = send(fd, bytes, len, MSG_NOSIGNAL);
        if (sent < 0)
            return false;
    }
    return true;
}

static bool forward_request(int client, int server) {
    unsigned char bytes[65536];
    ssize_t got = recv(client, bytes, sizeof(bytes), 0);
    return got > 0 && send_all(server, bytes, (size_t)got);
}

static bool forward_answer(struct mangle *mangle, int server, int client) {
    unsigned char bytes[65536];
    ssize_t got = recv(server, bytes, sizeof(bytes), 0);
    bool sent;
    if (got <= 0)
        return false;
    mangle_feed(mangle, bytes, (size_t)got);
    sent = send_all(client, mangle->out, mangle->out_len);
    mangle->out_len = 0;
    return sent && !mangle->is_over;
}

static void serve(int client, int server, uint64_t seed, uint64_t number) {
    struct pollfd fds[2] = {{.fd = client, .events = POLLIN}, {.fd = server, .events = POLLIN}};
    struct mangle mangle;
    mangle_init(&mangle, seed, number);
    while (poll(fds, 2, -1) > 0) {
        if (fds[0].revents && !forward_request(client, server))
            break;
        if (fds[1].revents && !forward_answer(&mangle, server, client))
            break;
        if (mangle.is_mute)
            fds[1].fd = -1;
    }
    mangle_release(&mangle);
}

static void accept_all(int listener, struct sockaddr_in address, uint64_t seed) {
    signal(SIGCHLD, SIG_IGN);
    for (uint64_t number = 0;; number++) {
        int client = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (client < 0)
            continue;
        if (fork() == 0) {
            int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (server >= 0 && connect(server, (struct sockaddr *)&address, sizeof(address)) == 0)
                serve(client, server, seed, number);
            _exit(0);
        }
        close(client);
    }
}

void proxy_open(struct proxy *proxy, const char *url, uint64_t seed) {
    struct sockaddr_in address = link_address_of(url);
    int listener = link_listen(&proxy->port);
    fflush(NULL);
    proxy->pid = fork();
    if (proxy->pid < 0)
        err(99, "fork");
    if (proxy->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        accept_all(listener, address, seed);
    }
    close(listener);
}

void proxy_close(struct proxy *proxy) {
    kill(proxy->pid, SIGKILL);
    (void)waitpid(proxy->pid, NULL, 0);
}
