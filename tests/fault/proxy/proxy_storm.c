/* proxy_storm [--seed N] [--rounds N]: the program and the library against a server whose answers are mangled
 * on their way. Whatever comes, a command ends, by itself, in an error at worst: no crash, no hang, no report
 * of a sanitizer. The program is named by BOXCAR, one with the library in it (embedder.c) by
 * BOXCAR_TEST_EMBEDDER, the server by BOXCAR_TEST_POSTGRES; exit status 77: there is none. */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proxy.h"
#include "storm.h"

#define COMMAND_SECONDS 120
#define OWNER "018f0000-0000-7000-8000-000000000001"
#define JOIN "018f0000-0000-7000-8000-000000000002"

/* What is run through the proxy; b is the program, c the one with the library in it. */
static const char *const COMMANDS[] = {
    "b enqueue t.one p; b enqueue --stream s t.two p; b enqueue t.one q --delay 1h",
    "for i in 1 2 3 4 5; do echo '{\"topic\":\"t.one\",\"payload\":\"x\"}'; done | b enqueue --batch -",
    "b claim --owner " OWNER " --batch-size 10 --lease 1s",
    "b claim --owner " OWNER " --batch-size 10 --lease 1s --box inbox",
    "b ack --owner " OWNER " 1 2 3 4 5 6 7 8 9",
    "b abandon --owner " OWNER " 10 11 12 13 --error e",
    "b defer --owner " OWNER " 14 15 16 --delay 1s",
    "b fail --owner " OWNER " 17 18 19 --error e",
    "b renew --owner " OWNER " 20 21 22 23 24 25 26 27 28 --lease 5s",
    "b reap; b maintain --once",
    "b ls -o json; b ls --status failed",
    "b show 1; b show 2 -o json; b show 3",
    "b stats --by-topic; b stats -o json",
    "b dead ls; b dead show 17; b dead replay --topic t.one",
    "b cancel 5; b cancel 6",
    "b join start --expected 2 --join-id " JOIN "; b join show " JOIN "; b join ls",
    "b enqueue t.one j --join " JOIN "; b join wait " JOIN " --on-complete t.two done; b join show " JOIN
    " -o json",
    "b stream ls; b stream show s; b stream skip s; b stream policy",
    "b instance ls",
    "b inbox enqueue shop 1 t.in p; b inbox enqueue shop 2 t.in p; b inbox check shop 1; b inbox show shop "
    "1; b inbox ls",
    "b event append acc opened '{}'; b event append acc paid '{}'; b event read acc; b event follow --once",
    "b settings; b settings backoff_cap 1m",
    "b doctor; b doctor -o json",
    "b init; b version",
    "b worker --drain --handler 't.*=discard' --inbox-handler 't.*=discard' --grace 1s --lease 1s",
    "timeout -s TERM 3 b worker --handler 't.*=exec:true' --grace 1s --lease 1s --maintain 1s",
    "c worker",
    "c coordinator",
    "c batch",
    "c borrow",
};
#define COMMAND_COUNT (sizeof(COMMANDS) / sizeof(COMMANDS[0]))

struct tempest {
    uint64_t seed, chance;
    int64_t rounds, failures;
    int64_t refused, malformed; /* rounds that ended in an error, and in that one */
    const char *program, *embedder, *url;
    char schema[64], directory[64], log[100];
    struct proxy proxy;
};

/* ---- one command ---- */

static void run_child(const struct tempest *t, const char *url, const char *command) {
    char text[2000];
    int log = open(t->log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    /* The shell waits for a command that is told to end, however long that takes. */
    snprintf(text, sizeof(text), "trap : TERM; cd %s; PATH=%s:$PATH; %s", t->directory, t->directory,
             command);
    if (log < 0 || dup2(log, STDERR_FILENO) < 0 || dup2(log, STDOUT_FILENO) < 0)
        _exit(98);
    setenv("BOXCAR_STORE", url, 1);
    setenv("BOXCAR_SCHEMA", t->schema, 1);
    setenv("BOXCAR_ANSWER_TIMEOUT", "1s", 1);
    setenv("BOXCAR_BUSY_TIMEOUT", "1s", 1);
    setenv("BOXCAR_LOG_LEVEL", "debug", 1);
    execl("/bin/sh", "sh", "-c", text, (char *)NULL);
    _exit(98);
}

/* The wait status, or -1 when it had to be ended. A worker may try for ever to get through: it has to end
 * when it is told to. */
static int run(const struct tempest *t, const char *url, const char *command) {
    int64_t end = now_us() + COMMAND_SECONDS * INT64_C(1000000);
    bool may_be_told = strstr(command, "worker") != NULL;
    int status = 0;
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0)
        err(99, "fork");
    if (pid == 0)
        run_child(t, url, command);
    while (waitpid(pid, &status, WNOHANG) == 0) {
        if (now_us() > end && may_be_told) {
            kill(-pid, SIGTERM);
            may_be_told = false;
            end += COMMAND_SECONDS * INT64_C(1000000);
        } else if (now_us() > end) {
            kill(-pid, SIGKILL);
            (void)waitpid(pid, NULL, 0);
            return -1;
        }
        pause_ms(5);
    }
    return status;
}

static char *read_log(const struct tempest *t) {
    FILE *file = fopen(t->log, "r");
    char *text = NULL;
    size_t size = 0;
    if (!file || getdelim(&text, &size, '\0', file) < 0) {
        free(text);
        text = strdup("");
    }
    if (file)
        fclose(file);
    return text;
}

static size_t occurrences(const char *log, const char *text) {
    size_t n = 0;
    for (const char *at = log; (at = strstr(at, text)) != NULL; at += strlen(text))
        n++;
    return n;
}

/* libpq forgets a result that it has begun to read when the server ends a transaction in the midst of it.
 * Results that we forget look the same, but not only when answers are mangled: the other tests find those. */
static bool is_leak_of_libpq(const char *log) {
    return strstr(log, "LeakSanitizer") && !strstr(log, "ERROR: AddressSanitizer") &&
           !strstr(log, "runtime error:") &&
           occurrences(log, "Direct leak") == occurrences(log, "PQmakeEmptyPGresult");
}

/* The shell says which of its commands a signal ended, by 128 and more. */
static const char *find_fault(int status, const char *log) {
    if (status == -1)
        return "it did not end";
    if (is_leak_of_libpq(log))
        return NULL;
    if (strstr(log, "Sanitizer") || strstr(log, "runtime error:"))
        return "a sanitizer reported";
    if (strstr(log, "Segmentation fault") || strstr(log, "Aborted") || strstr(log, "Bus error") ||
        strstr(log, "Floating point") || strstr(log, "Killed"))
        return "it crashed";
    if (!WIFEXITED(status) || WEXITSTATUS(status) >= 126)
        return "it was ended by a signal";
    return NULL;
}

/* Where to begin to show it: a report stands behind what the program logged. */
static const char *find_report(const char *log) {
    const char *report = strstr(log, "ERROR: ");
    return report ? report : strstr(log, "runtime error:") ? strstr(log, "runtime error:") : log;
}

static void run_round(struct tempest *t, int64_t round) {
    const char *command = COMMANDS[draw(&t->chance) % COMMAND_COUNT];
    char url[600], *log;
    const char *fault;
    snprintf(url, sizeof(url), "%s?port=%d&sslmode=disable&gssencmode=disable", t->url, t->proxy.port);
    int status = run(t, url, command);
    log = read_log(t);
    fault = find_fault(status, log);
    if (fault) {
        t->failures++;
        printf("FAILED in round %lld: %s: %s\n%.1000s\n...\n%.6000s\n", (long long)round, fault, command, log,
               find_report(log));
    }
    t->refused += status != 0;
    t->malformed += strstr(log, "answer is malformed") != NULL;
    free(log);
    if (status >= 0 && WIFEXITED(status) && WEXITSTATUS(status) == 98)
        errx(99, "cannot run a command");
}

/* ---- the place ---- */

/* A program under a short name, in a directory of ours. */
static void name_program(const struct tempest *t, const char *program, char name) {
    char path[200];
    snprintf(path, sizeof(path), "%s/%c", t->directory, name);
    if (symlink(program, path) != 0)
        err(99, "symlink");
}

static void setup(struct tempest *t) {
    snprintf(t->schema, sizeof(t->schema), "proxy_%d", (int)getpid());
    snprintf(t->directory, sizeof(t->directory), "/tmp/boxcar-proxy-XXXXXX");
    if (!mkdtemp(t->directory))
        err(99, "mkdtemp");
    snprintf(t->log, sizeof(t->log), "%s/log", t->directory);
    name_program(t, t->program, 'b');
    name_program(t, t->embedder, 'c');
}

/* So that there is something to answer with, whatever the proxy let through so far. */
static void feed(const struct tempest *t) {
    int status =
        run(t, t->url,
            "set -e; b init; for i in 1 2 3 4 5 6; do b enqueue t.one p; b enqueue --stream s t.two p; "
            "b inbox enqueue shop $i$$ t.in p; b event append acc$$ paid '{}'; done");
    if (status != 0) {
        char *log = read_log(t);
        errx(99, "cannot fill the store: %s", log);
    }
}

static void teardown(const struct tempest *t) {
    char path[200];
    for (char name = 'b'; name <= 'c'; name++) {
        snprintf(path, sizeof(path), "%s/%c", t->directory, name);
        unlink(path);
    }
    unlink(t->log);
    rmdir(t->directory);
}

static int64_t number(const char *text) {
    int64_t value = storm_parse_number(text, INT64_MAX);
    if (value < 0)
        errx(2, "usage: proxy_storm [--seed N] [--rounds N]");
    return value;
}

static void read_arguments(struct tempest *t, int argc, char **argv) {
    static const struct option OPTIONS[] = {
        {"seed", required_argument, NULL, 's'}, {"rounds", required_argument, NULL, 'r'}, {NULL, 0, NULL, 0}};
    t->seed = storm_new_seed();
    for (int option; (option = getopt_long(argc, argv, "", OPTIONS, NULL)) != -1;) {
        if (option == 's')
            t->seed = (uint64_t)number(optarg);
        else if (option == 'r')
            t->rounds = number(optarg);
        else
            exit(2);
    }
    t->chance = t->seed;
}

int main(int argc, char **argv) {
    struct tempest t = {.rounds = 40,
                        .program = getenv("BOXCAR"),
                        .embedder = getenv("BOXCAR_TEST_EMBEDDER"),
                        .url = getenv("BOXCAR_TEST_POSTGRES")};
    read_arguments(&t, argc, argv);
    if (!t.url || !*t.url)
        return 77;
    if (!t.program || !t.embedder)
        errx(99, "BOXCAR or BOXCAR_TEST_EMBEDDER is not set");
    setup(&t);
    printf("proxy_storm: %lld rounds, --seed %llu\n", (long long)t.rounds, (unsigned long long)t.seed);
    feed(&t);
    proxy_open(&t.proxy, t.url, t.seed);
    for (int64_t round = 0; round < t.rounds; round++) {
        if (round % 50 == 49)
            feed(&t);
        run_round(&t, round);
    }
    proxy_close(&t.proxy);
    teardown(&t);
    printf("proxy_storm: %lld of %lld rounds failed; %lld ended in an error, %lld met a malformed answer\n",
           (long long)t.failures, (long long)t.rounds, (long long)t.refused, (long long)t.malformed);
    return t.failures == 0 ? 0 : 1;
}
