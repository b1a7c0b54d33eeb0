#include "clients.h"

#include <err.h>
#include <errno.h>
#include <libpq-fe.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void (*const WORK[])(struct client *) = {[ROLE_PRODUCER] = produce,
                                                [ROLE_CONSUMER] = consume,
                                                [ROLE_SITTER] = sit,
                                                [ROLE_UPKEEP] = look_after,
                                                [ROLE_DRAIN] = drain};

static void be_client(struct storm *storm, int number, enum role role) {
    struct client client = {.storm = storm,
                            .number = number,
                            .role = role,
                            .chance = storm->seed * UINT64_C(1000003) + (uint64_t)number};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    draw(&client.chance);
    client.owner.uuid = boxcar_uuid_new();
    if (!journal_open(&client.journal, storm->directory, number))
        err(99, "journal");
    if (!client_open(&client))
        _exit(1);
    WORK[role](&client);
    boxcar_store_close(client.store);
    journal_close(&client.journal);
    _exit(0);
}

static void fill(struct clients *clients, int place) {
    int number = ++clients->next_number;
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0)
        err(99, "fork");
    if (pid == 0)
        be_client(clients->self.storm, number, clients->slots[place].role);
    clients->slots[place].pid = pid;
}

void clients_init(struct clients *clients, struct storm *storm) {
    *clients = (struct clients){.self = {.storm = storm, .chance = storm->seed}};
    if (!journal_open(&clients->self.journal, storm->directory, 0))
        err(99, "journal");
}

void clients_add(struct clients *clients, enum role role) {
    clients->slots[clients->size].role = role;
    fill(clients, clients->size++);
}

/* How a client may end: by itself, or as one that was killed or killed itself. */
static void judge_end(struct clients *clients, int place, int status) {
    clients->slots[place].pid = 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        return;
    complain(&clients->self, "a client ended with status 0x%x", (unsigned)status);
}

static bool any_producer(const struct clients *clients) {
    for (int i = 0; i < clients->size; i++)
        if (clients->slots[i].pid != 0 && clients->slots[i].role == ROLE_PRODUCER)
            return true;
    return false;
}

static bool is_enough(const struct clients *clients) {
    const struct storm *storm = clients->self.storm;
    return atomic_load(&storm->board->tallies[TALLY_ENQUEUED]) >= storm->messages;
}

static void replace_the_ended(struct clients *clients) {
    for (int i = 0; i < clients->size; i++) {
        int status;
        if (clients->slots[i].pid == 0 || waitpid(clients->slots[i].pid, &status, WNOHANG) == 0)
            continue;
        judge_end(clients, i, status);
        if (clients->slots[i].role != ROLE_PRODUCER || !is_enough(clients))
            fill(clients, i);
    }
}

static void kill_one(struct clients *clients) {
    int place = (int)draw_between(&clients->self, 0, clients->size - 1);
    if (clients->slots[place].pid == 0)
        return;
    if (kill(clients->slots[place].pid, SIGKILL) == 0)
        count(&clients->self, TALLY_KILLS, 1);
}

/* Ends sessions of this run only: its application name is in its URL. */
static void terminate_some(struct clients *clients) {
    PGconn *conn = PQconnectdb(clients->self.storm->url);
    PGresult *result =
        PQexec(conn, "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()"
                     " and application_name = current_setting('application_name') order by random() limit 2");
    if (PQresultStatus(result) == PGRES_TUPLES_OK)
        count(&clients->self, TALLY_TERMINATIONS, PQntuples(result));
    PQclear(result);
    PQfinish(conn);
}

static void crash_server(struct clients *clients) {
    const char *program = getenv("BOXCAR_TEST_POSTGRES_RESTART");
    struct record record = {.kind = RECORD_CRASH, .before = now_us()};
    int status = 0;
    if (!program)
        return;
    pid_t pid = fork();
    if (pid == 0) {
        execl(program, program, (char *)NULL);
        _exit(127);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
        complain(&clients->self, "the server did not come back (status 0x%x)", (unsigned)status);
    record.after = now_us();
    journal_add(&clients->self.journal, record);
    journal_flush(&clients->self.journal);
    count(&clients->self, TALLY_RESTARTS, 1);
}

struct plan {
    int64_t kill_at;
    int64_t terminate_at;
    int64_t crash_at;
    int64_t crash_every_ms;
};

/* Even a short storm sees a few crashes. */
static struct plan make_plan(struct clients *clients) {
    struct plan plan = {.crash_every_ms = clients->self.storm->big ? 20000 : 3000};
    plan.kill_at = plan.terminate_at = now_us() + 1000000;
    plan.crash_at = now_us() + plan.crash_every_ms * 700;
    return plan;
}

static void strike(struct clients *clients, struct plan *plan) {
    int64_t now = now_us();
    if (now >= plan->kill_at) {
        kill_one(clients);
        plan->kill_at = now + draw_between(&clients->self, 100, 1200) * 1000;
    }
    if (!clients->self.storm->postgres)
        return;
    if (now >= plan->terminate_at) {
        terminate_some(clients);
        plan->terminate_at = now + draw_between(&clients->self, 100, 1500) * 1000;
    }
    if (now >= plan->crash_at) {
        crash_server(clients);
        plan->crash_at =
            now_us() + draw_between(&clients->self, plan->crash_every_ms / 2, plan->crash_every_ms) * 1000;
    }
}

static void report(struct clients *clients, int64_t *next) {
    if (now_us() < *next)
        return;
    *next = now_us() + 30 * 1000000;
    printf("storm: %lld messages enqueued, %lld leases\n",
           (long long)atomic_load(&clients->self.storm->board->tallies[TALLY_ENQUEUED]),
           (long long)atomic_load(&clients->self.storm->board->tallies[TALLY_CLAIMED]));
    fflush(stdout);
}

bool clients_run(struct clients *clients) {
    struct board *board = clients->self.storm->board;
    int64_t end = now_us() + (int64_t)clients->self.storm->seconds * 1000000;
    int64_t report_at = now_us() + 30 * 1000000;
    struct plan plan = make_plan(clients);
    while (now_us() < end && (any_producer(clients) || !is_enough(clients))) {
        replace_the_ended(clients);
        strike(clients, &plan);
        report(clients, &report_at);
        pause_ms(20);
    }
    /* Producers come to their end first, so that none is cut off in the middle of a retry. */
    atomic_store(&board->stop_producing, true);
    for (int64_t wait_until = now_us() + 90 * 1000000; any_producer(clients) && now_us() < wait_until;
         pause_ms(20))
        for (int i = 0; i < clients->size; i++) {
            int status;
            if (clients->slots[i].pid != 0 && waitpid(clients->slots[i].pid, &status, WNOHANG) != 0)
                judge_end(clients, i, status);
        }
    return is_enough(clients);
}

void clients_stop(struct clients *clients) {
    int64_t wait_until = now_us() + 90 * 1000000;
    atomic_store(&clients->self.storm->board->stop, true);
    for (int i = 0; i < clients->size; i++) {
        int status;
        while (clients->slots[i].pid != 0 && waitpid(clients->slots[i].pid, &status, WNOHANG) == 0) {
            if (now_us() > wait_until) {
                complain(&clients->self, "client in place %d does not end", i);
                kill(clients->slots[i].pid, SIGKILL);
                waitpid(clients->slots[i].pid, &status, 0);
                break;
            }
            pause_ms(10);
        }
        if (clients->slots[i].pid != 0)
            judge_end(clients, i, status);
    }
    clients->size = 0;
    atomic_store(&clients->self.storm->board->stop, false);
}
