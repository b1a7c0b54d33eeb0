/* exec_handler EVIDENCE [--dawdle MS] [--slow MS] [--late MS] [--pace MS] [--fail]: the program that workers
 * run for their messages. It appends one line to EVIDENCE for every start (O_APPEND: lines of many processes
 * do not mix) and then does what the first word of the payload says:
 *
 *   poison   kills the worker, after --dawdle
 *   slow     takes --slow; when told to stop it writes that down and obeys
 *   late     takes --late, whatever it is told
 *   other    takes --pace
 *
 * With --fail it fails in one of many ways instead, chosen by its work id, and repeats its payload on
 * standard error, as programs do. */
#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "starts.h"

#define PAYLOAD_MAX (64 * 1024)

static int evidence_fd;
static volatile sig_atomic_t told;

static void hear(int signal_number) {
    (void)signal_number;
    told = 1;
}

static const char *variable(const char *name) {
    const char *value = getenv(name);
    return value ? value : "?";
}

static void note(const char *event) {
    char line[START_LINE_MAX];
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int len = snprintf(line, sizeof(line), START_FORMAT, event, variable("BOXCAR_MESSAGE_ID"),
                       atoll(variable("BOXCAR_WORK_ID")), atoi(variable("BOXCAR_ATTEMPT")), (int)getpid(),
                       (int)getppid(), (long long)now.tv_sec * 1000000 + now.tv_nsec / 1000);
    if (write(evidence_fd, line, (size_t)len) != len)
        err(99, "evidence");
}

/* Until the time is over or a signal is heard. */
static void pass(long ms) {
    struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    while (nanosleep(&pause, &pause) != 0 && !told)
        continue;
}

static size_t read_payload(char *payload) {
    size_t len = 0;
    for (ssize_t got; len < PAYLOAD_MAX && (got = read(STDIN_FILENO, payload + len, PAYLOAD_MAX - len)) > 0;)
        len += (size_t)got;
    payload[len] = '\0';
    return len;
}

/* How programs speak about what they could not do. */
static void complain(const char *payload, size_t len) {
    fprintf(stderr, "cannot use '");
    fwrite(payload, 1, len, stderr);
    fprintf(stderr, "': ");
    fwrite(payload, 1, len > 0 && payload[len - 1] == '\n' ? len - 1 : len, stderr);
    fprintf(stderr, " is bad\n");
    fflush(stderr);
}

static int fail(const char *payload, size_t len) {
    static const int STATUSES[] = {1, 65, 75, 127, 255};
    long long way = atoll(variable("BOXCAR_WORK_ID")) % 8;
    complain(payload, len);
    if (way == 5)
        raise(SIGSEGV);
    if (way == 6)
        raise(SIGKILL);
    if (way == 7)
        pass(60000);
    return way < 5 ? STATUSES[way] : 0;
}

struct times {
    long dawdle, slow, late, pace;
    bool fail;
};

static int act(const struct times *times, const char *payload) {
    if (strncmp(payload, "poison", 6) == 0) {
        pass(times->dawdle);
        kill(getppid(), SIGKILL);
        pass(60000);
    }
    if (strncmp(payload, "slow", 4) == 0) {
        signal(SIGTERM, hear);
        pass(times->slow);
        if (told)
            note("told");
        return told ? 75 : 0;
    }
    if (strncmp(payload, "late", 4) == 0) {
        signal(SIGTERM, SIG_IGN);
        pass(times->late);
        return 0;
    }
    if (times->pace > 0)
        pass(times->pace);
    return 0;
}

int main(int argc, char **argv) {
    static char payload[PAYLOAD_MAX + 1];
    struct times times = {.slow = 10000, .late = 1000};
    if (argc < 2)
        errx(99, "usage: exec_handler EVIDENCE [--dawdle|--slow|--late|--pace MS]... [--fail]");
    for (int i = 2; i < argc; i++) {
        long ms = i + 1 < argc ? atol(argv[i + 1]) : 0;
        if (strcmp(argv[i], "--fail") == 0)
            times.fail = true;
        else if (strcmp(argv[i], "--dawdle") == 0)
            times.dawdle = ms, i++;
        else if (strcmp(argv[i], "--slow") == 0)
            times.slow = ms, i++;
        else if (strcmp(argv[i], "--late") == 0)
            times.late = ms, i++;
        else if (strcmp(argv[i], "--pace") == 0)
            times.pace = ms, i++;
        else
            errx(99, "unknown argument %s", argv[i]);
    }
    evidence_fd = open(argv[1], O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    if (evidence_fd < 0)
        err(99, "%s", argv[1]);
    note("start");
    size_t len = read_payload(payload);
    return times.fail ? fail(payload, len) : act(&times, payload);
}
