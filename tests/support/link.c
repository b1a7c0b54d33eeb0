#include "link.h"

#include <err.h>
#include <errno.h>
#include <libpq-fe.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <arpa/inet.h>

#define PAIRS_MAX 128
#define COMMAND_CUT 'c'
#define COMMAND_RESUME 'r'
#define COMMAND_RESET 'x'
#define COMMAND_LOSE 'l' /* and a byte: which answer */
#define COMMAND_MUTE 'm' /* and a byte: from which answer on */

struct pair {
    int ends[2]; /* the client's, the server's */
};

struct relay {
    int listener, control;
    struct sockaddr_in server;
    struct pair pairs[PAIRS_MAX];
    size_t count;
    bool is_cut;
    bool is_mute;
    int answers_to_loss;    /* 0 = none is going to be lost */
    int answers_to_silence; /* 0 = it is not going to fall silent */
};

/* Unread data or a lingering time of zero: the other side sees a reset. */
static void reset(int fd) {
    struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    close(fd);
}

static void drop_pair(struct relay *relay, size_t i, void (*end)(int)) {
    end(relay->pairs[i].ends[0]);
    end(relay->pairs[i].ends[1]);
    relay->pairs[i] = relay->pairs[--relay->count];
}

static void end_quietly(int fd) { close(fd); }

static void accept_one(struct relay *relay) {
    int client = accept4(relay->listener, NULL, NULL, SOCK_CLOEXEC), yes = 1;
    if (client < 0)
        return;
    if (relay->is_cut || relay->count == PAIRS_MAX) {
        reset(client);
        return;
    }
    if (relay->is_mute) { /* its server end is no socket, and never read */
        relay->pairs[relay->count++] = (struct pair){{client, -1}};
        return;
    }
    int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (server < 0 || connect(server, (struct sockaddr *)&relay->server, sizeof(relay->server)) != 0) {
        if (server >= 0)
            close(server);
        reset(client);
        return;
    }
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    relay->pairs[relay->count++] = (struct pair){{client, server}};
}

/* False: this end is over. */
static bool forward(int from, int to) {
    char bytes[65536];
    ssize_t got = recv(from, bytes, sizeof(bytes), 0);
    for (ssize_t sent = 0, now; sent < got; sent += now) {
        now = send(to, bytes + sent, (size_t)(got - sent), MSG_NOSIGNAL);
        if (now < 0)
            return false;
    }
    return got > 0;
}

/* What the server says next, or takes it from the client for good. */
static bool forward_answer(struct relay *relay, int from, int to) {
    if (relay->answers_to_silence > 0 && --relay->answers_to_silence == 0) {
        relay->is_mute = true;
        return true;
    }
    if (relay->answers_to_loss == 0 || --relay->answers_to_loss > 0)
        return forward(from, to);
    char bytes[65536];
    (void)recv(from, bytes, sizeof(bytes), 0);
    return false;
}

static void obey(struct relay *relay) {
    char command;
    unsigned char which = 0;
    if (read(relay->control, &command, 1) != 1)
        _exit(0);
    if ((command == COMMAND_LOSE || command == COMMAND_MUTE) && read(relay->control, &which, 1) != 1)
        _exit(0);
    if (command == COMMAND_LOSE)
        relay->answers_to_loss = which;
    relay->answers_to_silence = command == COMMAND_MUTE ? which : 0;
    relay->is_mute = command == COMMAND_MUTE && which == 0;
    relay->is_cut = command == COMMAND_CUT;
    while (command == COMMAND_RESET && relay->count > 0)
        drop_pair(relay, relay->count - 1, reset);
    if (write(relay->control, &command, 1) != 1) /* done */
        _exit(0);
}

static void serve(struct relay *relay) {
    struct pollfd fds[2 + 2 * PAIRS_MAX] = {{.fd = relay->control, .events = POLLIN},
                                            {.fd = relay->listener, .events = POLLIN}};
    size_t count = relay->count;
    for (size_t i = 0; i < 2 * count; i++)
        fds[2 + i] = (struct pollfd){
            .fd = relay->is_cut || relay->is_mute ? -1 : relay->pairs[i / 2].ends[i % 2], .events = POLLIN};
    if (poll(fds, 2 + 2 * count, -1) < 0)
        return;
    for (size_t i = count; i-- > 0;) {
        const int *ends = relay->pairs[i].ends;
        if ((fds[2 + 2 * i].revents && !forward(ends[0], ends[1])) ||
            (fds[3 + 2 * i].revents && !forward_answer(relay, ends[1], ends[0])))
            drop_pair(relay, i, end_quietly);
    }
    if (fds[1].revents)
        accept_one(relay);
    if (fds[0].revents)
        obey(relay);
}

struct sockaddr_in link_address_of(const char *url) {
    struct sockaddr_in address = {.sin_family = AF_INET};
    char *message = NULL;
    PQconninfoOption *options = PQconninfoParse(url, &message);
    if (!options)
        errx(99, "%s", message);
    for (PQconninfoOption *option = options; option->keyword; option++) {
        if (option->val && strcmp(option->keyword, "host") == 0)
            inet_pton(AF_INET, option->val, &address.sin_addr);
        if (option->val && strcmp(option->keyword, "port") == 0)
            address.sin_port = htons((uint16_t)atoi(option->val));
    }
    PQconninfoFree(options);
    return address;
}

int link_listen(int *ret_port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0 || listen(fd, 64) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &size) != 0)
        err(99, "link");
    *ret_port = ntohs(address.sin_port);
    return fd;
}

void link_open(struct link *link, const char *url) {
    int controls[2];
    struct relay relay = {.server = link_address_of(url)};
    relay.listener = link_listen(&link->port);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, controls) != 0)
        err(99, "socketpair");
    fflush(NULL);
    link->pid = fork();
    if (link->pid < 0)
        err(99, "fork");
    link->control = controls[0];
    relay.control = controls[1];
    if (link->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(controls[0]);
        for (;;)
            serve(&relay);
    }
    close(relay.listener);
    close(controls[1]);
}

static void tell(struct link *link, char command) {
    if (write(link->control, &command, 1) != 1 || read(link->control, &command, 1) != 1)
        err(99, "link");
}

void link_cut(struct link *link) { tell(link, COMMAND_CUT); }
void link_resume(struct link *link) { tell(link, COMMAND_RESUME); }
void link_reset(struct link *link) { tell(link, COMMAND_RESET); }

static void tell_which(struct link *link, char what, int which) {
    char command[2] = {what, (char)which};
    if (write(link->control, command, 2) != 2 || read(link->control, command, 1) != 1)
        err(99, "link");
}

void link_lose_answer(struct link *link, int which) { tell_which(link, COMMAND_LOSE, which); }
void link_mute(struct link *link, int which) { tell_which(link, COMMAND_MUTE, which); }

void link_close(struct link *link) {
    close(link->control);
    (void)waitpid(link->pid, NULL, 0);
}
